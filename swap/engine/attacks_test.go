package engine

import (
	"bytes"
	"context"
	"math/big"
	"sync/atomic"
	"testing"
	"time"

	"swapkeep/chain"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

// A forger wraps Nodes and replaces the answers that a test sets.
type forger struct {
	Nodes
	allowance func(real *big.Int) *big.Int
	simulate  func(calls []chain.Call) error
	cost      func(*chain.Cost)
}

func (n *forger) Allowance(ctx context.Context, id uint64, token, owner, spender common.Address) (*big.Int, error) {
	real, err := n.Nodes.Allowance(ctx, id, token, owner, spender)
	if err != nil || n.allowance == nil {
		return real, err
	}
	return n.allowance(real), nil
}

func (n *forger) Simulate(ctx context.Context, calls []chain.Call) (chain.Simulation, error) {
	if n.simulate != nil {
		if err := n.simulate(calls); err != nil {
			return chain.Simulation{}, err
		}
	}
	return n.Nodes.Simulate(ctx, calls)
}

func (n *forger) Cost(ctx context.Context, c chain.Call) (chain.Cost, error) {
	cost, err := n.Nodes.Cost(ctx, c)
	if err == nil && n.cost != nil {
		n.cost(&cost)
	}
	return cost, err
}

// useForger puts a forger between the engine and its nodes at the next start.
func (b *engineFixture) useForger() *forger {
	f := &forger{}
	b.wrapNodes = func(n Nodes) Nodes { f.Nodes = n; return f }
	return f
}

// permitSigned returns an order that has signed its permit and gets no call for it.
func permitSigned(b *engineFixture, tr *trader) swap.Order {
	b.t.Helper()
	tr.set(func(tr *trader) { tr.lateErr = swap.Refuse(swap.ProviderDown, "a bad moment") })
	return b.waitUntil(b.swap(usdc, thousand).ID, "at its last step", func(o swap.Order) bool { return o.Step == 2 })
}

// TestWaveringAllowance covers two nodes, one of which shows a sufficient allowance and
// the other none. The order alternates between skipping its approval and making it, but
// neither spins nor fills the journal.
func TestWaveringAllowance(t *testing.T) {
	b := newEngineFixture(t)
	f := b.useForger()
	b.useTrader()
	var honest atomic.Bool
	honest.Store(true)
	f.allowance = func(real *big.Int) *big.Int {
		if open, _, err := b.service.Orders(b.from, true, "", 1); !honest.Load() && err == nil && len(open) == 1 && open[0].Step == 0 {
			return big.NewInt(thousand)
		}
		return real
	}
	r, err := b.review(usdc, thousand)
	if err != nil {
		t.Fatal(err)
	}
	honest.Store(false)
	o := b.execute(r)
	time.Sleep(time.Second)
	if n := len(b.history(o.ID)); n > 12 {
		t.Errorf("%d lines in a second", n)
	}
	honest.Store(true)
	b.clockOffset.Add(int64(restartInterval))
	b.waitState(o.ID, swap.Filled)
	b.wantPermit2Allowance(usdc, 0)
}

// TestMuteProviderIsAskedEverMoreSlowly covers an order whose late call is not available:
// it gets a fresh quote, signs its permit again and returns to its last step. That is no
// progress, so the pauses keep growing.
func TestMuteProviderIsAskedEverMoreSlowly(t *testing.T) {
	b := newEngineFixture(t)
	tr := b.useTrader()
	tr.set(func(tr *trader) { tr.lateErr = swap.Refuse(swap.ProviderDown, "a bad moment") })
	b.halt()
	var longest atomic.Int64
	b.start()
	b.service.engine.Pause = func(still time.Duration) time.Duration {
		longest.Store(max(longest.Load(), int64(still)))
		if still > 10*time.Minute {
			return time.Hour
		}
		b.clockOffset.Add(int64(defaultPause(still)))
		return time.Millisecond
	}
	r, err := b.review(usdc, thousand)
	if err != nil {
		t.Fatal(err)
	}
	o := b.execute(r)
	b.waitUntil(o.ID, "asked ever more slowly", func(swap.Order) bool { return time.Duration(longest.Load()) > 10*time.Minute })
	if n := tr.late.Load(); n > 250 { // once a second for a minute, then every five seconds for nine minutes
		t.Errorf("asked %d times in ten minutes", n)
	}
}

// TestPermitIsRememberedOverRefreshes checks that the signed permit is remembered over
// several quotes: if a later quote asks for another permit, that needs consent, even if a
// quote in between asked for the signed one.
func TestPermitIsRememberedOverRefreshes(t *testing.T) {
	b := newEngineFixture(t)
	tr := b.useTrader()
	o := permitSigned(b, tr)
	b.halt()
	e := b.service.engine
	move := func(ahead time.Duration) {
		t.Helper()
		b.clockOffset.Add(int64(ahead))
		var err error
		if o, err = b.service.o.Journal.Get(o.ID); err == nil {
			_, err = moveOnce(t.Context(), e, &o)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if move(time.Minute); o.Step != 1 {
		t.Fatalf("at step %d after the refresh", o.Step)
	}
	tr.set(func(tr *trader) { tr.nonce = func(n uint64) uint64 { return n + 1 } })
	if move(time.Minute); !proposes(o) {
		t.Errorf("%s %q at step %d, permit nonce %s", o.State, o.Condition, o.Step, o.Plan.Steps[1].Effect.Nonce)
	}
}

// TestProposalsMinimumBelongsToItsOffer covers a provider whose first fresh price is absurd
// and whose next is close to the accepted one: the proposal must not show the good price
// with the absurd minimum.
func TestProposalsMinimumBelongsToItsOffer(t *testing.T) {
	b := newEngineFixture(t)
	tr := b.useTrader()
	b.chain.Pause()
	o := b.swap(usdc, thousand)
	b.waitUntil(o.ID, "sent", func(o swap.Order) bool { return o.CurrentTx != common.Hash{} })
	tr.set(offersBelow(4500))
	b.clockOffset.Add(int64(time.Minute))
	b.chain.Resume()
	o = b.waitUntil(o.ID, "in need of consent", proposes)
	first := o.Proposal.Made
	tr.set(offersBelow(60))
	b.clockOffset.Add(int64(45 * time.Second))
	o = b.waitUntil(o.ID, "proposed again", func(o swap.Order) bool { return proposes(o) && o.Proposal.Made.After(first) })
	p := o.Proposal
	if least := swap.MinAfterSlippage(p.Offer.MinOut, swap.DefaultSlippageBps); p.Terms.MinOut.Cmp(least) < 0 {
		t.Errorf("shows an offer of %s, at least %s, and asks for consent to %s (findings %v)", p.Offer.AmountOut, p.Offer.MinOut, p.Terms.MinOut, findingLabels(p.Findings))
	}
}

// TestProposalIsOver checks that a proposal that was not renewed, because the daemon was
// busy or the machine asleep, expires as a review does.
func TestProposalIsOver(t *testing.T) {
	b := newEngineFixture(t)
	tr := b.useTrader()
	o := priceFell(b, tr)
	b.halt()
	b.clockOffset.Add(int64(5 * time.Minute))
	_, err := b.service.Accept(t.Context(), acceptOf(o))
	refusedWith(t, err, swap.ConsentNeeded)
}

// TestProposedCeilingIsBounded checks that a node that reports gas a thousand times too
// high cannot get consent to a ceiling like that.
func TestProposedCeilingIsBounded(t *testing.T) {
	b := newEngineFixture(t)
	f := b.useForger()
	b.useTrader()
	r, err := b.review(usdc, thousand)
	if err != nil {
		t.Fatal(err)
	}
	net, err := b.hub.Network(1)
	if err != nil {
		t.Fatal(err)
	}
	r.Terms.GasCeiling = big.NewInt(1)
	r.Digest = swap.Digest(r.Terms, r.Plan.Effects())
	b.service.KeepReviews(b.service.Generation(), r)
	f.cost = func(c *chain.Cost) { c.Max = new(big.Int).Mul(net.GasCeiling, big.NewInt(1000)) }
	o := b.waitUntil(b.execute(r).ID, "in need of consent", proposes)
	if most := new(big.Int).Mul(net.GasCeiling, big.NewInt(10)); o.Proposal.Terms.GasCeiling.Cmp(most) > 0 || !o.Proposal.Blocked() {
		t.Errorf("proposes a ceiling of %s, ten times the network's is %s; findings %v", o.Proposal.Terms.GasCeiling, most, findingLabels(o.Proposal.Findings))
	}
}

// TestSlippageComesBack checks that a refresh which had to request less slippage than was
// accepted affects only itself: the next refresh, or a proposal, starts from the accepted
// slippage.
func TestSlippageComesBack(t *testing.T) {
	b := newEngineFixture(t)
	tr := b.useTrader()
	o := permitSigned(b, tr)
	tr.set(offersBelow(40))
	b.clockOffset.Add(int64(time.Minute))
	o = b.waitUntil(o.ID, "refreshed", func(o swap.Order) bool { return o.Offer.Request.SlippageBps < swap.DefaultSlippageBps && o.Step == 2 })
	tr.set(offersBelow(400))
	b.clockOffset.Add(int64(time.Minute))
	p := b.waitUntil(o.ID, "in need of consent", proposes).Proposal
	if got := p.Offer.Request.SlippageBps; got != swap.DefaultSlippageBps {
		t.Errorf("proposes a swap with a slippage of %d bps", got)
	}
	if _, err := b.service.Accept(t.Context(), acceptOf(b.waitUntil(o.ID, "in need of consent", proposes))); err != nil {
		t.Fatal(err)
	}
	tr.set(offersBelow(0))
	b.clockOffset.Add(int64(time.Minute))
	tr.set(func(tr *trader) { tr.lateErr = nil })
	if o = b.waitState(o.ID, swap.Filled); o.Offer.Request.SlippageBps != swap.DefaultSlippageBps {
		t.Errorf("swapped with a slippage of %d bps", o.Offer.Request.SlippageBps)
	}
}

// TestNodeBehindTheReset covers a node that has not seen the mined reset and says that
// the approval would fail. The order does not end, and the allowance is not reset twice.
func TestNodeBehindTheReset(t *testing.T) {
	b := newEngineFixture(t)
	f := b.useForger()
	b.useTrader()
	b.approvePermit2(usdt, 7)
	r, err := b.review(usdt, thousand)
	if err != nil {
		t.Fatal(err)
	}
	var looks atomic.Int32
	f.allowance = func(real *big.Int) *big.Int {
		if real.Sign() == 0 && looks.Add(1) < 6 {
			return big.NewInt(7)
		}
		return real
	}
	f.simulate = func(calls []chain.Call) error {
		if n := looks.Load(); n > 0 && n < 6 && calls[0].To == usdt && len(bytes.Trim(calls[0].Data[36:], "\x00")) > 0 {
			return chain.ErrWouldRevert
		}
		return nil
	}
	b.waitState(b.execute(r).ID, swap.Filled)
	b.wantNonce(4)
	b.wantPermit2Allowance(usdt, 0)
}

// TestCancelAboveTheCeilingNeedsConsent covers a cancel that costs more than is left of the gas
// ceiling. Without a way to consent to more, the order and every later transaction of the
// account would hang while gas stays expensive.
func TestCancelAboveTheCeilingNeedsConsent(t *testing.T) {
	b := newEngineFixture(t)
	o := b.sentOrder(nil)
	b.halt()
	o, _, _ = b.service.Order(o.ID)
	o.Terms.GasCeiling = big.NewInt(1)
	o.Digest = swap.Digest(o.Terms, o.Plan.Effects())
	o = b.signer.sealed(o)
	if err := b.service.o.Journal.Update(&o, swap.NewCause("test")); err != nil {
		t.Fatal(err)
	}
	b.start()
	if _, err := b.service.Cancel(t.Context(), cancelOf(o)); err != nil {
		t.Fatal(err)
	}
	o = b.waitUntil(o.ID, "too dear to be cancelled", func(o swap.Order) bool { return o.Reason != "" })
	r := speedupOf(o)
	_, err := b.service.SpeedUp(t.Context(), r)
	refusedWith(t, err, swap.CancelInProgress)
	r.GasCeiling = big.NewInt(1e17)
	got, err := b.service.SpeedUp(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if got.Bump != nil || got.Terms.GasCeiling.Cmp(r.GasCeiling) != 0 || got.Digest == o.Digest || got.Digest != swap.Digest(got.Terms, got.Plan.Effects()) {
		t.Errorf("bump %+v, ceiling %s", got.Bump, got.Terms.GasCeiling)
	}
	o = b.waitUntil(o.ID, "cancelling", func(o swap.Order) bool { return o.Condition == swap.Cancelling })
	if attempts(o) != "call cancel" {
		t.Errorf("attempts %s", attempts(o))
	}
	b.chain.Resume()
	b.waitState(o.ID, swap.Cancelled)
	b.wantNonceAndWETH(1, 0)
}

// TestPermitThatSomebodyUsed checks that a signed permit counts as the order's leftover
// if the order never pulled: whoever has the signature can submit it to Permit2.
func TestPermitThatSomebodyUsed(t *testing.T) {
	terms, effects := fourSteps()
	o := swap.Order{Consent: swap.Consent{Terms: terms}, Progress: swap.Progress{State: swap.Cancelled}}
	for _, f := range effects {
		o.Plan.Steps = append(o.Plan.Steps, swap.Step{Effect: f})
	}
	mined := swap.Result{Evidence: &chain.Evidence{Success: true}}
	g := swap.Grant{Token: usdc, Spender: router, Kind: swap.ByPermit2}
	if leftUnused(o, g) {
		t.Error("not signed: true")
	}
	o.Permit = &swap.SignedPermit{Nonce: new(big.Int)}
	for name, c := range map[string]struct {
		state   swap.State
		results []swap.Result
		want    bool
	}{
		"signed":      {swap.Cancelled, []swap.Result{mined, mined, {Signature: []byte{1}}}, true},
		"rewound":     {swap.Cancelled, []swap.Result{mined, mined}, true},
		"pulled":      {swap.Filled, []swap.Result{mined, mined, {Signature: []byte{1}}, mined}, false},
		"in progress": {swap.Executing, []swap.Result{mined, mined, {Signature: []byte{1}}}, false},
	} {
		o.State, o.Results = c.state, c.results
		if leftUnused(o, g) != c.want {
			t.Errorf("%s: %t", name, !c.want)
		}
	}
	if o.State, o.Results = swap.Cancelled, []swap.Result{mined, mined, {Signature: []byte{1}}}; leftUnused(o, swap.Grant{Token: usdc, Spender: thief, Kind: swap.ByPermit2}) {
		t.Error("another's allowance is its leftover")
	}
}
