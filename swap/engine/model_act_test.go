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
	"swapkeep/swap/journal"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/google/uuid"
	"pgregory.net/rapid"
)

// An modelAct is something that happens. It returns false if it cannot happen now.
type modelAct func(*rapid.T) bool

// drawOne draws one of list; false if it is empty.
func drawOne[T any](t *rapid.T, what string, list []T) (one T, ok bool) {
	if len(list) == 0 {
		return one, false
	}
	return list[rapid.IntRange(0, len(list)-1).Draw(t, what)], true
}

// open returns the orders that have not ended.
func (m *model) open() (ids []string) {
	ids, err := m.journal.Open()
	if err != nil {
		m.t.Fatal(err)
	}
	return ids
}

// move runs one step of the engine's loop for one order.
func (m *model) move(id string) (advanced bool) {
	o := m.order(id)
	if o.State.Final() {
		return false
	}
	defer func(acting string, share uint64, owes [modelTokens]uint64, w shownTransfer, raced bool) {
		m.acting, m.share, m.owes, m.wish, m.raced = acting, share, owes, w, raced
	}(m.acting, m.share, m.owes, m.wish, m.raced)
	m.acting, m.wish = id, shownTransfer{o.Terms.Input(), o.Terms.AmountIn}
	m.share, _ = m.shares(o)
	for i := range m.owes {
		m.owes[i] = m.owed(o, i)
	}
	m.raced = slices.ContainsFunc(m.chains[:], func(c *modelChain) bool { return slices.ContainsFunc(c.pool, m.allowsElsewhere) })
	advanced, err := moveOnce(context.Background(), m.service.engine, &o)
	switch {
	case errors.Is(err, swap.ErrTransition), errors.Is(err, chain.ErrKeyReused), errors.Is(err, chain.ErrDisagree):
		m.t.Fatalf("an order cannot go on: %v", err)
	case errors.Is(err, journal.ErrStale):
		return true
	case err != nil:
		m.note(o, err)
	}
	return advanced
}

// run moves every open order while it advances, at most n times.
func (m *model) run(n int) {
	for _, id := range m.open() {
		for range n {
			if !m.move(id) {
				break
			}
		}
	}
}

// review asks for a quote and prepares it.
func (m *model) review(r swap.QuoteRequest, by swap.Kind) (swap.Review, bool) {
	m.faults.quiet = true
	q, err := m.service.Quote(context.Background(), r, []swap.Kind{by}, nil)
	m.faults.quiet = false
	if err != nil {
		return swap.Review{}, false
	}
	m.wish = shownTransfer{r.TokenIn, r.AmountIn}
	if q.Offers[0].Wrap != (common.Address{}) {
		m.wish.token = q.Offers[0].Wrap
	}
	review, err := m.service.Prepare(context.Background(), q.Offers[0].ID)
	return review, err == nil
}

// drawRequest draws what is swapped, and by whom.
func (m *model) drawRequest(t *rapid.T) (swap.QuoteRequest, swap.Kind) {
	c := m.drawChain(t)
	if rapid.IntRange(0, 4).Draw(t, "provider") < 2 {
		return m.drawHandOver(t, c), swap.Intent
	}
	wrapped := c.net.WrappedNative
	pairs := [][2]common.Address{{usdc, wrapped}, {usdt, wrapped}, {usdc, chain.Native}, {usdt, usdc}, {chain.Native, usdc}, {chain.Native, wrapped}, {wrapped, chain.Native}}
	p := pairs[rapid.IntRange(0, len(pairs)-1).Draw(t, "pair")]
	return swap.QuoteRequest{Account: rapid.SampledFrom(m.who[:]).Draw(t, "account"), SrcChain: c.net.ID, DstChain: c.net.ID, TokenIn: p[0], TokenOut: p[1],
		AmountIn: big.NewInt(int64(rapid.IntRange(1, 4).Draw(t, "amount")) * 1e17), SlippageBps: rapid.SampledFrom([]int{50, 50, 300}).Draw(t, "slippage")}, swap.DEX
}

// drawHandOver draws what is swapped by the broker, on one chain or across.
func (m *model) drawHandOver(t *rapid.T, c *modelChain) swap.QuoteRequest {
	in := rapid.SampledFrom([]common.Address{usdc, usdc, usdt, chain.Native, c.net.WrappedNative}).Draw(t, "in")
	out := rapid.SampledFrom([]common.Address{usdc, usdt, chain.Native}).Draw(t, "out")
	to := m.drawChain(t)
	if to == c && (in == out || in == c.net.WrappedNative) {
		out = map[bool]common.Address{true: usdt, false: usdc}[in == usdc]
	}
	return swap.QuoteRequest{Account: rapid.SampledFrom(m.who[:]).Draw(t, "account"), SrcChain: c.net.ID, DstChain: to.net.ID, TokenIn: in, TokenOut: out,
		AmountIn: big.NewInt(int64(rapid.IntRange(1, 4).Draw(t, "amount")) * 1e17), SlippageBps: rapid.SampledFrom([]int{50, 50, 300}).Draw(t, "slippage")}
}

func (m *model) drawChain(t *rapid.T) *modelChain {
	return m.chains[rapid.IntRange(0, len(m.chains)-1).Draw(t, "chain")]
}

// acks returns the codes of findings that need an acknowledgement.
func acks(found []swap.Finding) (codes []string) {
	for _, f := range found {
		if f.Severity == swap.Acknowledge {
			codes = append(codes, f.Code)
		}
	}
	return codes
}

// A request is a user's request that was made and may be repeated.
type request struct {
	ExecuteRequest
	revoke bool
}

// carryOut executes a review under a request, and checks the result.
func (m *model) carryOut(r request) {
	do := m.service.Execute
	if r.revoke {
		do = m.service.Revoke
	}
	ctx := context.Background()
	o, err := do(ctx, r.ExecuteRequest)
	if err != nil {
		return
	}
	if stored := m.order(o.ID); o.Request != r.Request || stored.Request != r.Request {
		m.t.Fatalf("a request got another's order")
	}
	if id, again := m.made[r.Digest]; again && id != o.ID {
		m.t.Fatalf("one plan was carried out twice")
	}
	m.made[r.Digest] = o.ID
}

func (m *model) execute(review swap.Review, revoke bool) {
	r := request{ExecuteRequest{Request: m.uuid(), Digest: review.Digest, Acknowledge: acks(review.Findings), Caller: passwordCaller}, revoke}
	m.consents[r.Digest] = review.Terms
	m.requests = append(m.requests, r)
	m.carryOut(r)
}

// swap quotes, prepares and executes.
func (m *model) swap(t *rapid.T) bool {
	r, ok := m.review(m.drawRequest(t))
	if ok {
		m.execute(r, false)
	}
	return true
}

// reviewOnly is swap without the consent, which may follow later.
func (m *model) reviewOnly(t *rapid.T) bool {
	r, ok := m.review(m.drawRequest(t))
	if ok {
		m.reviews = append(m.reviews, r)
	}
	return true
}

func (m *model) consent(t *rapid.T) bool {
	r, ok := drawOne(t, "review", m.reviews)
	if ok {
		m.execute(r, false)
	}
	return ok
}

// repeatRequest repeats a request, or requests the same plan under another uuid.
func (m *model) repeatRequest(t *rapid.T) bool {
	r, ok := drawOne(t, "request", m.requests)
	if !ok {
		return false
	}
	if rapid.Bool().Draw(t, "another uuid") {
		r.Request = m.uuid()
		m.requests = append(m.requests, r)
	}
	m.carryOut(r)
	return true
}

// settle mines enough blocks, without faults of its own, for pending proofs.
func (m *model) settle(*rapid.T) bool {
	for range modelDepth {
		m.run(8)
		for _, c := range m.chains {
			c.mine(time.Now(), false)
		}
	}
	m.run(8)
	return true
}

// uuid returns a request id that is the same in each run of a seed.
func (m *model) uuid() string {
	m.ids++
	return uuid.NewSHA1(uuid.NameSpaceOID, big.NewInt(int64(m.ids)).Bytes()).String()
}

func (m *model) revoke(t *rapid.T) bool {
	c, who := m.drawChain(t), rapid.SampledFrom(m.who[:]).Draw(t, "account")
	m.faults.quiet = true
	listed, _, err := m.service.Allowances(context.Background(), AllowancesRequest{Account: who, Chain: c.net.ID, Tokens: c.tokens[:], Prepare: true})
	m.faults.quiet = false
	if err != nil {
		return false
	}
	a, ok := drawOne(t, "allowance", slices.DeleteFunc(listed, func(a Allowance) bool { return a.Review == nil }))
	if ok {
		m.execute(*a.Review, true)
	}
	return ok
}

// drawOrder draws an open order for which is holds.
func (m *model) drawOrder(t *rapid.T, is func(swap.Order) bool) (swap.Order, bool) {
	var some []swap.Order
	for _, id := range m.open() {
		if o := m.order(id); is(o) {
			some = append(some, o)
		}
	}
	return drawOne(t, "order", some)
}

func anyOrder(swap.Order) bool { return true }

func (m *model) cancel(t *rapid.T) bool {
	o, ok := m.drawOrder(t, anyOrder)
	if ok {
		_, _ = m.service.Cancel(context.Background(), CancelRequest{Request: m.uuid(), Order: o.ID, Digest: o.Digest, Caller: passwordCaller})
	}
	return ok
}

func (m *model) accept(t *rapid.T) bool {
	o, ok := m.drawOrder(t, proposes)
	if !ok {
		return false
	}
	m.consents[o.Proposal.Digest] = o.Proposal.Terms
	if _, err := m.service.Accept(context.Background(), AcceptRequest{Request: m.uuid(), Order: o.ID, Digest: o.Proposal.Digest, Acknowledge: acks(o.Proposal.Findings), Caller: passwordCaller}); err == nil {
		m.count("accepted")
	}
	return true
}

// speedUp may raise the ceiling, which needs another consent.
func (m *model) speedUp(t *rapid.T) bool {
	o, ok := m.drawOrder(t, func(o swap.Order) bool { return o.CurrentTx != common.Hash{} })
	if !ok {
		return false
	}
	r := SpeedUpRequest{Request: m.uuid(), Order: o.ID, Digest: o.Digest, Caller: passwordCaller}
	if rapid.Bool().Draw(t, "raise") {
		raised := o.Terms
		raised.GasCeiling = new(big.Int).Lsh(o.Terms.GasCeiling, 1)
		r.GasCeiling = raised.GasCeiling
		m.consents[swap.Digest(raised, o.Plan.Effects())] = raised
	}
	if _, err := m.service.SpeedUp(context.Background(), r); err == nil {
		m.count("sped up")
	}
	return true
}

// moveOther moves another order than the current one. While the sender is at work, which
// locks its account, it moves one of another account.
func (m *model) moveOther(t *rapid.T, deep bool) bool {
	busy := m.order(m.acting)
	o, ok := m.drawOrder(t, func(o swap.Order) bool {
		sameLane := o.Terms.Account == busy.Terms.Account && o.Terms.SrcChain == busy.Terms.SrcChain
		return o.ID != busy.ID && !(deep && sameLane)
	})
	if ok {
		m.move(o.ID)
	}
	return ok
}

// elsewhereDone is what another wallet with the same keys does with a token; nil = it
// sends somebody one wei.
var elsewhereDone = map[string][]byte{
	"pay":          nil,
	"approve":      slices.Concat(erc20Approve, pad(swap.Permit2Contract), word(1.5e17)),
	"reset":        slices.Concat(erc20Approve, pad(swap.Permit2Contract), word(0)),
	"take":         slices.Concat(transferSelector, pad(thief), word(3e17)),
	allowsTheVault: slices.Concat(erc20Approve, pad(depot), word(vaultGiven)),
}

const (
	allowsTheVault = "vault"
	vaultGiven     = 2.5e17
)

// drawOtherWalletTx draws a transaction of another wallet with the same keys.
func (m *model) drawOtherWalletTx(t *rapid.T) bool {
	c, from := m.drawChain(t), rapid.IntRange(0, 1).Draw(t, "account")
	ahead, price := rapid.IntRange(0, 1).Draw(t, "ahead"), rapid.SampledFrom([]int{10, 100, 400}).Draw(t, "price")
	token := c.tokens[rapid.IntRange(0, modelTokens-1).Draw(t, "token")]
	m.sendFromOtherWallet(c, from, ahead, price, token, rapid.SampledFrom(slices.Sorted(maps.Keys(elsewhereDone))).Draw(t, "what"))
	return true
}

// sendFromOtherWallet has another wallet send a transaction that is ahead nonces ahead, at price
// gwei, and reports whether a node took it.
func (m *model) sendFromOtherWallet(c *modelChain, from, ahead, price int, token common.Address, what string) bool {
	gas := new(big.Int).SetUint64(uint64(price) * modelGwei)
	x := types.DynamicFeeTx{ChainID: new(big.Int).SetUint64(c.net.ID), Nonce: c.state()[from].nonce + uint64(ahead), To: &thief, Value: big.NewInt(1), Gas: 100_000, GasFeeCap: gas, GasTipCap: gas}
	if data := elsewhereDone[what]; data != nil {
		x.To, x.Value, x.Data = &token, new(big.Int), data
	}
	tx, err := types.SignNewTx(m.signer.keys[from], c.rules, &x)
	if err != nil {
		m.t.Fatal(err)
	}
	if c.add(tx) != nil {
		return false
	}
	m.foreign[tx.Hash()], m.touched[c.net.ID] = true, true
	if what == allowsTheVault {
		m.gave[holdingKey{c.net.ID, m.who[from], token}] += vaultGiven
	}
	return true
}

// useUp has somebody submit to Permit2 the permit of a trade that is in the pool.
func (m *model) useUp(t *rapid.T) bool {
	c := m.drawChain(t)
	for _, tx := range c.pool {
		x, ok := tradeIn(tx.Data())
		if !ok || x.permit == nil {
			continue
		}
		c.mine(time.Now(), true)
		from, token := c.sender(tx), slices.Index(c.tokens[:], x.in)
		b := &c.blocks[c.head()]
		_ = c.permit(&b.state[from].permits[token], c.who[from], b.time, *x.permit, x.sig)
		return true
	}
	return false
}

// reorg returns an act that removes up to most blocks.
func (m *model) reorg(most int) modelAct {
	return func(t *rapid.T) bool {
		c := m.drawChain(t)
		most := min(most, c.head())
		if most > 0 {
			c.reorg(time.Now(), rapid.IntRange(1, most).Draw(t, "blocks"), rapid.Bool().Draw(t, "lost"))
		}
		return most > 0
	}
}

func (m *model) mine(t *rapid.T) bool {
	c := m.drawChain(t)
	for range rapid.IntRange(1, modelDepth).Draw(t, "blocks") {
		c.mine(time.Now(), false)
	}
	return true
}

func (m *model) drop(t *rapid.T) bool {
	c := m.drawChain(t)
	if len(c.pool) == 0 {
		return false
	}
	n := rapid.IntRange(1, len(c.pool)).Draw(t, "dropped")
	c.pool = append(slices.DeleteFunc(c.pool[:n:n], func(tx *types.Transaction) bool { return !c.reorged[tx.Hash()] }), c.pool[n:]...)
	return true
}

// fail changes how a chain's nodes answer.
func (m *model) fail(t *rapid.T) bool {
	c := m.drawChain(t)
	c.send = rapid.SampledFrom([]string{"", "", "lost", "gone", "refused", "odd"}).Draw(t, "send")
	c.down = [2]bool{rapid.IntRange(0, 3).Draw(t, "first") == 0, rapid.IntRange(0, 3).Draw(t, "second") == 0}
	c.lag = rapid.IntRange(0, 2).Draw(t, "lag")
	c.second = rapid.Bool().Draw(t, "reads of the second")
	c.blind = rapid.Bool().Draw(t, "blind")
	c.hides = rapid.IntRange(0, 2).Draw(t, "hides")
	c.liar, c.about = rapid.SampledFrom([]int{0, 0, 1, 2}).Draw(t, "liar"), rapid.SampledFrom(modelLies).Draw(t, "about")
	c.flips = rapid.IntRange(0, 3).Draw(t, "flips") == 3
	return true
}

func (m *model) price(t *rapid.T) bool {
	m.drawChain(t).rate = uint64(rapid.IntRange(960, 1040).Draw(t, "rate"))
	return true
}

func (m *model) gas(t *rapid.T) bool {
	m.drawChain(t).base = uint64(rapid.SampledFrom([]int{10, 20, 60, 120}).Draw(t, "gwei")) * modelGwei
	return true
}

func (m *model) drawDealerMood(t *rapid.T) bool {
	m.dealer.mood = rapid.SampledFrom(slices.Sorted(maps.Keys(dealerMoods))).Draw(t, "mood")
	return true
}

func wait(least, most time.Duration) modelAct {
	return func(t *rapid.T) bool {
		time.Sleep(time.Duration(rapid.Int64Range(int64(least/time.Second), int64(most/time.Second)).Draw(t, "seconds")) * time.Second)
		return true
	}
}

// waitUntilNearExpiry waits until shortly before a quote or a consent expires.
func (m *model) waitUntilNearExpiry(t *rapid.T) bool {
	o, ok := m.drawOrder(t, anyOrder)
	if !ok {
		return false
	}
	end := rapid.SampledFrom([]time.Time{o.Terms.Deadline, o.Offer.Expires}).Draw(t, "end")
	left := time.Until(end) - time.Duration(rapid.IntRange(0, 20).Draw(t, "seconds"))*time.Second
	time.Sleep(left)
	return left > 0
}

func (m *model) lock(locked bool) modelAct {
	return func(*rapid.T) bool {
		if locked && !m.signer.locked {
			m.service.DropPlans()
			m.reviews = nil
		}
		m.signer.locked = locked
		return true
	}
}

// meanwhile schedules something in the middle of a later action: what users and the world
// may do at any time, or a move of another order.
func (m *model) meanwhile(t *rapid.T) bool {
	acts := []struct {
		name string
		do   modelAct
	}{
		{"move", nil}, {"cancel", m.cancel}, {"accept", m.accept}, {"speedup", m.speedUp}, {"lock", m.lock(true)},
		{"wait", wait(time.Second, 90*time.Second)}, {"mine", m.mine}, {"reorg", m.reorg(modelDepth - 1)}, {"drop", m.drop},
	}
	a := acts[rapid.IntRange(0, len(acts)-1).Draw(t, "meanwhile")]
	m.faults.actIn = rapid.IntRange(1, 20).Draw(t, "places")
	m.faults.act = func(deep bool) {
		do := a.do
		if do == nil {
			do = func(t *rapid.T) bool { return m.acting != "" && m.moveOther(t, deep) }
		}
		if do(t) {
			m.count("meanwhile " + a.name)
		}
	}
	return true
}
