package engine

import (
	"testing"

	"swapkeep/chain"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/core/types"
)

// farFixture returns a deposit whose output is on a network that the wallet does not serve and of
// which transactions can be read.
func farFixture(t *testing.T, change func(*swap.Order), deposit ...*types.Log) (*proofFixture, *ledger, string) {
	c := newProofFixture(t, 2)
	c.depositLogs = deposit
	far, urls := newLedger(t, noRPC, 2, c.now)
	c.far = far
	if err := c.hub.SetFar([]chain.Endpoint{{Chain: noRPC, URLs: urls, Depth: ledgerDepth}}); err != nil {
		t.Fatal(err)
	}
	c, id := withDeposit(c, func(o *swap.Order) {
		o.Terms.DstChain = noRPC
		if change != nil {
			change(o)
		}
	})
	c.provider.proof = linkedProof
	return c, far, id
}

// TestFarNetwork checks that a payment on a network of which only transactions are read ends an
// order as on the wallet's own, if the provider names it: no logs are searched and no balances
// read there.
func TestFarNetwork(t *testing.T) {
	native := func(o *swap.Order) { o.Terms.TokenOut = chain.Native }
	direct := coin(1, stranger, 1000)
	direct.input = orderName[:]
	for _, tc := range []struct {
		name   string
		change func(*swap.Order)
		tx     ledgerTx
		told   bool
		by     string
		waits  swap.Condition
	}{
		{name: "named, and told", tx: named(arrival(1, stranger, 1000)), told: true, by: swap.ProvenByArrival},
		{name: "told only", tx: arrival(1, stranger, 1000), told: true, waits: swap.LikelyPaid},
		{name: "named only", tx: named(arrival(1, stranger, 1000))},
		{name: "of the coin", change: native, tx: direct, told: true, by: swap.ProvenByArrival},
		{name: "of the coin by a contract", change: native, tx: ledgerTx{hash: direct.hash, from: stranger, to: router}, told: true, waits: swap.AwaitingProof},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, far, id := farFixture(t, tc.change)
			tx := far.mineFinal(tc.tx)
			if tc.told {
				c.claimEnd(swap.Filled, tx, noRPC)
			}
			o := c.pollRepeatedly(id)
			c.wantVerdict(o, tc.by, bothAgree)
			if o.Condition != tc.waits {
				t.Errorf("condition %q, want %q; logged %q", o.Condition, tc.waits, c.logged)
			}
		})
	}
}
