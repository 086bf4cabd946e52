package host

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"swapkeep/host/protocol"
)

// A call is one request in progress.
type call struct {
	*conn
	id      []byte
	number  uint64 // of its request; handlers run in any order
	method  protocol.Method
	session *session // set if the method requires one
}

// A handler answers a call. params are wiped afterwards.
type handler func(c *call, ctx context.Context, params []byte) (any, error)

// handlers are the handlers of protocol.Methods, which defines parameters, results and
// access. The connection itself answers host.attach.
var handlers = map[string]handler{
	"host.hello":    tolerant((*call).hostHello),
	"host.status":   strict((*call).hostStatus),
	"host.diagnose": strict((*call).hostDiagnose),
	"host.stop":     strict((*call).hostStop),

	"keys.status":   strict((*call).keysStatus),
	"keys.create":   strict((*call).keysCreate),
	"keys.import":   strict((*call).keysImport),
	"keys.unlock":   strict((*call).keysUnlock),
	"keys.lock":     strict((*call).keysLock),
	"keys.accounts": strict((*call).keysAccounts),
	"keys.add":      strict((*call).keysAdd),
	"keys.discover": strict((*call).keysDiscover),
	"keys.rename":   strict((*call).keysRename),
	"keys.remove":   strict((*call).keysRemove),
	"keys.clear":    strict((*call).keysClear),
	"keys.export":   strict((*call).keysExport),

	"networks.list":   strict((*call).networksList),
	"networks.select": strict((*call).networksSelect),

	"gas.watch": strict((*call).gasWatch),

	"tokens.list":     strict((*call).tokensList),
	"tokens.search":   strict((*call).tokensSearch),
	"tokens.import":   strict((*call).tokensImport),
	"tokens.remove":   strict((*call).tokensRemove),
	"tokens.balances": strict((*call).tokensBalances),
	"tokens.incoming": strict((*call).tokensIncoming),

	"prices.list":    strict((*call).pricesList),
	"prices.history": strict((*call).pricesHistory),

	"settings.get":      strict((*call).settingsGet),
	"settings.set":      strict((*call).settingsSet),
	"providers.set_key": strict((*call).providersSetKey),

	"swap.providers":    strict((*call).swapProviders),
	"swap.destinations": strict((*call).swapDestinations),
	"swap.fees":         strict((*call).swapFees),
	"swap.quote":        strict((*call).swapQuote),
	"swap.watch":        strict((*call).swapWatch),
	"swap.prepare":      strict((*call).swapPrepare),
	"swap.execute":      strict((*call).swapExecute),
	"swap.order":        strict((*call).swapOrder),
	"swap.orders":       strict((*call).swapOrders),
	"swap.cancel":       strict((*call).swapCancel),
	"swap.close":        strict((*call).swapClose),
	"swap.speedup":      strict((*call).swapSpeedup),
	"swap.accept":       strict((*call).swapAccept),

	"confirm.pending": strict((*call).confirmPending),
	"confirm.decide":  strict((*call).confirmDecide),

	"approvals.list":   strict((*call).approvalsList),
	"approvals.revoke": strict((*call).approvalsRevoke),
}

// strict returns a handler that decodes the parameters for f, refuses unknown ones and
// wipes secrets afterwards.
func strict[P any](f func(*call, context.Context, *P) (any, error)) handler {
	return decoding(f, false)
}

// tolerant is like strict but ignores unknown parameters.
func tolerant[P any](f func(*call, context.Context, *P) (any, error)) handler {
	return decoding(f, true)
}

func decoding[P any](f func(*call, context.Context, *P) (any, error), tolerant bool) handler {
	return func(c *call, ctx context.Context, params []byte) (any, error) {
		var p P
		defer wipe(&p)
		if e := decode(params, &p, tolerant); e != nil {
			return nil, e
		}
		return f(c, ctx, &p)
	}
}

// keepsAutoLock are methods that do not reset the auto-lock timer: a popup may refresh its
// quotes with nobody in front of it.
var keepsAutoLock = map[string]bool{"keys.lock": true, "swap.quote": true, "swap.watch": true, "confirm.pending": true}

// callsUpstream are methods that call a network or a provider. One connection must not use up
// the endpoints' rate limits, nor take them from the orders.
var callsUpstream = map[string]bool{
	"host.diagnose": true, "gas.watch": true, "tokens.import": true, "swap.destinations": true, "tokens.balances": true, "approvals.list": true, "settings.set": true,
	"swap.quote": true, "swap.prepare": true,
}

// run executes one admitted request and logs it. An acting request does not end with its
// connection.
func (c *conn) run(r request) (result any, e *protocol.Error) {
	m, _ := protocol.MethodOf(r.name)
	began := time.Now()
	defer func() {
		if p := recover(); p != nil {
			c.s.Log.Error().Str("method", r.name).Str("panic", fmt.Sprintf("%T", p)).Strs("at", callers()).Msg("handler panicked")
			result, e = nil, protocol.New("internal", "")
		}
		c.log(m, time.Since(began), e)
	}()
	parent := c.ctx
	if m.Acting {
		parent = c.base
	}
	ctx, cancel := context.WithTimeout(c.withClient(parent), c.s.waits.request)
	defer cancel()
	does := &call{conn: c, id: r.id, number: r.number, method: m}
	if m.Session {
		if does.session, e = c.needSession(); e != nil {
			return nil, e
		}
	}
	if m.Access == protocol.Writes && c.sessionOf() != nil && !keepsAutoLock[r.name] {
		c.s.Wallet.Touch()
	}
	result, err := handlers[r.name](does, ctx, r.params)
	if err != nil {
		return nil, c.s.errorOf(err)
	}
	return result, nil
}

// withClient tags a context with the connection's client.
func (c *conn) withClient(ctx context.Context) context.Context {
	if c.s.WithClient == nil {
		return ctx
	}
	return c.s.WithClient(ctx, c.client)
}

func (c *conn) log(m protocol.Method, took time.Duration, e *protocol.Error) {
	event := c.s.Log.Debug()
	if m.Access != protocol.Reads {
		event = c.s.Log.Info()
	}
	if e != nil {
		event = event.Str("error", e.Name)
	}
	event.Str("method", m.Name).Str("origin", c.caller().Origin).Dur("took", took).Msg("request")
}

// callers lists where a panic came from, by function and line only: a full stack trace
// prints arguments.
func callers() []string {
	var pcs [16]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(4, pcs[:])])
	var out []string
	for {
		f, more := frames.Next()
		out = append(out, fmt.Sprintf("%s:%d", f.Function, f.Line))
		if !more {
			return out
		}
	}
}
