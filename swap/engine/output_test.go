package engine

import (
	"context"
	"math/big"
	"slices"
	"testing"
	"time"

	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	"github.com/google/uuid"
)

var bothActs = []string{"output_lookalike", "output_unverified"}

// acknowledgements returns the codes of findings that each need an acknowledgement.
func acknowledgements(found []swap.Finding) (codes []string) {
	for _, f := range found {
		if f.Severity == swap.Acknowledge {
			codes = append(codes, f.Code)
		}
	}
	slices.Sort(codes)
	return codes
}

// TestProposalNeedsNewAcknowledgements checks that acknowledgements of a plan do not carry over
// to the proposal that replaces it: each is given again.
func TestProposalNeedsNewAcknowledgements(t *testing.T) {
	b := newEngineFixture(t)
	tr := b.useTrader()
	b.recognition.Store(&swap.Recognition{Imitates: usdt})
	amount := big.NewInt(1e17)
	if err := b.chain.Fund(t.Context(), b.from, weth, amount); err != nil {
		t.Fatal(err)
	}
	q, err := b.service.Quote(t.Context(), swap.QuoteRequest{Account: b.from, SrcChain: 1, TokenIn: weth, AmountIn: amount, DstChain: 1, TokenOut: usdc}, []swap.Kind{swap.DEX}, nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := b.service.Prepare(t.Context(), q.Offers[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	execute := func(codes ...string) (swap.Order, error) {
		return b.service.Execute(t.Context(), ExecuteRequest{Request: uuid.NewString(), Digest: r.Digest, Caller: passwordCaller, Acknowledge: codes})
	}
	for _, few := range [][]string{nil, bothActs[:1], bothActs[1:], {"output", "all", "*"}} {
		_, err := execute(few...)
		refusedWith(t, err, swap.NeedsAcknowledge)
	}
	b.chain.Pause()
	o, err := execute(bothActs...)
	if err != nil {
		t.Fatal(err)
	}
	b.waitUntil(o.ID, "sent", func(o swap.Order) bool { return o.CurrentTx != common.Hash{} })
	tr.set(offersBelow(400))
	b.clockOffset.Add(int64(time.Minute))
	b.chain.Resume()
	o = b.waitUntil(o.ID, "in need of consent", proposes)
	if got := acknowledgements(o.Proposal.Findings); !slices.Equal(got, bothActs) || !slices.Equal(o.AckCodes, bothActs) {
		t.Fatalf("the proposal asks for %v, acknowledged before %v", got, o.AckCodes)
	}
	for _, few := range [][]string{nil, bothActs[:1], bothActs[1:]} {
		a := acceptOf(o)
		a.Acknowledge = few
		_, err := b.service.Accept(t.Context(), a)
		refusedWith(t, err, swap.NeedsAcknowledge)
	}
	a := acceptOf(o)
	a.Acknowledge = slices.Clone(bothActs)
	if _, err := b.service.Accept(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	b.waitState(o.ID, swap.Filled)
}

// TestPlansAwaitPrices checks that Prepare waits for the prices that a plan is judged by.
func TestPlansAwaitPrices(t *testing.T) {
	b := newEngineFixture(t)
	b.useDepositProvider(swap.Deposit)
	waited := 0
	b.service.engine.Planner.AwaitPrices = func(context.Context) { waited++ }
	if _, err := b.reviewDeposit(native, 1000); err != nil || waited != 1 {
		t.Errorf("prices were awaited %d times, %v", waited, err)
	}
}
