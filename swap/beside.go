package swap

import (
	"bytes"
	"context"
	"math/big"

	"swapkeep/chain"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
)

// mostBeside bounds how many transactions of an account in one block are looked into.
const mostBeside = 16

// took is what an account's own transactions of the block of a call took of its native
// coin, the fee of the call among it. nil: they are not all known here, to the wei, or
// another of them may have brought some.
func (e *Engine) took(ctx context.Context, account common.Address, call chain.Evidence, g chain.Gain) (*big.Int, error) {
	sum := new(big.Int).Set(call.FeePaid)
	switch {
	case g.Sent == 1:
		return sum, nil
	case g.Sent == 0 || g.Sent > mostBeside:
		return nil, nil
	}
	held, err := e.Sender.Held(call.Chain, account, g.First, g.Sent)
	if err != nil {
		return nil, err
	}
	net, err := e.Nodes.Network(call.Chain)
	if err != nil {
		return nil, err
	}
	own := 0
	for i, tx := range held {
		if tx == nil || tx.Mined == (common.Hash{}) {
			return nil, nil // somebody else's, or not known yet
		}
		if tx.Mined == call.Tx {
			own++
			continue
		}
		ev, ok, err := e.Nodes.Evidence(ctx, call.Chain, tx.Mined)
		if err != nil {
			return nil, err
		}
		sent, damaged := tx.MinedTransaction()
		if !ok || ev.BlockHash != call.BlockHash || ev.From != account || damaged != nil || sent.Nonce() != g.First+uint64(i) {
			return nil, nil
		}
		sum.Add(sum, ev.FeePaid)
		if !ev.Success {
			continue // its value stayed
		}
		if !onlyTakes(account, net.WrappedNative, sent) {
			return nil, nil
		}
		sum.Add(sum, sent.Value())
	}
	if own != 1 {
		return nil, nil
	}
	return sum, nil
}

// onlyTakes reports whether a transaction of an account's can bring it none of the native
// coin: an approval, its reset or revoke, whatever is called of Permit2, which has no
// coin, a wrap, and the transaction that does nothing in another's place.
func onlyTakes(account, wrapped common.Address, t *types.Transaction) bool {
	if t.To() == nil {
		return false
	}
	to, free := *t.To(), t.Value().Sign() == 0
	switch {
	case to == account:
		return free && len(t.Data()) == 0
	case to == permit2Contract, bytes.HasPrefix(t.Data(), erc20Approve):
		return free
	}
	return to == wrapped && wrapped != (common.Address{}) && bytes.Equal(t.Data(), wrapDeposit)
}
