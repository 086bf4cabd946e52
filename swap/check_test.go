package swap

import (
	"errors"
	"math/big"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
)

var (
	account = common.HexToAddress("0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266")
	router  = common.HexToAddress("0x23617e59A5925b2A4Bf75d73ff6711cD0b29De85")
	weth    = common.HexToAddress("0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2")
	usdc    = common.HexToAddress("0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48")
	permit2 = common.HexToAddress("0x000000000022D473030F116dDEE9F6B43aC78BA3")
	partner = common.HexToAddress("0x90F79bf6EB2c4f870365E785982E1f101E93b906")
	thief   = common.HexToAddress("0x000000000000000000000000000000000000dEaD")
	native  = common.Address{}
	noon    = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
)

var testPins = Pins{{1, Router, router}, {1, Wrapper, weth}, {1, Spender, permit2}, {1, Verifier, permit2}, {1, Settlement, reactor}}

func testTerms() Terms {
	return Terms{
		Provider: DEX, Account: account, SrcChain: 1, TokenIn: native, AmountIn: big.NewInt(1000),
		DstChain: 1, TokenOut: usdc, Recipient: account, MinOut: big.NewInt(2900), Deadline: noon.Add(20 * time.Minute),
		RefundTo: account, FeeBps: 20, FeeReceiver: partner, MakerFeeBps: 20, GasCeiling: big.NewInt(1e15),
	}
}

func testSwap() Effect {
	return Effect{Kind: Swap, Chain: 1, Target: router,
		Spends:   []Spend{{native, big.NewInt(1000)}},
		Receives: []Receive{{usdc, account, big.NewInt(2900)}},
		Pays:     []Payment{{usdc, partner, 20}},
		Deadline: noon.Add(10 * time.Minute)}
}

// erc20 returns the same swap with an ERC-20 input: approve, permit, swap.
func erc20() (Terms, []Effect) {
	t, f := testTerms(), testSwap()
	t.TokenIn, t.TokenOut, t.MinOut = usdc, weth, big.NewInt(1)
	f.Spends, f.Receives, f.Pays = []Spend{{usdc, big.NewInt(1000)}}, []Receive{{weth, account, big.NewInt(1)}}, []Payment{{weth, partner, 20}}
	return t, []Effect{
		{Kind: Approve, Chain: 1, Target: usdc, Approves: []Approval{{Token: usdc, Spender: permit2, Amount: big.NewInt(1000)}}},
		{Kind: Permit, Chain: 1, Target: permit2, Deadline: noon.Add(30 * time.Minute),
			Approves: []Approval{{Token: usdc, Spender: router, Amount: big.NewInt(1000), Until: noon.Add(30 * 24 * time.Hour)}}},
		f,
	}
}

func wrapped(k EffectKind) (Terms, []Effect) {
	t := testTerms()
	t.TokenIn, t.TokenOut, t.MinOut, t.FeeBps, t.FeeReceiver = native, weth, big.NewInt(1000), 0, common.Address{}
	if k == Unwrap {
		t.TokenIn, t.TokenOut = weth, native
	}
	return t, []Effect{{Kind: k, Chain: 1, Target: weth, Spends: []Spend{{t.TokenIn, big.NewInt(1000)}}, Receives: []Receive{{t.TokenOut, account, big.NewInt(1000)}}}}
}

func TestCheckAccepts(t *testing.T) {
	terms, effects := erc20()
	if err := Check(terms, effects, testPins); err != nil {
		t.Error(err)
	}
	if err := Check(testTerms(), []Effect{testSwap()}, testPins); err != nil {
		t.Error(err)
	}
	maker := testSwap()
	maker.Pays = append(maker.Pays, Payment{usdc, thief, 20})
	if err := Check(testTerms(), []Effect{maker}, testPins); err != nil {
		t.Errorf("a maker's fee within its bound: %v", err)
	}
	for _, k := range []EffectKind{Wrap, Unwrap} {
		terms, effects := wrapped(k)
		if err := Check(terms, effects, testPins); err != nil {
			t.Errorf("%s: %v", k, err)
		}
	}
}

// TestCheckRefuses changes one thing at a time; every change must be refused.
func TestCheckRefuses(t *testing.T) {
	one := big.NewInt(1)
	swaps := map[string]struct {
		code   Code
		change func(*Terms, *Effect)
	}{
		"another chain":              {NotAsAccepted, func(_ *Terms, f *Effect) { f.Chain = 10 }},
		"another contract":           {NotPinned, func(_ *Terms, f *Effect) { f.Target = thief }},
		"a pin of another role":      {NotPinned, func(_ *Terms, f *Effect) { f.Target = permit2 }},
		"no contract":                {NotPinned, func(_ *Terms, f *Effect) { f.Target = common.Address{} }},
		"unknown kind":               {Undecodable, func(_ *Terms, f *Effect) { f.Kind = "gift" }},
		"opaque":                     {Undecodable, func(_ *Terms, f *Effect) { f.Kind = Opaque }},
		"only an approval":           {NotAsAccepted, func(_ *Terms, f *Effect) { f.Kind = Approve }},
		"spends more":                {NotAsAccepted, func(_ *Terms, f *Effect) { f.Spends[0].Amount = big.NewInt(1001) }},
		"spends less":                {NotAsAccepted, func(_ *Terms, f *Effect) { f.Spends[0].Amount = big.NewInt(999) }},
		"spends without amount":      {NotAsAccepted, func(_ *Terms, f *Effect) { f.Spends[0].Amount = nil }},
		"spends another token":       {NotAsAccepted, func(_ *Terms, f *Effect) { f.Spends[0].Token = weth }},
		"spends twice":               {NotAsAccepted, func(_ *Terms, f *Effect) { f.Spends = append(f.Spends, Spend{weth, one}) }},
		"spends nothing":             {NotAsAccepted, func(_ *Terms, f *Effect) { f.Spends = nil }},
		"grants an allowance":        {NotAsAccepted, func(_ *Terms, f *Effect) { f.Approves = []Approval{{Token: usdc, Spender: permit2, Amount: one}} }},
		"below the floor":            {NotAsAccepted, func(_ *Terms, f *Effect) { f.Receives[0].Min = big.NewInt(2899) }},
		"no minimum":                 {Undecodable, func(_ *Terms, f *Effect) { f.Receives[0].Min = nil }},
		"another recipient":          {NotAsAccepted, func(_ *Terms, f *Effect) { f.Receives[0].To = thief }},
		"dust for another recipient": {NotAsAccepted, func(_ *Terms, f *Effect) { f.Receives = append(f.Receives, Receive{weth, thief, one}) }},
		"another token out":          {NotAsAccepted, func(_ *Terms, f *Effect) { f.Receives[0].Token = weth }},
		"nothing received":           {NotAsAccepted, func(_ *Terms, f *Effect) { f.Receives = nil }},
		"fee of another receiver":    {NotAsAccepted, func(_ *Terms, f *Effect) { f.Pays[0].To = thief }},
		"fee higher":                 {NotAsAccepted, func(_ *Terms, f *Effect) { f.Pays[0].Bps = 21 }},
		"fee lower":                  {NotAsAccepted, func(_ *Terms, f *Effect) { f.Pays[0].Bps = 19 }},
		"fee missing":                {NotAsAccepted, func(_ *Terms, f *Effect) { f.Pays = nil }},
		"fee twice":                  {NotAsAccepted, func(_ *Terms, f *Effect) { f.Pays = append(f.Pays, f.Pays[0]) }},
		"fee in another token":       {NotAsAccepted, func(_ *Terms, f *Effect) { f.Pays[0].Token = weth }},
		"negative fee":               {Undecodable, func(_ *Terms, f *Effect) { f.Pays = append(f.Pays, Payment{usdc, thief, -5}) }},
		"maker above its bound":      {NotAsAccepted, func(_ *Terms, f *Effect) { f.Pays = append(f.Pays, Payment{usdc, thief, 21}) }},
		"makers above it together": {NotAsAccepted, func(_ *Terms, f *Effect) {
			f.Pays = append(f.Pays, Payment{usdc, thief, 11}, Payment{usdc, router, 11})
		}},
		"no deadline":              {NotAsAccepted, func(_ *Terms, f *Effect) { f.Deadline = time.Time{} }},
		"deadline after consent":   {NotAsAccepted, func(_ *Terms, f *Effect) { f.Deadline = noon.Add(time.Hour) }},
		"cross-chain":              {NotAsAccepted, func(t *Terms, _ *Effect) { t.DstChain = 10 }},
		"terms: no account":        {BadRequest, func(t *Terms, _ *Effect) { t.Account = common.Address{} }},
		"terms: no recipient":      {BadRequest, func(t *Terms, _ *Effect) { t.Recipient = common.Address{} }},
		"terms: no refund address": {BadRequest, func(t *Terms, _ *Effect) { t.RefundTo = common.Address{} }},
		"terms: zero":              {AmountZero, func(t *Terms, _ *Effect) { t.AmountIn = new(big.Int) }},
		"terms: no floor":          {AmountTooSmall, func(t *Terms, _ *Effect) { t.MinOut = new(big.Int) }},
		"terms: same token":        {SameToken, func(t *Terms, _ *Effect) { t.TokenOut = t.TokenIn }},
		"terms: no deadline":       {BadRequest, func(t *Terms, _ *Effect) { t.Deadline = time.Time{} }},
		"terms: fee out of bounds": {BadRequest, func(t *Terms, _ *Effect) { t.FeeBps = 301 }},
		"terms: fee for nobody":    {BadRequest, func(t *Terms, _ *Effect) { t.FeeReceiver = common.Address{} }},
		"terms: no ceiling":        {BadRequest, func(t *Terms, _ *Effect) { t.GasCeiling = nil }},
	}
	for name, c := range swaps {
		t.Run(name, func(t *testing.T) {
			terms, f := testTerms(), testSwap()
			c.change(&terms, &f)
			refusedWith(t, Check(terms, []Effect{f}, testPins), c.code)
		})
	}
}

func TestCheckRefusesSteps(t *testing.T) {
	for name, c := range map[string]struct {
		code   Code
		change func(*Terms, []Effect) []Effect
	}{
		"no step":                      {NotAsAccepted, func(_ *Terms, _ []Effect) []Effect { return nil }},
		"swap first":                   {NotAsAccepted, func(_ *Terms, f []Effect) []Effect { return []Effect{f[2], f[0]} }},
		"swap twice":                   {NotAsAccepted, func(_ *Terms, f []Effect) []Effect { return []Effect{f[0], f[2], f[2]} }},
		"approve: unlimited":           {NotAsAccepted, func(_ *Terms, f []Effect) []Effect { f[0].Approves[0].Amount = big.NewInt(1 << 60); return f }},
		"approve: another spender":     {NotPinned, func(_ *Terms, f []Effect) []Effect { f[0].Approves[0].Spender = thief; return f }},
		"approve: the router":          {NotPinned, func(_ *Terms, f []Effect) []Effect { f[0].Approves[0].Spender = router; return f }},
		"approve: another token":       {NotAsAccepted, func(_ *Terms, f []Effect) []Effect { f[0].Approves[0].Token = weth; return f }},
		"approve: another contract":    {NotPinned, func(_ *Terms, f []Effect) []Effect { f[0].Target = weth; return f }},
		"approve: two":                 {NotAsAccepted, func(_ *Terms, f []Effect) []Effect { f[0].Approves = append(f[0].Approves, f[0].Approves[0]); return f }},
		"approve: moves funds":         {NotAsAccepted, func(_ *Terms, f []Effect) []Effect { f[0].Spends = f[2].Spends; return f }},
		"permit: another spender":      {NotPinned, func(_ *Terms, f []Effect) []Effect { f[1].Approves[0].Spender = permit2; return f }},
		"permit: more":                 {NotAsAccepted, func(_ *Terms, f []Effect) []Effect { f[1].Approves[0].Amount = big.NewInt(1001); return f }},
		"permit: for ever":             {NotAsAccepted, func(_ *Terms, f []Effect) []Effect { f[1].Approves[0].Until = noon.Add(400 * 24 * time.Hour); return f }},
		"permit: no expiry":            {NotAsAccepted, func(_ *Terms, f []Effect) []Effect { f[1].Approves[0].Until = time.Time{}; return f }},
		"permit: signature for ever":   {NotAsAccepted, func(_ *Terms, f []Effect) []Effect { f[1].Deadline = time.Time{}; return f }},
		"permit: another domain":       {NotPinned, func(_ *Terms, f []Effect) []Effect { f[1].Target = router; return f }},
		"permit: an unrelated token":   {NotAsAccepted, func(_ *Terms, f []Effect) []Effect { f[1].Approves[0].Token = weth; return f }},
		"native input needs no permit": {NotPinned, func(t *Terms, f []Effect) []Effect { t.TokenIn = native; f[2].Spends[0].Token = native; return f }},
	} {
		t.Run(name, func(t *testing.T) {
			terms, effects := erc20()
			refusedWith(t, Check(terms, c.change(&terms, effects), testPins), c.code)
		})
	}
}

func TestCheckRefusesWraps(t *testing.T) {
	for _, k := range []EffectKind{Wrap, Unwrap} {
		for name, change := range map[string]func(*Terms, *Effect){
			"the other way":     func(t *Terms, _ *Effect) { t.TokenIn, t.TokenOut = t.TokenOut, t.TokenIn },
			"another recipient": func(t *Terms, _ *Effect) { t.Recipient = thief },
			"pays somebody":     func(_ *Terms, f *Effect) { f.Pays = []Payment{{weth, thief, 1}} },
			"another contract":  func(_ *Terms, f *Effect) { f.Target = usdc },
			"less than all":     func(_ *Terms, f *Effect) { f.Receives[0].Min = big.NewInt(999) },
			"another chain":     func(t *Terms, _ *Effect) { t.DstChain = 10 },
		} {
			t.Run(string(k)+" "+name, func(t *testing.T) {
				terms, effects := wrapped(k)
				change(&terms, &effects[0])
				if err := Check(terms, effects, testPins); err == nil {
					t.Error("accepted")
				}
			})
		}
	}
}

func refusedWith(t *testing.T, err error, code Code) {
	t.Helper()
	if !errors.Is(err, &Refusal{Code: code}) {
		t.Errorf("got %v, want a refusal with %s", err, code)
	}
}

// TestDigest checks that everything that was consented to changes the digest, and that
// what a fresh quote may change under the same consent does not.
func TestDigest(t *testing.T) {
	base := Digest(testTerms(), []Effect{testSwap()})
	for name, change := range map[string]func(*Terms, *Effect){
		"account":      func(t *Terms, _ *Effect) { t.Account = thief },
		"amount":       func(t *Terms, _ *Effect) { t.AmountIn = big.NewInt(1001) },
		"token out":    func(t *Terms, _ *Effect) { t.TokenOut = weth },
		"recipient":    func(t *Terms, _ *Effect) { t.Recipient = thief },
		"floor":        func(t *Terms, _ *Effect) { t.MinOut = big.NewInt(1) },
		"deadline":     func(t *Terms, _ *Effect) { t.Deadline = t.Deadline.Add(time.Second) },
		"refund":       func(t *Terms, _ *Effect) { t.RefundTo = thief },
		"fee":          func(t *Terms, _ *Effect) { t.FeeBps = 19 },
		"fee receiver": func(t *Terms, _ *Effect) { t.FeeReceiver = thief },
		"maker fee":    func(t *Terms, _ *Effect) { t.MakerFeeBps = 0 },
		"ceiling":      func(t *Terms, _ *Effect) { t.GasCeiling = big.NewInt(2) },
		"provider":     func(t *Terms, _ *Effect) { t.Provider = Bridge },
		"target":       func(_ *Terms, f *Effect) { f.Target = thief },
		"kind":         func(_ *Terms, f *Effect) { f.Kind = Signed },
		"spends":       func(_ *Terms, f *Effect) { f.Spends = nil },
		"pays":         func(_ *Terms, f *Effect) { f.Pays[0].Bps = 1 },
		"to":           func(_ *Terms, f *Effect) { f.Receives[0].To = thief },
		"approves": func(_ *Terms, f *Effect) {
			f.Approves = []Approval{{Token: usdc, Spender: thief, Amount: big.NewInt(1)}}
		},
		"trust":   func(_ *Terms, f *Effect) { f.TrustedTo = "X" },
		"settler": func(_ *Terms, f *Effect) { f.Settler = router },
		"wrap":    func(t *Terms, _ *Effect) { t.Wrap = weth },
	} {
		terms, f := testTerms(), testSwap()
		change(&terms, &f)
		if Digest(terms, []Effect{f}) == base {
			t.Errorf("%s does not count", name)
		}
	}
	fresh := testSwap()
	fresh.Receives[0].Min = big.NewInt(3000)
	fresh.Deadline = fresh.Deadline.Add(-time.Minute)
	fresh.DepositID, fresh.Nonce = common.Hash{1}, big.NewInt(7)
	if Digest(testTerms(), []Effect{fresh}) != base {
		t.Error("a fresh quote with a better minimum is other consent")
	}
}
