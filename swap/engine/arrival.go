package engine

import (
	"context"
	"errors"
	"math/big"
	"slices"

	"swapkeep/chain"
	"swapkeep/swap"
	"swapkeep/swap/journal"
	"swapkeep/swap/proof"

	"github.com/ethereum/go-ethereum/common"
)

// A watchedDeposit deposit is an order with the evidence of its deposit.
type watchedDeposit struct {
	order swap.Order
	since chain.Evidence
	l     *settlementWatch
}

// proveDeposit looks for the payment that fills a deposit and for the one that refunds
// it. It looks for both on every poll: what the provider claims decides nothing.
func (e *Engine) proveDeposit(ctx context.Context, o swap.Order, p swap.Proof, d chain.Evidence, l *settlementWatch) (v *swap.Verdict, f findings, err error) {
	w := watchedDeposit{o, d, l}
	if proof.ReadsDeposit(p) && l.deposit == nil {
		if l.deposit, err = e.depositMined(ctx, o); err != nil || l.deposit == nil {
			if o.Condition == swap.LikelyPaid { // as before: no receipt tells its payment from another relay's
				f.likely = o.Candidate
			}
			return nil, f, err
		}
	}
	for _, x := range proof.Awaited(p, l.deposit) {
		found, one, failed := e.await(ctx, w, x)
		f.pending, f.candidate = f.pending || one.pending, proof.BetterCandidate(f.candidate, one.candidate, o.Claim)
		if one.likely != nil {
			f.likely = one.likely
		}
		err = errors.Join(err, failed)
		if v == nil {
			v = found
		}
	}
	if v == nil && elapsed(e.Now(), l.depositChecked) < absentTime {
		return nil, f, err
	}
	mined, failed := e.depositMined(ctx, o)
	if failed != nil || mined == nil {
		return nil, f, errors.Join(err, failed)
	}
	l.depositChecked = e.Now()
	if was := l.deposit; was != nil {
		if was.BlockHash != mined.BlockHash {
			l.deposit = mined
			return nil, f, err // what linked a payment was read from a block that is gone
		}
		mined = was // what the verdict rests on, and not what hosts answer now
	}
	if v == nil {
		return nil, f, err
	}
	v.Deposit = mined // if nothing was read from it, it may be in another block by now
	return v, f, nil
}

// depositMined returns the evidence of our own deposit transaction as it is now; nil if it is not
// mined. If its block was reorganised away, Poll sends it again.
func (e *Engine) depositMined(ctx context.Context, o swap.Order) (*chain.Evidence, error) {
	_, step := proof.DepositEvidence(o)
	_, ev, err := e.Sender.Poll(ctx, stepKey(o, step))
	if err != nil || ev == nil || !ev.Success {
		return nil, err
	}
	return ev, nil
}

// await looks for one payment: first in the transaction that the provider names, which
// must really be that payment, then among the logs that show it.
func (e *Engine) await(ctx context.Context, w watchedDeposit, x proof.AwaitedPayment) (v *swap.Verdict, f findings, err error) {
	if !e.Nodes.ReadsTransactions(x.Chain) {
		return nil, f, nil // an end there can only be reported
	}
	delete(w.l.shallow, x.What)
	if c := w.order.Claim; c != nil && c.Tx != (common.Hash{}) && (c.Chain == 0 || c.Chain == x.Chain) && !w.l.ruledOut[ruled{x.What, c.Tx}] {
		paid, is, failed := e.paidIn(ctx, w, x, c.Tx, true)
		err = failed
		switch is {
		case isProof:
			return paid.verdict, f, nil
		case isShallow:
			w.l.shallow[x.What] = c.Tx
			f.pending = true
		case isUndecided, isContested:
			f.pending = err == nil
		case isNothing, isAbsent:
			if is == isNothing {
				w.l.ruleOut(x.What, c.Tx)
			}
			if s := w.l.candidates[x.What]; s != nil && s.Tx == c.Tx {
				delete(w.l.candidates, x.What) // it counts for another order by now, or was reorganised away
			}
		case isUnknownSender:
			w.keepCandidate(x, paid.seen)
		case isLikely:
			w.keepCandidate(x, paid.seen)
			f.likely = paid.seen
		}
	}
	_, failed := e.Nodes.Network(x.Chain) // only its own networks' logs are searched
	if what, log, searched := x.Search(); searched && failed == nil {
		found, failed := e.awaitLog(ctx, w, x, what, log)
		if found != nil {
			return found, f, nil
		}
		err = errors.Join(err, failed)
	}
	f.candidate = w.l.candidates[x.What]
	return nil, f, err
}

// awaitLog checks the transactions with the searched log. A payment that may also be another
// order's counts only once there are more such payments than other such orders.
func (e *Engine) awaitLog(ctx context.Context, w watchedDeposit, x proof.AwaitedPayment, what string, log swap.LogPattern) (*swap.Verdict, error) {
	s, err := e.searchFor(ctx, w.order, w.l, what, x.Chain, filterOf(log), log.Matches)
	var contested []paymentProof
	for _, tx := range slices.Clone(s.hints) {
		v, is, failed := e.paidIn(ctx, w, x, tx, false)
		if err = errors.Join(err, failed); failed != nil {
			continue
		}
		switch is {
		case isProof:
			return v.verdict, nil
		case isContested:
			contested = append(contested, v)
		case isUnknownSender:
			w.keepCandidate(x, v.seen)
			s.drop(tx)
		case isNothing:
			s.drop(tx)
		case isAbsent:
			s.dropAbsent(tx, e.Now())
		}
	}
	for _, v := range contested {
		if err == nil && len(contested) > v.rivals {
			return v.verdict, nil
		}
	}
	return nil, err
}

// paymentProof is either a proof that a payment ends an order, with the number of our other
// orders that it would end as well, or a sighting that proves nothing.
type paymentProof struct {
	verdict *swap.Verdict
	rivals  int
	seen    *swap.CandidatePayment
}

// paidIn checks whether a transaction is an awaited payment. named says that the provider
// named the transaction. Only then does a payment of less than the awaited amount count,
// as short, and only if the provider's claim is final.
func (e *Engine) paidIn(ctx context.Context, w watchedDeposit, x proof.AwaitedPayment, tx common.Hash, named bool) (paymentProof, decision, error) {
	ev, ok, err := e.Nodes.Evidence(ctx, x.Chain, tx)
	switch {
	case err != nil:
		return paymentProof{}, isUndecided, err
	case !ok && ev.Block == 0:
		return paymentProof{}, isAbsent, nil
	case !ok:
		return paymentProof{}, isShallow, nil
	case !ev.Success || w.order.Terms.IsOwn(ev.From) || !proof.Follows(w.order, w.since, ev):
		return paymentProof{}, isNothing, nil
	}
	mine := e.isMine(ev.From) // its bytes may be a provider's, whatever else they name
	if paid, sum, ok := x.Linked(ev); ok {
		if mine || x.FillsOtherRelay(ev) {
			return paymentProof{seen: x.Candidate(paid[0], ev)}, isUnknownSender, nil
		}
		return e.linkedPayment(w, x, ev, paid, sum, named)
	}
	all, hosts, err := e.payments(ctx, x, ev)
	if err != nil {
		return paymentProof{}, isUndecided, err
	}
	if all, err = e.unusedPayments(w.order.ID, all); err != nil {
		return paymentProof{}, isUndecided, err
	}
	named = named && !w.calledFilled(x)
	from := func(p proof.Payment) bool {
		return !mine && x.Link == nil && !x.ExceedsInput(w.order.Terms, p) && !p.Ref.BalanceIncrease && !w.order.Terms.IsOwn(p.From) && (slices.Contains(x.From, p.From) || slices.Contains(x.From, ev.From))
	}
	known := slices.DeleteFunc(slices.Clone(all), func(p proof.Payment) bool { return !from(p) })
	if p, is := x.Likely(w.order, ev, all, e.isMine); is && !from(p) {
		return e.likelyPaid(w.order, x, ev, p)
	}
	counted := proof.Chosen(known, x.Least, named && w.order.Claim.State == x.End())
	if len(counted) == 0 {
		if p := proof.Chosen(slices.DeleteFunc(slices.Clone(all), from), x.Least, false); len(p) > 0 {
			return paymentProof{seen: x.Candidate(p[0], ev)}, isUnknownSender, nil
		}
		return paymentProof{}, isNothing, nil
	}
	switch another, err := e.fillsAnother(w.order, ev); {
	case err != nil:
		return paymentProof{}, isUndecided, err
	case another:
		return paymentProof{seen: x.Candidate(counted[0], ev)}, isUnknownSender, nil
	}
	sum := new(big.Int)
	for _, p := range counted {
		sum.Add(sum, p.Amount)
	}
	v := w.paidBy(x, ev, hosts, counted, sum)
	r, err := e.competingOrders(w, x, ev, counted[0].From, sum)
	switch {
	case err != nil || r.betterMatch:
		return paymentProof{}, isUndecided, err
	case r.namedByOther || r.count > 0 && !named:
		return paymentProof{verdict: &v, rivals: r.count}, isContested, nil
	}
	return paymentProof{verdict: &v, rivals: r.count}, isProof, nil
}

// calledFilled reports whether the provider says that an order is filled whose refund is looked
// for: a transaction that it names then is no refund by its word.
func (w watchedDeposit) calledFilled(x proof.AwaitedPayment) bool {
	return x.By == swap.ProvenByRefund && w.order.Claim != nil && w.order.Claim.State == swap.Filled
}

// calledRefunded reports whether the provider says that an order comes back.
func (w watchedDeposit) calledRefunded() bool {
	c := w.order.Claim
	return c != nil && (c.State == swap.Refunded || c.State == swap.Failed)
}

// paidBy returns the verdict of a deposit that was paid.
func (w watchedDeposit) paidBy(x proof.AwaitedPayment, ev chain.Evidence, hosts []string, paid []proof.Payment, sum *big.Int) swap.Verdict {
	v := swap.VerdictBy(x.By)
	for _, p := range paid {
		v.Logs = append(v.Logs, p.Ref)
	}
	v.Received, v.BelowMinimum, v.Sources = &swap.Spend{Token: x.Token, Amount: sum}, sum.Cmp(x.Least) < 0, proof.Sources(proof.FewerHosts(proof.FewerHosts(ev.Hosts, hosts), w.since.Hosts))
	v.Evidence, v.Deposit = &ev, &w.since
	return v
}

// linkedPayment judges a payment whose transaction names o. Anybody can send a little with any
// order's name, so less than the awaited amount counts only from a built-in filler, in the
// transaction that the provider's final status names.
func (e *Engine) linkedPayment(w watchedDeposit, x proof.AwaitedPayment, ev chain.Evidence, paid []proof.Payment, sum *big.Int, named bool) (paymentProof, decision, error) {
	unused, err := e.unusedPayments(w.order.ID, slices.Clone(paid))
	if err != nil {
		return paymentProof{}, isUndecided, err
	}
	another, err := e.fillsAnother(w.order, ev)
	switch {
	case err != nil:
		return paymentProof{}, isUndecided, err
	case len(unused) < len(paid), another:
		return paymentProof{seen: x.Candidate(paid[0], ev)}, isUnknownSender, nil
	}
	byFiller := slices.Contains(x.From, ev.From) || slices.ContainsFunc(paid, func(p proof.Payment) bool { return slices.Contains(x.From, p.From) })
	if sum.Cmp(x.Least) < 0 && !(byFiller && named && w.order.Claim.State == x.End()) {
		return paymentProof{}, isNothing, nil
	}
	v := w.paidBy(x, ev, ev.Hosts, paid, sum)
	return paymentProof{verdict: &v}, isProof, nil
}

// payments returns what a transaction paid in the awaited token to the awaited account.
// For the native coin that is the value it sent there directly, or else the growth of the
// balance in its block, which cannot be attributed to a sender and so is only a sighting.
func (e *Engine) payments(ctx context.Context, x proof.AwaitedPayment, ev chain.Evidence) (all []proof.Payment, hosts []string, err error) {
	if x.Token != chain.Native {
		return proof.TokenPayments(x.Arrival, ev), ev.Hosts, nil
	}
	p := proof.Payment{From: ev.From, Amount: ev.Value, Ref: proof.CoinRef(x.Arrival, ev)}
	if hosts = ev.Hosts; ev.To != x.To {
		p.Ref.BalanceIncrease = true
		g, by, err := e.Nodes.BalanceDelta(ctx, ev.Chain, x.To, ev.Block)
		switch {
		case errors.Is(err, chain.ErrNoNetwork):
			return nil, hosts, nil // far networks' balances are not read
		case err != nil:
			return nil, nil, err
		}
		if p.Amount, hosts = g.Amount, proof.FewerHosts(hosts, by); p.Amount.Cmp(x.Least) < 0 {
			return nil, hosts, nil // a smaller growth of a balance may be anything
		}
	}
	if p.Amount == nil || p.Amount.Sign() <= 0 {
		return nil, hosts, nil
	}
	return []proof.Payment{p}, hosts, nil
}

// unusedPayments leaves out the payments that already ended another order.
func (e *Engine) unusedPayments(order string, all []proof.Payment) ([]proof.Payment, error) {
	refs := make([]swap.LogRef, len(all))
	for i, p := range all {
		refs[i] = p.Ref
	}
	unused, err := e.Journal.Unused(order, refs)
	return slices.DeleteFunc(all, func(p proof.Payment) bool { return !slices.Contains(unused, p.Ref) }), err
}

// A competition says how our other open orders relate to a payment.
type competition struct {
	betterMatch  bool // it covers another order's amount, and is short for ours or that amount is higher than ours
	namedByOther bool // another order's provider names it, and ours does not
	count        int  // number of other orders that it may belong to
}

// competingOrders compares a payment with what our other open orders await whose input is, or may
// be, handed over. If the payment fits another order better, this one waits until that
// order has ended.
func (e *Engine) competingOrders(w watchedDeposit, x proof.AwaitedPayment, ev chain.Evidence, from common.Address, sum *big.Int) (r competition, err error) {
	open, err := e.Journal.Open()
	if err != nil {
		return r, err
	}
	tx, ours := ev.Tx, w.order.Claim
	if w.calledFilled(x) {
		ours = nil
	}
	for _, id := range open {
		other, err := e.Journal.Get(id)
		if errors.Is(err, journal.ErrUnreadable) {
			r.count++ // it may be that order's
			continue
		}
		if err != nil {
			return r, err
		}
		if id == w.order.ID {
			continue
		}
		waits, err := e.mayBePaidBy(other, ev)
		if err != nil {
			return r, err
		}
		if !waits {
			continue
		}
		s, err := e.settler(&other)
		if err != nil {
			continue
		}
		p, err := s.Proof(other)
		if err != nil {
			continue
		}
		for _, y := range proof.Awaited(p, nil) {
			anybody := y.ByAnybody() && proof.PlausibleAmount(sum, y.Least) && !(w.calledRefunded() && likelyElsewhere(other, ev.Tx))
			payer := anybody || y.Link == nil && (slices.Contains(y.From, from) || slices.Contains(y.From, ev.From))
			switch {
			case !payer || y.Chain != x.Chain || y.Token != x.Token || y.To != x.To || y.Least.Cmp(sum) > 0:
			case sum.Cmp(x.Least) < 0 || y.Least.Cmp(x.Least) > 0:
				r.betterMatch = true
			case !proof.PlausibleAmount(sum, y.Least) || proof.Interchangeable(w.order.Terms, other.Terms):
			default:
				r.count++
				r.namedByOther = r.namedByOther || other.Claim != nil && other.Claim.Tx == tx && (ours == nil || ours.Tx != tx)
			}
		}
	}
	return r, nil
}

// likelyElsewhere reports whether an order is likely paid by another transaction than tx.
func likelyElsewhere(o swap.Order, tx common.Hash) bool {
	return o.Condition == swap.LikelyPaid && o.Candidate != nil && o.Candidate.Tx != tx
}

// mayBePaidBy reports whether payment can be o's: o's input was handed over early enough
// for it, or may have been.
func (e *Engine) mayBePaidBy(o swap.Order, payment chain.Evidence) (bool, error) {
	if len(o.Plan.Steps) == 0 || o.Plan.Settlement != swap.ByProvider || !swap.HandsOver(o.Plan.LastEffect().Kind) {
		return false, nil
	}
	last := len(o.Plan.Steps) - 1
	if len(o.Results) > last {
		d, _ := proof.DepositEvidence(o)
		return d != nil && proof.MayFollow(*d, payment), nil
	}
	tx, err := e.Sender.Lookup(stepKey(o, last)) // perhaps mined, but not final yet
	return tx != nil, err
}
