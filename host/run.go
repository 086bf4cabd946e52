package host

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"swapkeep/host/protocol"
)

// A call is one request while it is answered.
type call struct {
	*conn
	id      []byte
	number  uint64 // as of its request: handlers run in any order
	method  protocol.Method
	session *session // open when the method needs one
}

// A handler answers a call; params are wiped after it.
type handler func(c *call, ctx context.Context, params []byte) (any, error)

// handlers answer the methods of protocol.Methods, which says what each takes,
// gives and asks of the caller. host.attach is answered by the connection.
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
	"swap.speedup":      strict((*call).swapSpeedup),
	"swap.accept":       strict((*call).swapAccept),

	"approvals.list":   strict((*call).approvalsList),
	"approvals.revoke": strict((*call).approvalsRevoke),
}

// strict makes a handler of a method that takes its parameters decoded. Unknown
// ones are refused; secrets among them are wiped afterwards.
func strict[P any](f func(*call, context.Context, *P) (any, error)) handler {
	return decoding(f, false)
}

// tolerant is strict without refusing unknown parameters.
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

// passive are methods that do not put off the automatic lock: a popup may
// refresh its quotes by itself, with nobody before it.
var passive = map[string]bool{"keys.lock": true, "swap.quote": true, "swap.watch": true}

// asking are methods that cost others work: one connection must neither use up
// what a network's endpoints grant to all, nor keep the orders from them.
var asking = map[string]bool{
	"host.diagnose": true, "gas.watch": true, "tokens.import": true, "swap.destinations": true, "tokens.balances": true, "approvals.list": true, "settings.set": true,
	"swap.quote": true, "swap.prepare": true,
}

// run carries out one admitted request and logs it. A request that acts does
// not end with the connection: what it began, it finishes.
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
	if c.s.AskedBy != nil {
		parent = c.s.AskedBy(parent, c.asker)
	}
	ctx, cancel := context.WithTimeout(parent, c.s.waits.request)
	defer cancel()
	does := &call{conn: c, id: r.id, number: r.number, method: m}
	if m.Session {
		if does.session, e = c.needSession(); e != nil {
			return nil, e
		}
	}
	if m.Access == protocol.Writes && c.sessionOf() != nil && !passive[r.name] {
		c.s.Wallet.Touch()
	}
	result, err := handlers[r.name](does, ctx, r.params)
	if err != nil {
		return nil, c.s.errorOf(err)
	}
	return result, nil
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

// callers lists where a panic came from, by function and line alone: a full
// trace prints arguments.
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
