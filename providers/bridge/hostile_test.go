package bridge_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"swapkeep/sandbox"
	"swapkeep/sandbox/bridgesim"
	"swapkeep/sandbox/sandboxtest"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
)

// TestHostileRouterPays: a router pays whomever its caller names. In a transaction of the
// solver's that is the solver's payment. In a stranger's it proves nothing, though the
// amount, the recipient and the provider's claim are correct.
func TestHostileRouterPays(t *testing.T) {
	s := sandboxtest.StartWith(t, sandbox.Options{Chains: []uint64{8453, 42161}, Period: time.Second, Instant: true, BridgeKey: testKey})
	x := newTrader(t, s)
	for _, c := range []struct {
		name     string
		stranger bool
	}{{"the solver's call", false}, {"a stranger's call", true}} {
		x.name = c.name
		settings := s.Bridge().Settings()
		settings.PaceMS, settings.Outcome = 0, bridgesim.Outcome{Kind: bridgesim.Fill, Router: true, Stranger: c.stranger}
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
		sender, paidBy := x.payers(ctx, claim, *proof.Arrival)
		if paidBy == sender || slices.Contains(proof.Arrival.From, paidBy) {
			t.Errorf("%s: paid by %s, which is no router", c.name, paidBy)
		}
		if slices.Contains(proof.Arrival.From, sender) == c.stranger {
			t.Errorf("%s: sent by %s, and proof is what comes from %v", c.name, sender, proof.Arrival.From)
		}
	}
}

// payers returns who sent the transaction of a payment, and who pays according to its log.
func (x *trader) payers(ctx context.Context, c swap.Claim, a swap.Arrival) (sender, paidBy common.Address) {
	x.t.Helper()
	tx, _, err := x.nodes[c.Chain].TransactionByHash(ctx, c.Tx)
	if err != nil {
		x.t.Fatal(err)
	}
	receipt, err := x.nodes[c.Chain].TransactionReceipt(ctx, c.Tx)
	if err != nil {
		x.t.Fatal(err)
	}
	for _, l := range receipt.Logs {
		if l.Address == a.Token && len(l.Topics) == 3 && l.Topics[0] == transferTopic && common.BytesToAddress(l.Topics[2][:]) == a.To {
			paidBy = common.BytesToAddress(l.Topics[1][:])
		}
	}
	sender, err = types.LatestSignerForChainID(tx.ChainId()).Sender(tx)
	if err != nil || paidBy == (common.Address{}) {
		x.t.Fatalf("%s: no payment in %s, %v", x.name, c.Tx, err)
	}
	return sender, paidBy
}
