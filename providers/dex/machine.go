package dex

import (
	"bytes"
	"math/big"
	"slices"
	"time"

	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

var nativeCoin = common.Address{}

// A holding is what the router is known to have of a token while the commands run. What
// others left there before is not counted.
type holding struct {
	exact *big.Int // from commands with explicit amounts
	some  bool     // and an unknown amount, from a swap
}

func (h *holding) empty() bool { return h == nil || h.exact.Sign() == 0 && !h.some }

// A machine executes the router's commands abstractly. Its rules are narrower than the
// router's: funds flow from the account through swaps to fees and the recipient, in this
// order, and nowhere else. Every rule below that refuses closes a way to pay somebody else,
// to pay twice, to leave something in the router for the next caller to take, or to make a
// minimum worthless.
type machine struct {
	t    swap.Terms
	pair tokenPair

	held       map[common.Address]*holding // by token; the native coin is address zero
	pulled     *big.Int                    // of the input token, through Permit2
	minOut     *big.Int                    // the minimum enforced for the recipient so far
	swaps      int
	direct     bool        // an output went to the recipient without passing the router
	handedOver bool        // an output was handed over, or a fee taken: no swap may follow
	prepayment *prepayment // for the next swap
	permit     *signedPermit
	payments   []swap.Payment // fees, named in the output token's own form
}

func newMachine(t swap.Terms, pr tokenPair, value *big.Int) *machine {
	return &machine{
		t: t, pair: pr, pulled: new(big.Int), minOut: new(big.Int),
		held: map[common.Address]*holding{nativeCoin: {exact: new(big.Int).Set(value)}},
	}
}

// in and out are the ends of every route as pools hold them: wrapped for native.
func (m *machine) in() common.Address  { return m.pair.pooled(m.t.TokenIn) }
func (m *machine) out() common.Address { return m.pair.pooled(m.t.TokenOut) }

func (m *machine) holding(token common.Address) *holding {
	if m.held[token] == nil {
		m.held[token] = &holding{exact: new(big.Int)}
	}
	return m.held[token]
}

// A destination is where a command sends funds.
type destination int

const (
	elsewhere destination = iota
	toRecipient
	toRouter
)

// destinationOf resolves an address as the router does, with its constants for caller and itself.
func (m *machine) destinationOf(a common.Address) destination {
	switch a {
	case msgSender:
		a = m.t.Account
	case addressThis:
		a = m.pair.router
	}
	switch a {
	case m.t.Recipient:
		return toRecipient
	case m.pair.router:
		return toRouter
	}
	return elsewhere
}

// take removes n of a token from what the router holds; contractBalance means all.
func (m *machine) take(token common.Address, n *big.Int) (*big.Int, error) {
	h := m.holding(token)
	switch {
	case h.empty():
		return nil, refuse(swap.Undecodable, "amount", "the router has no %s at this point", token)
	case n.Cmp(contractBalance) == 0:
		all := h.exact
		m.held[token] = nil
		return all, nil
	case n.Sign() == 0:
		return nil, refuse(swap.Undecodable, "amount", "an amount of zero means something else to the router")
	case h.exact.Cmp(n) < 0:
		return nil, refuse(swap.NotAsAccepted, "amount", "more of %s is taken than was brought", token)
	}
	h.exact.Sub(h.exact, n)
	return n, nil
}

// betweenSwaps reports whether all of one form of the coin may be converted to the other in the
// router: it came out of a swap in the middle of a route, and neither end of the route is
// the coin. The conversion is one to one, and no minimum rests on it.
func (m *machine) betweenSwaps(form, to common.Address) bool {
	coin := func(a common.Address) bool { return a == nativeCoin || a == m.pair.wrapped }
	h := m.holding(form)
	return !m.handedOver && h.some && h.exact.Sign() == 0 && m.destinationOf(to) == toRouter && !coin(m.t.TokenIn) && !coin(m.t.TokenOut)
}

func (m *machine) convert(from, into common.Address) {
	m.held[from] = nil
	m.holding(into).some = true
}

// wrap runs WRAP_ETH: native coin of the router becomes wrapped coin of to.
func (m *machine) wrap(to common.Address, n *big.Int) error {
	if n.Cmp(contractBalance) == 0 && m.betweenSwaps(nativeCoin, to) {
		m.convert(nativeCoin, m.pair.wrapped)
		return nil
	}
	if m.t.TokenIn != nativeCoin || m.handedOver {
		return refuse(swap.NotAsAccepted, "commands", "nothing is to be wrapped at this point")
	}
	n, err := m.take(nativeCoin, n)
	if err != nil {
		return err
	}
	switch m.destinationOf(to) {
	case toRouter:
		h := m.holding(m.pair.wrapped)
		h.exact.Add(h.exact, n)
		return nil
	case toRecipient:
		if m.pair.wrap {
			m.minOut.Add(m.minOut, n)
			m.direct = true
			return nil
		}
	}
	return refuse(swap.NotAsAccepted, "recipient", "the wrapped input goes to %s", to)
}

// swap runs a swap of an exact input through pools. The output is unknown; its minimum
// counts only where it is paid to the recipient.
func (m *machine) swap(l leg) error {
	if m.handedOver {
		return refuse(swap.Undecodable, "commands", "a swap after the output was shared out")
	}
	if err := m.checkPath(l.path); err != nil {
		return err
	}
	first, last := l.path[0], l.path[len(l.path)-1]
	if err := m.pay(first, l); err != nil {
		return err
	}
	m.swaps++
	where := m.destinationOf(l.to)
	if where == elsewhere && !l.byBalance && m.pair.pairs != nil {
		m.prepayment = &prepayment{last, l.to}
		return nil
	}
	switch where {
	case toRouter:
		m.holding(last).some = true
		return nil
	case toRecipient:
		if l.byBalance && (len(l.path) != 2 || first != m.in()) {
			return refuse(swap.NotAsAccepted, "minOut", "a token between the two could have another payment to the recipient count as this swap's")
		}
		if last == m.t.TokenOut { // not the wrapped form of a native output
			m.minOut.Add(m.minOut, l.min)
			m.direct = true
			return nil
		}
	}
	return m.wrongRecipient(last, l.to)
}

// wrongRecipient refuses funds that go elsewhere. The API does not document the recipient that
// it is sent, and may ignore it.
func (m *machine) wrongRecipient(token, to common.Address) error {
	if m.t.Recipient != m.t.Account && (to == msgSender || to == m.t.Account) {
		return refuse(swap.NotAsAccepted, "recipient", "%s goes to the account: the dex provider passed over the recipient; swap to the account and send it on", token)
	}
	return refuse(swap.NotAsAccepted, "recipient", "%s goes to %s", token, to)
}

// checkPath requires distinct tokens; the input may only begin a path, the output end it.
func (m *machine) checkPath(path []common.Address) error {
	if len(path) < 2 || len(path) > maxHops+1 {
		return refuse(swap.Undecodable, "path", "a path over %d pools", len(path)-1)
	}
	for i, token := range path {
		switch {
		case slices.Contains(path[:i], token):
			return refuse(swap.Undecodable, "path", "the path passes %s twice", token)
		case token == nativeCoin || !m.pair.isToken(token):
			return refuse(swap.Undecodable, "path", "%s is no token of a pool", token)
		case token == m.in() && i != 0:
			return refuse(swap.NotAsAccepted, "tokenIn", "the path returns to the input token")
		case token == m.out() && i != len(path)-1:
			return refuse(swap.NotAsAccepted, "tokenOut", "the path leads away from the output token")
		}
	}
	return nil
}

// pay takes a leg's input: from the account only the input token, with an explicit amount;
// else from what the router holds, or from a pool that was paid before.
func (m *machine) pay(token common.Address, l leg) error {
	switch {
	case m.prepayment != nil:
		return m.payFromPool(token, l)
	case !l.fromUser:
		_, err := m.take(token, l.in)
		return err
	case token != m.t.TokenIn:
		return refuse(swap.NotAsAccepted, "tokenIn", "%s would leave the account", token)
	case l.in.Sign() == 0 || l.in.Cmp(m.t.AmountIn) > 0: // contractBalance is refused too: it is above every amount
		return refuse(swap.NotAsAccepted, "amountIn", "a swap does not take a part of the amount").WithAmounts(swap.OfInput, l.in, m.t.AmountIn)
	}
	m.pulled.Add(m.pulled, l.in)
	return nil
}

// payPortion runs PAY_PORTION: a fee in basis points of what the router holds of the
// output. Once one is taken nothing is added any more, so its base is the whole output.
func (m *machine) payPortion(token, to common.Address, bips *big.Int) error {
	if h := m.holding(token); !h.some || h.exact.Sign() != 0 || m.otherForm(token) {
		return refuse(swap.NotAsAccepted, "fee", "a fee is taken where the output is not, or is only in part")
	}
	return m.fee(token, to, bips)
}

// fee records a fee on the whole output, in one of its forms.
func (m *machine) fee(token, to common.Address, bips *big.Int) error {
	switch {
	case token != m.out() && token != m.t.TokenOut:
		return refuse(swap.NotAsAccepted, "fee", "a fee is taken in the token %s, not in the output token", token)
	case !bips.IsInt64() || bips.Int64() <= 0 || bips.Int64() > 10_000:
		return refuse(swap.NotAsAccepted, "fee", "a fee of %s bps", bips)
	case m.destinationOf(to) != elsewhere || reserved(to, m.pair.deployment) || to == m.t.Account || to == nativeCoin:
		return refuse(swap.Undecodable, "fee", "a fee is paid to %s, who is a party to the swap", to)
	case slices.ContainsFunc(m.payments, func(p swap.Payment) bool { return p.To == to }):
		return refuse(swap.NotAsAccepted, "fee", "%s is paid twice", to)
	}
	m.handedOver = true
	m.payments = append(m.payments, swap.Payment{Token: m.t.TokenOut, To: to, Bps: int(bips.Int64())})
	return nil
}

// otherForm reports whether part of a native output is held in the form, native or wrapped,
// that token is not.
func (m *machine) otherForm(token common.Address) bool {
	if m.t.TokenOut != nativeCoin {
		return false
	}
	other := nativeCoin
	if token == nativeCoin {
		other = m.pair.wrapped
	}
	return !m.holding(other).empty()
}

// sweep runs SWEEP: all of a token in the router goes to the recipient, at least min.
func (m *machine) sweep(token, to common.Address, min *big.Int) error {
	if m.destinationOf(to) != toRecipient {
		return m.wrongRecipient(token, to)
	}
	if m.holding(token).empty() {
		return m.leftover(token, min)
	}
	if token != m.t.TokenOut {
		return refuse(swap.NotAsAccepted, "commands", "%s is handed over, which is not the output token", token)
	}
	m.handOver(token, min)
	return nil
}

// unwrap runs UNWRAP_WETH: all wrapped coin that the router holds becomes native coin.
func (m *machine) unwrap(to common.Address, min *big.Int) error {
	where, wrapped := m.destinationOf(to), m.pair.wrapped
	h := m.holding(wrapped)
	switch {
	case min.Sign() == 0 && m.betweenSwaps(wrapped, to):
		m.convert(wrapped, nativeCoin)
	case where == toRecipient && h.empty():
		return m.leftover(wrapped, min)
	case where == elsewhere && m.t.TokenOut == nativeCoin:
		return m.wrongRecipient(nativeCoin, to)
	case m.t.TokenOut != nativeCoin || !h.some || h.exact.Sign() != 0:
		return refuse(swap.NotAsAccepted, "commands", "unwrapping to %s is not part of the accepted swap", to)
	case where == toRecipient:
		m.handOver(wrapped, min)
	default:
		m.convert(wrapped, nativeCoin)
	}
	return nil
}

func (m *machine) handOver(token common.Address, min *big.Int) {
	m.held[token] = nil
	m.minOut.Add(m.minOut, min)
	m.handedOver = true
}

// leftover allows input that a pool may not have taken to be sent back. By the commands
// there is none, so no minimum of it may be promised.
func (m *machine) leftover(token common.Address, min *big.Int) error {
	if min.Sign() != 0 || token != nativeCoin && token != m.in() && token != m.out() {
		return refuse(swap.Undecodable, "commands", "a minimum of %s, of which the router has none", token)
	}
	return nil
}

// finish checks what must hold after the last command.
func (m *machine) finish() error {
	if err := m.checkNoPrepayment(); err != nil {
		return err
	}
	for token, h := range m.held {
		if !h.empty() {
			return refuse(swap.NotAsAccepted, "commands", "%s stays in the router, where anybody can take it", token)
		}
	}
	pulled := m.t.AmountIn
	if m.t.TokenIn == nativeCoin {
		pulled = new(big.Int) // the value sent along is accounted for in held
	}
	theirs := 0
	ours := false
	for _, p := range m.payments {
		if m.t.FeeBps > 0 && p.To == m.t.FeeReceiver {
			ours = p.Bps == m.t.FeeBps
		} else {
			theirs += p.Bps
		}
	}
	switch {
	case m.pulled.Cmp(pulled) != 0:
		return refuse(swap.NotAsAccepted, "amountIn", "the swap does not pull exactly the amount").WithAmounts(swap.OfInput, m.pulled, pulled)
	case m.minOut.Sign() == 0:
		return refuse(swap.NotAsAccepted, "minOut", "no minimum is enforced for the recipient")
	case m.direct && len(m.payments) > 0:
		return refuse(swap.NotAsAccepted, "fee", "a fee is taken from a part of the output")
	case m.swaps > 0 && m.t.FeeBps > 0 && !ours:
		return refuse(swap.NotAsAccepted, "feeBps", "the wallet's fee is not %d bps to %s", m.t.FeeBps, m.t.FeeReceiver)
	case theirs > m.t.MakerFeeBps:
		return refuse(swap.NotAsAccepted, "makerFeeBps", "the dex provider's fee is %d bps; at most %d are allowed", theirs, m.t.MakerFeeBps)
	}
	return nil
}

// effect returns what certainly happens. Fees are in a fixed order and in one form of a
// native output, so that the digest does not depend on the order of commands.
func (m *machine) effect(deadline time.Time) swap.Effect {
	f := swap.Effect{
		Kind: swap.Swap, Chain: m.t.SrcChain, Target: m.pair.router,
		Spends:   []swap.Spend{{Token: m.t.TokenIn, Amount: new(big.Int).Set(m.t.AmountIn)}},
		Receives: []swap.Receive{{Token: m.t.TokenOut, To: m.t.Recipient, Min: m.minOut}},
		Pays:     m.payments, Deadline: deadline.UTC(),
	}
	sortFees(f.Pays, m.t.FeeReceiver)
	if m.permit != nil {
		f.Approves = []swap.Approval{m.permit.approval()}
	}
	return f
}

// sortFees puts the wallet's own fee first and the others in order of address.
func sortFees(fees []swap.Payment, own common.Address) {
	slices.SortFunc(fees, func(a, b swap.Payment) int {
		if (a.To == own) != (b.To == own) {
			if a.To == own {
				return -1
			}
			return 1
		}
		return bytes.Compare(a.To[:], b.To[:])
	})
}
