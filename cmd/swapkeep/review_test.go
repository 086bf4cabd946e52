package main

import (
	"strings"
	"testing"

	"swapkeep/host/protocol"
)

// TestReviewSaysWhatHolds: a review claims neither a floor that nobody enforces nor a
// check that was not made, and says where the input is meanwhile.
func TestReviewSaysWhatHolds(t *testing.T) {
	floor := []protocol.Receive{{Min: "1"}}
	for _, c := range []struct {
		name   string
		step   protocol.Step
		say    []string
		sayNot []string
	}{
		{"own swap", protocol.Step{Kind: "call", Effect: protocol.Effect{Kind: "swap", Receives: floor}},
			[]string{"does not happen", "stays in the account", "simulated", "a price of our own"}, []string{"promise"}},
		{"late swap", protocol.Step{Kind: "late", Effect: protocol.Effect{Kind: "swap", Receives: floor}},
			[]string{"does not happen"}, []string{"simulated"}},
		{"signed order", protocol.Step{Kind: "typed", Effect: protocol.Effect{Kind: "order", Receives: floor}},
			[]string{"does not happen", "stays in the account"}, []string{"promise", "simulated"}},
		{"deposit", protocol.Step{Kind: "call", Effect: protocol.Effect{Kind: "deposit", TrustedTo: "Relay and its solver"}},
			[]string{"a promise of Relay and its solver", "in the hands of Relay and its solver"}, []string{"does not happen", "stays in the account"}},
		{"opaque", protocol.Step{Kind: "call", Effect: protocol.Effect{Kind: "opaque", TrustedTo: "a router"}},
			[]string{"a promise of a router", "in the hands of a router", "simulated"}, []string{"does not happen"}},
		{"wrap", protocol.Step{Kind: "call", Effect: protocol.Effect{Kind: "wrap", Receives: floor}},
			[]string{"one to one"}, []string{"a price of our own"}},
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

func TestShareText(t *testing.T) {
	for share, want := range map[float64]string{0: "under 0.01 %", 7.4e-07: "under 0.01 %", 0.0012: "0.12 %", 0.05: "5.00 %", 0.6: "60 %", 1.5: "150 %", 40: "4000 %"} {
		if got := shareText(share); got != want {
			t.Errorf("%g: %s, want %s", share, got, want)
		}
	}
}
