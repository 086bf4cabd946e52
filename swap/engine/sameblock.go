package engine

import (
	"bytes"
	"context"
	"math/big"
	"slices"

	"swapkeep/chain"
	"swapkeep/swap"
	"swapkeep/swap/journal"
	"swapkeep/swap/plan"
	"swapkeep/swap/proof"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
)

// maxBlockTxs bounds how many transactions that an account sent in one block are examined.
const maxBlockTxs = 16

// nativeOutflow returns how much native coin (wei) the account's own transactions cost it in the
// block of call, which may be its isolated account's: the fees of all, and the value sent by
// those other than call. It returns nil if one of them is not known here, or may have brought
// native coin.
func (e *Engine) nativeOutflow(ctx context.Context, account common.Address, call chain.Evidence, g chain.BalanceDelta) (*big.Int, error) {
	sum, calls := new(big.Int), uint64(0)
	if call.From == account {
		sum, calls = sum.Set(call.FeePaid), 1
	}
	switch {
	case g.Sent == calls:
		return sum, nil
	case g.Sent < calls || g.Sent > maxBlockTxs:
		return nil, nil
	}
	held, err := e.Sender.RecordsByNonce(call.Chain, account, g.First, g.Sent)
	if err != nil {
		return nil, err
	}
	net, err := e.Nodes.Network(call.Chain)
	if err != nil {
		return nil, err
	}
	own := uint64(0)
	for i, tx := range held {
		if tx == nil || tx.Mined == (common.Hash{}) {
			return nil, nil // not one of ours, or not known yet
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
			continue // its value was not sent
		}
		if !cannotReceiveNative(account, net.WrappedNative, sent) {
			return nil, nil
		}
		sum.Add(sum, sent.Value())
	}
	if own != calls {
		return nil, nil
	}
	return sum, nil
}

// cannotReceiveNative reports whether a transaction of the account's cannot bring it native coin:
// an approval, reset or revoke, any call of Permit2 (which holds no coin), a wrap, or a
// cancelling transaction, which sends nothing to the account itself.
func cannotReceiveNative(account, wrapped common.Address, t *types.Transaction) bool {
	if t.To() == nil {
		return false
	}
	to, free := *t.To(), t.Value().Sign() == 0
	switch {
	case to == account:
		return free && len(t.Data()) == 0
	case to == swap.Permit2Contract, plan.IsApprove(chain.Call{Data: t.Data()}):
		return free
	}
	return to == wrapped && wrapped != (common.Address{}) && bytes.HasPrefix(t.Data(), swap.WrapDeposit) // deposit() ignores what follows its selector
}

// maySweepInBlock reports whether the block of call has, or may have, coin that isolated accounts
// of ours moved back to an account.
func (e *Engine) maySweepInBlock(ctx context.Context, account common.Address, call chain.Evidence) (bool, error) {
	all, _, err := e.Journal.List(account, false, "", maxEndedOrders)
	if err != nil {
		return false, err
	}
	found, err := e.Journal.Found()
	if err != nil {
		return false, err
	}
	for _, o := range all {
		if o.Terms.IsIsolated() {
			found = append(found, journal.Found{Chain: o.Terms.SrcChain, Account: o.Terms.Isolated})
		}
	}
	for _, f := range found {
		if f.Chain != call.Chain {
			continue
		}
		made, err := e.Sender.RecordsByNonce(f.Chain, f.Account, 0, maxIsolatedNonces)
		if err != nil {
			return false, err
		}
		for _, tx := range made {
			if tx == nil || tx.Call.To != account || tx.SignedAtBlock >= call.Block || tx.State.Final() && tx.Mined == (common.Hash{}) {
				continue
			}
			if tx.Mined == (common.Hash{}) {
				return true, nil // not known yet
			}
			if ev, ok, err := e.Nodes.Evidence(ctx, f.Chain, tx.Mined); err != nil || !ok || ev.BlockHash == call.BlockHash {
				return true, err
			}
		}
	}
	return false, nil
}

// maxIsolatedNonces is more than an isolated account has: a plan's steps, and transfers back.
const maxIsolatedNonces = maxSweeps + 12

// maxEndedOrders bounds how many ended orders are compared with a block.
const maxEndedOrders = 200

// ordersPaidInBlock returns our other orders that paid, or may have paid, native coin to o's
// recipient in the block of end, so that the growth of its balance is not o's alone. It
// considers every open order and the newest ended ones.
func (e *Engine) ordersPaidInBlock(o swap.Order, end chain.Evidence) ([]swap.Order, error) {
	all, _, err := e.Journal.List(common.Address{}, false, "", maxEndedOrders)
	if err != nil {
		return nil, err
	}
	ids, err := e.Journal.Open() // all of these, however old
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		other, err := e.Journal.GetForDisplay(id)
		if err != nil {
			return nil, err
		}
		all = append(all, other)
	}
	seen := map[string]bool{o.ID: true}
	return slices.DeleteFunc(all, func(other swap.Order) bool {
		t := other.Terms
		pays := t.TokenOut == chain.Native && t.DstChain == end.Chain && t.Recipient == o.Terms.Recipient ||
			t.MinRefund().Token == chain.Native && t.SrcChain == end.Chain && t.RefundTo == o.Terms.Recipient
		again := seen[other.ID]
		switch seen[other.ID] = true; {
		case again || !pays && other.State != swap.Unreadable:
			return true
		case other.State == swap.Unreadable:
			return false
		case !other.State.Final():
			d, _ := proof.DepositEvidence(other)
			later := d != nil && d.Chain == end.Chain && d.Block > end.Block
			return later || len(other.Results) == 0 && other.CurrentTx == (common.Hash{})
		}
		v := other.Verdict
		return v != nil && (v.Evidence == nil || v.Evidence.Chain != end.Chain || v.Evidence.Block != end.Block)
	}), nil
}

// onlyOrderPaidInBlock reports whether ordersPaidInBlock finds none. It serves only what is shown.
func (e *Engine) onlyOrderPaidInBlock(o swap.Order, end chain.Evidence) bool {
	beside, err := e.ordersPaidInBlock(o, end)
	return err == nil && len(beside) == 0
}

// gainContested reports whether a block brought more than o was promised while another
// order may have been paid in it. Otherwise a filler that owes us two payments could make
// only one. Payments that already ended another order are excluded by their [swap.LogRef].
func (e *Engine) gainContested(o swap.Order, end chain.Evidence, gain *big.Int) (bool, error) {
	if gain.Cmp(quotedOut(o)) <= 0 {
		return false, nil
	}
	beside, err := e.ordersPaidInBlock(o, end)
	return len(beside) > 0, err
}

// quotedOut returns the output that o's quote promised, but at least the accepted minimum.
func quotedOut(o swap.Order) *big.Int {
	if o.Offer.AmountOut == nil || o.Offer.AmountOut.Cmp(o.Terms.MinOut) < 0 {
		return o.Terms.MinOut
	}
	return o.Offer.AmountOut
}
