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

// A hostilePlan is the plan of an example with one change, for which it must be refused.
type hostilePlan struct {
	name   string                 // the change, to be read after the name of its group
	change func(p map[string]any) // makes the change in the reply
	code   swap.Code              // of the refusal
	field  string                 // of the refusal
}

// actions returns the actions of a plan.
func actions(p map[string]any) []any { return p["approvals"].([]any) }

// requestOf returns the wallet request of the action at index i.
func requestOf(p map[string]any, i int) map[string]any {
	return actions(p)[i].(map[string]any)["request"].(map[string]any)
}

// paramOf returns the first parameter of the request at index i.
func paramOf(p map[string]any, i int) map[string]any {
	return requestOf(p, i)["params"].([]any)[0].(map[string]any)
}

// set returns a change that sets a field of the first parameter at index i.
func set(i int, name string, value any) func(map[string]any) {
	return func(p map[string]any) { paramOf(p, i)[name] = value }
}

// insert returns a change that inserts an action at index i.
func insert(i int, a map[string]any) func(map[string]any) {
	return func(p map[string]any) {
		all := actions(p)
		p["approvals"] = append(append(append([]any{}, all[:i]...), a), all[i:]...)
	}
}

// sendAction returns an action that sends a transaction.
func sendAction(deposit bool, tx map[string]any) map[string]any {
	return map[string]any{"type": actionType, "request": map[string]any{"method": sendTransaction, "params": []any{tx}}, "deposit": deposit}
}

// tx returns a transaction without a value.
func tx(to common.Address, data string) map[string]any {
	return map[string]any{"from": exampleAccount.Hex(), "to": to.Hex(), "data": data, "value": "0x0"}
}

// approval returns the calldata of approve(spender, n).
func approval(spender common.Address, n *big.Int) string {
	return "0x095ea7b3" + common.Bytes2Hex(common.LeftPadBytes(spender[:], 32)) + common.Bytes2Hex(common.BigToHash(n).Bytes())
}

// approveAction returns an action that approves n of the input token.
func approveAction(spender common.Address, n int64) map[string]any {
	return sendAction(false, tx(exampleIn, approval(spender, big.NewInt(n))))
}

var (
	unlimited = new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(1))
	tooLong   = "0x" + strings.Repeat("00", maxData+1)
)

// Indexes of the actions in the example's plan: the change of the network, the approval and the
// deposit.
const switchAt, approvalAt, depositAt = 0, 1, 2

// hostilePlans are grouped by the rule that refuses them: the five of the spec (section 5), then
// those of the reference. Each breaks only that rule.
var hostilePlans = map[string][]hostilePlan{
	"1, network to switch to": {
		{"not the source", set(switchAt, "chainId", "0x1"), swap.NotAsAccepted, "chainId"},
		{"the source, in decimal", set(switchAt, "chainId", "8453"), swap.NotAsAccepted, "chainId"},
		{"the source, as a number", set(switchAt, "chainId", 8453), swap.NotAsAccepted, "chainId"},
		{"missing", func(p map[string]any) { delete(paramOf(p, switchAt), "chainId") }, swap.NotAsAccepted, "chainId"},
		{"with RPC URLs, as if it were to be added", set(switchAt, "rpcUrls", []any{"https://rpc.example"}), swap.Undecodable, "chainId"},
		{"the source, and then another", insert(1, map[string]any{"type": actionType, "request": map[string]any{"method": switchChain, "params": []any{map[string]any{"chainId": "0xa"}}}}), swap.NotAsAccepted, "chainId"},
		{"not a number", set(switchAt, "chainId", "0x"), swap.Undecodable, "chainId"},
		{"negative", set(switchAt, "chainId", "0x-2105"), swap.Undecodable, "chainId"},
		{"longer than 256 bits", set(switchAt, "chainId", "0x1"+strings.Repeat("0", 64)), swap.Undecodable, "chainId"},
		{"two networks at once", func(p map[string]any) {
			requestOf(p, switchAt)["params"] = []any{map[string]any{"chainId": "0x2105"}, map[string]any{"chainId": "0x1"}}
		}, swap.Undecodable, "params"},
	},
	"2, sender": {
		{"of the deposit, not the account", set(depositAt, "from", attacker.Hex()), swap.NotAsAccepted, "from"},
		{"of the approval, not the account", set(approvalAt, "from", attacker.Hex()), swap.NotAsAccepted, "from"},
		{"missing", func(p map[string]any) { delete(paramOf(p, depositAt), "from") }, swap.NotAsAccepted, "from"},
		{"null", set(depositAt, "from", nil), swap.NotAsAccepted, "from"},
		{"not an address", set(depositAt, "from", "0x1234"), swap.Undecodable, "transaction"},
	},
	"3, network": {
		{"of the deposit, not the source", set(depositAt, "chainId", "0x1"), swap.NotAsAccepted, "chainId"},
		{"not the source, in decimal", set(depositAt, "chainId", "1"), swap.NotAsAccepted, "chainId"},
		{"not the source, as a number", set(depositAt, "chainId", 1), swap.NotAsAccepted, "chainId"},
		{"of the approval, not the source", set(approvalAt, "chainId", "0xa"), swap.NotAsAccepted, "chainId"},
		{"zero", set(depositAt, "chainId", "0x0"), swap.NotAsAccepted, "chainId"},
		{"not a number", set(depositAt, "chainId", "base"), swap.Undecodable, "transaction"},
		{"a fraction", set(depositAt, "chainId", 8453.5), swap.Undecodable, "transaction"},
	},
	"4, target": {
		{"missing", func(p map[string]any) { delete(paramOf(p, depositAt), "to") }, swap.Undecodable, "to"},
		{"null", set(depositAt, "to", nil), swap.Undecodable, "to"},
		{"too short", set(depositAt, "to", exampleDepot.Hex()[:40]), swap.Undecodable, "to"},
		{"too long", set(depositAt, "to", exampleDepot.Hex()+"00"), swap.Undecodable, "to"},
		{"without 0x", set(depositAt, "to", exampleDepot.Hex()[2:]), swap.Undecodable, "to"},
		{"an ENS name", set(depositAt, "to", "khalani.eth"), swap.Undecodable, "to"},
		{"zero", set(depositAt, "to", common.Address{}.Hex()), swap.Undecodable, "to"},
		{"with a wrong checksum", set(depositAt, "to", "0x1a7c327d0f402AEf2eD3D20D1141bD71BA1C317B"), swap.Undecodable, "to"},
		{"of the approval, with a wrong checksum", set(approvalAt, "to", "0x833589FCD6eDb6E08f4c7C32D4f71b54bdA02913"), swap.Undecodable, "to"},
	},
	"5, other actions": {
		{"personal_sign", insert(1, map[string]any{"type": actionType, "request": map[string]any{"method": "personal_sign", "params": []any{"0x00"}}}), swap.Undecodable, "method"},
		{"eth_signTypedData_v4", insert(1, map[string]any{"type": actionType, "request": map[string]any{"method": "eth_signTypedData_v4", "params": []any{"{}"}}}), swap.Undecodable, "method"},
		{"wallet_addEthereumChain", insert(0, map[string]any{"type": actionType, "request": map[string]any{"method": "wallet_addEthereumChain", "params": []any{map[string]any{"chainId": "0x2105"}}}}), swap.Undecodable, "method"},
		{"a method in the wrong case", func(p map[string]any) { requestOf(p, depositAt)["method"] = "eth_sendtransaction" }, swap.Undecodable, "method"},
		{"no method", func(p map[string]any) { delete(requestOf(p, depositAt), "method") }, swap.Undecodable, "method"},
		{"an action for Solana", insert(1, map[string]any{"type": "solana_sendTransaction", "transaction": "AQ=="}), swap.Undecodable, "type"},
		{"the deposit for Solana", func(p map[string]any) {
			actions(p)[depositAt] = map[string]any{"type": "solana_sendTransaction", "transaction": "AQ==", "deposit": true}
		}, swap.Undecodable, "type"},
		{"an action without a type", func(p map[string]any) { delete(actions(p)[depositAt].(map[string]any), "type") }, swap.Undecodable, "type"},
		{"an unknown field of an action", func(p map[string]any) { actions(p)[depositAt].(map[string]any)["delegate"] = true }, swap.Undecodable, "action"},
		{"an unknown field of a request", func(p map[string]any) { requestOf(p, depositAt)["id"] = 1 }, swap.Undecodable, "action"},
		{"an unknown field of a transaction", set(depositAt, "authorizationList", []any{}), swap.Undecodable, "transaction"},
		{"an access list", set(depositAt, "accessList", []any{}), swap.Undecodable, "transaction"},
		{"a blob", set(depositAt, "blobs", []any{"0x"}), swap.Undecodable, "transaction"},
	},
	"whole plan": {
		{"no plan", func(p map[string]any) { delete(p, "approvals") }, swap.Undecodable, "approvals"},
		{"no actions", func(p map[string]any) { p["approvals"] = []any{} }, swap.Undecodable, "approvals"},
		{"too many actions", func(p map[string]any) {
			for range 4 {
				insert(0, actions(p)[switchAt].(map[string]any))(p)
			}
		}, swap.Undecodable, "approvals"},
		{"a permit", func(p map[string]any) { p["kind"] = "PERMIT2" }, swap.Undecodable, "kind"},
		{"a transfer", func(p map[string]any) { p["kind"] = "TRANSFER" }, swap.Undecodable, "kind"},
		{"the kind in the wrong case", func(p map[string]any) { p["kind"] = "contract_call" }, swap.Undecodable, "kind"},
		{"no kind", func(p map[string]any) { delete(p, "kind") }, swap.Undecodable, "kind"},
		{"its actions a second time, in other case", func(p map[string]any) { p["Approvals"] = p["approvals"] }, swap.Undecodable, "plan"},
		{"an error reply with status 200", func(p map[string]any) {
			clear(p)
			p["name"] = quoteNotFound
		}, swap.QuoteExpired, ""},
	},
	"deposit": {
		{"missing", func(p map[string]any) { actions(p)[depositAt].(map[string]any)["deposit"] = false }, swap.Undecodable, "deposit"},
		{"two", func(p map[string]any) { insert(2, actions(p)[depositAt].(map[string]any))(p) }, swap.Undecodable, "deposit"},
		{"before the approval", func(p map[string]any) { a := actions(p); a[1], a[2] = a[2], a[1] }, swap.Undecodable, "deposit"},
		{"that switches the network", func(p map[string]any) {
			actions(p)[depositAt] = map[string]any{"type": actionType, "deposit": true, "request": map[string]any{"method": switchChain, "params": []any{map[string]any{"chainId": "0x2105"}}}}
		}, swap.Undecodable, "deposit"},
		{"that is the approval", func(p map[string]any) {
			a := actions(p)
			p["approvals"] = a[:2]
			a[approvalAt].(map[string]any)["deposit"] = true
		}, swap.NotPinned, "to"},
		{"with two parameters", func(p map[string]any) {
			requestOf(p, depositAt)["params"] = []any{paramOf(p, depositAt), paramOf(p, depositAt)}
		}, swap.Undecodable, "params"},
		{"without a parameter", func(p map[string]any) { requestOf(p, depositAt)["params"] = []any{} }, swap.Undecodable, "params"},
		{"to the token", set(depositAt, "to", exampleIn.Hex()), swap.NotPinned, "to"},
		{"to the output's token", set(depositAt, "to", exampleOut.Hex()), swap.NotPinned, "to"},
		{"to the account", set(depositAt, "to", exampleAccount.Hex()), swap.NotPinned, "to"},
		{"to Permit2", set(depositAt, "to", "0x000000000022D473030F116dDEE9F6B43aC78BA3"), swap.NotPinned, "to"},
		{"to a Safe that the account owns", func(p map[string]any) {
			redirect(p, safe)
			paramOf(p, depositAt)["data"] = execTransaction
		}, swap.NotPinned, "to"},
		{"to the deposit contract of another network", func(p map[string]any) { redirect(p, depositContracts[0].address) }, swap.NotPinned, "to"},
		{"to an unknown contract", func(p map[string]any) { redirect(p, common.BigToAddress(big.NewInt(0xabcdef))) }, swap.NotPinned, "to"},
		{"to the fee receiver", set(depositAt, "to", exampleFee.Hex()), swap.NotPinned, "to"},
		{"with a value", set(depositAt, "value", "0x1"), swap.NotAsAccepted, "value"},
		{"with the amount as its value", set(depositAt, "value", "25000000"), swap.NotAsAccepted, "value"},
		{"with a negative value", set(depositAt, "value", "-1"), swap.Undecodable, "transaction"},
		{"without data", set(depositAt, "data", "0x"), swap.Undecodable, "data"},
		{"with half a selector", set(depositAt, "data", "0xf312"), swap.Undecodable, "data"},
		{"with half a byte", set(depositAt, "data", "0xf3125a1f0"), swap.Undecodable, "data"},
		{"without 0x", set(depositAt, "data", "f3125a1f"), swap.Undecodable, "data"},
		{"with too much data", set(depositAt, "data", tooLong), swap.Undecodable, "data"},
		{"to a contract other than the approved spender", set(approvalAt, "data", approval(depositContracts[0].address, big.NewInt(25_000_000))), swap.NotAsAccepted, "spender"},
	},
	"approvals": {
		{"to a stranger", set(approvalAt, "data", approval(attacker, big.NewInt(25_000_000))), swap.NotAsAccepted, "spender"},
		{"unlimited", set(approvalAt, "data", approval(exampleDepot, unlimited)), swap.NotAsAccepted, "allowance"},
		{"of one unit too many", set(approvalAt, "data", approval(exampleDepot, big.NewInt(25_000_001))), swap.NotAsAccepted, "allowance"},
		{"of one unit too few", set(approvalAt, "data", approval(exampleDepot, big.NewInt(24_999_999))), swap.NotAsAccepted, "allowance"},
		{"of zero, without another", set(approvalAt, "data", approval(exampleDepot, new(big.Int))), swap.Undecodable, "approvals"},
		{"twice", insert(1, approveAction(exampleDepot, 25_000_000)), swap.Undecodable, "approvals"},
		{"of zero afterwards", insert(2, approveAction(exampleDepot, 0)), swap.NotAsAccepted, "allowance"},
		{"of zero twice", func(p map[string]any) {
			insert(1, approveAction(exampleDepot, 0))(p)
			insert(1, approveAction(exampleDepot, 0))(p)
		}, swap.NotAsAccepted, "allowance"},
		{"a reset for a stranger", insert(1, approveAction(attacker, 0)), swap.NotAsAccepted, "spender"},
		{"of another token", set(approvalAt, "to", exampleOut.Hex()), swap.NotAsAccepted, "to"},
		{"with a value", set(approvalAt, "value", "0x1"), swap.NotAsAccepted, "value"},
		{"with an extra byte", set(approvalAt, "data", approval(exampleDepot, big.NewInt(25_000_000))+"00"), swap.Undecodable, "data"},
		{"one byte short", set(approvalAt, "data", approval(exampleDepot, big.NewInt(25_000_000))[:136]), swap.Undecodable, "data"},
		{"with padding that is not zero", set(approvalAt, "data", strings.Replace(approval(exampleDepot, big.NewInt(25_000_000)), "0x095ea7b3000000", "0x095ea7b3000001", 1)), swap.Undecodable, "data"},
		{"that is transfer", set(approvalAt, "data", "0xa9059cbb"+approval(exampleDepot, big.NewInt(25_000_000))[10:]), swap.Undecodable, "data"},
		{"that is increaseAllowance", set(approvalAt, "data", "0x39509351"+approval(exampleDepot, big.NewInt(25_000_000))[10:]), swap.Undecodable, "data"},
		{"without calldata", set(approvalAt, "data", "0x"), swap.Undecodable, "data"},
	},
}

// safe is the address of a Safe that the account owns. execTransaction is calldata with which a
// Safe transfers everything away: the start of a call of its execTransaction.
var (
	safe            = providertest.Safe
	execTransaction = "0x6a761202" + strings.Repeat("00", 31) + "01"
)

var hostileNativePlans = []hostilePlan{
	{"one wei too many", set(0, "value", "0x2386f26fc10001"), swap.NotAsAccepted, "value"},
	{"one wei too few", set(0, "value", "9999999999999999"), swap.NotAsAccepted, "value"},
	{"no value", func(p map[string]any) { delete(paramOf(p, 0), "value") }, swap.NotAsAccepted, "value"},
	{"an approval before it", insert(0, approveAction(exampleDepot, 25_000_000)), swap.NotAsAccepted, "approvals"},
	{"a payment before it", insert(0, sendAction(false, map[string]any{"from": exampleAccount.Hex(), "to": attacker.Hex(), "value": "0x1"})), swap.NotAsAccepted, "approvals"},
	{"on another network", set(0, "chainId", "0x1"), swap.NotAsAccepted, "chainId"},
	{"to the account", set(0, "to", exampleAccount.Hex()), swap.NotPinned, "to"},
	{"to a Safe that the account owns", func(p map[string]any) {
		paramOf(p, 0)["to"], paramOf(p, 0)["data"] = safe.Hex(), execTransaction
	}, swap.NotPinned, "to"},
	{"without data", set(0, "data", "0x"), swap.Undecodable, "data"},
}

// planAttacks returns an attack for each plan of hostilePlans and hostileNativePlans. A plan that
// cannot be read is safe: Build then returns no step to sign.
func planAttacks(t *testing.T) (attacks []providertest.Attack) {
	add := func(name string, raw []byte, terms swap.Terms, h hostilePlan) {
		attacks = append(attacks, providertest.Attack{Name: "plan/" + name + "/" + h.name, Code: h.code, Field: h.field, Try: func(t *testing.T) error {
			_, err := readPlan(planWith(t, raw, h.change), terms, depositContracts)
			return err
		}})
	}
	for rule, plans := range hostilePlans {
		for _, h := range plans {
			add(rule, example(t, "k_build_resp"), termsOf(exampleRequest(), 1), h)
		}
	}
	for _, h := range hostileNativePlans {
		add("of a native input", example(t, "k_build_native"), nativeTerms(), h)
	}
	return attacks
}

// TestEquivalentPlans checks that plans are accepted that differ from the example but mean the
// same.
func TestEquivalentPlans(t *testing.T) {
	for name, change := range map[string]func(map[string]any){
		"no network switch":     func(p map[string]any) { p["approvals"] = actions(p)[1:] },
		"no approval":           func(p map[string]any) { p["approvals"] = []any{actions(p)[0], actions(p)[2]} },
		"approval reset first":  insert(1, approveAction(exampleDepot, 0)),
		"chain in hex":          set(depositAt, "chainId", "0x2105"),
		"chain in decimal":      set(depositAt, "chainId", "8453"),
		"chain as a number":     set(depositAt, "chainId", 8453),
		"no value":              func(p map[string]any) { delete(paramOf(p, depositAt), "value") },
		"target in lower case":  set(depositAt, "to", strings.ToLower(exampleDepot.Hex())),
		"gas, fees and a nonce": func(p map[string]any) { addWalletFields(paramOf(p, depositAt)) },
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

// addWalletFields adds the fields that the wallet ignores, because it sets them itself.
func addWalletFields(tx map[string]any) {
	for name, v := range map[string]any{"gas": "640000", "gasPrice": "0x1", "maxFeePerGas": "0xffffffffffff", "maxPriorityFeePerGas": "0xffffffffffff", "nonce": "0x7"} {
		tx[name] = v
	}
}

// redirect makes another contract the target of the deposit and the spender of its approval.
func redirect(p map[string]any, to common.Address) {
	set(approvalAt, "data", approval(to, big.NewInt(25_000_000)))(p)
	set(depositAt, "to", to.Hex())(p)
}

// planWith returns a reply with a change made in its plan.
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

// A changedStep is the example's deposit, or its terms, with one change, for which Decode must
// refuse it.
type changedStep struct {
	change func(*swap.Step, *swap.Terms)
	code   swap.Code // of the refusal
	field  string    // of the refusal
}

// changedSteps are by name: the step is …
var changedSteps = map[string]changedStep{
	"a message":            {func(s *swap.Step, _ *swap.Terms) { s.Kind = swap.TypedStep }, swap.Undecodable, "kind"},
	"a deferred step":      {func(s *swap.Step, _ *swap.Terms) { s.Kind = swap.DeferredStep }, swap.Undecodable, "kind"},
	"no call":              {func(s *swap.Step, _ *swap.Terms) { s.Call = nil }, swap.Undecodable, "kind"},
	"a call and a message": {func(s *swap.Step, _ *swap.Terms) { s.TypedData = &apitypes.TypedData{} }, swap.Undecodable, "kind"},
	"another provider's":   {func(_ *swap.Step, t *swap.Terms) { t.Provider = swap.Bridge }, swap.NotAsAccepted, "provider"},
	"of wrapped native":    {func(_ *swap.Step, t *swap.Terms) { t.Wrap = attacker }, swap.NotAsAccepted, "provider"},
	"of no amount":         {func(_ *swap.Step, t *swap.Terms) { t.AmountIn = nil }, swap.NotAsAccepted, "amountIn"},
	"for another network":  {func(s *swap.Step, _ *swap.Terms) { s.Call.ChainID = 1 }, swap.NotAsAccepted, "from"},
	"from another account": {func(s *swap.Step, _ *swap.Terms) { s.Call.From = attacker }, swap.NotAsAccepted, "from"},
	"with a value":         {func(s *swap.Step, _ *swap.Terms) { s.Call.Value = big.NewInt(1) }, swap.NotAsAccepted, "value"},
	"without a value":      {func(s *swap.Step, _ *swap.Terms) { s.Call.Value = nil }, swap.NotAsAccepted, "value"},
	"without calldata":     {func(s *swap.Step, _ *swap.Terms) { s.Call.Data = nil }, swap.Undecodable, "data"},
	"to the token":         {func(s *swap.Step, _ *swap.Terms) { s.Call.To = exampleIn }, swap.NotPinned, "to"},
	"to the zero address":  {func(s *swap.Step, _ *swap.Terms) { s.Call.To = common.Address{} }, swap.NotPinned, "to"},
	"to a Safe that the account owns": {func(s *swap.Step, _ *swap.Terms) {
		s.Call.To, s.Call.Data = safe, common.FromHex(execTransaction)
	}, swap.NotPinned, "to"},
	"a token call, native terms": {func(_ *swap.Step, t *swap.Terms) { t.TokenIn = chain.Native }, swap.NotAsAccepted, "value"},
}

// decoded returns the error of decoding the changed step.
func (o changedStep) decoded(t *testing.T) error {
	order := exampleOrderOf(t)
	s, terms := order.Plan.Steps[0], order.Terms
	call := *s.Call
	s.Call = &call
	o.change(&s, &terms)
	_, err := (&Provider{depositContracts: depositContracts}).Decode(terms, s)
	return err
}

// TestDeposit checks that the example's deposit decodes to an opaque effect that promises
// no output.
func TestDeposit(t *testing.T) {
	o := exampleOrderOf(t)
	if f, err := (&Provider{depositContracts: depositContracts}).Decode(o.Terms, o.Plan.Steps[0]); err != nil || f.Kind != swap.Opaque || f.Target != exampleDepot || len(f.Receives) != 0 {
		t.Fatalf("Decode = %+v, %v, want an opaque deposit", f, err)
	}
}

// TestUnknownContract checks that a deposit is refused unless it goes to the contract that is
// built in for its network, even if it goes to the contract of another network. It also checks
// that no filler is built in.
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
				t.Errorf("chain %d, %s, checked by package swap only: %v", n.ChainID, to, err)
			}
		}
	}
}

// TestPublishedReserves checks that the built-in contracts are the published ones.
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

// TestNetworks checks the networks against the eight of the spec and against the support table.
func TestNetworks(t *testing.T) {
	for i, id := range swap.SupportedChains() {
		n := networks[i]
		if n.ChainID != id || n.ProviderChainID != id || n.DisplayName == "" || n.Enabled != (swap.SupportOf(swap.Intent, id).Support == swap.Active) || n.CrossChainEnabled != n.Enabled {
			t.Errorf("network %+v contradicts the support table", n)
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
	if err != nil || len(reached) != len(destinations)+7 {
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
