package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"swapkeep/cmd/internal/amount"
	"swapkeep/cmd/internal/screen"
	"swapkeep/extension/messages"
	"swapkeep/host/protocol"
	"swapkeep/sandbox"
)

// checkSettled prints the proof and what the chains and the provider's records show, and
// compares them. It is an error if the swap did not end as planned, or if the chain or
// the records differ from the verdict.
func (s *demoRun) checkSettled(ctx context.Context, l *ledger, o protocol.Order) (observed, error) {
	v := o.Verdict
	proven := v != nil && v.Evidence != nil && v.Received != nil
	if endOf(o) != l.plan.end || !proven && (l.plan.end != likely || o.CandidatePayment == nil) {
		return observed{}, fmt.Errorf("the order ended as %s, which differs from the demo's plan: %s", endOf(o), screen.Printable(o.Reason))
	}
	if proven {
		s.proof(l, o)
	}
	a, err := l.audited(ctx, s)
	if err != nil {
		return a, err
	}
	s.printAudit(l, a)
	if err := l.firstFault(a); err != nil {
		return a, err
	}
	return a, l.checkVerdict(a, o)
}

// proof prints the daemon's verdict and its evidence.
func (s *demoRun) proof(l *ledger, o protocol.Order) {
	v := o.Verdict
	how, _ := messages.ProvenBy(v.ProvenBy, o.Cancelling, o.Terms.Provider)
	s.out.Fact("proof", cmp.Or(how, v.ProvenBy))
	for _, e := range []struct {
		what string
		of   *protocol.Evidence
	}{{"end", v.Evidence}, {"deposit", v.Deposit}} {
		if e.of != nil {
			s.out.Fact("", fmt.Sprintf("%s: %s, block %d, %d confirmations, %s", e.what, s.chainName(e.of.ChainID), e.of.Block, e.of.Depth, strings.Join(e.of.Hosts, ", ")))
			s.out.Fact("", "tx "+string(e.of.Tx))
		}
	}
	counts := ""
	if len(v.Logs) > 0 {
		counts = fmt.Sprintf("; %s counted, for this order only", count(len(v.Logs), "log"))
	}
	s.out.Fact("", messages.Source(v.Sources)+counts)
	if v.Receipt != "" {
		s.out.Fact("", messages.Receipt(v.Receipt))
	}
}

func (s *demoRun) chainName(id uint64) string {
	if c := s.box.Chain(id); c != nil {
		return c.Network.Name
	}
	return fmt.Sprintf("chain %d", id)
}

// printAudit prints an audit.
func (s *demoRun) printAudit(l *ledger, a observed) {
	s.out.Fact("on chain", l.says(a))
	for _, tx := range a.signed {
		s.out.Fact("", tx.says(l.lastKind()))
	}
	s.out.Fact("provider", l.saysDeals(a))
	if l.plan.end != refunded {
		s.out.Fact("received", fmt.Sprintf("%s; minimum %s; wallet fee %s", l.gets.Text(a.got), l.gets.Text(l.minReceived), l.feePaid(a)))
	}
	s.out.Fact("paid", fmt.Sprintf("%s; network fee %s (%s gas), limit %s", l.pays.Text(new(big.Int).Sub(a.paid, a.back)),
		l.native.Text(a.gas), amount.Grouped(fmt.Sprint(a.units)), l.native.Text(l.ceiling)))
}

// feePaid describes the wallet's fee as paid on the chain. A fee that only the provider
// reports, or that was only asked for, is not seen there.
func (l *ledger) feePaid(a observed) string {
	switch {
	case a.fee.Sign() != 0:
	case l.review.FeeBasis == "reported":
		return fmt.Sprintf("%d bps reported by the provider, none seen on-chain", l.review.Terms.FeeBps)
	case l.review.FeeBasis == "requested":
		return fmt.Sprintf("%d bps requested, none seen on-chain", l.review.Offer.FeeRequested)
	}
	return l.gets.OrNone(a.fee)
}

// saysDeals describes the provider's own records.
func (l *ledger) saysDeals(a observed) string {
	text := fmt.Sprintf("the provider's simulator has %s for this swap", count(len(a.providerOrders), "order"))
	for _, d := range a.providerOrders {
		text += ": " + d.Status
		if d.Payment != (common.Hash{}) {
			text += ", paid by " + shortHash(d.Payment)
		}
		if d.Deposit != (common.Hash{}) {
			text += " for deposit " + shortHash(d.Deposit)
		}
	}
	return text
}

func shortHash(h common.Hash) string { return h.Hex()[:10] + "..." }

// firstFault returns the first fault that the audit of a finished swap shows.
func (l *ledger) firstFault(a observed) error {
	mined := a.mined()
	token := l.spent() != (common.Address{})
	got, back := 1, 0 // number of payments of the output, and of the input
	if l.plan.end == refunded {
		got, back = 0, 1
	}
	for _, w := range []struct {
		when bool
		why  string
	}{
		{a.paid.Cmp(l.plan.amount) != 0, "the account did not pay the amount exactly once"},
		{token && (len(a.outflows) != 1 || sum(a.outflows).Cmp(l.plan.amount) != 0), fmt.Sprintf("tokens left the account %s, not the amount exactly once", times(len(a.outflows)))},
		{len(a.inflows) != got || len(a.returns) != back, fmt.Sprintf("%s, want %d", count(len(a.inflows)+len(a.returns), "payment"), got+back)},
		{a.got.Cmp(sum(a.inflows)) != 0, "the output balance did not change by the payments received"},
		{len(mined) != l.sends || a.nonce != l.nonces[l.plan.chain]+uint64(l.sends), fmt.Sprintf("the account sent %s, want %d", count(len(mined), "transaction"), l.sends)},
		{len(a.signed) != l.sends, fmt.Sprintf("%s were signed, want %d", count(len(a.signed), "transaction"), l.sends)},
		{a.stray != 0, "the account sent transactions on another chain"},
		{slices.ContainsFunc(mined, func(tx *signed) bool { return tx.receipt.Status != types.ReceiptStatusSuccessful }), "a transaction failed"},
		{a.gas.Cmp(l.ceiling) > 0, "its network fee is above the accepted limit"},
		{slices.ContainsFunc(a.signed, func(tx *signed) bool { return tx.maxCost().Cmp(l.ceiling) > 0 }), "its network fee could have exceeded the accepted limit"},
		{l.review.FeeBasis == "decoded" && a.fee.Sign() <= 0, "the decoded fee did not arrive"},
		{l.review.FeeBasis == "none" && a.fee.Sign() != 0, "the fee receiver was paid, but the review had no fee"},
		{len(a.providerOrders) != l.plan.orders, fmt.Sprintf("the provider has %s, want %d", count(len(a.providerOrders), "order"), l.plan.orders)},
		{l.plan.orders > 0 && a.paidBy == nil, "the provider's records name no mined payment"},
		{l.misused(a), "not exactly one permit was used"},
		{slices.ContainsFunc(a.left, func(g grant) bool { return g.left.Sign() != 0 }), "an allowance was left behind"},
		{len(mined) > 0 && a.confirmations < sandbox.Depth, "it has too few confirmations for proof"},
	} {
		if w.when {
			return errors.New(w.why + ": " + l.says(a))
		}
	}
	return nil
}

// misused reports whether a permit was not used exactly once.
func (l *ledger) misused(a observed) bool {
	for i, g := range a.left {
		if g.permit && g.nonce != l.grants[i].nonce+1 {
			return true
		}
	}
	return false
}

// checkVerdict checks the daemon's verdict against the chain.
func (l *ledger) checkVerdict(a observed, o protocol.Order) error {
	arrived, in, least := a.got, l.gets, l.minReceived
	if l.plan.end == refunded {
		arrived, in, least = a.back, l.pays, new(big.Int)
	}
	v := o.Verdict
	if v == nil {
		return l.checkLikely(a, o)
	}
	end, own := v.Evidence, v.Deposit // evidence of the order's end, and of the account's last transaction
	if l.plan.orders == 0 {
		own = end
	}
	switch {
	case o.Digest != l.review.Digest:
		return fmt.Errorf("the order executes %s, but %s was accepted", o.Digest, l.review.Digest)
	case arrived.Cmp(least) < 0 || v.BelowMinimum:
		return fmt.Errorf("less than %s arrived", in.Text(least))
	case arrived.Cmp(v.Received.Amount.Int()) != 0:
		return fmt.Errorf("the daemon says that %s arrived, the chain says %s", in.Text(v.Received.Amount.Int()), in.Text(arrived))
	case l.plan.orders > 0 && !isOf(end, a.paidBy):
		return fmt.Errorf("the daemon names transaction %s in block %d, the provider paid by %s", end.Tx, end.Block, a.paidBy.TxHash)
	case own == nil:
		return nil
	}
	last := a.mined()[len(a.mined())-1]
	if !isOf(own, last.receipt) || own.FeePaid.Int().Cmp(last.cost()) != 0 {
		return fmt.Errorf("the daemon names transaction %s of the account in block %d, for gas of %s; the chain %s in block %d, for %s",
			own.Tx, own.Block, l.native.Text(own.FeePaid.Int()), last.Hash(), last.receipt.BlockNumber, l.native.Text(last.cost()))
	}
	return nil
}

// checkLikely checks the payment by which an order is likely paid against the chain.
func (l *ledger) checkLikely(a observed, o protocol.Order) error {
	seen := o.CandidatePayment
	switch {
	case o.Digest != l.review.Digest:
		return fmt.Errorf("the order executes %s, but %s was accepted", o.Digest, l.review.Digest)
	case a.got.Cmp(l.minReceived) < 0:
		return fmt.Errorf("less than %s arrived", l.gets.Text(l.minReceived))
	case a.got.Cmp(seen.Amount.Int()) != 0:
		return fmt.Errorf("the daemon says that %s arrived, the chain says %s", l.gets.Text(seen.Amount.Int()), l.gets.Text(a.got))
	case a.paidBy == nil || common.HexToHash(string(seen.Tx)) != a.paidBy.TxHash:
		return fmt.Errorf("the daemon names transaction %s, which is not the provider's payment", seen.Tx)
	}
	return nil
}

// isOf reports whether evidence names the transaction and block of a receipt.
func isOf(e *protocol.Evidence, r *types.Receipt) bool {
	return common.HexToHash(string(e.Tx)) == r.TxHash && e.Block == r.BlockNumber.Uint64()
}
