// Package operator holds what the operators of the simulated providers need: their view
// of the chains, and their own accounts, which pay on those chains.
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

	"swapkeep/internal/clock"
	"swapkeep/sandbox/network"
)

// A Chain is a chain of the table as a simulator sees it.
type Chain struct {
	network.Network
	// Client bypasses the chain's endpoint: requests meet no faults and are not counted.
	// It is nil if the chain is not running.
	Client *ethclient.Client
	// MinTip returns the minimum tip, in wei per gas; nil if Client is nil.
	MinTip func() *big.Int
	// WithMiningPaused runs a function while no block is made or replaced; nil if Client is nil.
	WithMiningPaused func(func() error) error
}

// IsRunning reports whether the chain is running.
func (c Chain) IsRunning() bool { return c.Client != nil }

// Now returns the later of the clock and the time of the chain's latest block, which may
// have been shifted ahead.
func (c Chain) Now(ctx context.Context) (time.Time, error) {
	head, err := c.Client.HeaderByNumber(ctx, nil)
	if err != nil {
		return time.Time{}, err
	}
	now := clock.Now()
	if ahead := time.Unix(int64(head.Time), 0); ahead.After(now) {
		return ahead, nil
	}
	return now, nil
}

// TokenAt looks up a token of the chain. For the zero address, the native coin, it returns
// the wrapped token.
func (c Chain) TokenAt(a common.Address) (network.Token, bool) {
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

// receiptPoll is the interval at which Settled polls for a receipt. The node runs in this
// process.
const receiptPoll = 10 * time.Millisecond

// Receipt returns the transaction's receipt, or ethereum.NotFound. The node knows a
// block's receipts a moment before the block becomes its head; Receipt waits for the
// head, so that whoever learns of a payment also sees the new balance.
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

// WaitMined waits until a block includes the transaction and returns its receipt. It mines
// no blocks itself.
func (c Chain) WaitMined(ctx context.Context, tx common.Hash) (*types.Receipt, error) {
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
