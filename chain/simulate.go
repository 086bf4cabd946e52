package chain

import (
	"context"
	"errors"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
)

// maxSimulated bounds the calls of one simulation.
const maxSimulated = 16

// Simulate runs calls, all of one chain, one after the other on top of the
// latest block. With eth_simulateV1 it shows what moves and what is allowed;
// nodes without it only say, by eth_call, whether a single call succeeds.
// Nothing is sent; it may be repeated. Errors: ErrWouldRevert with the reason,
// ErrFunds.
func (h *Hub) Simulate(ctx context.Context, calls []Call) (Simulation, error) {
	if len(calls) == 0 || len(calls) > maxSimulated {
		return Simulation{}, fmt.Errorf("simulate: %d calls, want 1 to %d", len(calls), maxSimulated)
	}
	for _, c := range calls {
		if c.ChainID != calls[0].ChainID || c.Value == nil {
			return Simulation{}, errors.New("simulate: calls must be of one chain and have a value")
		}
	}
	p, err := h.pool(calls[0].ChainID)
	if err != nil {
		return Simulation{}, err
	}
	sim, err := simulateV1(ctx, p, calls)
	if errors.Is(err, errNoSimulate) {
		return tryCall(ctx, p, calls)
	}
	return sim, err
}

// errNoSimulate means no endpoint has eth_simulateV1.
var errNoSimulate = errors.New("no endpoint has eth_simulateV1")

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
	// A simulatedLog is a log of which we ask less than a receipt's must have.
	simulatedLog struct {
		Address common.Address `json:"address"`
		Topics  []common.Hash  `json:"topics"`
		Data    hexutil.Bytes  `json:"data"`
	}
)

func simulateV1(ctx context.Context, p *pool, calls []Call) (Simulation, error) {
	var errs []error
	for _, e := range p.order() {
		if e.noSimulate.Load() {
			continue
		}
		var blocks []simulatedBlock
		_, err := e.do(ctx, func(ctx context.Context) error {
			return e.rpc.CallContext(ctx, &blocks, "eth_simulateV1", simulateArgs(calls), "latest")
		})
		var ne *nodeError
		switch {
		case err == nil:
			return readSimulation(p.network, calls, blocks)
		case errors.As(err, &ne) && (ne.code == -32601 || containsAny(ne.text, missingMethodTexts)):
			e.noSimulate.Store(true)
		case errors.As(err, &ne):
			if verdict := wouldRevert(err); errors.Is(verdict, ErrWouldRevert) || errors.Is(verdict, ErrFunds) {
				return Simulation{}, verdict
			}
			errs = append(errs, err)
		default:
			errs = append(errs, err)
		}
	}
	if len(errs) > 0 {
		return Simulation{}, fmt.Errorf("simulate: %w", p.failure(errs))
	}
	return Simulation{}, errNoSimulate
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

// readSimulation turns a node's reply into a Simulation, or ErrWouldRevert.
func readSimulation(n Network, calls []Call, blocks []simulatedBlock) (Simulation, error) {
	if len(blocks) != 1 || len(blocks[0].Calls) != len(calls) || blocks[0].Number == 0 {
		return Simulation{}, errors.New("simulate: the endpoint answered another question")
	}
	sim := Simulation{Method: "eth_simulateV1", Block: uint64(blocks[0].Number) - 1, Shown: true}
	for i, res := range blocks[0].Calls {
		if res.Status != 1 {
			return Simulation{}, fmt.Errorf("%w: call %d: %s", ErrWouldRevert, i+1, res.reason())
		}
		seen := effects{wrapped: n.WrappedNative}
		for _, l := range res.Logs {
			seen.add(eventLog{l.Address, l.Topics, l.Data})
		}
		// A node that does not show the coin that a call itself sends shows
		// no movement of the coin at all.
		if seen.unclear || !showsValue(calls[i], seen.movements) {
			sim.Shown = false
		}
		sim.Movements = append(sim.Movements, seen.movements...)
		sim.Grants = append(sim.Grants, seen.grants...)
		sim.GasUsed = append(sim.GasUsed, uint64(res.GasUsed))
	}
	return sim, nil
}

// reason is why the call failed. Some nodes return its data, some put it beside
// the error.
func (c simulatedCall) reason() string {
	if c.Error == nil {
		return revertReason(c.ReturnData, "execution reverted")
	}
	data := c.Error.Data
	if len(data) == 0 {
		data = c.ReturnData
	}
	return revertReason(data, shown(c.Error.Message))
}

// showsValue reports whether the coin that c sends is among what moved.
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

// tryCall is the fallback: it can only try the first of several calls, since
// the state that the others need does not exist yet.
func tryCall(ctx context.Context, p *pool, calls []Call) (Simulation, error) {
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
