package bridge_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"testing"
	"time"

	"swapkeep/sandbox"
	"swapkeep/sandbox/bridgesim"
	"swapkeep/sandbox/sandboxtest"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
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

// TestRecordedPayments checks what links a payment to its order on recordings of live ones: a
// deposit's event has the id that its calldata ends with, and a fill's input ends with its
// order's id, though its sender is not the published solver.
func TestRecordedPayments(t *testing.T) {
	type recorded struct {
		Transaction struct {
			From            common.Address
			Input, InputEnd hexutil.Bytes
		}
		Receipt struct {
			Logs []struct{ Data hexutil.Bytes }
		}
		Provider struct{ OrderID hexutil.Bytes }
	}
	read := func(name string) (r recorded) {
		raw, err := os.ReadFile("../../testdata/live/relay/" + name)
		if err == nil {
			err = json.Unmarshal(raw, &r)
		}
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	const word = common.HashLength
	deposit := read("tx-deposit-erc20-base.json")
	event := deposit.Receipt.Logs[len(deposit.Receipt.Logs)-1].Data
	if in := deposit.Transaction.Input; !bytes.Equal(event[len(event)-word:], in[len(in)-word:]) {
		t.Errorf("a deposit of %x logs %x", in, event)
	}
	fill := read("tx-fill-router-robinhood.json")
	if len(fill.Provider.OrderID) != word || !bytes.HasSuffix(fill.Transaction.InputEnd, fill.Provider.OrderID) {
		t.Errorf("a fill of %x ends with %x", fill.Provider.OrderID, fill.Transaction.InputEnd)
	}
	if fill.Transaction.From == common.HexToAddress("0xf70da97812cb96acdf810712aa562db8dfa3dbef") {
		t.Error("the recording is by the published solver, and shows nothing")
	}
}
