package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"swapkeep/sandbox/inject"
	"swapkeep/sandbox/market"
)

// maxControl limits the body of a control request, in bytes.
const maxControl = 1 << 20

// errNotFound makes the response a 404.
var errNotFound = errors.New("not found")

// A controlRoute is one request of the control endpoint. README.md documents them.
type controlRoute struct {
	pattern string
	answer  func(s *Sandbox, r *http.Request) (any, error)
}

var controlRoutes = []controlRoute{
	{"GET /manifest", func(s *Sandbox, _ *http.Request) (any, error) { return s.Manifest(), nil }},
	{"POST /reset", func(s *Sandbox, _ *http.Request) (any, error) { return okReply, s.Reset() }},
	{"POST /fund", (*Sandbox).controlFund},
	{"GET /market", func(s *Sandbox, r *http.Request) (any, error) { return s.market.Report(r.Context()) }},
	{"POST /market", (*Sandbox).controlMarket},

	{"GET /chains/{chain}", onChain(func(c *Chain, _ *http.Request) (any, error) { return c.status(), nil })},
	{"GET /chains/{chain}/transactions", onChain(func(c *Chain, _ *http.Request) (any, error) { return c.Transactions(), nil })},
	{"POST /chains/{chain}/pause", onChain(func(c *Chain, _ *http.Request) (any, error) { c.Pause(); return c.status(), nil })},
	{"POST /chains/{chain}/resume", onChain(func(c *Chain, _ *http.Request) (any, error) { c.Resume(); return c.status(), nil })},
	{"POST /chains/{chain}/mine", onChain((*Chain).controlMine)},
	{"POST /chains/{chain}/reorg", onChain((*Chain).controlReorg)},
	{"POST /chains/{chain}/shift", onChain((*Chain).controlShift)},
	{"POST /chains/{chain}/tip", onChain((*Chain).controlTip)},
	{"GET /chains/{chain}/oracles", onOracles(func(*market.Market, uint64, *http.Request) error { return nil })},
	{"POST /chains/{chain}/oracles", onOracles(controlOracles)},
	{"POST /chains/{chain}/forget", onChain(func(c *Chain, _ *http.Request) (any, error) { c.DropPending(); return c.status(), nil })},

	{"GET /faults/{server}", onFaults(func(b *inject.Book, _ *http.Request) (any, error) { return b.Rules(), nil })},
	{"POST /faults/{server}", onFaults(controlAdd)},
	{"DELETE /faults/{server}", onFaults(func(b *inject.Book, _ *http.Request) (any, error) { b.Reset(); return okReply, nil })},
	{"DELETE /faults/{server}/{id}", onFaults(controlRemove)},
	{"GET /counts/{server}", onFaults(func(b *inject.Book, _ *http.Request) (any, error) {
		return map[string]any{"requests": b.Counts(), "held": b.Held()}, nil
	})},
}

// routes returns the control requests of one simulator: reading and changing its
// settings, and its own controls.
func (s *simulator) routes() []controlRoute {
	at := "/" + s.kind
	routes := []controlRoute{
		{"GET " + at, func(*Sandbox, *http.Request) (any, error) { return s.settings(), nil }},
		{"POST " + at, func(_ *Sandbox, r *http.Request) (any, error) { err := s.set(r); return s.settings(), err }},
	}
	for pattern, answer := range s.controls {
		method, path, _ := strings.Cut(pattern, " ")
		routes = append(routes, controlRoute{method + " " + at + path, func(_ *Sandbox, r *http.Request) (any, error) { return answer(r) }})
	}
	return routes
}

// okReply is the response of requests without a result.
var okReply = map[string]bool{"ok": true}

func (s *Sandbox) control() http.Handler {
	mux := http.NewServeMux()
	routes := slices.Clone(controlRoutes)
	for _, sim := range s.simulators {
		routes = append(routes, sim.routes()...)
	}
	for _, route := range routes {
		mux.HandleFunc(route.pattern, func(w http.ResponseWriter, r *http.Request) {
			r.Body = http.MaxBytesReader(w, r.Body, maxControl)
			reply, err := route.answer(s, r)
			status := http.StatusOK
			switch {
			case errors.Is(err, errNotFound):
				status = http.StatusNotFound
			case err != nil:
				status = http.StatusBadRequest
			}
			if err != nil {
				reply = map[string]string{"error": err.Error()}
			}
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			_ = json.NewEncoder(w).Encode(reply)
		})
	}
	return mux
}

// body decodes a request's JSON body over the defaults in to. The body may be empty;
// unknown members are an error.
func body[T any](r *http.Request, to T) (T, error) {
	dec := json.NewDecoder(r.Body)
	dec.DisallowUnknownFields()
	if err := dec.Decode(&to); err != nil && !errors.Is(err, io.EOF) {
		return to, fmt.Errorf("body: %w", err)
	}
	return to, nil
}

func (s *Sandbox) chainNamed(id string) (*Chain, error) {
	n, err := strconv.ParseUint(id, 10, 64)
	if c := s.Chain(n); err == nil && c != nil {
		return c, nil
	}
	return nil, fmt.Errorf("chain %q: %w among the running ones", id, errNotFound)
}

func onChain(do func(*Chain, *http.Request) (any, error)) func(*Sandbox, *http.Request) (any, error) {
	return func(s *Sandbox, r *http.Request) (any, error) {
		c, err := s.chainNamed(r.PathValue("chain"))
		if err != nil {
			return nil, err
		}
		return do(c, r)
	}
}

// onFaults looks up the fault rules of a server by the kind of a provider or price service,
// or by "rpc-" and a chain id.
func onFaults(do func(*inject.Book, *http.Request) (any, error)) func(*Sandbox, *http.Request) (any, error) {
	return func(s *Sandbox, r *http.Request) (any, error) {
		name := r.PathValue("server")
		if book := s.Faults(name); book != nil {
			return do(book, r)
		}
		id, isRPC := strings.CutPrefix(name, "rpc-")
		if !isRPC {
			return nil, fmt.Errorf("server %q: %w; there are %s and rpc-<chain id>", name, errNotFound, strings.Join(s.kinds(), ", "))
		}
		c, err := s.chainNamed(id)
		if err != nil {
			return nil, err
		}
		return do(c.Faults, r)
	}
}

// chainStatus is the response of the chain requests.
type chainStatus struct {
	Block  uint64 `json:"block"`
	Time   uint64 `json:"time"` // Unix seconds
	Paused bool   `json:"paused"`
}

func (c *Chain) status() chainStatus {
	head := c.Head()
	return chainStatus{head.Number.Uint64(), head.Time, c.Paused()}
}

func (c *Chain) controlMine(r *http.Request) (any, error) {
	args, err := body(r, struct {
		Blocks int `json:"blocks"`
	}{1})
	if err == nil {
		err = c.Mine(args.Blocks)
	}
	return c.status(), err
}

func (c *Chain) controlReorg(r *http.Request) (any, error) {
	args, err := body(r, struct {
		Blocks int  `json:"blocks"`
		Drop   bool `json:"drop"`
	}{1, false})
	if err == nil {
		err = c.Reorg(args.Blocks, args.Drop)
	}
	return c.status(), err
}

// maxShift limits one shift of chain time, in seconds.
const maxShift = 10 * 365 * 24 * 3600

func (c *Chain) controlShift(r *http.Request) (any, error) {
	args, err := body(r, struct {
		Seconds int64 `json:"seconds"`
	}{})
	if err == nil && args.Seconds > maxShift {
		err = errors.New("seconds: more than ten years")
	}
	if err == nil {
		err = c.Shift(time.Duration(args.Seconds) * time.Second)
	}
	return c.status(), err
}

func (c *Chain) controlTip(r *http.Request) (any, error) {
	args, err := body(r, struct {
		Wei string `json:"wei"` // per gas; empty = the default
	}{})
	if err != nil || args.Wei == "" {
		return c.status(), errors.Join(err, c.SetMinTip(nil))
	}
	wei, ok := new(big.Int).SetString(args.Wei, 10)
	if !ok {
		return c.status(), errors.New("wei: want a decimal string")
	}
	return c.status(), c.SetMinTip(wei)
}

func (s *Sandbox) controlFund(r *http.Request) (any, error) {
	args, err := body(r, struct {
		Chain   uint64         `json:"chain"`
		Address common.Address `json:"address"`
		Token   common.Address `json:"token"` // zero = the native coin
		Amount  string         `json:"amount"`
	}{})
	if err != nil {
		return nil, err
	}
	c, err := s.chainNamed(strconv.FormatUint(args.Chain, 10))
	if err != nil {
		return nil, err
	}
	amount, ok := new(big.Int).SetString(args.Amount, 10)
	if !ok {
		return nil, errors.New("amount: want a decimal string of base units")
	}
	return okReply, c.Fund(r.Context(), args.Address, args.Token, amount)
}

func controlAdd(b *inject.Book, r *http.Request) (any, error) {
	rule, err := body(r, inject.Rule{})
	if err != nil {
		return nil, err
	}
	id, err := b.Add(rule)
	return map[string]int{"id": id}, err
}

func controlRemove(b *inject.Book, r *http.Request) (any, error) {
	id, err := strconv.Atoi(r.PathValue("id"))
	if err != nil || !b.Remove(id) {
		return nil, fmt.Errorf("fault %q: %w", r.PathValue("id"), errNotFound)
	}
	return okReply, nil
}
