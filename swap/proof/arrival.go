package proof

import (
	"math/big"
	"slices"

	"swapkeep/chain"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

// An AwaitedPayment is one of the payments that would end a deposit.
type AwaitedPayment struct {
	By   string // row of the table of proofs
	What string // name of it and, but for a relay's, of its search
	swap.Arrival
	relay *relay // that our own deposit names; nil = none, or not known
}

// Awaited returns the payments that would end a deposit with this proof. deposit is the evidence,
// with its logs, of our own deposit; nil = not read, so that no relay links a payment.
func Awaited(p swap.Proof, deposit *chain.Evidence) (all []AwaitedPayment) {
	if p.Arrival != nil {
		all = append(all, AwaitedPayment{swap.ProvenByArrival, searchArrival, *p.Arrival, relayOf(*p.Arrival, deposit)})
	}
	if p.Refund != nil {
		all = append(all, AwaitedPayment{swap.ProvenByRefund, searchRefund, *p.Refund, nil})
	}
	return all
}

// ReadsDeposit reports whether what [Awaited] returns depends on the logs of our own deposit.
func ReadsDeposit(p swap.Proof) bool {
	return p.Arrival != nil && p.Arrival.Link != nil && p.Arrival.Link.Relay != nil
}

// Search returns what to search the chain for, and the search's name: for the fills of the relay
// or, if none is known, for transfers of at least the awaited amount. ok is false if no log
// shows the payment.
func (x AwaitedPayment) Search() (what string, log swap.LogPattern, ok bool) {
	if x.relay != nil {
		return searchRelay, swap.LogPattern{Address: x.Link.Relay.Destination, Topics: []common.Hash{filledRelay, x.relay.origin, x.relay.depositID, {}}}, true
	}
	return x.What, swap.LogPattern{Address: x.Token, Topics: []common.Hash{chain.TransferTopic, {}, TopicOf(x.To)}, Amount: x.Least, AtLeast: true}, x.Token != chain.Native
}

// End returns the final state that the payment proves.
func (x AwaitedPayment) End() swap.State { return swap.VerdictBy(x.By).State }

// A Payment is an amount that one transaction brought an account.
type Payment struct {
	From   common.Address
	Amount *big.Int
	Ref    swap.LogRef
}

// Chosen returns the payments that count: the smallest one of at least least. If there is
// none and named is set, all of them count together, though they are less.
func Chosen(known []Payment, least *big.Int, named bool) []Payment {
	slices.SortFunc(known, func(a, b Payment) int { return a.Amount.Cmp(b.Amount) })
	for i, p := range known {
		if p.Amount.Cmp(least) >= 0 {
			return known[i : i+1]
		}
	}
	if named {
		return known
	}
	return nil
}

// Follows reports whether payment came after deposit: by block number and time on one
// chain, by the blocks' times on two. If two chains' clocks differ, a later payment may
// carry an earlier time. It is then accepted only in a block after the head that was
// known just before the deposit was signed.
func Follows(o swap.Order, deposit, payment chain.Evidence) bool {
	if payment.Chain == deposit.Chain || !payment.Time.Before(deposit.Time) {
		return MayFollow(deposit, payment) && !payment.Time.Before(deposit.Time)
	}
	head, known := o.Heads[payment.Chain]
	return known && payment.Block > head && MayFollow(deposit, payment)
}

// MayFollow reports whether payment can have come after deposit, without regard to the
// head known when that was signed. That is enough for another order to contest a payment:
// in doubt it counts for neither.
func MayFollow(deposit, payment chain.Evidence) bool {
	if payment.Chain == deposit.Chain {
		return !payment.Time.Before(deposit.Time) && payment.Block >= deposit.Block
	}
	return deposit.Time.Sub(payment.Time) <= swap.ClockSlack
}

// ByAnybody reports whether any account may make the payment: no link names the order in its
// transaction, and who fills is not known.
func (x AwaitedPayment) ByAnybody() bool {
	if x.Link == nil {
		return len(x.From) == 0
	}
	return x.Link.Relay != nil
}

// ExceedsInput reports whether a payment is more than the input that a refund returns. The
// contract that took the input fills other orders too: such a payment is of one of those.
func (x AwaitedPayment) ExceedsInput(t swap.Terms, p Payment) bool {
	return x.By == swap.ProvenByRefund && x.Link == nil && x.Token == t.TokenIn && p.Amount.Cmp(t.AmountIn) > 0
}

// PlausibleAmount reports whether sum is plausible for a debt of least: at most twice as much.
func PlausibleAmount(sum, least *big.Int) bool { return sum.Cmp(new(big.Int).Lsh(least, 1)) <= 0 }

// Interchangeable reports whether two orders are the same to whoever settles them, except for the
// price. It then does not matter which of two payments belongs to which order.
func Interchangeable(a, b swap.Terms) bool {
	return a.SrcChain == b.SrcChain && a.TokenIn == b.TokenIn && a.AmountIn.Cmp(b.AmountIn) == 0 && a.RefundTo == b.RefundTo &&
		a.DstChain == b.DstChain && a.TokenOut == b.TokenOut && a.Recipient == b.Recipient
}

// Candidate returns the record of a payment that proves nothing.
func (x AwaitedPayment) Candidate(p Payment, ev chain.Evidence) *swap.CandidatePayment {
	return &swap.CandidatePayment{End: x.End(), Chain: ev.Chain, Tx: ev.Tx, Token: x.Token, Amount: p.Amount, From: p.From, Time: ev.Time, Log: p.Ref}
}

// Likely returns the payment of a transaction by which o is likely paid: the provider says
// that the transaction, which at least two hosts have, fills o, and it pays exactly once at
// least the minimum, and about what was offered, and not for another relay. all are its
// payments after o's deposit that ended no other order. Neither the recipient nor an account of
// the wallet's own, which mine recognises, must have paid.
func (x AwaitedPayment) Likely(o swap.Order, ev chain.Evidence, all []Payment, mine func(common.Address) bool) (Payment, bool) {
	enough := slices.DeleteFunc(slices.Clone(all), func(p Payment) bool { return p.Amount.Cmp(x.Least) < 0 })
	if x.By != swap.ProvenByArrival || o.Claim == nil || o.Claim.State != swap.Filled || o.Claim.Tx != ev.Tx || len(ev.Hosts) < 2 || len(enough) != 1 || x.FillsOtherRelay(ev) {
		return Payment{}, false
	}
	p := enough[0]
	ours := func(a common.Address) bool { return o.Terms.IsOwn(a) || a == x.To || mine(a) }
	most := new(big.Int).Div(new(big.Int).Mul(o.Offer.AmountOut, big.NewInt(11)), big.NewInt(10))
	return p, !p.Ref.BalanceIncrease && (p.Amount.Cmp(most) <= 0 || p.Amount.Cmp(x.Least) == 0) && !ours(p.From) && !ours(ev.From)
}

// agreement rates how well a payment agrees with the provider's claim: by its transaction
// first, then by the end.
func agreement(s *swap.CandidatePayment, c *swap.Claim) (n int) {
	switch {
	case s == nil:
		return -1
	case c == nil:
		return 0
	}
	if s.Tx == c.Tx {
		n += 2
	}
	if s.End == c.State {
		n++
	}
	return n
}

// BetterCandidate returns the payment that agrees better with the provider's claim; was, if both
// agree equally.
func BetterCandidate(was, now *swap.CandidatePayment, c *swap.Claim) *swap.CandidatePayment {
	if agreement(now, c) > agreement(was, c) {
		return now
	}
	return was
}

// The names of searches.
const (
	searchArrival = "arrival"
	searchRefund  = "refund"
	searchRelay   = "relay"
)
