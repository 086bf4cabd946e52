package host

import (
	"math/big"
	"slices"
	"time"

	"swapkeep/chain"
	"swapkeep/swap"
)

// isolatedTerms are terms of which a throwaway account makes the call.
func (s *fakeSwaps) isolatedTerms() swap.Terms {
	t := s.terms()
	t.Provider, t.Isolated, t.TokenIn, t.AmountIn, t.FeeBps, t.FeeReceiver, t.MakerFeeBps = swap.Intent, stranger, usdc, big.NewInt(25_000_000), 0, chain.Native, 0
	t.DstChain, t.MinOut = 8453, big.NewInt(24_800_000)
	return t
}

// isolatedPlan moves input and gas to the throwaway account, which approves and calls.
func (s *fakeSwaps) isolatedPlan() swap.Plan {
	t := s.isolatedTerms()
	opaque := chain.Call{ChainID: 1, From: stranger, To: router, Value: new(big.Int), Data: []byte{1, 2, 3, 4}}
	return swap.Plan{Settlement: swap.ByProvider, Steps: append(swap.FundSteps(t, big.NewInt(1_170_000_000_000_000)),
		swap.Step{Kind: swap.CallStep, Call: &chain.Call{ChainID: 1, From: stranger, To: usdc, Value: new(big.Int)}, Effect: swap.Effect{Kind: swap.Approve, Chain: 1, Target: usdc, Approves: []swap.Approval{{Token: usdc, Spender: router, Amount: t.AmountIn}}}},
		swap.Step{Kind: swap.CallStep, Call: &opaque, Effect: swap.Effect{Kind: swap.Opaque, Chain: 1, Target: router, Spends: []swap.Spend{{Token: usdc, Amount: t.AmountIn}}, TrustedTo: "intent_fillers"}})}
}

// isolatedReview returns a review whose call a throwaway account makes.
func (s *fakeSwaps) isolatedReview(r swap.Review) swap.Review {
	r.Terms, r.Plan = s.isolatedTerms(), s.isolatedPlan()
	r.Offer.ID, r.Offer.Provider, r.Offer.Request.Isolated = "offer-5", swap.Intent, stranger
	r.Gas.Costs = slices.Repeat(r.Gas.Costs, 4)
	r.Findings = []swap.Finding{{Code: "isolated_account", Severity: swap.Note, Text: "made from an account of its own", Data: map[string]string{"isolated": stranger.Hex(), "extra": "130000000000000"}}}
	return r
}

// returned returns an order that ended, and of whose throwaway account a part came back later.
func (s *fakeSwaps) returned(id string) swap.Order {
	o := s.order(id, swap.Filled)
	o.Terms, o.Plan, o.EndedAt, o.Updated = s.isolatedTerms(), s.isolatedPlan(), o.Updated, o.Updated.Add(time.Minute)
	o.Step, o.Results = 4, slices.Repeat(o.Results, 4)
	o.Isolation = &swap.Isolation{Returned: []swap.Returned{{Token: chain.Native, Amount: big.NewInt(900_000_000_000_000), Tx: txHash}}, Left: []swap.Spend{{Token: usdc, Amount: big.NewInt(3)}}}
	return o
}
