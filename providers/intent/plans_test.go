package intent

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"os"
	"strings"
	"testing"

	"swapkeep/chain"
	"swapkeep/providers/providertest"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"
)

// A hostile is the plan of an example with one change.
type hostile struct {
	name   string
	change func(p map[string]any) // changes the reply
	code   swap.Code
	field  string
}

func actions(p map[string]any) []any { return p["approvals"].([]any) }

func requestOf(p map[string]any, i int) map[string]any {
	return actions(p)[i].(map[string]any)["request"].(map[string]any)
}

func paramOf(p map[string]any, i int) map[string]any {
	return requestOf(p, i)["params"].([]any)[0].(map[string]any)
}

func set(i int, name string, value any) func(map[string]any) {
	return func(p map[string]any) { paramOf(p, i)[name] = value }
}

func insert(i int, a map[string]any) func(map[string]any) {
	return func(p map[string]any) {
		all := actions(p)
		p["approvals"] = append(append(append([]any{}, all[:i]...), a), all[i:]...)
	}
}

func sending(deposit bool, tx map[string]any) map[string]any {
	return map[string]any{"type": actionType, "request": map[string]any{"method": sendTransaction, "params": []any{tx}}, "deposit": deposit}
}

func tx(to common.Address, data string) map[string]any {
	return map[string]any{"from": exampleAccount.Hex(), "to": to.Hex(), "data": data, "value": "0x0"}
}

func approval(spender common.Address, n *big.Int) string {
	return "0x095ea7b3" + common.Bytes2Hex(common.LeftPadBytes(spender[:], 32)) + common.Bytes2Hex(common.BigToHash(n).Bytes())
}

func approving(spender common.Address, n int64) map[string]any {
	return sending(false, tx(exampleIn, approval(spender, big.NewInt(n))))
}

var (
	unlimited = new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(1))
	tooLong   = "0x" + strings.Repeat("00", maxData+1)
)

// Positions of the actions in the example's plan.
const theSwitch, theApproval, theDeposit = 0, 1, 2

// hostilePlans are grouped by the rule that refuses them: the spec's five (section 5) and
// those that the reference adds. Each is refused for that reason alone.
var hostilePlans = map[string][]hostile{
	"1, the network switched to": {
		{"another one", set(theSwitch, "chainId", "0x1"), swap.NotAsAccepted, "chainId"},
		{"the source, in decimal", set(theSwitch, "chainId", "8453"), swap.NotAsAccepted, "chainId"},
		{"the source, as a number", set(theSwitch, "chainId", 8453), swap.NotAsAccepted, "chainId"},
		{"none", func(p map[string]any) { delete(paramOf(p, theSwitch), "chainId") }, swap.NotAsAccepted, "chainId"},
		{"a network to be added", set(theSwitch, "rpcUrls", []any{"https://rpc.example"}), swap.Undecodable, "chainId"},
		{"the source, and then another", insert(1, map[string]any{"type": actionType, "request": map[string]any{"method": switchChain, "params": []any{map[string]any{"chainId": "0xa"}}}}), swap.NotAsAccepted, "chainId"},
		{"no form of a number", set(theSwitch, "chainId", "0x"), swap.Undecodable, "chainId"},
		{"a sign", set(theSwitch, "chainId", "0x-2105"), swap.Undecodable, "chainId"},
		{"a huge one", set(theSwitch, "chainId", "0x1"+strings.Repeat("0", 64)), swap.Undecodable, "chainId"},
		{"two networks at once", func(p map[string]any) {
			requestOf(p, theSwitch)["params"] = []any{map[string]any{"chainId": "0x2105"}, map[string]any{"chainId": "0x1"}}
		}, swap.Undecodable, "params"},
	},
	"2, the sender": {
		{"of the deposit, another", set(theDeposit, "from", attacker.Hex()), swap.NotAsAccepted, "from"},
		{"of the approval, another", set(theApproval, "from", attacker.Hex()), swap.NotAsAccepted, "from"},
		{"none", func(p map[string]any) { delete(paramOf(p, theDeposit), "from") }, swap.NotAsAccepted, "from"},
		{"null", set(theDeposit, "from", nil), swap.NotAsAccepted, "from"},
		{"no address", set(theDeposit, "from", "0x1234"), swap.Undecodable, "transaction"},
	},
	"3, the network": {
		{"of the deposit, another", set(theDeposit, "chainId", "0x1"), swap.NotAsAccepted, "chainId"},
		{"another, in decimal", set(theDeposit, "chainId", "1"), swap.NotAsAccepted, "chainId"},
		{"another, as a number", set(theDeposit, "chainId", 1), swap.NotAsAccepted, "chainId"},
		{"of the approval, another", set(theApproval, "chainId", "0xa"), swap.NotAsAccepted, "chainId"},
		{"zero", set(theDeposit, "chainId", "0x0"), swap.NotAsAccepted, "chainId"},
		{"no number", set(theDeposit, "chainId", "base"), swap.Undecodable, "transaction"},
		{"a fraction", set(theDeposit, "chainId", 8453.5), swap.Undecodable, "transaction"},
	},
	"4, the target": {
		{"none", func(p map[string]any) { delete(paramOf(p, theDeposit), "to") }, swap.Undecodable, "to"},
		{"null", set(theDeposit, "to", nil), swap.Undecodable, "to"},
		{"too short", set(theDeposit, "to", exampleDepot.Hex()[:40]), swap.Undecodable, "to"},
		{"too long", set(theDeposit, "to", exampleDepot.Hex()+"00"), swap.Undecodable, "to"},
		{"without 0x", set(theDeposit, "to", exampleDepot.Hex()[2:]), swap.Undecodable, "to"},
		{"a name", set(theDeposit, "to", "khalani.eth"), swap.Undecodable, "to"},
		{"zero", set(theDeposit, "to", common.Address{}.Hex()), swap.Undecodable, "to"},
		{"with a wrong checksum", set(theDeposit, "to", "0x1a7c327d0f402AEf2eD3D20D1141bD71BA1C317B"), swap.Undecodable, "to"},
		{"of the approval, with a wrong checksum", set(theApproval, "to", "0x833589FCD6eDb6E08f4c7C32D4f71b54bdA02913"), swap.Undecodable, "to"},
	},
	"5, other actions": {
		{"a message to be signed", insert(1, map[string]any{"type": actionType, "request": map[string]any{"method": "personal_sign", "params": []any{"0x00"}}}), swap.Undecodable, "method"},
		{"typed data to be signed", insert(1, map[string]any{"type": actionType, "request": map[string]any{"method": "eth_signTypedData_v4", "params": []any{"{}"}}}), swap.Undecodable, "method"},
		{"a network to be added", insert(0, map[string]any{"type": actionType, "request": map[string]any{"method": "wallet_addEthereumChain", "params": []any{map[string]any{"chainId": "0x2105"}}}}), swap.Undecodable, "method"},
		{"a method in other letters", func(p map[string]any) { requestOf(p, theDeposit)["method"] = "eth_sendtransaction" }, swap.Undecodable, "method"},
		{"no method", func(p map[string]any) { delete(requestOf(p, theDeposit), "method") }, swap.Undecodable, "method"},
		{"an action for Solana", insert(1, map[string]any{"type": "solana_sendTransaction", "transaction": "AQ=="}), swap.Undecodable, "type"},
		{"the deposit for Solana", func(p map[string]any) {
			actions(p)[theDeposit] = map[string]any{"type": "solana_sendTransaction", "transaction": "AQ==", "deposit": true}
		}, swap.Undecodable, "type"},
		{"an action without a type", func(p map[string]any) { delete(actions(p)[theDeposit].(map[string]any), "type") }, swap.Undecodable, "type"},
		{"a field of an action that nobody knows", func(p map[string]any) { actions(p)[theDeposit].(map[string]any)["delegate"] = true }, swap.Undecodable, "action"},
		{"a field of a request that nobody knows", func(p map[string]any) { requestOf(p, theDeposit)["id"] = 1 }, swap.Undecodable, "action"},
		{"a field of a transaction that nobody knows", set(theDeposit, "authorizationList", []any{}), swap.Undecodable, "transaction"},
		{"an access list", set(theDeposit, "accessList", []any{}), swap.Undecodable, "transaction"},
		{"a blob", set(theDeposit, "blobs", []any{"0x"}), swap.Undecodable, "transaction"},
	},
	"the plan as a whole": {
		{"no plan", func(p map[string]any) { delete(p, "approvals") }, swap.Undecodable, "approvals"},
		{"an empty one", func(p map[string]any) { p["approvals"] = []any{} }, swap.Undecodable, "approvals"},
		{"seven actions", func(p map[string]any) {
			for range 4 {
				insert(0, actions(p)[theSwitch].(map[string]any))(p)
			}
		}, swap.Undecodable, "approvals"},
		{"a permit", func(p map[string]any) { p["kind"] = "PERMIT2" }, swap.Undecodable, "kind"},
		{"a transfer", func(p map[string]any) { p["kind"] = "TRANSFER" }, swap.Undecodable, "kind"},
		{"the kind in other letters", func(p map[string]any) { p["kind"] = "contract_call" }, swap.Undecodable, "kind"},
		{"no kind", func(p map[string]any) { delete(p, "kind") }, swap.Undecodable, "kind"},
		{"its actions in other letters too", func(p map[string]any) { p["Approvals"] = p["approvals"] }, swap.Undecodable, "plan"},
		{"an error with a good status", func(p map[string]any) {
			clear(p)
			p["name"] = quoteNotFound
		}, swap.QuoteExpired, ""},
	},
	"the deposit": {
		{"none", func(p map[string]any) { actions(p)[theDeposit].(map[string]any)["deposit"] = false }, swap.Undecodable, "deposit"},
		{"two", func(p map[string]any) { insert(2, actions(p)[theDeposit].(map[string]any))(p) }, swap.Undecodable, "deposit"},
		{"before the approval", func(p map[string]any) { a := actions(p); a[1], a[2] = a[2], a[1] }, swap.Undecodable, "deposit"},
		{"that is a switch", func(p map[string]any) {
			actions(p)[theDeposit] = map[string]any{"type": actionType, "deposit": true, "request": map[string]any{"method": switchChain, "params": []any{map[string]any{"chainId": "0x2105"}}}}
		}, swap.Undecodable, "deposit"},
		{"that is the approval", func(p map[string]any) {
			a := actions(p)
			p["approvals"] = a[:2]
			a[theApproval].(map[string]any)["deposit"] = true
		}, swap.NotPinned, "to"},
		{"with two parameters", func(p map[string]any) {
			requestOf(p, theDeposit)["params"] = []any{paramOf(p, theDeposit), paramOf(p, theDeposit)}
		}, swap.Undecodable, "params"},
		{"without a parameter", func(p map[string]any) { requestOf(p, theDeposit)["params"] = []any{} }, swap.Undecodable, "params"},
		{"to the token", set(theDeposit, "to", exampleIn.Hex()), swap.NotPinned, "to"},
		{"to the output's token", set(theDeposit, "to", exampleOut.Hex()), swap.NotPinned, "to"},
		{"to the account", set(theDeposit, "to", exampleAccount.Hex()), swap.NotPinned, "to"},
		{"to Permit2", set(theDeposit, "to", "0x000000000022D473030F116dDEE9F6B43aC78BA3"), swap.NotPinned, "to"},
		{"to a Safe of the account's, which obeys it", func(p map[string]any) {
			move(p, safe)
			paramOf(p, theDeposit)["data"] = execTransaction
		}, swap.NotPinned, "to"},
		{"to a built-in contract of another network", func(p map[string]any) { move(p, depositContracts[0].address) }, swap.NotPinned, "to"},
		{"to a contract that nobody knows", func(p map[string]any) { move(p, common.BigToAddress(big.NewInt(0xabcdef))) }, swap.NotPinned, "to"},
		{"to the fee's receiver", set(theDeposit, "to", exampleFee.Hex()), swap.NotPinned, "to"},
		{"that sends coins along", set(theDeposit, "value", "0x1"), swap.NotAsAccepted, "value"},
		{"that sends the amount in coins", set(theDeposit, "value", "25000000"), swap.NotAsAccepted, "value"},
		{"that sends less than nothing", set(theDeposit, "value", "-1"), swap.Undecodable, "transaction"},
		{"without data", set(theDeposit, "data", "0x"), swap.Undecodable, "data"},
		{"with half a selector", set(theDeposit, "data", "0xf312"), swap.Undecodable, "data"},
		{"with half a byte", set(theDeposit, "data", "0xf3125a1f0"), swap.Undecodable, "data"},
		{"without 0x", set(theDeposit, "data", "f3125a1f"), swap.Undecodable, "data"},
		{"with too much data", set(theDeposit, "data", tooLong), swap.Undecodable, "data"},
		{"elsewhere than approved", set(theApproval, "data", approval(depositContracts[0].address, big.NewInt(25_000_000))), swap.NotAsAccepted, "spender"},
	},
	"approvals": {
		{"to a stranger", set(theApproval, "data", approval(attacker, big.NewInt(25_000_000))), swap.NotAsAccepted, "spender"},
		{"without end", set(theApproval, "data", approval(exampleDepot, unlimited)), swap.NotAsAccepted, "allowance"},
		{"of one more", set(theApproval, "data", approval(exampleDepot, big.NewInt(25_000_001))), swap.NotAsAccepted, "allowance"},
		{"of one less", set(theApproval, "data", approval(exampleDepot, big.NewInt(24_999_999))), swap.NotAsAccepted, "allowance"},
		{"of nothing alone", set(theApproval, "data", approval(exampleDepot, new(big.Int))), swap.Undecodable, "approvals"},
		{"twice", insert(1, approving(exampleDepot, 25_000_000)), swap.Undecodable, "approvals"},
		{"of nothing afterwards", insert(2, approving(exampleDepot, 0)), swap.NotAsAccepted, "allowance"},
		{"of nothing twice", func(p map[string]any) {
			insert(1, approving(exampleDepot, 0))(p)
			insert(1, approving(exampleDepot, 0))(p)
		}, swap.NotAsAccepted, "allowance"},
		{"a reset for a stranger", insert(1, approving(attacker, 0)), swap.NotAsAccepted, "spender"},
		{"of another token", set(theApproval, "to", exampleOut.Hex()), swap.NotAsAccepted, "to"},
		{"with coins sent along", set(theApproval, "value", "0x1"), swap.NotAsAccepted, "value"},
		{"with a byte more", set(theApproval, "data", approval(exampleDepot, big.NewInt(25_000_000))+"00"), swap.Undecodable, "data"},
		{"with a byte less", set(theApproval, "data", approval(exampleDepot, big.NewInt(25_000_000))[:136]), swap.Undecodable, "data"},
		{"with a padding that is none", set(theApproval, "data", strings.Replace(approval(exampleDepot, big.NewInt(25_000_000)), "0x095ea7b3000000", "0x095ea7b3000001", 1)), swap.Undecodable, "data"},
		{"that is a transfer", set(theApproval, "data", "0xa9059cbb"+approval(exampleDepot, big.NewInt(25_000_000))[10:]), swap.Undecodable, "data"},
		{"that is an increase", set(theApproval, "data", "0x39509351"+approval(exampleDepot, big.NewInt(25_000_000))[10:]), swap.Undecodable, "data"},
		{"that calls nothing", set(theApproval, "data", "0x"), swap.Undecodable, "data"},
	},
}

// safe stands for a contract that obeys the account, and execTransaction for calldata that
// makes it give everything away (Safe's execTransaction, cut short).
var (
	safe            = providertest.Safe
	execTransaction = "0x6a761202" + strings.Repeat("00", 31) + "01"
)

var hostileNative = []hostile{
	{"one wei more", set(0, "value", "0x2386f26fc10001"), swap.NotAsAccepted, "value"},
	{"one wei less", set(0, "value", "9999999999999999"), swap.NotAsAccepted, "value"},
	{"nothing sent", func(p map[string]any) { delete(paramOf(p, 0), "value") }, swap.NotAsAccepted, "value"},
	{"an approval before it", insert(0, approving(exampleDepot, 25_000_000)), swap.NotAsAccepted, "approvals"},
	{"a payment before it", insert(0, sending(false, map[string]any{"from": exampleAccount.Hex(), "to": attacker.Hex(), "value": "0x1"})), swap.NotAsAccepted, "approvals"},
	{"for another network", set(0, "chainId", "0x1"), swap.NotAsAccepted, "chainId"},
	{"to the account", set(0, "to", exampleAccount.Hex()), swap.NotPinned, "to"},
	{"to a Safe of the account's, which obeys it", func(p map[string]any) {
		paramOf(p, 0)["to"], paramOf(p, 0)["data"] = safe.Hex(), execTransaction
	}, swap.NotPinned, "to"},
	{"without data", set(0, "data", "0x"), swap.Undecodable, "data"},
}

// planAttacks are the plans of both tables. Nothing of them can be signed, since Build
// returns no step.
func planAttacks(t *testing.T) (list []providertest.Attack) {
	on := func(name string, raw []byte, terms swap.Terms, h hostile) {
		list = append(list, providertest.Attack{Name: "plan/" + name + "/" + h.name, Code: h.code, Field: h.field, Try: func(t *testing.T) error {
			_, err := readPlan(planWith(t, raw, h.change), terms, depositContracts)
			return err
		}})
	}
	for rule, plans := range hostilePlans {
		for _, h := range plans {
			on(rule, example(t, "k_build_resp"), termsOf(exampleRequest(), 1), h)
		}
	}
	for _, h := range hostileNative {
		on("of the native coin", example(t, "k_build_native"), nativeTerms(), h)
	}
	return list
}

// TestOddPlans: unusual plans that mean the same are accepted.
func TestOddPlans(t *testing.T) {
	for name, change := range map[string]func(map[string]any){
		"no switch":             func(p map[string]any) { p["approvals"] = actions(p)[1:] },
		"no approval":           func(p map[string]any) { p["approvals"] = []any{actions(p)[0], actions(p)[2]} },
		"a reset before":        insert(1, approving(exampleDepot, 0)),
		"the chain in hex":      set(theDeposit, "chainId", "0x2105"),
		"the chain in decimal":  set(theDeposit, "chainId", "8453"),
		"the chain as a number": set(theDeposit, "chainId", 8453),
		"no value":              func(p map[string]any) { delete(paramOf(p, theDeposit), "value") },
		"lower case":            set(theDeposit, "to", strings.ToLower(exampleDepot.Hex())),
		"gas, fees and a nonce": func(p map[string]any) { addWalletFields(paramOf(p, theDeposit)) },
	} {
		terms := termsOf(exampleRequest(), 1)
		d, err := readPlan(planWith(t, example(t, "k_build_resp"), change), terms, depositContracts)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if c := d.call(terms); c.ChainID != 8453 || c.From != exampleAccount || c.Gas != 0 || c.Value.Sign() != 0 {
			t.Errorf("%s: %+v", name, c)
		}
	}
}

// addWalletFields adds the fields that the wallet sets itself.
func addWalletFields(tx map[string]any) {
	for name, v := range map[string]any{"gas": "640000", "gasPrice": "0x1", "maxFeePerGas": "0xffffffffffff", "maxPriorityFeePerGas": "0xffffffffffff", "nonce": "0x7"} {
		tx[name] = v
	}
}

// move sends the deposit, and the approval for it, to another contract.
func move(p map[string]any, to common.Address) {
	set(theApproval, "data", approval(to, big.NewInt(25_000_000)))(p)
	set(theDeposit, "to", to.Hex())(p)
}

func planWith(t testing.TB, raw []byte, change func(map[string]any)) []byte {
	t.Helper()
	var p map[string]any
	if err := json.Unmarshal(raw, &p); err != nil {
		t.Fatal(err)
	}
	change(p)
	out, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// An otherStep is not exactly a deposit for the terms.
type otherStep struct {
	change func(*swap.Step, *swap.Terms)
	code   swap.Code
	field  string
}

var otherSteps = map[string]otherStep{
	"a message":            {func(s *swap.Step, _ *swap.Terms) { s.Kind = swap.TypedStep }, swap.Undecodable, "kind"},
	"a late call":          {func(s *swap.Step, _ *swap.Terms) { s.Kind = swap.DeferredStep }, swap.Undecodable, "kind"},
	"nothing":              {func(s *swap.Step, _ *swap.Terms) { s.Call = nil }, swap.Undecodable, "kind"},
	"a message beside":     {func(s *swap.Step, _ *swap.Terms) { s.Typed = &apitypes.TypedData{} }, swap.Undecodable, "kind"},
	"another provider's":   {func(_ *swap.Step, t *swap.Terms) { t.Provider = swap.Bridge }, swap.NotAsAccepted, "provider"},
	"of a wrapped coin":    {func(_ *swap.Step, t *swap.Terms) { t.Wrap = attacker }, swap.NotAsAccepted, "provider"},
	"of nothing":           {func(_ *swap.Step, t *swap.Terms) { t.AmountIn = nil }, swap.NotAsAccepted, "amountIn"},
	"for another network":  {func(s *swap.Step, _ *swap.Terms) { s.Call.ChainID = 1 }, swap.NotAsAccepted, "from"},
	"from another account": {func(s *swap.Step, _ *swap.Terms) { s.Call.From = attacker }, swap.NotAsAccepted, "from"},
	"with coins":           {func(s *swap.Step, _ *swap.Terms) { s.Call.Value = big.NewInt(1) }, swap.NotAsAccepted, "value"},
	"without a value":      {func(s *swap.Step, _ *swap.Terms) { s.Call.Value = nil }, swap.NotAsAccepted, "value"},
	"that calls nothing":   {func(s *swap.Step, _ *swap.Terms) { s.Call.Data = nil }, swap.Undecodable, "data"},
	"to the token":         {func(s *swap.Step, _ *swap.Terms) { s.Call.To = exampleIn }, swap.NotPinned, "to"},
	"to nobody":            {func(s *swap.Step, _ *swap.Terms) { s.Call.To = common.Address{} }, swap.NotPinned, "to"},
	"to a Safe of the account's": {func(s *swap.Step, _ *swap.Terms) {
		s.Call.To, s.Call.Data = safe, common.FromHex(execTransaction)
	}, swap.NotPinned, "to"},
	"the coin, as if it was": {func(_ *swap.Step, t *swap.Terms) { t.TokenIn = chain.Native }, swap.NotAsAccepted, "value"},
}

func (o otherStep) decoded(t *testing.T) error {
	order := exampleOrderOf(t)
	s, terms := order.Plan.Steps[0], order.Terms
	call := *s.Call
	s.Call = &call
	o.change(&s, &terms)
	_, err := (&Provider{depositContracts: depositContracts}).Decode(terms, s)
	return err
}

// TestDeposit: the example's deposit decodes to an opaque effect that promises no output.
func TestDeposit(t *testing.T) {
	o := exampleOrderOf(t)
	if f, err := (&Provider{depositContracts: depositContracts}).Decode(o.Terms, o.Plan.Steps[0]); err != nil || f.Kind != swap.Opaque || f.Target != exampleDepot || len(f.Receives) != 0 {
		t.Fatalf("%+v, %v", f, err)
	}
}

// TestUnknownContract: a deposit to a contract that is not built in for the network is
// refused, even if it is built in for another. No filler is built in.
func TestUnknownContract(t *testing.T) {
	p := &Provider{depositContracts: depositContracts}
	for _, n := range networks {
		terms := nativeTerms()
		terms.SrcChain = n.ChainID
		for _, to := range []common.Address{common.BigToAddress(big.NewInt(0xabcdef)), safe, depositContracts[0].address, depositContracts[1].address, depositContracts[2].address} {
			call := deposit{to, terms.AmountIn, common.FromHex("0xf3125a1f")}.call(terms)
			f, err := p.Decode(terms, swap.Step{Kind: swap.CallStep, Call: call})
			if err == nil {
				err = swap.Check(terms, []swap.Effect{f}, p.Pins())
			}
			if built := p.Pins().Allows(n.ChainID, swap.Depot, to); (err == nil) != built || !built && !errors.Is(err, &swap.Refusal{Code: swap.NotPinned}) {
				t.Errorf("chain %d, %s: %v", n.ChainID, to, err)
			}
			if err := swap.Check(terms, []swap.Effect{{Kind: swap.Opaque, Chain: n.ChainID, Target: call.To, TrustedTo: trusted, Spends: []swap.Spend{{Token: terms.TokenIn, Amount: terms.AmountIn}}}}, p.Pins()); (err == nil) != p.Pins().Allows(n.ChainID, swap.Depot, to) {
				t.Errorf("chain %d, %s, by package swap alone: %v", n.ChainID, to, err)
			}
		}
	}
	if len(fillers) != 0 {
		t.Error("a filler is built in that no source names")
	}
}

// TestPublishedReserves: the built-in contracts are the published ones.
func TestPublishedReserves(t *testing.T) {
	raw, err := os.ReadFile("testdata/live/reserves.json")
	if err != nil {
		t.Fatal(err)
	}
	var published struct {
		Reserves map[string]common.Address `json:"assetReserves"`
	}
	if err := json.Unmarshal(raw, &published); err != nil {
		t.Fatal(err)
	}
	if len(depositContracts) != len(published.Reserves) {
		t.Errorf("%d are built in, %d published", len(depositContracts), len(published.Reserves))
	}
	for _, d := range depositContracts {
		if got := published.Reserves[fmt.Sprintf("%#x", d.chain)]; got != d.address {
			t.Errorf("chain %d: %s, published is %s", d.chain, d.address, got)
		}
	}
}

// TestNetworks: the entries match the spec's eight networks and the support table.
func TestNetworks(t *testing.T) {
	for i, id := range swap.SupportedChains() {
		n := networks[i]
		if n.ChainID != id || n.ProviderChainID != id || n.DisplayName == "" || n.Enabled != (swap.SupportOf(swap.Intent, id).Support == swap.Active) || n.CrossChainEnabled != n.Enabled {
			t.Errorf("%+v", n)
		}
		r := exampleRequest()
		r.SrcChain = id
		if _, _, err := checkRequest(r); (err == nil) != n.Enabled {
			t.Errorf("from %d: %v", id, err)
		}
		r = exampleRequest()
		r.DstChain = id
		if _, _, err := checkRequest(r); (err == nil) != n.Enabled {
			t.Errorf("to %d: %v", id, err)
		}
	}
	reached, err := (&Provider{}).Destinations(t.Context())
	if err != nil || len(reached) != len(destinations)+6 {
		t.Errorf("reaches %v, %v", reached, err)
	}
	for _, d := range reached {
		r := exampleRequest()
		if r.DstChain = d.ChainID; d.ChainID == r.SrcChain {
			r.TokenOut = common.Address{}
		}
		if _, _, err := checkRequest(r); err != nil || d.Name == "" || d.Symbol == "" || d.Decimals == 0 {
			t.Errorf("lists %+v: %v", d, err)
		}
	}
	for _, d := range destinations {
		id, r := d.ChainID, exampleRequest()
		r.DstChain = id
		if _, to, err := checkRequest(r); err != nil || to != id {
			t.Errorf("to %d: %v", id, err)
		}
		r = exampleRequest()
		r.SrcChain = id
		_, _, err := checkRequest(r)
		refusedFor(t, fmt.Sprintf("from %d", id), err, swap.UnsupportedNetwork, "srcChainId")
	}
}
