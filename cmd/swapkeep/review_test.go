package main

import (
	"strings"
	"testing"

	"swapkeep/cmd/internal/amount"
	"swapkeep/cmd/internal/screen"
	"swapkeep/host/protocol"
)

// TestReviewSaysWhatHolds: a review claims neither a minimum that nobody enforces nor a
// check that was not made, and says who holds the input meanwhile.
func TestReviewSaysWhatHolds(t *testing.T) {
	floor := []protocol.Receive{{Min: "1"}}
	for _, c := range []struct {
		name   string
		step   protocol.Step
		say    []string
		sayNot []string
	}{
		{"own swap", protocol.Step{Kind: "call", Effect: protocol.Effect{Kind: "swap", Receives: floor}},
			[]string{"reverts below this", "stay in the account", "simulated", "the market price"}, []string{"promised by"}},
		{"deferred swap", protocol.Step{Kind: "deferred", Effect: protocol.Effect{Kind: "swap", Receives: floor}},
			[]string{"reverts below this"}, []string{"simulated"}},
		{"signed order", protocol.Step{Kind: "typed", Effect: protocol.Effect{Kind: "order", Receives: floor}},
			[]string{"reverts below this", "stay in the account"}, []string{"promised by", "simulated"}},
		{"deposit", protocol.Step{Kind: "call", Effect: protocol.Effect{Kind: "deposit", TrustedTo: "relay_solver"}},
			[]string{"promised by Relay and its solver", "held by Relay and its solver"}, []string{"reverts below this", "stay in the account"}},
		{"opaque", protocol.Step{Kind: "call", Effect: protocol.Effect{Kind: "opaque", TrustedTo: "a router"}},
			[]string{"promised by a router", "held by a router", "simulated"}, []string{"reverts below this"}},
		{"wrap", protocol.Step{Kind: "call", Effect: protocol.Effect{Kind: "wrap", Receives: floor}},
			[]string{"one to one"}, []string{"the market price"}},
	} {
		r := protocol.Review{Steps: []protocol.Step{{Kind: "call", Effect: protocol.Effect{Kind: "approve"}}, c.step}}
		r.Terms.Provider = "bridge"
		said := floorText(r) + "\n" + settlementText(r) + "\n" + checkedText(r)
		for _, want := range c.say {
			if !strings.Contains(said, want) {
				t.Errorf("%s: no %q in\n%s", c.name, want, said)
			}
		}
		for _, not := range c.sayNot {
			if strings.Contains(said, not) {
				t.Errorf("%s: %q in\n%s", c.name, not, said)
			}
		}
	}
}

// TestFeesInWords: a review says how a fee is known. A fee that was only asked for is
// neither stated as taken nor left out.
func TestFeesInWords(t *testing.T) {
	taken := protocol.Terms{FeeBps: 40, FeeReceiver: "0xbEEF"}
	for basis, c := range map[string]struct {
		terms protocol.Terms
		asked int
		want  string
	}{
		"decoded":   {taken, 0, "wallet 0.4 % to 0xbEEF, decoded from what is signed"},
		"reported":  {taken, 0, "wallet 0.4 % to 0xbEEF, as stated by the provider"},
		"requested": {protocol.Terms{}, 40, "wallet 0.4 % requested; unknown whether the provider charges it"},
		"none":      {protocol.Terms{}, 0, "no wallet fee"},
	} {
		r := protocol.Review{Terms: c.terms, FeeBasis: basis, Offer: protocol.Offer{FeeRequested: c.asked}}
		if got := feesText(r, amount.Coin{Symbol: "USDC"}); !strings.HasPrefix(got, c.want+";") && !strings.HasPrefix(got, c.want+",") {
			t.Errorf("%s: %s", basis, got)
		}
	}
}

func TestShareText(t *testing.T) {
	for share, want := range map[float64]string{0: "under 0.01 %", 7.4e-07: "under 0.01 %", 0.0012: "0.12 %", 0.05: "5.00 %", 0.6: "60 %", 1.5: "150 %", 40: "4000 %"} {
		if got := shareText(share); got != want {
			t.Errorf("%g: %s, want %s", share, got, want)
		}
	}
}

// TestOffersInWords: on a narrow terminal too, each offer's route, its rank, and whether
// it cannot be executed are readable.
func TestOffersInWords(t *testing.T) {
	var b strings.Builder
	r := trade{gets: amount.Coin{Symbol: "USDC", Decimals: 6}}
	why := "0.21 % less than the first after fees and gas; as good as the next, and quicker"
	printOffers(screen.New(&b, func(string) string { return "" }), r, protocol.QuoteResult{
		Offers: []protocol.Offer{
			{Provider: "bridge", AmountOut: "1000000", MinAmountOut: "990000", USD: protocol.OfferUSD{AmountIn: "2.35", AmountOut: "2.24"}},
			{Provider: "dex", AmountOut: "1000000", MinAmountOut: "990000", Routing: "CLASSIC", Route: strings.Repeat("0x88e6A0c2dDD26FEEb64F039a2c41296FcB3f5640 ", 3), Rank: why},
			{Provider: "intent", AmountOut: "1000000", MinAmountOut: "990000", Routing: "Across", Unusable: "its quote ends within 30 seconds"},
		},
		Failures: map[string]*protocol.Error{"bridge": protocol.New("provider_key", "needs an api key")},
	})
	said := strings.Join(strings.Fields(b.String()), " ")
	for _, want := range []string{why, "1 bridge : not ranked; worth about 2.24 US dollars, for what is worth about 2.35 US dollars (-4.68 %)", "3 intent Across: cannot be executed: its quote ends within 30 seconds", "bridge no offer: needs an api key (provider_key); set a valid API key (swapkeep providers set-key)"} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in\n%s", want, &b)
		}
	}
	for _, l := range strings.Split(b.String(), "\n") {
		if len(l) > screen.PageWidth {
			t.Errorf("%d columns: %s", len(l), l)
		}
	}
}
