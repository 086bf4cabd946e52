package engine

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"swapkeep/chain"
	"swapkeep/sandbox"
	"swapkeep/swap"
	"swapkeep/swap/journal"

	"github.com/ethereum/go-ethereum/common"
)

// TestApprovePermitSwap covers a complete swap with an ERC-20 input, on the real router
// and the real Permit2.
func TestApprovePermitSwap(t *testing.T) {
	b := newEngineFixture(t)
	b.useTrader()
	r, err := b.review(usdc, thousand)
	if err != nil {
		t.Fatal(err)
	}
	if got := kinds(r.Plan); !slices.Equal(got, []swap.EffectKind{swap.Approve, swap.Permit, swap.Swap}) || r.Plan.Spender != permit2 {
		t.Fatalf("plan %v for %s", got, r.Plan.Spender)
	}
	if got := findingLabels(r.Findings); !slices.Equal(got, []string{"not_simulated:note"}) {
		t.Errorf("findings %v", got)
	}
	if len(r.Gas.Costs) != 2 || r.Gas.Costs[1].Gas < 400_000 {
		t.Errorf("gas of %d transactions: %+v", len(r.Gas.Costs), r.Gas.Costs)
	}
	o := b.waitState(b.execute(r).ID, swap.Filled)
	if o.Verdict.Received == nil || o.Verdict.Received.Amount.Cmp(o.Terms.MinOut) < 0 || o.Verdict.BelowMinimum || o.AllowanceLocked || len(Leftovers(o)) != 0 {
		t.Errorf("verdict %+v, holds %t, leftovers %v", o.Verdict, o.AllowanceLocked, Leftovers(o))
	}
	b.wantNonce(2)
	b.wantPermit2Allowance(usdc, 0)
	if uses, err := b.service.o.Journal.Uses(allowanceKeyOf(o)); err != nil || len(uses) != 0 {
		t.Errorf("the allowance is still in use: %+v, %v", uses, err)
	}
}

// TestResetFirst covers a token that refuses to change a nonzero allowance to another.
func TestResetFirst(t *testing.T) {
	b := newEngineFixture(t)
	b.useTrader()
	b.approvePermit2(usdt, 7)
	r, err := b.review(usdt, thousand)
	if err != nil {
		t.Fatal(err)
	}
	if got := kinds(r.Plan); !slices.Equal(got, []swap.EffectKind{"reset", swap.Approve, swap.Permit, swap.Swap}) {
		t.Fatalf("plan %v", got)
	}
	b.waitState(b.execute(r).ID, swap.Filled)
	b.wantNonce(4)
	b.wantPermit2Allowance(usdt, 0)

	b.approvePermit2(usdc, 7) // this token needs none
	if r, err = b.review(usdc, thousand); err != nil || !slices.Equal(kinds(r.Plan), []swap.EffectKind{swap.Approve, swap.Permit, swap.Swap}) {
		t.Errorf("plan %v, %v", kinds(r.Plan), err)
	}
}

// TestEnoughAllowedAlready checks that a sufficient allowance is used and not renewed.
func TestEnoughAllowedAlready(t *testing.T) {
	b := newEngineFixture(t)
	b.useTrader()
	b.approvePermit2(usdt, thousand)
	r, err := b.review(usdt, thousand)
	if err != nil {
		t.Fatal(err)
	}
	if got := kinds(r.Plan); !slices.Equal(got, []swap.EffectKind{swap.Permit, swap.Swap}) {
		t.Fatalf("plan %v", got)
	}
	b.waitState(b.execute(r).ID, swap.Filled)
	b.wantNonce(2)
	b.wantPermit2Allowance(usdt, 0)
}

// TestApprovalsFollowTheChain checks that the approvals of a review adapt to the
// allowance at the time of signing: skipped where it suffices, with a reset where one has
// become necessary. The digest stays the same.
func TestApprovalsFollowTheChain(t *testing.T) {
	for name, c := range map[string]struct {
		allowed int64
		steps   []swap.EffectKind
		mined   uint64
	}{
		"enough by now": {thousand, []swap.EffectKind{swap.Approve, swap.Permit, swap.Swap}, 2},
		"a reset now":   {7, []swap.EffectKind{"reset", swap.Approve, swap.Permit, swap.Swap}, 4},
	} {
		t.Run(name, func(t *testing.T) {
			b := newEngineFixture(t)
			b.useTrader()
			r, err := b.review(usdt, thousand)
			if err != nil {
				t.Fatal(err)
			}
			b.signer.locked.Store(true)
			o := b.execute(r)
			b.waitUntil(o.ID, "waiting", func(o swap.Order) bool { return o.Condition == swap.WaitingForUnlock })
			b.halt()
			b.signer.locked.Store(false)
			b.approvePermit2(usdt, c.allowed)
			b.start()
			if o = b.waitState(o.ID, swap.Filled); !slices.Equal(kinds(o.Plan), c.steps) || o.Digest != r.Digest {
				t.Errorf("carried out %v", kinds(o.Plan))
			}
			b.wantNonce(c.mined)
			b.wantPermit2Allowance(usdt, 0)
		})
	}
}

// TestSkippedResetIsMadeAfterAll covers a reset and an approval that were skipped, since enough
// was allowed, and that another program's smaller allowance makes necessary after all.
func TestSkippedResetIsMadeAfterAll(t *testing.T) {
	b := newEngineFixture(t)
	tr := b.useTrader()
	b.approvePermit2(usdt, 7)
	r, err := b.review(usdt, thousand)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int64{0, thousand} {
		b.approvePermit2(usdt, n)
	}
	tr.set(func(tr *trader) { tr.lateErr = swap.Refuse(swap.ProviderDown, "a bad moment") })
	o := b.execute(r)
	o = b.waitUntil(o.ID, "at its last step", func(o swap.Order) bool { return o.Step == 3 })
	if !o.Results[0].Skipped || !o.Results[1].Skipped {
		t.Fatalf("%+v", o.Results)
	}
	b.halt()
	for _, n := range []int64{0, 7} {
		b.approvePermit2(usdt, n)
	}
	tr.set(func(tr *trader) { tr.lateErr = nil })
	b.start()
	if o = b.waitState(o.ID, swap.Filled); !slices.Equal(kinds(o.Plan), []swap.EffectKind{"reset", swap.Approve, swap.Permit, swap.Swap}) || o.Digest != r.Digest {
		t.Errorf("carried out %v", kinds(o.Plan))
	}
	b.wantNonce(5 + 3)
	b.wantPermit2Allowance(usdt, 0)
}

// TestResetSkippedByALaggingNode covers a reset that was skipped because a node did not show
// the allowance yet.
func TestResetSkippedByALaggingNode(t *testing.T) {
	b := newEngineFixture(t)
	var behind atomic.Bool
	hidden := func() error {
		if behind.CompareAndSwap(true, false) {
			return errors.New("behind")
		}
		return nil
	}
	b.wrapNodes = func(n Nodes) Nodes { return laggingNodes{n, hidden, func() error { return nil }} }
	b.useTrader()
	b.approvePermit2(usdt, 7)
	r, err := b.review(usdt, thousand)
	if err != nil {
		t.Fatal(err)
	}
	behind.Store(true)
	o := b.waitState(b.execute(r).ID, swap.Filled)
	if !slices.Equal(kinds(o.Plan), []swap.EffectKind{"reset", swap.Approve, swap.Permit, swap.Swap}) || o.Digest != r.Digest || behind.Load() {
		t.Errorf("carried out %v", kinds(o.Plan))
	}
	b.wantNonce(1 + 3)
}

// slow starts a sandbox whose blocks are mined on request.
func slow(t *testing.T) *sandbox.Sandbox {
	t.Helper()
	s, err := sandbox.Start(t.Context(), sandbox.Options{Chains: []uint64{1}, Period: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// blocks mines a block every pause until stop is closed, twelve seconds after the last.
func (b *engineFixture) blocks(stop <-chan struct{}, pause time.Duration) {
	for {
		select {
		case <-stop:
			return
		case <-time.After(pause):
		}
		for b.chain.Shift(12*time.Second) != nil { // a transaction came in between
			if err := b.chain.Mine(1); err != nil {
				b.t.Error(err)
				return
			}
		}
		b.clockOffset.Add(int64(12 * time.Second))
	}
}

// TestTwelveSecondBlocks covers an approval that takes longer than a quote lives. The
// order continues with a fresh quote under the same digest and with the first minimum,
// and requests as much less slippage as that minimum demands.
func TestTwelveSecondBlocks(t *testing.T) {
	b := newEngineFixtureOn(t, slow(t), 8)
	tr := b.useTrader()
	r, err := b.review(usdc, thousand)
	if err != nil {
		t.Fatal(err)
	}
	tr.set(func(tr *trader) { // the price falls, but not below the minimum
		tr.price = func(out *big.Int) *big.Int { return swap.MinAfterSlippage(out, 20) }
	})
	start := b.now()
	stop := make(chan struct{})
	defer close(stop)
	go b.blocks(stop, 100*time.Millisecond)
	o := b.waitState(b.execute(r).ID, swap.Filled)
	approved := slices.IndexFunc(b.history(o.ID), func(l journal.Entry) bool { return l.Step == 1 })
	if took := b.history(o.ID)[approved].Time.Sub(start); took < 36*time.Second {
		t.Errorf("the approval took %s only", took)
	}
	if o.Digest != r.Digest || o.Terms.MinOut.Cmp(r.Terms.MinOut) != 0 || tr.made.Load() < 2 || o.Offer.ID == r.Offer.ID {
		t.Errorf("built %d times; digest %s, floor %s", tr.made.Load(), o.Digest, o.Terms.MinOut)
	}
	if o.Offer.Request.SlippageBps >= 50 || o.Offer.MinOut.Cmp(r.Terms.MinOut) < 0 || o.Verdict.Received.Amount.Cmp(r.Terms.MinOut) < 0 {
		t.Errorf("slippage %d, minimum %s, received %s, floor %s", o.Offer.Request.SlippageBps, o.Offer.MinOut, o.Verdict.Received.Amount, r.Terms.MinOut)
	}
	if o.Results[0].Evidence == nil || o.Results[0].Tx == (common.Hash{}) {
		t.Errorf("the approval lost its result: %+v", o.Results[0])
	}
	b.wantNonce(2)
	b.wantPermit2Allowance(usdc, 0)
}

// TestPermitIsSignedAgain checks that a quote that expires between the permit and its
// call is replaced, and the permit signed again for the same nonce.
func TestPermitIsSignedAgain(t *testing.T) {
	b := newEngineFixture(t)
	tr := b.useTrader()
	tr.set(func(tr *trader) { tr.lateErr = swap.Refuse(swap.ProviderDown, "a bad moment") })
	o := b.swap(usdc, thousand)
	o = b.waitUntil(o.ID, "at its last step", func(o swap.Order) bool { return o.Step == 2 })
	first := o.Results[1].Signature
	nonce := o.Plan.Steps[1].Effect.Nonce
	tr.set(func(tr *trader) { tr.lateErr = nil })
	b.clockOffset.Add(int64(time.Minute))
	o = b.waitState(o.ID, swap.Filled)
	if again := o.Plan.Steps[1].Effect.Nonce; again.Cmp(nonce) != 0 || slices.Equal(o.Results[1].Signature, first) {
		t.Errorf("nonce %s and then %s", nonce, again)
	}
	b.wantNonce(2)
}

// TestAnotherPermitNeedsConsent checks that consent is needed for a fresh quote that asks
// for a permit with another nonce than the signed one, or for none.
func TestAnotherPermitNeedsConsent(t *testing.T) {
	for name, change := range map[string]func(*trader){
		"another nonce": func(tr *trader) { tr.nonce = func(n uint64) uint64 { return n + 1 } },
		"no permit": func(tr *trader) {
			tr.alterBuilt = func(b *swap.Built) { b.Steps, b.Steps[1].Effect.Approves = b.Steps[1:], nil }
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newEngineFixture(t)
			tr := b.useTrader()
			tr.set(func(tr *trader) { tr.lateErr = swap.Refuse(swap.ProviderDown, "a bad moment") })
			o := b.swap(usdc, thousand)
			b.waitUntil(o.ID, "at its last step", func(o swap.Order) bool { return o.Step == 2 })
			signed := b.signer.signed.Load()
			tr.set(change)
			b.clockOffset.Add(int64(time.Minute))
			o = b.waitUntil(o.ID, "in need of consent", func(o swap.Order) bool { return o.Condition == swap.NeedsConsent && o.Proposal != nil })
			if b.signer.signed.Load() != signed || o.Step != 2 {
				t.Errorf("went on to step %d", o.Step)
			}
		})
	}
}

// TestUsedNonceIsRefreshed covers two plans made for the same permit nonce: when the
// first has used it, the second gets a fresh permit under its digest.
func TestUsedNonceIsRefreshed(t *testing.T) {
	b := newEngineFixture(t)
	tr := b.useTrader()
	one, err := b.review(usdc, thousand)
	if err != nil {
		t.Fatal(err)
	}
	two, err := b.review(usdc, thousand/2)
	if err != nil {
		t.Fatal(err)
	}
	b.waitState(b.execute(one).ID, swap.Filled)
	made := tr.made.Load()
	o := b.waitState(b.execute(two).ID, swap.Filled)
	if tr.made.Load() == made || o.Digest != two.Digest || o.Plan.Steps[1].Effect.Nonce.Int64() != 1 {
		t.Errorf("built %d times more, nonce %s", tr.made.Load()-made, o.Plan.Steps[1].Effect.Nonce)
	}
	b.wantNonce(4)
}

// TestOneAtATime checks that of two orders on one allowance the second waits until the
// first has pulled, and that a third on another token does not wait.
func TestOneAtATime(t *testing.T) {
	b := newEngineFixture(t)
	tr := b.useTrader()
	tr.set(func(tr *trader) { tr.lateErr = swap.Refuse(swap.ProviderDown, "a bad moment") })
	first := b.swap(usdc, thousand)
	b.waitUntil(first.ID, "past its approval", func(o swap.Order) bool { return o.Step > 0 })
	r, err := b.review(usdc, thousand/2)
	if err != nil {
		t.Fatal(err)
	}
	if got := kinds(r.Plan); !slices.Equal(got, []swap.EffectKind{swap.Approve, swap.Permit, swap.Swap}) {
		t.Fatalf("the allowance there is the first order's: plan %v", got)
	}
	second := b.execute(r)
	b.waitUntil(second.ID, "waiting", func(o swap.Order) bool { return o.Condition == swap.WaitingForAllowance })
	third := b.swap(usdt, thousand)
	b.waitUntil(third.ID, "at its last step", func(o swap.Order) bool { return o.Step == 2 })
	b.wantPermit2Allowance(usdc, thousand)
	lines := len(b.history(second.ID))
	b.halt() // a restart changes nothing
	b.start()
	time.Sleep(200 * time.Millisecond)
	if o, _, _ := b.service.Order(second.ID); o.Condition != swap.WaitingForAllowance || o.AllowanceLocked || o.Step != 0 || len(b.history(second.ID)) > lines+1 {
		t.Errorf("%s %q, step %d, %d more lines", o.State, o.Condition, o.Step, len(b.history(second.ID))-lines)
	}
	tr.set(func(tr *trader) { tr.lateErr = nil })
	for _, o := range []swap.Order{first, second, third} {
		b.waitState(o.ID, swap.Filled)
	}
	b.wantNonce(6)
	b.wantPermit2Allowance(usdc, 0)
	b.wantPermit2Allowance(usdt, 0)
}

// TestEndedOrderReleasesTheAllowance checks that an order that ends between its approval and its
// pull releases the allowance, and that the next order uses what was left or changes it.
func TestEndedOrderReleasesTheAllowance(t *testing.T) {
	b := newEngineFixture(t)
	tr := b.useTrader()
	tr.set(func(tr *trader) { tr.lateErr = swap.Refuse(swap.ProviderDown, "a bad moment") })
	first := b.swap(usdt, thousand)
	b.waitUntil(first.ID, "at its last step", func(o swap.Order) bool { return o.Step == 2 })
	second := b.swap(usdt, thousand/2)
	b.waitUntil(second.ID, "waiting", func(o swap.Order) bool { return o.Condition == swap.WaitingForAllowance })
	if _, err := b.service.Cancel(t.Context(), cancelOf(first)); err != nil {
		t.Fatal(err)
	}
	first = b.waitState(first.ID, swap.Cancelled)
	if left := Leftovers(first); len(left) != 1 || left[0].Spender != permit2 || left[0].Amount.Int64() != thousand {
		t.Errorf("leftovers %+v", left)
	}
	tr.set(func(tr *trader) { tr.lateErr = nil })
	second = b.waitState(second.ID, swap.Filled)
	if !slices.ContainsFunc(second.Results, func(r swap.Result) bool { return r.Skipped }) {
		t.Errorf("approved over an allowance that was enough: %+v", second.Results)
	}
	b.wantNonce(2)
	b.wantPermit2Allowance(usdt, thousand/2)
}

// laggingNodes is a node that has not seen the approval for a while.
type laggingNodes struct {
	Nodes
	allowance, simulation func() error // an error: the node is behind
}

func (n laggingNodes) Allowance(ctx context.Context, id uint64, token, owner, spender common.Address) (*big.Int, error) {
	if n.allowance() != nil {
		return new(big.Int), nil
	}
	return n.Nodes.Allowance(ctx, id, token, owner, spender)
}

func (n laggingNodes) Simulate(ctx context.Context, calls []chain.Call) (chain.Simulation, error) {
	if calls[0].To == router {
		if err := n.simulation(); err != nil {
			return chain.Simulation{}, err
		}
	}
	return n.Nodes.Simulate(ctx, calls)
}

// TestLaggingNode covers a node behind the mined approval, which shows no allowance or
// says that the swap would fail. Neither ends the order nor causes a second approval.
func TestLaggingNode(t *testing.T) {
	for _, what := range []string{"allowance", "simulation"} {
		t.Run(what, func(t *testing.T) {
			b := newEngineFixture(t)
			looks := 0
			lag := func() error {
				if looks++; looks < 8 {
					return fmt.Errorf("%w: TRANSFER_FROM_FAILED", chain.ErrWouldRevert)
				}
				return nil
			}
			never := func() error { return nil }
			b.wrapNodes = func(n Nodes) Nodes {
				if what == "allowance" {
					return laggingNodes{n, lag, never}
				}
				return laggingNodes{n, never, lag}
			}
			b.useTrader()
			b.waitState(b.swap(usdc, thousand).ID, swap.Filled)
			b.wantNonce(2)
			if looks < 8 {
				t.Errorf("looked %d times", looks)
			}
		})
	}
}

// TestWouldFailWithoutApproval checks that a swap that would fail, with nothing paid for
// yet, ends before anything is signed.
func TestWouldFailWithoutApproval(t *testing.T) {
	b := newEngineFixture(t)
	b.useTrader()
	b.approvePermit2(usdc, thousand)
	r, err := b.review(usdc, thousand)
	if err != nil {
		t.Fatal(err)
	}
	b.setNodes(laggingNodes{b.hub, func() error { return nil }, func() error { return chain.ErrWouldRevert }})
	b.waitState(b.execute(r).ID, swap.Cancelled)
	b.wantNonce(1)
}

// TestLockedBetweenApprovalAndPermit covers a lock while the approval is mined: the order
// waits, even over a restart, and continues after unlock.
func TestLockedBetweenApprovalAndPermit(t *testing.T) {
	b := newEngineFixture(t)
	b.useTrader()
	b.chain.Pause()
	o := b.swap(usdc, thousand)
	b.waitUntil(o.ID, "sent", func(o swap.Order) bool { return o.CurrentTx != common.Hash{} })
	b.signer.locked.Store(true)
	b.chain.Resume()
	b.waitUntil(o.ID, "waiting", func(o swap.Order) bool { return o.Step == 1 && o.Condition == swap.WaitingForUnlock })
	b.halt()
	b.start()
	o = b.waitUntil(o.ID, "waiting", func(o swap.Order) bool { return o.Step == 1 && o.Condition == swap.WaitingForUnlock })
	if !o.AllowanceLocked {
		t.Error("the allowance is free while the order is between approval and pull")
	}
	b.signer.locked.Store(false)
	b.service.Wake()
	b.waitState(o.ID, swap.Filled)
	b.wantNonce(2)
}

// TestProviderDownAfterApproval checks that consent outlives a provider that is down
// between approval and refresh.
func TestProviderDownAfterApproval(t *testing.T) {
	b := newEngineFixture(t)
	tr := b.useTrader()
	b.chain.Pause()
	o := b.swap(usdc, thousand)
	b.waitUntil(o.ID, "sent", func(o swap.Order) bool { return o.CurrentTx != common.Hash{} })
	tr.set(func(tr *trader) { tr.err = swap.Refuse(swap.ProviderDown, "gone") })
	b.clockOffset.Add(int64(time.Minute))
	b.chain.Resume()
	b.waitUntil(o.ID, "approved", func(o swap.Order) bool { return o.Step == 1 })
	for _, why := range []error{swap.Refuse(swap.ProviderDown, "gone"), swap.Refuse(swap.NoRoute, "no route"), swap.Refuse(swap.ProviderBusy, "busy")} {
		tr.set(func(tr *trader) { tr.err = why })
		time.Sleep(100 * time.Millisecond)
	}
	if o, _, _ = b.service.Order(o.ID); o.State != swap.Executing {
		t.Fatalf("%s: %s", o.State, o.Reason)
	}
	tr.set(func(tr *trader) { tr.err = nil })
	b.waitState(o.ID, swap.Filled)
	b.wantNonce(2)
}

// TestApprovalThatVanished covers an approval that a reorg removes after it was taken as
// final: its bytes are sent again, and the order continues.
func TestApprovalThatVanished(t *testing.T) {
	s, err := sandbox.Start(t.Context(), sandbox.Options{Chains: []uint64{1}, Period: 100 * time.Millisecond, Instant: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	b := newEngineFixtureOn(t, s, 2)
	b.useTrader()
	b.chain.Pause()
	before := b.chain.Head().Number.Uint64()
	o := b.swap(usdc, thousand)
	b.waitUntil(o.ID, "sent", func(o swap.Order) bool { return o.CurrentTx != common.Hash{} })
	b.signer.locked.Store(true)
	if err := b.chain.Mine(2); err != nil {
		t.Fatal(err)
	}
	b.waitUntil(o.ID, "approved", func(o swap.Order) bool { return o.Step == 1 })
	if err := b.chain.Reorg(int(b.chain.Head().Number.Uint64()-before), true); err != nil {
		t.Fatal(err)
	}
	b.wantPermit2Allowance(usdc, 0)
	b.chain.Resume()
	b.signer.locked.Store(false)
	b.service.Wake()
	b.waitState(o.ID, swap.Filled)
	b.wantNonce(2)
	b.wantPermit2Allowance(usdc, 0)
}
