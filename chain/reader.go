package chain

import (
	"context"
	"errors"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/ethclient"
)

// A reader is a pool as a [Reader].
type reader struct{ p *pool }

// via is read through an endpoint's typed client.
func via[T any](ctx context.Context, r reader, ask func(context.Context, *ethclient.Client) (T, error)) (T, error) {
	return read(ctx, r.p, func(ctx context.Context, e *endpoint) (T, error) { return ask(ctx, e.eth) })
}

func (r reader) BlockNumber(ctx context.Context) (uint64, error) {
	return via(ctx, r, func(ctx context.Context, c *ethclient.Client) (uint64, error) { return c.BlockNumber(ctx) })
}

func (r reader) CallContract(ctx context.Context, m ethereum.CallMsg, block *big.Int) ([]byte, error) {
	return via(ctx, r, func(ctx context.Context, c *ethclient.Client) ([]byte, error) { return c.CallContract(ctx, m, block) })
}

// EstimateGas estimates at the latest block, which is not every node's default: a call
// whose first attempt is pending would otherwise be tried on top of that.
func (r reader) EstimateGas(ctx context.Context, m ethereum.CallMsg) (uint64, error) {
	return via(ctx, r, func(ctx context.Context, c *ethclient.Client) (uint64, error) {
		return c.EstimateGasAtBlock(ctx, m, nil)
	})
}

func (r reader) SuggestGasPrice(ctx context.Context) (*big.Int, error) {
	return via(ctx, r, func(ctx context.Context, c *ethclient.Client) (*big.Int, error) { return c.SuggestGasPrice(ctx) })
}

func (r reader) SuggestGasTipCap(ctx context.Context) (*big.Int, error) {
	return via(ctx, r, func(ctx context.Context, c *ethclient.Client) (*big.Int, error) { return c.SuggestGasTipCap(ctx) })
}

func (r reader) BalanceAt(ctx context.Context, a common.Address, block *big.Int) (*big.Int, error) {
	return via(ctx, r, func(ctx context.Context, c *ethclient.Client) (*big.Int, error) { return c.BalanceAt(ctx, a, block) })
}

func (r reader) CodeAt(ctx context.Context, a common.Address, block *big.Int) ([]byte, error) {
	return via(ctx, r, func(ctx context.Context, c *ethclient.Client) ([]byte, error) { return c.CodeAt(ctx, a, block) })
}

func (r reader) NonceAt(ctx context.Context, a common.Address, block *big.Int) (uint64, error) {
	return via(ctx, r, func(ctx context.Context, c *ethclient.Client) (uint64, error) { return c.NonceAt(ctx, a, block) })
}

func (r reader) PendingNonceAt(ctx context.Context, a common.Address) (uint64, error) {
	return via(ctx, r, func(ctx context.Context, c *ethclient.Client) (uint64, error) { return c.PendingNonceAt(ctx, a) })
}

func (r reader) HeaderByNumber(ctx context.Context, n *big.Int) (*types.Header, error) {
	return via(ctx, r, func(ctx context.Context, c *ethclient.Client) (*types.Header, error) { return c.HeaderByNumber(ctx, n) })
}

// TransactionReceipt asks every endpoint before it returns ethereum.NotFound: one that
// lags, or is still indexing, does not prove absence.
func (r reader) TransactionReceipt(ctx context.Context, hash common.Hash) (*types.Receipt, error) {
	var errs []error
	for _, e := range r.p.order() {
		var receipt *types.Receipt
		_, err := e.do(ctx, func(ctx context.Context) (err error) {
			receipt, err = e.eth.TransactionReceipt(ctx, hash)
			return err
		})
		if err == nil {
			return receipt, nil
		}
		if !errors.Is(err, ethereum.NotFound) {
			errs = append(errs, err)
		}
	}
	if len(errs) > 0 {
		return nil, r.p.failure(errs)
	}
	return nil, ethereum.NotFound
}

// SendTransaction offers tx to one endpoint after the other until one has it, and to no
// more: the first may be one that keeps transactions private.
func (r reader) SendTransaction(ctx context.Context, tx *types.Transaction) error {
	return r.offer(ctx, tx, false)
}

// SpreadTransaction offers tx to every endpoint: one that accepted it may have dropped
// it, or never propagated it.
func (r reader) SpreadTransaction(ctx context.Context, tx *types.Transaction) error {
	return r.offer(ctx, tx, true)
}

// offer combines the endpoints' answers. An endpoint that could not be connected to
// received nothing and does not count; any other answer than a known refusal leaves the
// outcome open.
func (r reader) offer(ctx context.Context, tx *types.Transaction, all bool) error {
	var refusal error
	var uncertain, unreached []error
	has := false
	for _, e := range r.p.order() {
		if _, resting := e.backingOff(); has && (!all || resting) {
			break
		}
		reached, err := e.do(ctx, func(ctx context.Context) error { return e.eth.SendTransaction(ctx, tx) })
		switch v := broadcastVerdict(err); {
		case v == accepted:
			has = true
		case v == refused:
			refusal = err
		case reached:
			uncertain = append(uncertain, err)
		default:
			unreached = append(unreached, err)
		}
	}
	switch {
	case has:
		return nil
	case len(uncertain) > 0:
		return fmt.Errorf("chain %d: outcome of the broadcast unknown: %w", r.p.network.ID, errors.Join(uncertain...))
	case refusal != nil:
		return fmt.Errorf("chain %d: %w: %w", r.p.network.ID, ErrRejected, refusal)
	}
	return r.p.failure(unreached)
}

// broadcastVerdict classifies one endpoint's answer to a broadcast. Among errors only a
// JSON-RPC error is an answer.
func broadcastVerdict(err error) verdict {
	var ne *nodeError
	switch {
	case err == nil:
		return accepted
	case errors.As(err, &ne):
		return judge(ne.text)
	}
	return ambiguous
}
