package plan

import (
	"math/big"
	"swapkeep/swap"
	"testing"
	"time"
)

// TestProposedTerms checks that a refresh never moves the minimum by itself, and that a
// proposal never asks for less than the fresh offer guarantees.
func TestProposedTerms(t *testing.T) {
	e := &Planner{Fees: swap.DefaultFees()}
	terms, effects := erc20()
	o := swap.Order{Consent: swap.Consent{Terms: terms, Plan: swap.Plan{Steps: []swap.Step{{Kind: swap.DeferredStep, Effect: effects[2]}}}}}
	offer := swap.Offer{MinOut: new(big.Int).Add(terms.MinOut, big.NewInt(5)), Request: swap.QuoteRequest{SlippageBps: 50}}
	if got := e.proposedTerms(o, offer, noon); got.MinOut.Cmp(terms.MinOut) != 0 || !got.Deadline.Equal(noon.Add(consentLife)) {
		t.Errorf("floor %s, deadline %s", got.MinOut, got.Deadline)
	}
	terms.MinOut = big.NewInt(10_000)
	o.Terms = terms
	offer.MinOut = big.NewInt(9000)
	first := e.proposedTerms(o, offer, noon)
	if first.MinOut.Int64() != 9000 || o.Terms.MinOut.Int64() != 10_000 {
		t.Errorf("floor %s", first.MinOut)
	}
	o.Proposal = &swap.Proposal{Review: swap.Review{Terms: first}}
	for _, c := range []struct {
		min      int64
		slippage int
		at       time.Duration
		same     bool
	}{
		{9000, 50, time.Minute, true}, {9040, 50, time.Minute, true}, {9040, 5000, time.Minute, true}, {8999, 50, time.Minute, false},
		{9050, 50, time.Minute, false}, {9050, 5000, time.Minute, false}, {9040, 1, time.Minute, false}, {9000, 50, consentLife - minConsentTime + time.Second, false},
	} {
		offer.MinOut, offer.Request.SlippageBps = big.NewInt(c.min), c.slippage
		if got := e.proposedTerms(o, offer, noon.Add(c.at)); string(swap.MustJSON(got)) == string(swap.MustJSON(first)) != c.same {
			t.Errorf("%+v: %s", c, swap.MustJSON(got))
		}
	}
}
