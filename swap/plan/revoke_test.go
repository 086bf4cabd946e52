package plan

import (
	"bytes"
	"errors"
	"math/big"
	"swapkeep/chain"
	"swapkeep/swap"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
)

// revokeOf returns the plan of a revoke as a review would have it.
func revokeOf(t *testing.T, g swap.Grant) (swap.Terms, swap.Step) {
	t.Helper()
	terms := swap.Terms{
		Provider: swap.Wallet, Account: account, SrcChain: 1, TokenIn: g.Token, AmountIn: new(big.Int), DstChain: 1, TokenOut: g.Token,
		Recipient: account, MinOut: new(big.Int), Deadline: noon, RefundTo: account, GasCeiling: big.NewInt(1e15),
	}
	b, err := Revoker{}.Build(t.Context(), swap.Offer{Raw: swap.MustJSON(g)}, terms)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := decodeAll(Revoker{}, terms, b)
	if err != nil {
		t.Fatal(err)
	}
	return terms, plan.Steps[0]
}

// TestRevokeMayOnlyTakeAway checks that a revoke may set any allowance to zero, and
// nothing else.
func TestRevokeMayOnlyTakeAway(t *testing.T) {
	pins := Revoker{}.Pins()
	for _, g := range []swap.Grant{{Token: usdc, Spender: permit2, Kind: swap.ByToken}, {Token: usdc, Spender: thief, Kind: swap.ByToken}, {Token: usdc, Spender: router, Kind: swap.ByPermit2}, {Token: usdc, Spender: thief, Kind: swap.ByPermit2}} {
		terms, s := revokeOf(t, g)
		if err := swap.Check(terms, []swap.Effect{s.Effect}, pins); err != nil {
			t.Errorf("%+v: %v", g, err)
		}
		if got := swap.GrantOf(s.Effect); got != g {
			t.Errorf("%+v became %+v", g, got)
		}
	}
	for name, c := range map[string]struct {
		code   swap.Code
		change func(*swap.Terms, *[]swap.Effect)
	}{
		"one unit":    {swap.NotAsAccepted, func(_ *swap.Terms, f *[]swap.Effect) { (*f)[0].Approves[0].Amount = big.NewInt(1) }},
		"a share":     {swap.NotAsAccepted, func(_ *swap.Terms, f *[]swap.Effect) { (*f)[0].Approves[0].Shares = new(big.Int) }},
		"negative":    {swap.NotAsAccepted, func(_ *swap.Terms, f *[]swap.Effect) { (*f)[0].Approves[0].Amount = big.NewInt(-1) }},
		"no amount":   {swap.NotAsAccepted, func(_ *swap.Terms, f *[]swap.Effect) { (*f)[0].Approves[0].Amount = nil }},
		"with an end": {swap.NotAsAccepted, func(_ *swap.Terms, f *[]swap.Effect) { (*f)[0].Approves[0].Until = noon }},
		"for nobody":  {swap.NotAsAccepted, func(_ *swap.Terms, f *[]swap.Effect) { (*f)[0].Approves[0].Spender = native }},
		"two allowances": {swap.NotAsAccepted, func(_ *swap.Terms, f *[]swap.Effect) {
			(*f)[0].Approves = append((*f)[0].Approves, (*f)[0].Approves[0])
		}},
		"no allowance":     {swap.NotAsAccepted, func(_ *swap.Terms, f *[]swap.Effect) { (*f)[0].Approves = nil }},
		"another token":    {swap.NotAsAccepted, func(_ *swap.Terms, f *[]swap.Effect) { (*f)[0].Approves[0].Token = weth }},
		"another contract": {swap.NotPinned, func(_ *swap.Terms, f *[]swap.Effect) { (*f)[0].Target = thief }},
		"another chain":    {swap.NotAsAccepted, func(_ *swap.Terms, f *[]swap.Effect) { (*f)[0].Chain = 10 }},
		"spends": {swap.NotAsAccepted, func(_ *swap.Terms, f *[]swap.Effect) {
			(*f)[0].Spends = []swap.Spend{{Token: usdc, Amount: big.NewInt(1)}}
		}},
		"pays": {swap.NotAsAccepted, func(_ *swap.Terms, f *[]swap.Effect) { (*f)[0].Pays = []swap.Payment{{Token: usdc, To: thief, Bps: 1}} }},
		"receives": {swap.NotAsAccepted, func(_ *swap.Terms, f *[]swap.Effect) {
			(*f)[0].Receives = []swap.Receive{{Token: usdc, To: thief, Min: big.NewInt(1)}}
		}},
		"a deadline":     {swap.NotAsAccepted, func(_ *swap.Terms, f *[]swap.Effect) { (*f)[0].Deadline = noon }},
		"trust":          {swap.NotAsAccepted, func(_ *swap.Terms, f *[]swap.Effect) { (*f)[0].TrustedTo = "somebody" }},
		"a permit":       {swap.NotAsAccepted, func(_ *swap.Terms, f *[]swap.Effect) { (*f)[0].Kind = swap.Permit }},
		"a swap":         {swap.NotAsAccepted, func(_ *swap.Terms, f *[]swap.Effect) { *f = []swap.Effect{testSwap()} }},
		"a swap besides": {swap.NotAsAccepted, func(_ *swap.Terms, f *[]swap.Effect) { *f = append(*f, testSwap()) }},
		"nothing":        {swap.NotAsAccepted, func(_ *swap.Terms, f *[]swap.Effect) { *f = nil }},
		"native":         {swap.BadRequest, func(t *swap.Terms, _ *[]swap.Effect) { t.TokenIn, t.TokenOut = native, native }},
		"an amount in":   {swap.BadRequest, func(t *swap.Terms, _ *[]swap.Effect) { t.AmountIn = big.NewInt(1) }},
		"no amount in":   {swap.BadRequest, func(t *swap.Terms, _ *[]swap.Effect) { t.AmountIn = nil }},
		"a floor":        {swap.BadRequest, func(t *swap.Terms, _ *[]swap.Effect) { t.MinOut = big.NewInt(1) }},
		"a fee":          {swap.BadRequest, func(t *swap.Terms, _ *[]swap.Effect) { t.FeeBps = 1 }},
		"to a stranger":  {swap.BadRequest, func(t *swap.Terms, _ *[]swap.Effect) { t.Recipient = thief }},
		"across chains":  {swap.BadRequest, func(t *swap.Terms, _ *[]swap.Effect) { t.DstChain = 10 }},
		"no deadline":    {swap.BadRequest, func(t *swap.Terms, _ *[]swap.Effect) { t.Deadline = time.Time{} }},
		"no ceiling":     {swap.BadRequest, func(t *swap.Terms, _ *[]swap.Effect) { t.GasCeiling = nil }},
	} {
		terms, s := revokeOf(t, swap.Grant{Token: usdc, Spender: permit2, Kind: swap.ByToken})
		effects := []swap.Effect{s.Effect}
		c.change(&terms, &effects)
		if err := swap.Check(terms, effects, pins); !errors.Is(err, &swap.Refusal{Code: c.code}) {
			t.Errorf("%s: %v, want %s", name, err, c.code)
		}
	}
	terms, s := revokeOf(t, swap.Grant{Token: usdc, Spender: router, Kind: swap.ByPermit2})
	if err := swap.Check(terms, []swap.Effect{s.Effect}, nil); !errors.Is(err, &swap.Refusal{Code: swap.NotPinned}) {
		t.Errorf("Permit2 where it is not pinned: %v", err)
	}
	terms.Provider = swap.DEX
	if err := swap.Check(terms, []swap.Effect{s.Effect}, pins); err == nil {
		t.Error("a provider's plan may do what only the wallet's may")
	}
}

// FuzzRevoke checks that any bytes that the revoker decodes and Check accepts are exactly
// those of a revoke.
func FuzzRevoke(f *testing.F) {
	for _, g := range []swap.Grant{{Token: usdc, Spender: permit2, Kind: swap.ByToken}, {Token: usdc, Spender: router, Kind: swap.ByPermit2}} {
		f.Add(g.Keeper().Bytes(), revokeData(g))
		f.Add(g.Keeper().Bytes(), append(revokeData(g), 0))
	}
	f.Add(permit2.Bytes(), []byte{0x87, 0x51, 0x7c, 0x45})
	f.Fuzz(func(t *testing.T, to, data []byte) {
		terms, _ := revokeOf(t, swap.Grant{Token: usdc, Spender: permit2, Kind: swap.ByToken})
		call := chain.Call{ChainID: 1, From: account, To: common.BytesToAddress(to), Value: new(big.Int), Data: data}
		f, err := Revoker{}.Decode(terms, swap.Step{Kind: swap.CallStep, Call: &call})
		if err != nil || swap.Check(terms, []swap.Effect{f}, Revoker{}.Pins()) != nil {
			return
		}
		if g := swap.GrantOf(f); g.Keeper() != call.To || !bytes.Equal(revokeData(g), data) {
			t.Fatalf("%x at %s passes as a revoke of %+v", data, call.To, g)
		}
	})
}

// TestExpiry checks that every reported date can be marshaled.
func TestExpiry(t *testing.T) {
	for _, c := range []struct {
		stored uint64
		never  bool
	}{{1 << 47, true}, {1<<48 - 1, true}, {maxWireTime + 1, true}, {maxWireTime, false}, {0, false}, {1_800_000_000, false}} {
		at := PermitExpiry(chain.PermitAllowance{Expiration: c.stored})
		if _, err := at.MarshalJSON(); err != nil || at.IsZero() != c.never {
			t.Errorf("%d: %s, %v", c.stored, at, err)
		}
	}
}
