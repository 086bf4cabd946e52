package swap

import (
	"context"
	"errors"
	"math/big"
	"slices"
	"time"

	"swapkeep/chain"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
)

// transferTopic is the topic of the ERC-20 Transfer event (EIP-20).
var transferTopic = crypto.Keccak256Hash([]byte("Transfer(address,address,uint256)"))

// An awaitedPayment payment is one of the payments that would end a deposit.
type awaitedPayment struct {
	by   string // row of the table of proofs
	what string // name of its search
	Arrival
}

// awaited returns the payments that would end a deposit with this proof.
func (p Proof) awaited() (all []awaitedPayment) {
	if p.Arrival != nil {
		all = append(all, awaitedPayment{byArrival, searchArrival, *p.Arrival})
	}
	if p.Refund != nil {
		all = append(all, awaitedPayment{byRefund, searchRefund, *p.Refund})
	}
	return all
}

// end returns the final state that the payment proves.
func (x awaitedPayment) end() State { return verdictBy(x.by).State }

// A watchedDeposit deposit is an order with the evidence of its deposit.
type watchedDeposit struct {
	order Order
	since chain.Evidence
	l     *settlementWatch
}

// proveDeposit looks for the payment that fills a deposit and for the one that refunds
// it. It looks for both on every poll: what the provider claims decides nothing.
func (e *Engine) proveDeposit(ctx context.Context, o Order, p Proof, d chain.Evidence, l *settlementWatch) (v *Verdict, f findings, err error) {
	w := watchedDeposit{o, d, l}
	for _, x := range p.awaited() {
		found, one, failed := e.await(ctx, w, x)
		f.pending, f.candidate = f.pending || one.pending, betterCandidate(f.candidate, one.candidate, o.Claim)
		err = errors.Join(err, failed)
		if v == nil {
			v = found
		}
	}
	if v == nil && elapsed(e.Now(), l.depositChecked) < absentTime {
		return nil, f, err
	}
	standing, failed := e.depositMined(ctx, o)
	if failed != nil || !standing {
		return nil, f, errors.Join(err, failed)
	}
	l.depositChecked = e.Now()
	if v != nil {
		return v, f, nil
	}
	return nil, f, err
}

// depositMined reports whether our own deposit transaction is still mined; if its block was
// reorganised away, Poll sends it again.
func (e *Engine) depositMined(ctx context.Context, o Order) (bool, error) {
	_, step := o.depositEvidence()
	_, ev, err := e.Sender.Poll(ctx, stepKey(o, step))
	return err == nil && ev != nil && ev.Success, err
}

// await looks for one payment: first in the transaction that the provider names, which
// must really be that payment, then among the token's transfers.
func (e *Engine) await(ctx context.Context, w watchedDeposit, x awaitedPayment) (v *Verdict, f findings, err error) {
	if _, err := e.Nodes.Network(x.Chain); errors.Is(err, chain.ErrNoNetwork) {
		return nil, f, nil // an end there can only be reported
	} else if err != nil {
		return nil, f, err
	}
	delete(w.l.shallow, x.what)
	if c := w.order.Claim; c != nil && c.Tx != (common.Hash{}) && (c.Chain == 0 || c.Chain == x.Chain) && !w.l.ruledOut[ruled{x.what, c.Tx}] {
		paid, is, failed := e.paidIn(ctx, w, x, c.Tx, true)
		err = failed
		switch is {
		case isProof:
			return paid.verdict, f, nil
		case isShallow:
			w.l.shallow[x.what] = c.Tx
			f.pending = true
		case isUndecided, isContested:
			f.pending = err == nil
		case isNothing:
			w.l.ruleOut(x.what, c.Tx)
		case isUnknownSender:
			w.keepCandidate(x, paid.seen)
		}
	}
	if x.Token != chain.Native {
		found, failed := e.awaitTransfer(ctx, w, x)
		if found != nil {
			return found, f, nil
		}
		err = errors.Join(err, failed)
	}
	f.candidate = w.l.candidates[x.what]
	return nil, f, err
}

// awaitTransfer checks the transfers of the awaited token to the account. A payment that
// may also be another order's counts only once there are more such payments than other
// such orders.
func (e *Engine) awaitTransfer(ctx context.Context, w watchedDeposit, x awaitedPayment) (*Verdict, error) {
	filter := chain.LogFilter{Address: x.Token, Topics: [][]common.Hash{{transferTopic}, nil, {topicOf(x.To)}}}
	enough := LogPattern{Address: x.Token, Topics: []common.Hash{transferTopic, {}, topicOf(x.To)}, Amount: x.Least, AtLeast: true}
	s, err := e.searchFor(ctx, w.order, w.l, x.what, x.Chain, filter, enough.matches)
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

// A payment is an amount that one transaction brought an account.
type payment struct {
	from   common.Address
	amount *big.Int
	ref    LogRef
}

// paymentProof is either a proof that a payment ends an order, with the number of our other
// orders that it would end as well, or a sighting that proves nothing.
type paymentProof struct {
	verdict *Verdict
	rivals  int
	seen    *CandidatePayment
}

// paidIn checks whether a transaction is an awaited payment. named says that the provider
// named the transaction. Only then does a payment of less than the awaited amount count,
// as short, and only if the provider's claim is final.
func (e *Engine) paidIn(ctx context.Context, w watchedDeposit, x awaitedPayment, tx common.Hash, named bool) (paymentProof, decision, error) {
	ev, ok, err := e.Nodes.Evidence(ctx, x.Chain, tx)
	switch {
	case err != nil:
		return paymentProof{}, isUndecided, err
	case !ok && ev.Block == 0:
		return paymentProof{}, isAbsent, nil
	case !ok:
		return paymentProof{}, isShallow, nil
	case !ev.Success || ev.From == w.order.Terms.Account || !w.order.follows(w.since, ev):
		return paymentProof{}, isNothing, nil
	}
	all, hosts, err := e.payments(ctx, x, ev)
	if err != nil {
		return paymentProof{}, isUndecided, err
	}
	if all, err = e.unusedPayments(w.order.ID, all); err != nil {
		return paymentProof{}, isUndecided, err
	}
	from := func(p payment) bool {
		return !p.ref.BalanceIncrease && p.from != w.order.Terms.Account && (slices.Contains(x.From, p.from) || slices.Contains(x.From, ev.From))
	}
	known := slices.DeleteFunc(slices.Clone(all), func(p payment) bool { return !from(p) })
	counted := chosen(known, x.Least, named && w.order.Claim.State == x.end())
	if len(counted) == 0 {
		if p := chosen(slices.DeleteFunc(slices.Clone(all), from), x.Least, false); len(p) > 0 {
			return paymentProof{seen: x.candidate(p[0], ev)}, isUnknownSender, nil
		}
		return paymentProof{}, isNothing, nil
	}
	switch another, err := e.fillsAnother(w.order, ev); {
	case err != nil:
		return paymentProof{}, isUndecided, err
	case another:
		return paymentProof{seen: x.candidate(counted[0], ev)}, isUnknownSender, nil
	}
	v := verdictBy(x.by)
	sum := new(big.Int)
	for _, p := range counted {
		sum.Add(sum, p.amount)
		v.Logs = append(v.Logs, p.ref)
	}
	v.Received, v.Short, v.Sources = &Spend{x.Token, sum}, sum.Cmp(x.Least) < 0, sources(fewerHosts(fewerHosts(ev.Hosts, hosts), w.since.Hosts))
	v.Evidence, v.Deposit = &ev, &w.since
	r, err := e.competingOrders(w, x, ev, counted[0].from, sum)
	switch {
	case err != nil || r.betterMatch:
		return paymentProof{}, isUndecided, err
	case r.namedByOther || r.count > 0 && !named:
		return paymentProof{verdict: &v, rivals: r.count}, isContested, nil
	}
	return paymentProof{verdict: &v, rivals: r.count}, isProof, nil
}

// chosen returns the payments that count: the smallest one of at least least. If there is
// none and named is set, all of them count together, though they are less.
func chosen(known []payment, least *big.Int, named bool) []payment {
	slices.SortFunc(known, func(a, b payment) int { return a.amount.Cmp(b.amount) })
	for i, p := range known {
		if p.amount.Cmp(least) >= 0 {
			return known[i : i+1]
		}
	}
	if named {
		return known
	}
	return nil
}

// payments returns what a transaction paid in the awaited token to the awaited account.
// For the native coin that is the value it sent there directly, or else the growth of the
// balance in its block, which cannot be attributed to a sender and so is only a sighting.
func (e *Engine) payments(ctx context.Context, x awaitedPayment, ev chain.Evidence) (all []payment, hosts []string, err error) {
	if x.Token != chain.Native {
		for _, place := range transfersTo(ev.Logs, x.Token, x.To) {
			m := chain.Transfers([]*types.Log{ev.Logs[place]})[0]
			if m.Amount.Sign() > 0 && m.From != x.To {
				all = append(all, payment{m.From, m.Amount, LogRef{Chain: ev.Chain, Tx: ev.Tx, Index: place}})
			}
		}
		return all, ev.Hosts, nil
	}
	p := payment{ev.From, ev.Value, LogRef{Chain: ev.Chain, Tx: ev.Tx, Index: -1, Block: ev.Block, Account: x.To}}
	if hosts = ev.Hosts; ev.To != x.To {
		p.ref.BalanceIncrease = true
		g, by, err := e.Nodes.BalanceDelta(ctx, ev.Chain, x.To, ev.Block)
		if err != nil {
			return nil, nil, err
		}
		if p.amount, hosts = g.Amount, fewerHosts(hosts, by); p.amount.Cmp(x.Least) < 0 {
			return nil, hosts, nil // a smaller growth of a balance may be anything
		}
	}
	if p.amount == nil || p.amount.Sign() <= 0 {
		return nil, hosts, nil
	}
	return []payment{p}, hosts, nil
}

// unusedPayments leaves out the payments that already ended another order.
func (e *Engine) unusedPayments(order string, all []payment) ([]payment, error) {
	refs := make([]LogRef, len(all))
	for i, p := range all {
		refs[i] = p.ref
	}
	unused, err := e.Journal.unused(order, refs)
	return slices.DeleteFunc(all, func(p payment) bool { return !slices.Contains(unused, p.ref) }), err
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
func (e *Engine) competingOrders(w watchedDeposit, x awaitedPayment, ev chain.Evidence, from common.Address, sum *big.Int) (r competition, err error) {
	open, err := e.Journal.Open()
	if err != nil {
		return r, err
	}
	tx, ours := ev.Tx, w.order.Claim
	for _, id := range open {
		other, err := e.Journal.Get(id)
		if errors.Is(err, ErrUnreadable) {
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
		for _, y := range p.awaited() {
			same := y.Chain == x.Chain && y.Token == x.Token && y.To == x.To && (slices.Contains(y.From, from) || slices.Contains(y.From, ev.From))
			switch {
			case !same || y.Least.Cmp(sum) > 0:
			case sum.Cmp(x.Least) < 0 || y.Least.Cmp(x.Least) > 0:
				r.betterMatch = true
			case !plausibleAmount(sum, y.Least) || interchangeable(w.order.Terms, other.Terms):
			default:
				r.count++
				r.namedByOther = r.namedByOther || other.Claim != nil && other.Claim.Tx == tx && (ours == nil || ours.Tx != tx)
			}
		}
	}
	return r, nil
}

// mayBePaidBy reports whether payment can be o's: o's input was handed over early enough
// for it, or may have been.
func (e *Engine) mayBePaidBy(o Order, payment chain.Evidence) (bool, error) {
	if len(o.Plan.Steps) == 0 || o.Plan.Settlement != ByProvider || !handsOver(o.Plan.lastEffect().Kind) {
		return false, nil
	}
	last := len(o.Plan.Steps) - 1
	if len(o.Results) > last {
		d, _ := o.depositEvidence()
		return d != nil && mayFollow(*d, payment), nil
	}
	tx, err := e.Sender.Lookup(stepKey(o, last)) // perhaps mined, but not final yet
	return tx != nil, err
}

// clockSlack is how far the clocks of two chains may differ. Block producers keep to the
// second, up to one slot of the slowest chain.
const clockSlack = 15 * time.Second

// follows reports whether payment came after deposit: by block number and time on one
// chain, by the blocks' times on two. If two chains' clocks differ, a later payment may
// carry an earlier time. It is then accepted only in a block after the head that was
// known just before the deposit was signed.
func (o Order) follows(deposit, payment chain.Evidence) bool {
	if payment.Chain == deposit.Chain || !payment.Time.Before(deposit.Time) {
		return mayFollow(deposit, payment) && !payment.Time.Before(deposit.Time)
	}
	head, known := o.Heads[payment.Chain]
	return known && payment.Block > head && mayFollow(deposit, payment)
}

// mayFollow reports whether payment can have come after deposit, without regard to the
// head known when that was signed. That is enough for another order to contest a payment:
// in doubt it counts for neither.
func mayFollow(deposit, payment chain.Evidence) bool {
	if payment.Chain == deposit.Chain {
		return !payment.Time.Before(deposit.Time) && payment.Block >= deposit.Block
	}
	return deposit.Time.Sub(payment.Time) <= clockSlack
}

// plausibleAmount reports whether sum is plausible for a debt of least: at most twice as much.
func plausibleAmount(sum, least *big.Int) bool { return sum.Cmp(new(big.Int).Lsh(least, 1)) <= 0 }

// interchangeable reports whether two orders are the same to whoever settles them, except for the
// price. It then does not matter which of two payments belongs to which order.
func interchangeable(a, b Terms) bool {
	return a.SrcChain == b.SrcChain && a.TokenIn == b.TokenIn && a.AmountIn.Cmp(b.AmountIn) == 0 && a.RefundTo == b.RefundTo &&
		a.DstChain == b.DstChain && a.TokenOut == b.TokenOut && a.Recipient == b.Recipient
}
