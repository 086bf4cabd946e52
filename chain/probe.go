package chain

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"sync"
	"time"

	"swapkeep/internal/clock"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
)

// A Probe is what one endpoint shows when it is asked now, whatever its known health.
type Probe struct {
	Host string
	// Err is why it cannot be used at all: it does not answer, or serves another chain
	// ([ErrWrongChain]). The fields below are then zero.
	Err         error
	Head        uint64
	Age         time.Duration // of its latest block, by our clock; negative = in the future
	LogBlocks   uint64        // widest eth_getLogs range that it answered, up to the most we ask for; 0 = none
	LogErr      error         // why it answered none
	FinalErr    error         // why it shows no final block, where the network goes by that
	ReceiptsErr error         // why it has no eth_getBlockReceipts, where [MultiClient.CheckReceipt] can be done
	SimulateErr error         // nil = it has eth_simulateV1 and shows transfers; else why not
}

// Probe tests each endpoint of a network for what this package needs of it, and returns
// the results in their order. It sends nothing and may be repeated. Errors: ErrNoNetwork.
func (h *MultiClient) Probe(ctx context.Context, id uint64) ([]Probe, error) {
	p, err := h.pool(id)
	if err != nil {
		return nil, err
	}
	all := make([]Probe, len(p.endpoints))
	var asked sync.WaitGroup
	for i, e := range p.endpoints {
		asked.Go(func() { all[i] = e.probe(ctx, p.network) })
	}
	asked.Wait()
	return all, nil
}

func (e *endpoint) probe(ctx context.Context, n Network) Probe {
	out := Probe{Host: e.host}
	if out.Err = e.check(ctx); out.Err != nil {
		return out
	}
	b, err := e.latest(ctx)
	if err != nil {
		out.Err = err
		return out
	}
	out.Head, out.Age = uint64(b.Number), clock.Now().Sub(blockTime(b.Time))
	out.LogBlocks, out.LogErr = e.widestLogRange(ctx, out.Head)
	_, out.FinalErr = e.finalized(ctx, n)
	if recomputable(n.ID) {
		_, out.ReceiptsErr = e.allReceipts(ctx, new(big.Int).SetUint64(out.Head))
	}
	out.SimulateErr = e.checkSimulate(ctx, n)
	return out
}

// MinLogRange is the smallest useful range of eth_getLogs, in blocks: sixteen requests have
// to cover the minutes in which an order may be filled.
const MinLogRange = 64

// widestLogRange narrows a request for logs of Nobody until it is answered, and returns its
// blocks.
func (e *endpoint) widestLogRange(ctx context.Context, head uint64) (uint64, error) {
	var err error
	for n := min(uint64(widestLogs), head); n > 0; n /= 4 {
		if _, err = e.logs(ctx, LogFilter{Address: Nobody}, head-n+1, head); err == nil {
			return n, nil
		}
		if !isRangeTooWide(err) {
			break
		}
	}
	return 0, err
}

// Nobody is an address without a known key or any code, for requests that need one. It
// looks like the placeholder for people's addresses in recordings.
var Nobody = common.HexToAddress("0x00000000000000000000000000000000000A11cE")

func (e *endpoint) checkSimulate(ctx context.Context, n Network) error {
	sim, err := e.simulate(ctx, n, []Call{{ChainID: n.ID, From: Nobody, To: Nobody, Value: new(big.Int)}})
	if err == nil && !sim.Shown {
		return errUnclear
	}
	return err
}

// ErrNoCode means that the hosts agree that there is no contract.
var ErrNoCode = errors.New("no contract there")

// A Code identifies one contract's code.
type Code struct {
	Hash common.Hash // Keccak-256
	Size int         // bytes
}

// Code returns the code of the contract at a and the hosts that agree on it: two where
// two are configured. It may be repeated. Errors: ErrNoCode, ErrDisagree, ErrUnreachable.
func (h *MultiClient) Code(ctx context.Context, id uint64, a common.Address) (Code, []string, error) {
	p, err := h.pool(id)
	if err != nil {
		return Code{}, nil, err
	}
	code, hosts, err := quorumReadEqual(ctx, p, p.surveyedEndpoints(ctx), fmt.Sprintf("the code of %s", a), func(ctx context.Context, e *endpoint) (Code, error) {
		code, err := p.readerOf(e).CodeAt(ctx, a, nil)
		return Code{crypto.Keccak256Hash(code), len(code)}, err
	})
	if err == nil && code.Size == 0 {
		err = ErrNoCode
	}
	return code, hosts, err
}

// AskQuorum asks one question of as many hosts as must agree on the answer, which is empty
// for a call that reverts. It may be repeated. Errors: ErrDisagree, ErrUnreachable.
func (h *MultiClient) AskQuorum(ctx context.Context, id uint64, q Question) ([]byte, error) {
	p, err := h.pool(id)
	if err != nil {
		return nil, err
	}
	out, _, err := quorumReadEqual(ctx, p, p.surveyedEndpoints(ctx), fmt.Sprintf("an answer of %s", q.To), func(ctx context.Context, e *endpoint) (string, error) {
		answers, err := askWithin(ctx, p.readerOf(e), tokenGas, []Question{q})
		if err != nil {
			return "", err
		}
		return string(answers[0]), nil
	})
	return []byte(out), err
}
