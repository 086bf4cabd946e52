package engine

import (
	"context"
	"errors"
	"maps"
	"math/big"
	"slices"
	"time"

	"swapkeep/chain"
	"swapkeep/swap"
	"swapkeep/swap/proof"

	"github.com/ethereum/go-ethereum/common"
	"pgregory.net/rapid"
)

// A broker is a provider that takes the input by an opaque call, for a solver to pay the
// output on the same chain or the other one, or to refund the input. It may do and claim
// anything.
type broker struct {
	m     *model
	mood  string          // of brokerMoods
	wraps bool            // takes the coin only as a token
	known map[string]bool // orders that were submitted
}

// modelSolver pays for the broker.
var modelSolver = common.HexToAddress("0xf70da97812CB96acDF810712Aa562db8dfA3dbEF")

// A brokerLie is what a broker fakes, and what it claims about each order; nil = the
// truth.
type brokerLie struct {
	lie
	claim func(m *model, o swap.Order) swap.Claim
}

// brokerMoods are what a broker may do to every request.
var brokerMoods = map[string]brokerLie{
	"":                 {},
	"down":             {lie: lie{err: swap.Refuse(swap.ProviderDown, "gone")}},
	"answer lost":      {lie: lie{takenErr: errors.New("connection reset")}},
	"question lost":    {lie: lie{dropErr: errors.New("connection reset")}},
	"refuses":          {lie: lie{dropErr: swap.Refuse(swap.ProviderRefused, "never heard of it")}},
	"short quotes":     {lie: lie{offer: func(o *swap.Offer) { o.Expires = time.Now().Add(12 * time.Second) }}},
	"wide slippage":    {lie: lie{offer: func(o *swap.Offer) { o.MinOut = swap.MinAfterSlippage(o.MinOut, 300) }}},
	"takes more":       changed(func(x *handOver) { x.amount *= 2 }),
	"takes less":       changed(func(x *handOver) { x.amount /= 2 }),
	"another token":    changed(func(x *handOver) { x.token = map[bool]common.Address{true: usdt, false: usdc}[x.token == usdc] }),
	"greedy in blocks": changed(func(x *handOver) { x.greedy = true }),
	"greedy":           changed(func(x *handOver) { x.greedy, x.openly = true, true }),
	"of a token":       {lie: lie{call: func(c *chain.Call) { c.To, c.Data = usdt, sweepSelector }}},
	"of nobody":        {lie: lie{call: func(c *chain.Call) { c.To = thief }}},
	"of the router":    {lie: lie{call: func(c *chain.Call) { c.To = router }}},
	"of Permit2":       {lie: lie{call: func(c *chain.Call) { c.To = swap.Permit2Contract }}},
	"sends more":       {lie: lie{call: func(c *chain.Call) { c.Value = new(big.Int).Add(c.Value, big.NewInt(1)) }}},
	"approves":         {lie: lie{call: func(c *chain.Call) { c.Data = slices.Concat(erc20Approve, pad(thief), word(9e17)) }}},
	"says filled":      {claim: func(*model, swap.Order) swap.Claim { return swap.Claim{State: swap.Filled} }},
	"says failed":      {claim: func(*model, swap.Order) swap.Claim { return swap.Claim{State: swap.Failed} }},
	"says refunded":    {claim: func(*model, swap.Order) swap.Claim { return swap.Claim{State: swap.Refunded} }},
	"names nonsense": {claim: func(_ *model, o swap.Order) swap.Claim {
		return swap.Claim{State: swap.Filled, Tx: bidHash("nonsense"), Chain: o.Terms.DstChain}
	}},
	"names the deposit": {claim: func(_ *model, o swap.Order) swap.Claim {
		return swap.Claim{State: swap.Refunded, Tx: o.Results[len(o.Results)-1].Tx, Chain: o.Terms.SrcChain}
	}},
	"names another's": {claim: func(m *model, o swap.Order) swap.Claim {
		for _, c := range m.chains {
			for _, b := range c.blocks {
				for _, x := range b.payments {
					if x.order != o.ID {
						return swap.Claim{State: swap.Filled, Tx: x.hash, Chain: c.net.ID}
					}
				}
			}
		}
		return swap.Claim{State: swap.Settling}
	}},
}

// changed returns a broker whose calls deposit something else.
func changed(change func(*handOver)) brokerLie {
	return brokerLie{lie: lie{call: func(c *chain.Call) {
		x, _ := handOverIn(c.Data)
		change(&x)
		c.Data = x.data()
	}}}
}

func (k *broker) Kind() swap.Kind { return swap.Intent }

// Pins returns the vault on both chains.
func (k *broker) Pins() (pins swap.Pins) {
	for _, c := range k.m.chains {
		pins = append(pins, swap.Pin{Chain: c.net.ID, Role: swap.Depot, Address: depot})
	}
	return pins
}

func (k *broker) Quote(_ context.Context, r swap.QuoteRequest) ([]swap.Offer, error) {
	k.m.hook(false)
	l := brokerMoods[k.mood]
	c, err := k.m.chainOf(r.SrcChain)
	if err := errors.Join(err, l.err); err != nil {
		return nil, err
	}
	out := new(big.Int).SetUint64(c.priceOut(r.AmountIn.Uint64()))
	o := swap.Offer{AmountOut: out, MinOut: swap.MinAfterSlippage(out, r.SlippageBps), Routing: "FILLER", Gas: 150_000, Expires: time.Now().Add(40 * time.Second)}
	if k.wraps && r.TokenIn == chain.Native {
		o.Wrap = c.net.WrappedNative
	}
	if l.offer != nil {
		l.offer(&o)
	}
	return []swap.Offer{o}, nil
}

func (k *broker) Build(_ context.Context, _ swap.Offer, t swap.Terms) (swap.Built, error) {
	k.m.hook(false)
	l := brokerMoods[k.mood]
	if l.err != nil {
		return swap.Built{}, l.err
	}
	call := chain.Call{ChainID: t.SrcChain, From: t.Account, To: depot, Value: new(big.Int), Data: handOver{token: t.Input(), amount: t.AmountIn.Uint64()}.data()}
	if t.Input() == chain.Native {
		call.Value = t.AmountIn
	}
	l.twist(&call, false)
	built := swap.Built{Steps: []swap.Step{{Kind: swap.CallStep, Call: &call}}, Settlement: swap.ByProvider}
	if t.Input() != chain.Native {
		built.Spender = call.To
	}
	return built, nil
}

// Decode does not decode the call.
func (k *broker) Decode(t swap.Terms, s swap.Step) (swap.Effect, error) {
	return swap.Effect{Kind: swap.Opaque, Chain: s.Call.ChainID, Target: s.Call.To, Spends: []swap.Spend{{Token: t.Input(), Amount: t.AmountIn}}, TrustedTo: "a broker"}, nil
}

func (k *broker) Submit(_ context.Context, o swap.Order) (string, error) {
	k.m.hook(false)
	l := brokerMoods[k.mood]
	if l.err != nil {
		return "", l.err
	}
	k.m.checkTold(o)
	if d, _ := proof.DepositEvidence(o); d == nil || !d.Success {
		k.m.t.Fatalf("the broker is told of what was not handed over")
	}
	if l.dropErr == nil {
		k.known[o.ID] = true
	}
	k.m.hook(false)
	if err := errors.Join(l.dropErr, l.takenErr); err != nil {
		return "", err
	}
	return "handed over", nil
}

func (k *broker) Status(_ context.Context, o swap.Order) (swap.Claim, error) {
	k.m.hook(false)
	l := brokerMoods[k.mood]
	switch {
	case l.err != nil:
		return swap.Claim{}, l.err
	case l.claim != nil:
		return l.claim(k.m, o), nil
	case !k.known[o.ID]:
		return swap.Claim{}, swap.Refuse(swap.OrderUnknown, "never heard of it")
	}
	return k.truth(o), nil
}

// truth names the last payment for an order that ended no other order. It never calls
// some of them final.
func (k *broker) truth(o swap.Order) swap.Claim {
	claim := swap.Claim{State: swap.Settling}
	for _, id := range []uint64{o.Terms.SrcChain, o.Terms.DstChain} {
		c, _ := k.m.chainOf(id)
		for _, b := range c.blocks {
			for _, x := range b.payments {
				if x.order == o.ID && x.by == modelSolver && !k.m.usedFor(x.hash, o.ID) {
					claim = swap.Claim{State: x.end, Tx: x.hash, Chain: id}
					if x.hash[0]%3 == 0 {
						claim.State = swap.Settling
					}
				}
			}
		}
	}
	return claim
}

// usedFor reports whether a payment ended an order other than except.
func (m *model) usedFor(hash common.Hash, except string) bool {
	return slices.ContainsFunc(m.orders(), func(o swap.Order) bool {
		return o.ID != except && o.Verdict != nil && slices.ContainsFunc(o.Verdict.Logs, func(r swap.LogRef) bool { return r.Tx == hash })
	})
}

func (k *broker) Proof(o swap.Order) (swap.Proof, error) {
	t := o.Terms
	back := t.MinRefund()
	return swap.Proof{Arrival: &swap.Arrival{Chain: t.DstChain, Token: t.TokenOut, To: t.Recipient, Least: t.MinOut, From: []common.Address{modelSolver}},
		Refund: &swap.Arrival{Chain: t.SrcChain, Token: back.Token, To: t.RefundTo, Least: back.Amount, From: []common.Address{modelSolver}}}, nil
}

// drawBrokerMood draws the broker's mood.
func (m *model) drawBrokerMood(t *rapid.T) bool {
	m.broker.mood = rapid.SampledFrom(slices.Sorted(maps.Keys(brokerMoods))).Draw(t, "mood")
	return true
}

// drawPlot draws a mood in which the broker builds something false.
func (m *model) drawPlot(t *rapid.T) string {
	plots := slices.DeleteFunc(slices.Sorted(maps.Keys(brokerMoods)), func(mood string) bool { return brokerMoods[mood].call == nil })
	return rapid.SampledFrom(plots).Draw(t, "plot")
}

// buildFalsely makes the broker offer a swap and build something false, with a host of each chain
// that may lie for it. Another wallet may have approved the vault before.
func (m *model) buildFalsely(t *rapid.T) bool {
	c := m.drawChain(t)
	r := m.drawHandOver(t, c)
	m.broker.mood = m.drawPlot(t)
	if rapid.Bool().Draw(t, "left over") {
		token := rapid.SampledFrom([]common.Address{r.TokenIn, usdc, usdt}).Draw(t, "token")
		if token != chain.Native && m.sendFromOtherWallet(c, slices.Index(m.who[:], r.Account), 0, 400, token, allowsTheVault) {
			c.mine(time.Now(), false)
		}
	}
	if rapid.IntRange(0, 3).Draw(t, "lies for it") > 0 {
		for _, c := range m.chains {
			c.liar, c.about = rapid.IntRange(1, len(modelHosts)).Draw(t, "liar"), rapid.SampledFrom(modelLies).Draw(t, "about")
		}
	}
	if r, ok := m.review(r, swap.Intent); ok {
		m.count("plot reviewed")
		m.execute(r, false)
	}
	return true
}

// buildFalselyAfterExpiry has the broker offer a swap, and build something false once its quote has expired.
func (m *model) buildFalselyAfterExpiry(t *rapid.T) bool {
	m.broker.mood = "short quotes"
	r, ok := m.review(m.drawHandOver(t, m.drawChain(t)), swap.Intent)
	m.broker.mood = m.drawPlot(t)
	if !ok {
		return true
	}
	m.execute(r, false)
	time.Sleep(15 * time.Second)
	return m.settle(t)
}

// deposits returns the open orders whose input was deposited, by the chain.
func (m *model) deposits() (handed []swap.Order) {
	for _, id := range m.open() {
		if o := m.order(id); o.Terms.Provider == swap.Intent && m.chainOutcomeOf(o, m.records()).taken > 0 {
			handed = append(handed, o)
		}
	}
	return handed
}

// pay has somebody pay for an order whose input was deposited, roughly as agreed.
func (m *model) pay(t *rapid.T) bool {
	o, ok := drawOne(t, "deposit", m.deposits())
	if !ok {
		return false
	}
	x := m.fillOf(o)
	if rapid.IntRange(0, 2).Draw(t, "refund") == 0 {
		x = m.refundOf(o)
	}
	switch rapid.SampledFrom([]string{"", "", "", "", "more", "less", "stranger", "token"}).Draw(t, "how") {
	case "more":
		x.amount += x.amount / 10
	case "less":
		x.amount /= 2
	case "stranger":
		x.by = thief
	case "token":
		x.token = x.chain.net.WrappedNative
	}
	m.count("paid " + string(x.end))
	x.chain.paid(x)
	return true
}

// serve pays for every order whose input was deposited, as agreed and in a form that the
// chain shows in its logs, where possible.
func (m *model) serve() {
	for i, o := range m.deposits() {
		x := m.fillOf(o)
		if r := m.refundOf(o); x.token == chain.Native && r.token != chain.Native || r.token != chain.Native && i%2 == 1 {
			x = r
		}
		x.chain.paid(x)
	}
}

// hopeless reports whether nothing can prove o's end any more: the broker's claim is
// final, and native payments count only if it names them; or a deposit that had counted
// was removed for good by a reorg.
func (m *model) hopeless(o swap.Order) bool {
	if o.Terms.Provider != swap.Intent || o.State != swap.Settling {
		return false
	}
	last := o.Claim != nil && o.Claim.State.Final() && o.Terms.TokenOut == chain.Native && o.Terms.MinRefund().Token == chain.Native
	f := m.chainOutcomeOf(o, m.records())
	return last || f.shaken && f.taken == 0
}

func (m *model) fillOf(o swap.Order) modelPayment {
	c, _ := m.chainOf(o.Terms.DstChain)
	return m.payment(c, o, swap.Filled, o.Terms.TokenOut, o.Terms.MinOut)
}

func (m *model) refundOf(o swap.Order) modelPayment {
	c, _ := m.chainOf(o.Terms.SrcChain)
	back := o.Terms.MinRefund()
	return m.payment(c, o, swap.Refunded, back.Token, back.Amount)
}

func (m *model) payment(c *modelChain, o swap.Order, end swap.State, token common.Address, amount *big.Int) modelPayment {
	return modelPayment{chain: c, order: o.ID, hash: c.blockHash(), by: modelSolver, who: slices.Index(m.who[:], o.Terms.Account), token: token, amount: amount.Uint64(), end: end}
}

// payStranger has somebody pay an account for no order of ours.
func (m *model) payStranger(t *rapid.T) bool {
	c := m.drawChain(t)
	by := rapid.SampledFrom([]common.Address{modelSolver, thief}).Draw(t, "by")
	token := rapid.SampledFrom([]common.Address{usdc, usdt, chain.Native}).Draw(t, "token")
	c.paid(modelPayment{chain: c, hash: c.blockHash(), by: by, who: rapid.IntRange(0, 1).Draw(t, "account"), token: token, amount: uint64(rapid.IntRange(1, 4).Draw(t, "amount")) * 1e17})
	return true
}

// grabAllowance has the vault take what it is allowed, without a call of the account's.
func (m *model) grabAllowance(*rapid.T) bool {
	for _, c := range m.chains {
		for who := range m.who {
			for _, h := range c.state()[who].tokens {
				if n := min(h.vault, h.balance); n > 0 {
					c.grab(who)
					return true
				}
			}
		}
	}
	return false
}
