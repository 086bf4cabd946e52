//go:build vendors

package vendors_test

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"swapkeep/sandbox"
	"swapkeep/sandbox/bridgesim"
	"swapkeep/sandbox/sandboxtest"
	"swapkeep/test/await"
	"swapkeep/test/vendors"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"
)

// A vendorSwap is one swap that a vendor's package executes. "" is the native coin.
type vendorSwap struct {
	from, to uint64
	in, out  string
	amount   string
}

// A vendorRun is a sandbox, the account that swaps, and the script's input.
type vendorRun struct {
	s        *sandbox.Sandbox
	account  sandbox.Account
	trips    []vendorSwap
	before   []*big.Int
	question map[string]any
}

func newJourney(t *testing.T, s *sandbox.Sandbox, kind string, trips []vendorSwap) *vendorRun {
	t.Helper()
	j := &vendorRun{s: s, account: s.Accounts()[2], trips: trips}
	var chains, asked []map[string]any
	for _, c := range s.Chains() {
		chains = append(chains, map[string]any{"id": c.Network.ID, "rpc": c.RPC()})
	}
	for _, x := range trips {
		asked = append(asked, map[string]any{
			"from": x.from, "to": x.to, "amount": x.amount,
			"input": sandboxtest.Token(t, s.Chain(x.from), x.in), "output": sandboxtest.Token(t, s.Chain(x.to), x.out),
		})
		j.before = append(j.before, j.balance(t, x))
	}
	base := s.BaseURL(kind)
	if !strings.HasPrefix(base, "http://127.0.0.1:") {
		t.Fatalf("the simulator is at %s", base)
	}
	j.question = map[string]any{"base": base, "key": hexutil.Encode(crypto.FromECDSA(j.account.Key)), "chains": chains, "trips": asked}
	return j
}

// balance returns the account's balance of a trip's output.
func (j *vendorRun) balance(t *testing.T, x vendorSwap) *big.Int {
	t.Helper()
	c := j.s.Chain(x.to)
	return sandboxtest.Balance(t, c, j.account.Address, sandboxtest.Token(t, c, x.out))
}

// checkPayment checks that the chain paid at least the minimum of the trip's output. Each trip
// has an output of its own, which no other trip spends.
func (j *vendorRun) checkPayment(t *testing.T, c *vendors.Count, i int, minimum string) {
	t.Helper()
	least, ok := new(big.Int).SetString(minimum, 10)
	got := new(big.Int).Sub(j.balance(t, j.trips[i]), j.before[i])
	c.Same(fmt.Sprintf("trip %d: %s of at least %s", i, got, minimum), "payments on the chain", ok && least.Sign() > 0 && got.Cmp(least) >= 0, true)
}

// TestVendorsRelay runs relay-sdk's quote and execute against the bridge simulator.
func TestVendorsRelay(t *testing.T) {
	s := sandboxtest.StartWith(t, sandbox.Options{Chains: []uint64{8453, 42161}, Period: time.Second, Instant: true, BridgeKey: "a-key"})
	j := newJourney(t, s, "bridge", []vendorSwap{
		{8453, 42161, "USDC", "USDC", "25000000"},
		{8453, 42161, "", "", "10000000000000000"},
		{8453, 42161, "USDC", "USDT", "50000000"},
		{8453, 8453, "", "DAI", "10000000000000000"},
	})
	j.question["apiKey"] = "a-key"
	var answer []struct {
		RequestID, Minimum string
		States, Steps      []string
		Paid               []common.Hash
	}
	vendors.RunScript(t, "relay.mjs", j.question, &answer)
	c := vendors.NewCount(t, "relay-sdk")
	if len(answer) != len(j.trips) {
		t.Fatalf("%d answers to %d trips", len(answer), len(j.trips))
	}
	for i, x := range j.trips {
		a, found := answer[i], 0
		if len(a.Steps) == 0 {
			t.Errorf("trip %d has no steps", i)
		}
		t.Logf("trip %d: %s", i, strings.Join(a.States, " > "))
		for _, step := range a.Steps {
			c.Same(fmt.Sprint("trip ", i, ": ", step), "steps complete", strings.HasSuffix(step, " complete"), true)
		}
		j.checkPayment(t, c, i, a.Minimum)
		for _, o := range ended(s, common.HexToHash(a.RequestID)) {
			found++
			c.Same(a.RequestID, "orders at their end", o.Status, "success")
			if x.from != x.to {
				c.Same(a.RequestID, "payments named", len(a.Paid) == 1 && a.Paid[0] == o.Payment, true)
			}
		}
		if found != 1 {
			t.Errorf("trip %d: %d orders of its request", i, found)
		}
	}
}

// ended returns the bridge's orders of a request once none of them is open, or after half a
// minute. The package does not poll a swap on one chain: it is done when its transaction is
// mined, which the simulator may see a moment later.
func ended(s *sandbox.Sandbox, request common.Hash) (orders []bridgesim.OrderView) {
	open := func(o bridgesim.OrderView) bool {
		return slices.Contains([]string{"waiting", "pending", "delayed", "submitted"}, o.Status)
	}
	await.Holds(30*time.Second, func() bool {
		orders = slices.DeleteFunc(s.Bridge().Orders(), func(o bridgesim.OrderView) bool { return o.RequestID != request })
		return !slices.ContainsFunc(orders, open)
	})
	return orders
}

// TestVendorsHyperStream runs @tokenflight/api from a quote to the end of its order,
// against the intent simulator.
func TestVendorsHyperStream(t *testing.T) {
	s := sandboxtest.Start(t, 8453, 42161)
	j := newJourney(t, s, "intent", []vendorSwap{
		{8453, 42161, "USDC", "USDC", "25000000"},
		{8453, 42161, "", "", "10000000000000000"},
		{8453, 42161, "USDC", "USDT", "50000000"},
	})
	var answer struct {
		Done []struct {
			Routes, Streamed      int
			Kind, Minimum, TxHash string
			OrderID, Again        string
			States                []string
			Status, Listed        string
			Terminal              bool
		}
		Chains, Tokens int
		Strange        bool
	}
	vendors.RunScript(t, "hyperstream.mjs", j.question, &answer)
	c := vendors.NewCount(t, "@tokenflight/api")
	if len(answer.Done) != len(j.trips) {
		t.Fatalf("%d answers to %d trips", len(answer.Done), len(j.trips))
	}
	c.Same("a quote that nobody made", "refusals by name", answer.Strange, true)
	c.Same("lists", "lists read", answer.Chains > 0 && answer.Tokens > 0, true)
	for i, a := range answer.Done {
		what := fmt.Sprint("trip ", i)
		t.Logf("%s: %s", what, strings.Join(a.States, " > "))
		c.Same(what, "routes quoted and streamed", a.Routes > 0 && a.Streamed == a.Routes, true)
		c.Same(what, "deposits built", a.Kind, "CONTRACT_CALL")
		c.Same(what, "deposits submitted twice", a.OrderID, a.Again)
		c.Same(what, "orders at their end", a.Status, "filled")
		c.Same(what, "orders at their end", a.Terminal && a.Listed == a.Status, true)
		j.checkPayment(t, c, i, a.Minimum)
	}
}
