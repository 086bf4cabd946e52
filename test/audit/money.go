package audit

import (
	"maps"
	"math/big"
	"slices"
	"strings"

	"github.com/ethereum/go-ethereum/common"
)

var native = common.Address{}

// A sum is what the transactions of an order moved.
type sum struct {
	spent   *big.Int // input that left on the source chain, without fees in the coin
	back    *big.Int // input, or refund token, that came on the source chain; what counts here does not count as got
	got     *big.Int // output that came on the destination chain
	wrapped *big.Int // balance of the wrapped coin that a native input became
	txs     int      // number of the account's own
}

// sumOf adds up what an order's own transactions and its evidence moved. Received native
// coin is taken from the verdict, which coins checks against the balances.
func (r *Audit) sumOf(o Order) sum {
	t := o.Terms
	s := sum{new(big.Int), new(big.Int), new(big.Int), new(big.Int), 0}
	in, out, given := t.TokenIn, t.TokenOut, t.TokenIn
	if o.State == "refunded" && t.Refund != nil {
		given = t.Refund.Token
	}
	for _, x := range r.owns {
		if r.claimed[x.tx.Hash()] == o.ID {
			s.txs++
			if in == native && t.Isolated == native && x.receipt.Status == 1 {
				s.spent.Add(s.spent, x.tx.Value())
			}
		}
	}
	if in == native && t.Isolated != native {
		s.spent = r.handedOver(o)
	}
	for _, m := range r.moves {
		if r.claimed[m.tx] != o.ID || m.account != t.Account {
			continue
		}
		switch {
		case m.chain == t.SrcChainID && m.token == in && m.amount.Sign() < 0:
			s.spent.Sub(s.spent, m.amount)
		case m.chain == t.SrcChainID && m.token == given && m.amount.Sign() > 0:
			s.back.Add(s.back, m.amount)
		case m.chain == t.DstChainID && m.token == out:
			s.got.Add(s.got, m.amount)
		}
		if m.chain == t.SrcChainID && t.Wrap != native && m.token == t.Wrap {
			s.wrapped.Add(s.wrapped, m.amount)
		}
	}
	if o.Verdict != nil && o.Verdict.Received != nil && o.Verdict.Received.Token == native {
		switch o.State {
		case "filled":
			s.got.Add(s.got, o.Verdict.Received.Amount.Int())
		case "refunded":
			s.back.Add(s.back, o.Verdict.Received.Amount.Int())
		}
	}
	return s
}

// ended has the check for each final state.
var ended = map[string]func(*Audit, Order, sum){
	"filled":    (*Audit).filled,
	"refunded":  (*Audit).refunded,
	"failed":    (*Audit).untouched,
	"expired":   (*Audit).untouched,
	"cancelled": (*Audit).untouched,
}

// filled checks that the whole input left once, and that the minimum arrived once.
func (r *Audit) filled(o Order, s sum) {
	t := o.Terms
	if t.Provider == "wallet" {
		r.movesNothing(o, s)
		return
	}
	spent := t.AmountIn.Int()
	if o.Verdict.Spent != nil {
		spent = o.Verdict.Spent.Amount.Int()
	}
	left := spent
	if o.Wrapped { // all of the coin left; the account may keep a part of it wrapped
		left = t.AmountIn.Int()
	}
	if s.spent.Cmp(left) != 0 {
		r.Find("%s: %s of the input left, want %s", r.orderLabel(o), s.spent, left)
	}
	if t.TokenOut == native && o.Verdict.Received == nil {
		return // the account's own call; see coins
	}
	if received := o.Verdict.Received; received != nil && received.Amount.Int().Cmp(s.got) != 0 {
		r.Find("%s: the verdict says that %s came, and it was %s", r.orderLabel(o), received.Amount, s.got)
	}
	minimum := t.MinimumReceived.Int()
	if short := s.got.Cmp(minimum) < 0; short != o.Verdict.BelowMinimum || s.got.Cmp(new(big.Int).Lsh(minimum, 1)) >= 0 {
		r.Find("%s: got %s, the minimum is %s, short %t", r.orderLabel(o), s.got, minimum, o.Verdict.BelowMinimum)
	}
	if r.oneForOne(t) && s.got.Cmp(t.AmountIn.Int()) != 0 {
		r.Find("%s: wrapped or unwrapped %s to %s", r.orderLabel(o), t.AmountIn, s.got)
	}
	share := new(big.Int).Div(new(big.Int).Mul(minimum, spent), t.AmountIn.Int()) // owed for a partial fill
	if s.got.Cmp(share) < 0 {                                                     // no provider here pays less than it owes: see drawProviders
		r.Find("%s: got %s for %s of the input, want %s", r.orderLabel(o), s.got, spent, share)
	}
}

// oneForOne reports whether an order wraps or unwraps the native coin by its contract. Other
// providers swap one for the other at their own price.
func (r *Audit) oneForOne(t terms) bool {
	return t.Provider == "dex" && t.SrcChainID == t.DstChainID && slices.ContainsFunc(r.Histories, func(h *chainHistory) bool {
		return h.ID == t.SrcChainID && (t.TokenIn == native && t.TokenOut == h.Wrapped || t.TokenIn == h.Wrapped && t.TokenOut == native)
	})
}

// refunded checks that the input left once, and that the accepted refund came once.
func (r *Audit) refunded(o Order, s sum) {
	minimum := o.Terms.AmountIn.Int()
	if o.Terms.Refund != nil {
		minimum = o.Terms.Refund.Amount.Int()
	}
	if s.spent.Cmp(o.Terms.AmountIn.Int()) != 0 {
		r.Find("%s: %s of the input left, want %s", r.orderLabel(o), s.spent, o.Terms.AmountIn)
	}
	back := s.back
	if received := o.Verdict.Received; received != nil && received.Amount.Int().Cmp(back) != 0 {
		r.Find("%s: the verdict says that %s came back, and it was %s", r.orderLabel(o), received.Amount, back)
	}
	if short := back.Cmp(minimum) < 0; short != o.Verdict.BelowMinimum || back.Cmp(new(big.Int).Lsh(minimum, 1)) >= 0 {
		r.Find("%s: %s came back, want %s, short %t", r.orderLabel(o), back, minimum, o.Verdict.BelowMinimum)
	}
	if o.Terms.Provider == "intent" && back.Cmp(o.Terms.AmountIn.Int()) > 0 {
		r.Find("%s: %s came back of %s", r.orderLabel(o), back, o.Terms.AmountIn)
	}
	if s.got.Sign() != 0 {
		r.Find("%s: %s of the output came as well", r.orderLabel(o), s.got)
	}
}

// movesNothing checks that a revoke moved nothing.
func (r *Audit) movesNothing(o Order, s sum) {
	if s.spent.Sign() != 0 || s.back.Sign() != 0 || s.got.Sign() != 0 {
		r.Find("%s: a revoke moved %s, %s and %s", r.orderLabel(o), s.spent, s.back, s.got)
	}
}

// untouched checks that nothing left, except what the account now holds wrapped.
func (r *Audit) untouched(o Order, s sum) {
	if o.Terms.Provider == "wallet" {
		r.movesNothing(o, s)
		return
	}
	spent := new(big.Int).Sub(s.spent, s.back)
	if o.Wrapped {
		spent.Sub(spent, s.wrapped)
	}
	if spent.Sign() != 0 || s.got.Sign() != 0 {
		r.Find("%s: %s of the input left and %s of the output came", r.orderLabel(o), spent, s.got)
	}
}

// checkBooked compares an order's end with the provider's records.
func (r *Audit) checkBooked(o Order, e Entry) {
	paid := e.Payment != (common.Hash{}) && (r.mined(o.Terms.DstChainID, e.Payment) || r.mined(o.Terms.SrcChainID, e.Payment))
	switch {
	case paid && !e.IsRefund && o.Final && o.State != "filled":
		r.Find("%s: the provider paid by %s", r.orderLabel(o), e.Payment)
	case paid && e.IsRefund && o.Final && o.State != "refunded":
		r.Find("%s: the provider gave back by %s", r.orderLabel(o), e.Payment)
	case !paid && (o.State == "filled" || o.State == "refunded"):
		r.Find("%s: the provider paid nothing", r.orderLabel(o))
	case paid && o.Final && o.Verdict.Evidence != nil && o.Verdict.Evidence.Tx != e.Payment:
		r.Find("%s: the evidence is %s, the provider paid by %s", r.orderLabel(o), o.Verdict.Evidence.Tx, e.Payment)
	}
}

// A strayPayment is a provider's payment for a deposit that its chain has dropped since.
type strayPayment struct {
	chain            uint64
	to, token        common.Address
	minimum, maximum *big.Int
}

// paymentRange returns what a provider's payment can have been for an order: about the input if
// it is a refund, otherwise about the output.
func paymentRange(o Order, e Entry) strayPayment {
	t := o.Terms
	g := strayPayment{t.DstChainID, t.Account, t.TokenOut, t.MinimumReceived.Int(), nil}
	if e.IsRefund {
		g.chain, g.token, g.minimum = t.SrcChainID, t.TokenIn, t.AmountIn.Int()
		if t.Refund != nil {
			g.token, g.minimum = t.Refund.Token, t.Refund.Amount.Int()
		}
	}
	g.maximum = new(big.Int).Lsh(g.minimum, 1)
	return g
}

// findDropped records deposits that providers know and that reorgs dropped from their chains,
// and what was paid for them. That loss is the provider's.
func (r *Audit) findDropped() {
	for _, kind := range slices.Sorted(maps.Keys(ProviderOrders)) {
		for _, e := range r.book(kind) {
			if o, ours := r.depositOf(kind, e); ours && r.txMissing(o.Terms.SrcChainID, e.Deposit) {
				r.Count("deposits that a provider had, and no chain has", 1)
				r.recordDropped(o, e)
			}
		}
	}
}

// recordDropped records that the deposit of a provider's entry was dropped.
func (r *Audit) recordDropped(o Order, e Entry) {
	r.droppedDeposits[e.Deposit] = true
	if e.Payment != (common.Hash{}) && !endedBy(o, e) {
		r.strayPayments[e.Payment] = paymentRange(o, e)
	}
}

// depositOf returns the order whose deposit an entry names.
func (r *Audit) depositOf(kind string, e Entry) (Order, bool) {
	rec, ours := r.records[e.Deposit]
	o, known := r.orders[orderOf(rec)]
	return o.Order, ours && known && o.Order.Terms.Provider == kind
}

// txMissing reports whether no block of a chain has the transaction.
func (r *Audit) txMissing(chain uint64, tx common.Hash) bool {
	receipt, err := r.Chains[chain].Receipt(r.Context, tx)
	if err != nil {
		r.Find("chain %d: transaction %s: %v", chain, tx, err)
	}
	return err == nil && receipt == nil
}

// checkProviders checks that every order in a provider's records is one of ours.
func (r *Audit) checkProviders() {
	for _, kind := range slices.Sorted(maps.Keys(ProviderOrders)) {
		all := r.book(kind)
		for _, e := range all {
			if !r.known(kind, e) {
				r.Find("%s has order %s, which nobody knows; deposit %s, payment %s", kind, e.Ref, e.Deposit, e.Payment)
			}
		}
		r.Count("orders at "+kind, len(all))
	}
}

// known reports whether an order in a provider's records is one of ours: by its name, by
// its payment if the order ended before the provider named it, or by its dropped deposit.
func (r *Audit) known(kind string, e Entry) bool {
	for _, o := range r.orders {
		switch o := o.Order; {
		case o.Terms.Provider != kind:
		case o.ProviderOrderID != "" && strings.EqualFold(o.ProviderOrderID, e.Ref):
			return true
		case o.ProviderOrderID == "" && endedBy(o, e):
			r.Count("orders that ended before they were named", 1)
			return true
		}
	}
	_, ours := r.depositOf(kind, e)
	return ours && r.droppedDeposits[e.Deposit]
}

// checkMovements checks that every movement of tokens belongs to an order, by its own
// transactions, its verdict or a payment it awaits, or is a gift.
func (r *Audit) checkMovements() {
	for _, m := range r.moves {
		o, known := r.orders[r.claimed[m.tx]]
		switch {
		case r.strayPayments[m.tx].is(m):
		case !known:
			r.Find("chain %d, block %d: %s of %s moved for %s in %s, which is of no order", m.chain, m.block, m.amount, m.token, m.account, m.tx)
		case !slices.Contains(tokensOf(o.Order, m.chain), m.token):
			r.Find("%s: %s of %s moved in %s, which it is not about", r.orderLabel(o.Order), m.amount, m.token, m.tx)
		}
	}
}

// checkBalances checks that each account's balance of each token changed by what the logs moved.
func (r *Audit) checkBalances() {
	for _, h := range r.Histories {
		for of, had := range h.before {
			want := new(big.Int).Set(had)
			for _, m := range r.moves {
				if m.chain == h.ID && m.account == of.account && m.token == of.token {
					want.Add(want, m.amount)
				}
			}
			if has := h.after[of]; has.Cmp(want) != 0 {
				r.Find("chain %d: %s has %s of %s, want %s by the transfers", h.ID, of.account, has, of.token, want)
			}
		}
	}
}

// tokensOf returns the tokens that an order may move on a chain.
func tokensOf(o Order, chain uint64) (all []common.Address) {
	if chain == o.Terms.SrcChainID {
		all = append(all, o.Terms.TokenIn, o.Terms.Wrap)
		if o.Terms.Refund != nil {
			all = append(all, o.Terms.Refund.Token)
		}
	}
	if chain == o.Terms.DstChainID {
		all = append(all, o.Terms.TokenOut)
	}
	return all
}

// is reports whether a movement belongs to a gift.
func (g strayPayment) is(m movement) bool {
	return g.minimum != nil && m.chain == g.chain && m.account == g.to && m.token == g.token && m.amount.Cmp(g.minimum) >= 0 && m.amount.Cmp(g.maximum) <= 0
}

// paymentOf returns what a provider's payment moved for an order.
func (r *Audit) paymentOf(o Order, e Entry) (movement, bool) {
	g := paymentRange(o, e)
	if g.token != native {
		i := slices.IndexFunc(r.moves, func(m movement) bool { return m.tx == e.Payment && g.is(m) })
		if i < 0 {
			return movement{}, false
		}
		return r.moves[i], true
	}
	tx, err := r.Chains[g.chain].Tx(r.Context, e.Payment)
	if err != nil || tx.To() == nil {
		return movement{}, false
	}
	m := movement{chain: g.chain, tx: e.Payment, token: native, account: *tx.To(), amount: tx.Value()}
	return m, g.is(m)
}

// ambiguousPayment reports whether another open order of the same account waits for an open
// order's payment too, as output or refund: nothing shows which of them it ends as long as
// the other's provider has paid nothing.
func (r *Audit) ambiguousPayment(o Order, e Entry, unpaid func(Order) bool) bool {
	m, is := r.paymentOf(o, e)
	if !is {
		return false
	}
	for _, other := range r.orders {
		p := other.Order
		if p.ID == o.ID || p.Final || p.State != "settling" {
			continue
		}
		fits := paymentRange(p, Entry{}).is(m) || paymentRange(p, Entry{IsRefund: true}).is(m)
		if fits && unpaid(p) {
			return true
		}
	}
	return false
}

// unpaid reports whether an order's provider has it and has paid nothing for it.
func (r *Audit) unpaid(o Order) bool {
	e, _ := r.inBook(o)
	return e != nil && e.Payment == (common.Hash{})
}
