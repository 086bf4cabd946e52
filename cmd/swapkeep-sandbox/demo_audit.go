package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"swapkeep/cmd/internal/amount"
	"swapkeep/cmd/internal/screen"
	"swapkeep/host/protocol"
	"swapkeep/sandbox"
)

// An audit is what happened since a ledger was opened, as the chain and its node
// tell it. Nothing of it is the daemon's word.
type audit struct {
	got    *big.Int // of the token out, by the account
	fee    *big.Int // of it, by the fee's receiver
	paid   *big.Int // of the token in, by the account, gas left aside
	gas    *big.Int // wei, of all the account's transactions
	units  uint64   // of gas
	nonce  uint64   // the account's
	signed []*signed
	deep   uint64 // blocks from the last mined one on, its own included
	left   grant
}

// signed is a transaction of the account that the node was handed.
type signed struct {
	*types.Transaction
	handed  int            // how often
	receipt *types.Receipt // nil: not mined
}

func (a audit) mined() (all []*signed) {
	for _, tx := range a.signed {
		if tx.receipt != nil {
			all = append(all, tx)
		}
	}
	return all
}

func (l *ledger) audited(ctx context.Context) (a audit, err error) {
	if a.signed, err = l.transactions(); err != nil {
		return a, err
	}
	if a.nonce, err = l.chain.Client().NonceAt(ctx, l.account, nil); err != nil {
		return a, err
	}
	a.gas = new(big.Int)
	for _, tx := range a.signed {
		if err := l.settle(ctx, tx); err != nil {
			return a, err
		}
	}
	for _, tx := range a.mined() {
		a.units += tx.receipt.GasUsed
		a.gas.Add(a.gas, tx.cost())
		a.deep = l.chain.Head().Number.Uint64() - tx.receipt.BlockNumber.Uint64() + 1
	}
	if a.left, err = l.left(ctx); err != nil {
		return a, err
	}
	has, err := l.holdings(ctx)
	if err != nil {
		return a, err
	}
	a.got, a.fee = new(big.Int).Sub(has.gets, l.had.gets), new(big.Int).Sub(has.fee, l.had.fee)
	a.paid = new(big.Int).Sub(l.had.pays, has.pays)
	if l.pays.token == protocol.Native {
		a.paid.Sub(a.paid, a.gas)
	}
	return a, nil
}

// transactions are the account's that the node was handed since the opening, in
// the order in which it first was.
func (l *ledger) transactions() (all []*signed, err error) {
	raws := l.chain.Transactions()
	if len(raws) < l.handed {
		return nil, errors.New("the node forgot what it was handed")
	}
	signer := types.LatestSignerForChainID(new(big.Int).SetUint64(l.plan.chain))
	for _, raw := range raws[l.handed:] {
		tx := &signed{Transaction: new(types.Transaction), handed: 1}
		if err := tx.UnmarshalBinary(raw.Raw); err != nil {
			return nil, fmt.Errorf("the node was handed what is no transaction: %w", err)
		}
		i := slices.IndexFunc(all, func(s *signed) bool { return s.Hash() == tx.Hash() })
		if i >= 0 {
			all[i].handed++
		} else if from, err := types.Sender(signer, tx.Transaction); err == nil && from == l.account {
			all = append(all, tx)
		}
	}
	return all, nil
}

// settle looks for a transaction's receipt.
func (l *ledger) settle(ctx context.Context, tx *signed) error {
	receipt, err := l.chain.Client().TransactionReceipt(ctx, tx.Hash())
	if errors.Is(err, ethereum.NotFound) {
		return nil
	}
	tx.receipt = receipt
	return err
}

// cost is what a mined transaction paid for gas, in wei.
func (tx *signed) cost() *big.Int {
	return new(big.Int).Mul(tx.receipt.EffectiveGasPrice, new(big.Int).SetUint64(tx.receipt.GasUsed))
}

// approveCall is the selector of ERC-20's approve(address,uint256).
var approveCall = crypto.Keccak256([]byte("approve(address,uint256)"))[:4]

// most is what a transaction could have paid for gas, in wei.
func (tx *signed) most() *big.Int {
	return new(big.Int).Mul(tx.GasFeeCap(), new(big.Int).SetUint64(tx.Gas()))
}

// approval is what the one kind of transaction is called, swap the other.
const approval = "approval"

func (tx *signed) what() string {
	if bytes.HasPrefix(tx.Data(), approveCall) {
		return approval
	}
	return "swap"
}

// says tells a transaction's story.
func (tx *signed) says() string {
	end := "never mined"
	if tx.receipt != nil {
		end = fmt.Sprintf("mined in block %d", tx.receipt.BlockNumber)
	}
	return fmt.Sprintf("%s, nonce %d: tip %s, at most %s; the node got it %s; %s",
		tx.what(), tx.Nonce(), strings.TrimSuffix(gwei(tx.GasTipCap()), " gwei"), gwei(tx.GasFeeCap()), times(tx.handed), end)
}

// says sums an audit up.
func (l *ledger) says(a audit) string {
	parts := []string{fmt.Sprintf("nonce %d -> %d", l.nonce, a.nonce), l.pays.Text(a.paid) + " left the account"}
	if l.pays.token != protocol.Native {
		parts = append(parts, fmt.Sprintf("permits used: %d; allowance left: %s",
			a.left.nonce-l.permits, l.pays.Text(new(big.Int).Add(a.left.allowance, a.left.permitted))))
	}
	return strings.Join(parts, "; ")
}

// wrong lists what an ended swap's audit must not show.
func (l *ledger) wrong(a audit) error {
	mined := a.mined()
	permits := uint64(0)
	if l.pays.token != protocol.Native {
		permits = 1
	}
	for _, w := range []struct {
		when bool
		why  string
	}{
		{a.paid.Cmp(l.plan.amount) != 0, "the account did not pay the amount once"},
		{len(mined) != l.sends || a.nonce != l.nonce+uint64(l.sends), fmt.Sprintf("the account sent %s, want %d", count(len(mined), "transaction"), l.sends)},
		{len(a.signed) != l.sends+l.plan.bumps, fmt.Sprintf("%s were signed, want %d", count(len(a.signed), "transaction"), l.sends+l.plan.bumps)},
		{slices.ContainsFunc(mined, func(tx *signed) bool { return tx.receipt.Status != types.ReceiptStatusSuccessful }), "a transaction failed"},
		{a.gas.Cmp(l.ceiling) > 0, "its gas is above the accepted ceiling"},
		{slices.ContainsFunc(a.signed, func(tx *signed) bool { return tx.most().Cmp(l.ceiling) > 0 }), "its gas could have been above the accepted ceiling"},
		{a.left.nonce != l.permits+permits, "not exactly one permit was used"},
		{a.left.allowance.Sign() != 0 || a.left.permitted.Sign() != 0, "an allowance was left behind"},
		{a.deep < sandbox.Depth, "it is not as deep as proof needs"},
	} {
		if w.when {
			return errors.New(w.why + ": " + l.says(a))
		}
	}
	return nil
}

// settled prints the proof and what the chain says, and compares them. Errors: a
// swap that is not filled, and one of which the chain says something else.
func (s *show) settled(ctx context.Context, l *ledger, o protocol.Order) (audit, error) {
	v := o.Verdict
	if o.State != "filled" || v == nil || v.Evidence == nil || v.Received == nil {
		return audit{}, fmt.Errorf("the order ended as %s: %s", o.State, screen.Printable(o.Means+" "+o.Reason))
	}
	e := v.Evidence
	s.out.Fact("proof", fmt.Sprintf("block %d, %d deep, %s (%s)", e.Block, e.Depth, v.Sources, strings.Join(e.Hosts, ", ")))
	a, err := l.audited(ctx)
	if err != nil {
		return a, err
	}
	s.out.Fact("on chain", l.says(a))
	for _, tx := range a.signed {
		s.out.Fact("", tx.says())
	}
	s.out.Fact("received", fmt.Sprintf("%s; the floor was %s; wallet fee %s", l.gets.Text(a.got), l.gets.Text(l.floor), l.gets.OrNone(a.fee)))
	s.out.Fact("paid", fmt.Sprintf("%s; gas %s (%s units), the ceiling was %s", l.pays.Text(a.paid),
		l.native.Text(a.gas), amount.Grouped(fmt.Sprint(a.units)), l.native.Text(l.ceiling)))
	if err := l.wrong(a); err != nil {
		return a, err
	}
	return a, l.agrees(a, o)
}

// agrees wants the daemon's verdict to be what the chain says.
func (l *ledger) agrees(a audit, o protocol.Order) error {
	last, e := a.mined()[len(a.mined())-1], o.Verdict.Evidence
	switch {
	case o.Digest != l.digest:
		return fmt.Errorf("the order carries out %s, consented to was %s", o.Digest, l.digest)
	case a.got.Cmp(l.floor) < 0 || o.Verdict.Short:
		return fmt.Errorf("less than the floor of %s arrived", l.gets.Text(l.floor))
	case a.got.Cmp(o.Verdict.Received.Amount.Int()) != 0:
		return fmt.Errorf("the daemon says that %s arrived, the chain says %s", l.gets.Text(o.Verdict.Received.Amount.Int()), l.gets.Text(a.got))
	case common.HexToHash(string(e.Tx)) != last.Hash() || e.Block != last.receipt.BlockNumber.Uint64():
		return fmt.Errorf("the daemon names transaction %s in block %d, the chain %s in block %d", e.Tx, e.Block, last.Hash(), last.receipt.BlockNumber)
	case e.FeePaid.Int().Cmp(last.cost()) != 0:
		return fmt.Errorf("the daemon says that its gas was %s, the chain says %s", l.native.Text(e.FeePaid.Int()), l.native.Text(last.cost()))
	}
	return nil
}
