// Package operator is what stands behind the simulated providers: the chains as
// they see them, and accounts of their own that pay on those chains.
package operator

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"time"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/ethclient"

	"swapkeep/fault"
	"swapkeep/sandbox/network"
)

// A Chain is one of the table, as a simulator sees it.
type Chain struct {
	network.Network
	// Client reaches the node beside its endpoint: no fault touches it and no
	// counter counts it. It is nil where the chain does not run here.
	Client *ethclient.Client
	// Tip is what blocks ask at least, in wei per gas; nil where Client is.
	Tip func() *big.Int
	// Still runs a function while no block is made or abandoned; nil where Client is.
	Still func(func() error) error
}

// Runs reports whether the chain runs here.
func (c Chain) Runs() bool { return c.Client != nil }

// Now is the clock or, where the chain has been moved ahead of it, the time of
// the chain's latest block.
func (c Chain) Now(ctx context.Context) (time.Time, error) {
	head, err := c.Client.HeaderByNumber(ctx, nil)
	if err != nil {
		return time.Time{}, err
	}
	now := fault.Now()
	if ahead := time.Unix(int64(head.Time), 0); ahead.After(now) {
		return ahead, nil
	}
	return now, nil
}

// Coin finds a token of the chain; the zero address is the native coin, which is
// described as its wrapped form.
func (c Chain) Coin(a common.Address) (network.Token, bool) {
	if a == (common.Address{}) || a == c.Wrapped.Address {
		return c.Wrapped, true
	}
	for _, t := range c.Tokens {
		if t.Address == a {
			return t, true
		}
	}
	return network.Token{}, false
}

// receiptPoll is how often the chain, in this process, is asked for a receipt.
const receiptPoll = 10 * time.Millisecond

// Receipt is the transaction's, or ethereum.NotFound. The node knows a block's
// receipts a moment before the block is its head: until then who is told of a
// payment would still see the balance before it.
func (c Chain) Receipt(ctx context.Context, tx common.Hash) (*types.Receipt, error) {
	receipt, err := c.Client.TransactionReceipt(ctx, tx)
	if err != nil {
		return nil, err
	}
	head, err := c.Client.BlockNumber(ctx)
	if err != nil {
		return nil, err
	}
	if receipt.BlockNumber.Cmp(new(big.Int).SetUint64(head)) > 0 {
		return nil, ethereum.NotFound
	}
	return receipt, nil
}

// Settled waits until the transaction is in a block. Blocks are made by the
// chain, not by it.
func (c Chain) Settled(ctx context.Context, tx common.Hash) (*types.Receipt, error) {
	tick := time.NewTicker(receiptPoll)
	defer tick.Stop()
	for {
		receipt, err := c.Receipt(ctx, tx)
		if err == nil {
			return receipt, nil
		}
		if !errors.Is(err, ethereum.NotFound) && ctx.Err() == nil {
			return nil, err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, fmt.Errorf("chain %d: transaction %s: %w", c.ID, tx, context.Cause(ctx))
		}
	}
}
