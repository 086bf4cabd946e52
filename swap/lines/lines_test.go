package lines

import (
	"flag"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"swapkeep/chain"
	"swapkeep/extension/messages"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "write the golden files anew")

// Addresses of the tests' world.
var (
	account  = common.HexToAddress("0x00000000000000000000000000000000000000A1")
	other    = common.HexToAddress("0x00000000000000000000000000000000000000A2")
	throwing = common.HexToAddress("0x00000000000000000000000000000000000000A3")
	usdc     = common.HexToAddress("0x00000000000000000000000000000000000000C1")
	weth     = common.HexToAddress("0x00000000000000000000000000000000000000C2")
	foreign  = common.HexToAddress("0x00000000000000000000000000000000000000C3")
	nameless = common.HexToAddress("0x00000000000000000000000000000000000000C4")
	permit2  = common.HexToAddress("0x00000000000000000000000000000000000000D1")
	router   = common.HexToAddress("0x00000000000000000000000000000000000000D2")
	coin     common.Address
)

// world knows the tokens and contracts of the tests.
type world struct{ symbol string }

func (w world) Token(chainID uint64, token common.Address) Token {
	if token == coin && chainID > 10 {
		return Token{}
	}
	return map[common.Address]Token{
		coin: {"ETH", 18, true}, usdc: {"USDC", 6, true}, weth: {"WETH", 18, true}, foreign: {w.symbol, 8, false},
	}[token]
}

func (world) Network(chainID uint64) string {
	return map[uint64]string{1: "Ethereum", 10: "OP Mainnet"}[chainID]
}

func (world) Contract(_ uint64, a common.Address) string {
	return map[common.Address]string{permit2: "Permit2"}[a]
}

func (world) Worth(_ uint64, token common.Address, amount *big.Int) (Worth, bool) {
	switch token {
	case usdc:
		return Worth{decimal(amount, 6), []string{"chainlink", "coingecko"}, 90 * time.Second}, true
	case coin:
		return Worth{"12.50", []string{"chainlink"}, 20 * time.Second}, true
	}
	return Worth{}, false
}

func n(s string) *big.Int {
	v, ok := new(big.Int).SetString(s, 10)
	if !ok {
		panic(s)
	}
	return v
}

var until = time.Date(2026, 12, 1, 9, 30, 0, 0, time.UTC)

func steps(effects ...swap.Effect) (all []swap.Step) {
	for _, f := range effects {
		f.Chain = 1
		if len(f.Approves) > 0 && f.Target == (common.Address{}) {
			f.Target = f.Approves[0].Token
		}
		all = append(all, swap.Step{Effect: f})
	}
	return all
}

func costs(l1 string) swap.Gas { return swap.Gas{Costs: []chain.Cost{{L1: n(l1)}}} }

func allowance(token, spender common.Address, amount string) swap.Effect {
	return swap.Effect{Kind: swap.Approve, Approves: []swap.Approval{{Token: token, Spender: spender, Amount: n(amount)}}}
}

// reviews are those whose lines are golden files.
func reviews() map[string]swap.Review {
	terms := func(p swap.Kind, change func(*swap.Terms)) swap.Terms {
		t := swap.Terms{Provider: p, Account: account, SrcChain: 1, TokenIn: usdc, AmountIn: n("1234500000"), DstChain: 1, TokenOut: weth, Recipient: account, RefundTo: account,
			MinOut: n("400000000000000000"), GasCeiling: n("50000000000000000"), Deadline: until.Add(-time.Hour)}
		if change != nil {
			change(&t)
		}
		return t
	}
	across := func(t *swap.Terms) { t.DstChain = 10 }
	longest := n(strings.Repeat("9", 78))
	var all []swap.Finding
	for _, code := range []string{"gas_insufficient", "gas_ceiling", "gas_excessive", "value_unknown", "price_unknown", "output_unverified", "output_lookalike", "price_impact", "slippage_low", "slippage_high",
		"not_simulated", "fallback_used", "minimum_lowered", "ceiling_raised", "fee_raised", "decimals_unconfirmed", "settlement_trusted", "of_a_newer_daemon"} {
		all = append(all, swap.Finding{Code: code, Severity: swap.Acknowledge, Data: map[string]string{
			"missing": "1", "needed": "20000000000000000", "balance": "0", "max": "5", "ceiling": "6", "expected": "7", "value": "8", "token": foreign.Hex(), "imitates": usdc.Hex(), "offered": "100", "own": "200",
			"trustedTo": "relay_solver", "reason": "provider_busy", "accepted": "30", "proposed": "40", "amountIn": "1", "minOut": "2", "tokens": "FOO\u202e, BAR",
		}})
	}
	return map[string]swap.Review{
		"pools": {Terms: terms(swap.DEX, func(t *swap.Terms) { t.FeeBps, t.FeeReceiver = 40, other }), Gas: costs("0"),
			Plan: swap.Plan{Settlement: swap.ByOwnCall, Steps: steps(allowance(usdc, permit2, "1234500000"),
				swap.Effect{Kind: swap.Permit, Target: permit2, Approves: []swap.Approval{{Token: usdc, Spender: router, Amount: n("1234500000"), Until: until}}},
				swap.Effect{Kind: swap.Swap, Target: router, Spends: []swap.Spend{{Token: usdc, Amount: n("1234500000")}}, Receives: []swap.Receive{{Token: weth, To: account, Min: n("400000000000000000")}}, Pays: []swap.Payment{{Token: weth, To: other, Bps: 40}}})}},
		"signed_order": {Terms: terms(swap.Gasless, func(t *swap.Terms) { t.MakerFeeBps = 25 }),
			Plan: swap.Plan{Settlement: swap.ByProvider, Steps: steps(swap.Effect{Kind: swap.Signed, Settler: router, Deadline: until, Spends: []swap.Spend{{Token: usdc, Amount: n("1234500000")}}, Receives: []swap.Receive{{Token: weth, To: account, Min: n("1")}}})}},
		"deposit": {Terms: terms(swap.Bridge, func(t *swap.Terms) {
			across(t)
			t.Recipient, t.RefundTo, t.Refund = other, other, &swap.Spend{Token: usdc, Amount: n("1200000000")}
		}), Gas: costs("31000000000000"),
			Plan: swap.Plan{Settlement: swap.ByProvider, Steps: steps(
				swap.Effect{Kind: swap.Approve, Approves: []swap.Approval{{Token: usdc, Spender: router, Amount: n("1500000000"), Shares: n("265500000")}}},
				swap.Effect{Kind: swap.Deposit, Target: router, TrustedTo: "relay_solver", Spends: []swap.Spend{{Token: usdc, Amount: n("1234500000")}}})}},
		"opaque": {Terms: terms(swap.Intent, func(t *swap.Terms) { across(t); t.Isolated = throwing }), Gas: costs("0"),
			Findings: []swap.Finding{{Code: "settlement_trusted", Severity: swap.Note, Data: map[string]string{"trustedTo": "intent_fillers"}}},
			Plan:     swap.Plan{Settlement: swap.ByProvider, Steps: steps(swap.Effect{Kind: swap.Fund, Spends: []swap.Spend{{Token: coin, Amount: n("3000000000000000")}}}, swap.Effect{Kind: swap.Fund, Spends: []swap.Spend{{Token: usdc, Amount: n("1234500000")}}}, swap.Effect{Kind: swap.Opaque, Target: router, TrustedTo: "intent_fillers", Spends: []swap.Spend{{Token: usdc, Amount: n("1234500000")}}})}},
		"wraps": {Terms: terms(swap.Gasless, func(t *swap.Terms) { t.TokenIn, t.AmountIn, t.Wrap = coin, n("1000000000000000001"), weth }), Gas: costs("0"),
			Plan: swap.Plan{Settlement: swap.ByProvider, Steps: steps(swap.Effect{Kind: swap.Wrap, Target: weth}, swap.Effect{Kind: swap.Signed, Settler: router, Deadline: until})}},
		"foreign_tokens": {Terms: terms(swap.DEX, func(t *swap.Terms) {
			t.TokenIn, t.AmountIn, t.TokenOut, t.MinOut, t.DstChain = foreign, longest, nameless, n("5"), 424242
		}), Gas: costs("0"),
			Plan: swap.Plan{Settlement: swap.ByOwnCall, Steps: steps(allowance(foreign, router, longest.String()), allowance(foreign, router, "0"))}},
		"revoke": {Terms: swap.Terms{Provider: swap.Wallet, Account: account, SrcChain: 1, TokenIn: usdc, GasCeiling: n("50000000000000000"), Deadline: until}, Gas: costs("0"), Plan: swap.Plan{Settlement: swap.ByOwnCall, Steps: steps(allowance(usdc, permit2, "0"))}},
		"revoke_permit2": {Terms: swap.Terms{Provider: swap.Wallet, Account: account, SrcChain: 1, TokenIn: usdc, GasCeiling: n("50000000000000000"), Deadline: until}, Gas: costs("0"),
			Plan: swap.Plan{Settlement: swap.ByOwnCall, Steps: steps(swap.Effect{Kind: swap.Approve, Target: permit2, Approves: []swap.Approval{{Token: usdc, Spender: router, Amount: n("0")}}})}},
		"far_coin": {Terms: terms(swap.Bridge, func(t *swap.Terms) { t.DstChain, t.TokenOut = 7777777, coin }), Offer: swap.Offer{FeeRequested: 40}, Gas: costs("0"),
			Plan: swap.Plan{Settlement: swap.ByProvider, Steps: steps(swap.Effect{Kind: swap.Deposit, Target: router, TrustedTo: "relay_solver", Spends: []swap.Spend{{Token: usdc, Amount: n("1234500000")}}})}},
		"findings": {Terms: terms(swap.DEX, nil), Findings: all, Plan: swap.Plan{Settlement: swap.ByOwnCall}},
	}
}

// golden holds a text against a golden file.
func golden(t *testing.T, path, got string) {
	t.Helper()
	path = filepath.Join("testdata", path)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s:\n%s\nwant\n%s", path, got, want)
	}
}

// TestGolden checks the lines of each kind of review and of each act on an order in each
// language. The extension's tests hold its own text of the same lines against the same files.
func TestGolden(t *testing.T) {
	names := world{"US\u202eDC \"x\" \u0405 and a name that is much too long for any screen at all"}
	kinds := map[string][]swap.Line{}
	for name, r := range reviews() {
		kinds[name] = Of(r, names)
	}
	for _, of := range []string{"opaque", "revoke"} {
		r := reviews()[of]
		o := swap.Order{Consent: swap.Consent{Terms: r.Terms, Offer: r.Offer, Plan: r.Plan}}
		kinds["cancel_"+of], kinds["raise_"+of] = OfOrder("cancel", o, names), OfOrder("speedup", o, names)
		o.Bump = &swap.Bump{}
		kinds["speedup_"+of] = OfOrder("speedup", o, names)
	}
	for name, all := range kinds {
		golden(t, name+".json", string(swap.MustJSON(all))+"\n")
		for _, language := range messages.Languages {
			var out strings.Builder
			for _, l := range all {
				text := Text(language, l)
				out.WriteString(string(l.Severity) + "  " + text + "\n")
				if strings.Contains(text, "line_") || strings.Contains(text, "$") {
					t.Errorf("%s, %s: %q is no text", name, language, text)
				}
			}
			golden(t, name+"."+language+".txt", out.String())
		}
	}
}

// arity has the number of values of every line but those of findings.
var arity = map[string]int{
	pay: 2, worth: 3, worthUnknown: 0, receiveLeast: 2, receivePromised: 3, toOwn: 1, toOther: 1, refundToOther: 1, refundLeast: 2, isolated: 1, from: 2, reset: 2, revokePermit2: 2, fund: 1, walletFeeAsked: 1, deadline: 1,
	approve: 2, approveOthers: 3, permit: 3, revoke: 2, wrap: 2, order: 2, trust: 2, trustOpaque: 3,
	feeMost: 1, feeMostWorth: 2, feeL1: 1, feeNone: 0, walletFee: 2, walletFeeClaimed: 2, makerFee: 1, provider: 1, findingCode: 1, cancel: 2, cancelRevoke: 0, speedUp: 2, speedUpRevoke: 0, speedUpCancel: 2,
}

// TestArity checks that every message of a line has as many placeholders as the line has values.
func TestArity(t *testing.T) {
	for key, values := range arity {
		for _, language := range messages.Languages {
			var marks []string
			for i := range values {
				marks = append(marks, "<"+string(rune('1'+i))+">")
			}
			text, ok := messages.TextIn(language, key, append(marks, "too many")...)
			for _, m := range marks {
				ok = ok && strings.Contains(text, m)
			}
			if !ok || strings.Contains(text, "too many") {
				t.Errorf("%s, %s: %q", language, key, text)
			}
		}
	}
}

// TestForeignNames checks that no name from outside leaves its quotation marks, has other than
// plain characters, or grows beyond bounds.
func TestForeignNames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.String().Draw(t, "name")
		got := quoted(name)
		if inner := strings.TrimSuffix(strings.TrimPrefix(got, "“"), "”"); strings.ContainsAny(inner, "“”\"<>&") || len(inner) > 10*maxText+3 || strings.IndexFunc(inner, func(r rune) bool { return r < ' ' || r > '~' }) >= 0 {
			t.Fatalf("%q is %q", name, got)
		}
	})
}

// TestDecimal checks amounts against the same reckoned by math/big.
func TestDecimal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		digits := rapid.StringMatching(`[1-9][0-9]{0,77}`).Draw(t, "digits")
		decimals := rapid.IntRange(0, 36).Draw(t, "decimals")
		got, ok := new(big.Rat).SetString(decimal(n(digits), uint8(decimals)))
		want := new(big.Rat).SetFrac(n(digits), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(decimals)), nil))
		if !ok || got.Cmp(want) != 0 {
			t.Fatalf("%s with %d decimals is %s", digits, decimals, decimal(n(digits), uint8(decimals)))
		}
	})
}
