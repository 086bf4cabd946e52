package audit

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"swapkeep/sandbox"
)

// A chainReader answers what the audit asks of a chain.
type chainReader interface {
	// Receipt returns a transaction's receipt, nil if no block has it.
	Receipt(context.Context, common.Hash) (*types.Receipt, error)
	// Tx returns a mined transaction.
	Tx(context.Context, common.Hash) (*types.Transaction, error)
	Block(context.Context, common.Hash) (*types.Block, error)
	Header(ctx context.Context, number uint64) (*types.Header, error)
	// Sent returns the raw transactions that its node was sent, in order, with repeats.
	Sent() [][]byte
	// Pending returns an account's next nonce, after all that waits.
	Pending(context.Context, common.Address) (uint64, error)
	// Allowance returns what a spender may pull at the latest block.
	Allowance(context.Context, Grant) (*big.Int, error)
}

// liveChain is a chain of a sandbox, read past the endpoint that the daemon uses.
type liveChain struct{ *sandbox.Chain }

func (c liveChain) Receipt(ctx context.Context, tx common.Hash) (*types.Receipt, error) {
	r, err := c.Client().TransactionReceipt(ctx, tx)
	if errors.Is(err, ethereum.NotFound) {
		return nil, nil
	}
	return r, err
}

func (c liveChain) Tx(ctx context.Context, tx common.Hash) (*types.Transaction, error) {
	t, _, err := c.Client().TransactionByHash(ctx, tx)
	return t, err
}

func (c liveChain) Block(ctx context.Context, hash common.Hash) (*types.Block, error) {
	return c.Client().BlockByHash(ctx, hash)
}

func (c liveChain) Header(ctx context.Context, number uint64) (*types.Header, error) {
	return c.Client().HeaderByNumber(ctx, new(big.Int).SetUint64(number))
}

func (c liveChain) Sent() (all [][]byte) {
	for _, raw := range c.Transactions() {
		all = append(all, raw.Raw)
	}
	return all
}

func (c liveChain) Pending(ctx context.Context, account common.Address) (uint64, error) {
	return c.Client().PendingNonceAt(ctx, account)
}

func (c liveChain) Allowance(ctx context.Context, g Grant) (*big.Int, error) {
	to, question := g.Token, [][]byte{common.FromHex("0xdd62ed3e"), word(g.Account), word(g.Spender)} // allowance(address,address)
	if g.Via != (common.Address{}) {
		to, question = g.Via, [][]byte{common.FromHex("0x927da105"), word(g.Account), word(g.Token), word(g.Spender)} // allowance(address,address,address)
	}
	out, err := c.Client().CallContract(ctx, ethereum.CallMsg{To: &to, Data: slices.Concat(question...)}, nil)
	return decodeAllowance(out, err, g.Via != common.Address{}, c.Head().Time)
}

func word(a common.Address) []byte { return common.LeftPadBytes(a[:], 32) }

// decodeAllowance decodes an allowance. Permit2's ends with its last valid second.
func decodeAllowance(out []byte, err error, permit2 bool, now uint64) (*big.Int, error) {
	switch {
	case err != nil:
		return nil, err
	case len(out) < 32 || permit2 && len(out) < 64:
		return nil, fmt.Errorf("an answer of %d bytes", len(out))
	case permit2 && new(big.Int).SetBytes(out[32:64]).Cmp(new(big.Int).SetUint64(now)) < 0:
		return new(big.Int), nil
	}
	return new(big.Int).SetBytes(out[:32]), nil
}
