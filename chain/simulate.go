package chain

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"sync"
	"time"

	"swapkeep/internal/clock"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
)

// maxSimulated bounds the calls of one simulation.
const maxSimulated = 16

// Simulate runs calls, all of one chain, one after the other on top of the latest block.
// With eth_simulateV1 it shows transfers and allowances; without it, eth_call only tells
// whether the first call succeeds. Nothing is sent; it may be repeated. Errors:
// ErrWouldRevert with the reason, ErrFunds.
func (h *MultiClient) Simulate(ctx context.Context, calls []Call) (Simulation, error) {
	p, err := h.poolFor(calls)
	if err != nil {
		return Simulation{}, err
	}
	sim, err := simulateV1(ctx, p, calls)
	if errors.Is(err, errNoSimulate) {
		return simulateByCall(ctx, p, calls)
	}
	return sim, err
}

// poolFor returns the endpoints for calls, which must all be of one chain.
func (h *MultiClient) poolFor(calls []Call) (*pool, error) {
	if len(calls) == 0 || len(calls) > maxSimulated {
		return nil, fmt.Errorf("simulate: %d calls, want 1 to %d", len(calls), maxSimulated)
	}
	for _, c := range calls {
		if c.ChainID != calls[0].ChainID || c.Value == nil {
			return nil, errors.New("simulate: calls must be of one chain and have a value")
		}
	}
	return h.pool(calls[0].ChainID)
}

// Simulations is Simulate for calls whose bytes do not say what they do. It needs a
// quorum of hosts, each showing what moves. The results, never empty, may differ as
// blocks do, so each must be judged. If all other hosts lack the method, one host's
// result is enough. If too few hosts have the method and show what moves, there is one
// result with Shown false. Errors: ErrWouldRevert and ErrFunds where all say so,
// ErrDisagree where some do, ErrUnreachable.
func (h *MultiClient) Simulations(ctx context.Context, calls []Call) ([]Simulation, error) {
	p, err := h.poolFor(calls)
	if err != nil {
		return nil, err
	}
	if p.quorum() < 2 {
		sim, err := h.Simulate(ctx, calls)
		return []Simulation{sim}, err
	}
	var mu sync.Mutex
	lacking := make(map[string]bool) // hosts without the method
	answers, errs := queryHosts(ctx, p.surveyedEndpoints(ctx), func(ctx context.Context, e *endpoint) (simulateResult, error) {
		sim, err := e.simulate(ctx, p.network, calls)
		switch {
		case isCallVerdict(err):
			return simulateResult{revertErr: err}, nil
		case err == nil && !sim.Shown:
			err = errUnclear
		case err == errNoSimulate:
			mu.Lock()
			lacking[e.host] = true
			mu.Unlock()
		}
		return simulateResult{sim: sim}, err
	}, func(answers []answer[simulateResult]) int {
		return p.quorum() - len(largestGroup(answers, sameVerdict))
	})
	best := largestGroup(answers, sameVerdict)
	mu.Lock() // other requests may still be running
	defer mu.Unlock()
	alone := len(answers) == 1 && !slices.ContainsFunc(p.endpoints, func(e *endpoint) bool { return e.host != answers[0].e.host && !lacking[e.host] })
	switch {
	case len(best) >= p.quorum() || alone:
		return simulations(best)
	case len(answers) > 1:
		return nil, p.disagree("whether the call would fail", hostsOf(answers))
	case len(errs) == 0 || slices.ContainsFunc(errs, func(err error) bool { return !errors.Is(err, errNoSimulate) }):
		return nil, fmt.Errorf("simulate: %w", p.tooFew(hostsOf(answers), "what the call would do", errs))
	}
	return []Simulation{{Method: "eth_simulateV1"}}, nil
}

// A simulateResult is one host's result: a simulation, or its answer that the calls fail.
type simulateResult struct {
	sim       Simulation
	revertErr error
}

// sameVerdict compares whether the calls fail, which is all that two hosts must agree on.
func sameVerdict(a, b simulateResult) bool { return (a.revertErr == nil) == (b.revertErr == nil) }

// simulations returns the results of hosts that agree on whether the calls fail.
func simulations(answers []answer[simulateResult]) (all []Simulation, err error) {
	for _, a := range answers {
		if a.v.revertErr != nil {
			return nil, a.v.revertErr
		}
		all = append(all, a.v.sim)
	}
	return all, nil
}

// errNoSimulate means that an endpoint, or every one, lacks eth_simulateV1.
var errNoSimulate = errors.New("no eth_simulateV1")

// errUnclear means that an endpoint has it and does not show everything that moves.
var errUnclear = fmt.Errorf("it does not show what moves: %w", errNoSimulate)

type (
	simulatedCall struct {
		ReturnData hexutil.Bytes  `json:"returnData"`
		Logs       []simulatedLog `json:"logs"`
		GasUsed    hexutil.Uint64 `json:"gasUsed"`
		Status     hexutil.Uint64 `json:"status"`
		Error      *struct {
			Message string        `json:"message"`
			Data    hexutil.Bytes `json:"data"`
		} `json:"error"`
	}
	simulatedBlock struct {
		Number hexutil.Uint64  `json:"number"`
		Calls  []simulatedCall `json:"calls"`
	}
	// A simulatedLog is a log with fewer required fields than a receipt's.
	simulatedLog struct {
		Address common.Address `json:"address"`
		Topics  []common.Hash  `json:"topics"`
		Data    hexutil.Bytes  `json:"data"`
	}
)

func simulateV1(ctx context.Context, p *pool, calls []Call) (Simulation, error) {
	var errs []error
	for _, e := range p.order() {
		if e.lacksSimulate() {
			continue
		}
		sim, err := e.simulate(ctx, p.network, calls)
		switch {
		case err == nil, isCallVerdict(err):
			return sim, err
		case !errors.Is(err, errNoSimulate):
			errs = append(errs, err)
		}
	}
	if len(errs) > 0 {
		return Simulation{}, fmt.Errorf("simulate: %w", p.failure(errs))
	}
	return Simulation{}, errNoSimulate
}

// isCallVerdict reports whether err is a node's answer about the calls themselves.
func isCallVerdict(err error) bool { return errors.Is(err, ErrWouldRevert) || errors.Is(err, ErrFunds) }

// simulate runs calls at one endpoint; errNoSimulate if it lacks the method.
func (e *endpoint) simulate(ctx context.Context, n Network, calls []Call) (Simulation, error) {
	var blocks []simulatedBlock
	_, err := e.do(ctx, func(ctx context.Context) error {
		return e.rpc.CallContext(ctx, &blocks, "eth_simulateV1", simulateArgs(calls), "latest")
	})
	var ne *nodeError
	switch verdict := wouldRevert(err); {
	case err == nil:
		return readSimulation(n, calls, blocks)
	case isCallVerdict(verdict): // checked first: a contract's reason may contain any text
		return Simulation{}, verdict
	case errors.As(err, &ne) && (ne.code == -32601 || containsAny(ne.text, missingMethodTexts)):
		e.noSimulate.Store(clock.Now().UnixNano())
		return Simulation{}, errNoSimulate
	}
	return Simulation{}, err
}

// missingMethodTTL is how long an endpoint that said it lacks a method is believed: one address
// may have many nodes behind it.
const missingMethodTTL = 10 * time.Minute

func (e *endpoint) lacksSimulate() bool {
	return clock.Now().Sub(time.Unix(0, e.noSimulate.Load())).Abs() < missingMethodTTL
}

func simulateArgs(calls []Call) map[string]any {
	list := make([]map[string]any, len(calls))
	for i, c := range calls {
		list[i] = map[string]any{"from": c.From, "to": c.To, "value": (*hexutil.Big)(c.Value), "input": hexutil.Bytes(c.Data)}
		if c.Gas > 0 {
			list[i]["gas"] = hexutil.Uint64(c.Gas)
		}
	}
	return map[string]any{
		"blockStateCalls": []any{map[string]any{"calls": list}},
		"traceTransfers":  true, "validation": false,
	}
}

// readSimulation decodes a node's reply; ErrWouldRevert if a call failed.
func readSimulation(n Network, calls []Call, blocks []simulatedBlock) (Simulation, error) {
	if len(blocks) != 1 || len(blocks[0].Calls) != len(calls) || blocks[0].Number == 0 {
		return Simulation{}, errors.New("simulate: the endpoint answered another question")
	}
	sim := Simulation{Method: "eth_simulateV1", Block: uint64(blocks[0].Number) - 1, Shown: true}
	for i, res := range blocks[0].Calls {
		if res.Status != 1 || res.Error != nil { // even where a node reports success and an error
			return Simulation{}, fmt.Errorf("%w: call %d: %s", ErrWouldRevert, i+1, res.reason())
		}
		seen := effects{wrapped: n.WrappedNative}
		for _, l := range res.Logs {
			seen.add(eventLog{l.Address, l.Topics, l.Data})
		}
		// A node that does not show the coin sent by a call itself shows no movement of
		// the coin at all.
		if seen.unclear || !showsValue(calls[i], seen.movements) {
			sim.Shown = false
		}
		sim.Movements = append(sim.Movements, seen.movements...)
		sim.Grants = append(sim.Grants, seen.grants...)
		sim.GasUsed = append(sim.GasUsed, uint64(res.GasUsed))
	}
	return sim, nil
}

// reason returns why the call failed. Some nodes put the revert data into returnData,
// some into the error.
func (c simulatedCall) reason() string {
	if c.Error == nil {
		return revertReason(c.ReturnData, "execution reverted")
	}
	data := c.Error.Data
	if len(data) == 0 {
		data = c.ReturnData
	}
	return revertReason(data, sanitize(c.Error.Message))
}

// showsValue reports whether the coin that c sends is among the movements.
func showsValue(c Call, moved []Movement) bool {
	if c.Value.Sign() == 0 {
		return true
	}
	for _, m := range moved {
		if m.Token == Native && m.From == c.From && m.To == c.To && m.Amount.Cmp(c.Value) == 0 {
			return true
		}
	}
	return false
}

// simulateByCall is the fallback by eth_call. Of several calls it tries only the first, since
// the state that the others need does not exist yet.
func simulateByCall(ctx context.Context, p *pool, calls []Call) (Simulation, error) {
	r := reader{p}
	block, err := r.BlockNumber(ctx)
	if err != nil {
		return Simulation{}, err
	}
	if _, err := r.CallContract(ctx, calls[0].Msg(), new(big.Int).SetUint64(block)); err != nil {
		return Simulation{}, fmt.Errorf("simulate: %w", wouldRevert(err))
	}
	return Simulation{Method: "eth_call", Block: block}, nil
}
