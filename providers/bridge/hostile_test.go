package bridge_test

import (
	"bytes"
	"context"
	"testing"
	"time"

	"swapkeep/sandbox"
	"swapkeep/sandbox/bridgesim"
	"swapkeep/sandbox/sandboxtest"
	"swapkeep/swap"
)

// TestPaymentsNameTheirOrder checks that a payment's input ends with the id that its order's proof
// asks for, whoever sends it and whichever contract pays; and that one without it does not.
func TestPaymentsNameTheirOrder(t *testing.T) {
	s := sandboxtest.StartWith(t, sandbox.Options{Chains: []uint64{8453, 42161}, Period: time.Second, Instant: true, BridgeKey: testKey})
	x := newTrader(t, s)
	for _, c := range []struct {
		name    string
		outcome bridgesim.Outcome
	}{
		{"by the solver", bridgesim.Outcome{}},
		{"by the solver's call of a router", bridgesim.Outcome{Router: true}},
		{"by a stranger's call of a router", bridgesim.Outcome{Router: true, Stranger: true}},
		{"without the id", bridgesim.Outcome{Unlinked: true}},
	} {
		x.name = c.name
		settings := s.Bridge().Settings()
		settings.PaceMS, settings.Outcome = 0, c.outcome
		settings.Outcome.Kind = bridgesim.Fill
		if err := s.Bridge().Set(settings); err != nil {
			t.Fatal(err)
		}
		r := request(8453, symbol(t, x.chains[8453], "USDC"), 42161, symbol(t, x.chains[42161], "USDC"), "27000000", 0)
		r.Account, r.Recipient, r.RefundTo = x.who.Address, x.who.Address, x.who.Address
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		o, terms, built := x.plan(ctx, r)
		order := x.pays(ctx, o, terms, built)
		claim := x.settled(ctx, order, swap.Filled)
		proof, err := x.p.Proof(order)
		if err != nil {
			t.Fatal(err)
		}
		tx, _, err := x.nodes[claim.Chain].TransactionByHash(ctx, claim.Tx)
		if err != nil {
			t.Fatal(err)
		}
		if named := bytes.HasSuffix(tx.Data(), proof.Arrival.Link.InputEnd[:]); named == c.outcome.Unlinked {
			t.Errorf("%s: the input %x names the order: %t", c.name, tx.Data(), named)
		}
	}
}
