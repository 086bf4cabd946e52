package main

import (
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"swapkeep/config"
	"swapkeep/host/protocol"
	"swapkeep/priceapi/price"
	"swapkeep/sandbox"
	"swapkeep/sandbox/sandboxtest"
	"swapkeep/swap"
	"swapkeep/test/await"
	"swapkeep/test/requests"
)

// A swapper is a daemon on the sandbox with its prices, and the test account that swaps
// through it.
type swapper struct {
	terminal
	d       *daemon
	account protocol.Address
}

// startPriced starts a daemon that gets all prices from the sandbox, and waits for the first
// prices if priced is set.
func startPriced(t *testing.T, world *sandbox.Sandbox, dir string, priced bool) swapper {
	t.Helper()
	d, term, _ := begin(t, world, dir, func(c *config.Config) {
		c.Providers.DEX.BaseURL = world.BaseURL("dex")
		c.Providers.Bridge.Disabled, c.Providers.Intent.Disabled, c.Providers.Gasless.Disabled = true, true, true
		from := &c.Prices.Sources
		c.Prices.Listen, c.Prices.Disabled, c.Prices.AskImported = config.NoListener, !priced, true
		from.DefiLlama.BaseURL, from.GeckoTerminal.BaseURL = world.BaseURL("defillama"), world.BaseURL("geckoterminal")
		from.DexScreener.BaseURL, from.Blockscout.BaseURL = world.BaseURL("dexscreener"), world.BaseURL("blockscout")
	})
	if err := d.swaps.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	d.prices.start(t.Context())
	await.Until(t, 30*time.Second, "a price of ether", func() bool {
		now, _ := d.prices.Next()
		r, ok := now.Row(price.ID{Chain: 1})
		return !priced || ok && r.Current(time.Now())
	})
	v := swapper{terminal: term, d: d}
	var all protocol.AccountsResult
	term.must("keys.accounts", nil, &all)
	if len(all.Accounts) == 0 {
		var made protocol.CreateResult
		term.must("keys.import", protocol.ImportParams{Request: requests.NewUUID(), Mnemonic: protocol.Secret(sandbox.Mnemonic), Password: protocol.Secret(passphrase)}, &made)
		v.account = made.Wallet.Accounts[0].Address
	} else {
		v.account = all.Accounts[0].Address
	}
	term.must("keys.unlock", protocol.UnlockParams{Password: protocol.Secret(passphrase)}, nil)
	return v
}

// review returns the review of a swap of that many ether for a token.
func (v swapper) review(ether int64, out common.Address) protocol.Review {
	v.t.Helper()
	var offers protocol.QuoteResult
	v.must("swap.quote", protocol.QuoteParams{Account: v.account, TokenIn: protocol.Address(common.Address{}.Hex()), AmountIn: protocol.AmountOf(sandboxtest.Units(ether, 18)), TokenOut: protocol.Address(out.Hex())}, &offers)
	if len(offers.Offers) == 0 {
		v.t.Fatalf("no offer: %+v", offers.Failures)
	}
	var r protocol.Review
	v.must("swap.prepare", protocol.PrepareParams{Offer: offers.Offers[0].ID}, &r)
	return r
}

// codes returns the findings that must be acknowledged.
func codes(r protocol.Review) (codes []string) {
	for _, f := range r.Findings {
		if f.Severity == "acknowledge" {
			codes = append(codes, f.Code)
		}
	}
	slices.Sort(codes)
	return codes
}

// TestScamTokenWithItsOwnPool: 9,000 ether for a fake token named USDC, in the only pool
// that its maker created on the published Uniswap contracts. Prices are not taken from
// that pool: the price is unknown, the token is on no list and imitates another's name,
// and each of these findings must be acknowledged for this review.
func TestScamTokenWithItsOwnPool(t *testing.T) {
	world := sandboxtest.Start(t, 1, 8453)
	fake := sandboxtest.DeployFakeUSDC(t, world, 1)
	v := startPriced(t, world, filepath.Join(t.TempDir(), "home"), true)

	r := v.review(9000, fake)
	want := []string{"output_lookalike", "output_unverified", "price_unknown"}
	if got := codes(r); !slices.Equal(got, want) {
		t.Fatalf("acts are asked for %v, want %v; all findings: %+v", got, want, r.Findings)
	}
	for i := range want {
		v.refused("needs_acknowledge", "swap.execute", protocol.ExecuteParams{Request: requests.NewUUID(), Digest: r.Digest, Acknowledge: slices.Delete(slices.Clone(want), i, i+1)})
	}
	var orders protocol.OrdersResult
	if v.must("swap.orders", protocol.OrdersParams{Account: v.account}, &orders); len(orders.Orders) != 0 {
		t.Errorf("carried out: %+v", orders.Orders)
	}

	// Importing the token puts it on no list and gives it no price.
	v.must("tokens.import", protocol.ImportTokenParams{Address: protocol.Address(fake.Hex())}, nil)
	v.d.prices.poller.Fetch(t.Context())
	if got := codes(v.review(9000, fake)); !slices.Equal(got, want) {
		t.Errorf("once imported, acts are asked for %v", got)
	}
	if worth, err := v.d.prices.Dollars(price.ID{Chain: 1, Address: fake}, big.NewInt(1e6)); err == nil {
		t.Errorf("people are told that one is worth %s", worth.Fixed(2))
	}

	// The real USDC next to it needs no acknowledgement.
	honest := v.review(1, world.Chain(1).Network.Tokens[0].Address)
	if got := codes(honest); len(got) != 0 {
		t.Errorf("for the real USDC, acts are asked for %v: %+v", got, honest.Findings)
	}
}

// TestGuardsWithoutPrices: with prices switched off, as after a restart with that
// setting, all guards that need a price report it and require acknowledgement. The same
// holds with stale prices.
func TestGuardsWithoutPrices(t *testing.T) {
	world := sandboxtest.Start(t, 1, 8453)
	n := world.Chain(1)
	usdc, dai := n.Network.Tokens[0].Address, n.Network.Tokens[2].Address
	off := startPriced(t, world, filepath.Join(t.TempDir(), "home"), false)
	if got := codes(off.review(1, usdc)); !slices.Equal(got, []string{"price_unknown"}) {
		t.Errorf("switched off: acts are asked for %v", got)
	}
	var offers protocol.QuoteResult
	off.must("swap.quote", protocol.QuoteParams{Account: off.account, TokenIn: protocol.Address(usdc.Hex()), AmountIn: protocol.AmountOf(big.NewInt(1e9)), TokenOut: protocol.Address(dai.Hex())}, &offers)
	var r protocol.Review
	off.must("swap.prepare", protocol.PrepareParams{Offer: offers.Offers[0].ID}, &r)
	if got := codes(r); !slices.Equal(got, []string{"price_unknown", "value_unknown"}) {
		t.Errorf("switched off, a token for a token: acts are asked for %v", got)
	}

	on := startPriced(t, world, filepath.Join(t.TempDir(), "another"), true)
	if got := codes(on.review(1, usdc)); len(got) != 0 {
		t.Fatalf("with prices: acts are asked for %v", got)
	}
	later := time.Now().Add(20 * time.Minute)
	on.d.prices.desk.Now = func() time.Time { return later }
	if _, err := on.d.prices.desk.Out(t.Context(), 1, common.Address{}, 1, usdc, big.NewInt(1e18)); err == nil || !strings.Contains(err.Error(), "unavailable") {
		t.Errorf("by prices of twenty minutes ago: %v", err)
	}
}

// TestRecognize: the built-in list, the user's lists and the table of coins of the same
// issuer are trusted; an import is not. If a token is on no list, its own contract is
// asked for its name.
func TestRecognize(t *testing.T) {
	world := sandboxtest.Start(t, 1, 8453)
	n := world.Chain(1)
	usdc, pair := n.Network.Tokens[0].Address, pairOf(t, n, n.Network.Wrapped.Address, n.Network.Tokens[0].Address)
	fake := sandboxtest.DeployFakeUSDC(t, world, 1)
	stranger := common.HexToAddress("0x00000000000000000000000000000000000a11ce")
	list := filepath.Join(t.TempDir(), "list.json")
	row := `{"chainId":1,"address":"` + pair.Hex() + `","symbol":"PAIR","name":"A pair","decimals":18}`
	text := `{"name":"Mine","timestamp":"2026-01-02T03:04:05.000Z","version":{"major":1,"minor":0,"patch":0},"tokens":[` + row + `]}`
	if err := os.WriteFile(list, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	d, term, _ := begin(t, world, filepath.Join(t.TempDir(), "home"), func(c *config.Config) { c.Tokens.Lists = []string{list} })
	look := func(when string) {
		t.Helper()
		for name, c := range map[string]struct {
			chain uint64
			token common.Address
			want  swap.Recognition
		}{
			"built in":               {1, usdc, swap.Recognition{Listed: true}},
			"on the user's list":     {1, pair, swap.Recognition{Listed: true}},
			"a fraud":                {1, fake, swap.Recognition{Imitates: usdc}},
			"no token":               {1, stranger, swap.Recognition{}},
			"Circle's, on Polygon":   {137, common.HexToAddress("0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359"), swap.Recognition{Listed: true}},
			"another one on Polygon": {137, usdc, swap.Recognition{}},
		} {
			if got := d.recognize(t.Context(), c.chain, c.token); got != c.want {
				t.Errorf("%s, %s: %+v, want %+v", when, name, got, c.want)
			}
		}
	}
	look("at first")
	term.must("tokens.import", protocol.ImportTokenParams{Address: protocol.Address(fake.Hex())}, nil)
	look("once imported")
}
