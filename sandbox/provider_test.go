package sandbox_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"swapkeep/config"
	"swapkeep/sandbox"
	"swapkeep/sandbox/inject"
	"swapkeep/sandbox/market"
	"swapkeep/sandbox/pricesim"
	"swapkeep/sandbox/sandboxtest"
)

// TestEveryProviderIsControlled checks that each simulator has its own faults, counts and
// settings, and that Reset clears faults and counts.
func TestEveryProviderIsControlled(t *testing.T) {
	s := manual(t, 1)
	kinds := []string{"dex", "bridge", "intent", "gasless", "defillama", "geckoterminal", "coingecko", "dexscreener", "blockscout", "goplus"}
	for _, kind := range kinds {
		if code, reply := control[map[string]any](t, s, http.MethodPost, "/faults/"+kind, `{"target":"*","kind":"http","status":418}`); code != http.StatusOK {
			t.Fatalf("%s: status %d, reply %v; want 200", kind, code, reply)
		}
		resp, err := http.Get(s.BaseURL(kind) + "/nothing")
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusTeapot {
			t.Errorf("%s: %s", kind, resp.Status)
		}
		if _, reply := control[struct{ Requests map[string]int }](t, s, http.MethodGet, "/counts/"+kind, ""); len(reply.Requests) != 1 {
			t.Errorf("%s: counted %v", kind, reply.Requests)
		}
		if code, settings := control[map[string]any](t, s, http.MethodGet, "/"+kind, ""); code != http.StatusOK || len(settings) == 0 {
			t.Errorf("%s: settings %d %v", kind, code, settings)
		}
		if code, reply := control[status](t, s, http.MethodPost, "/"+kind, `{"noSuchSetting":1}`); code != http.StatusBadRequest || reply.Error == "" {
			t.Errorf("%s: an unknown setting: %d", kind, code)
		}
	}
	if err := s.Reset(); err != nil {
		t.Fatal(err)
	}
	for _, kind := range kinds {
		if rules, counts := s.Faults(kind).Rules(), s.Faults(kind).Counts(); len(rules) != 0 || len(counts) != 0 {
			t.Errorf("%s: %v, %v after a reset", kind, rules, counts)
		}
	}
	if s.BaseURL("exchange") != "" || s.Faults("exchange") != nil {
		t.Error("a provider that there is not")
	}
}

// TestControlOfTheDEX checks that settings change one by one and return to the defaults
// with a reset.
func TestControlOfTheDEX(t *testing.T) {
	s := manual(t, 1)
	type settings struct {
		Auctions     string
		MakerFeeBips int
		Outcome      struct {
			Fill   string
			Blocks int
		}
		Error string
	}
	for _, change := range []string{`{"makerFeeBips":20}`, `{"auctions":"always"}`, `{"outcome":{"fill":"late"}}`, `{"outcome":{"blocks":3}}`} {
		if code, reply := control[settings](t, s, http.MethodPost, "/dex", change); code != http.StatusOK {
			t.Fatalf("%s: %s", change, reply.Error)
		}
	}
	_, got := control[settings](t, s, http.MethodGet, "/dex", "")
	if got.MakerFeeBips != 20 || got.Auctions != "always" || got.Outcome.Fill != "late" || got.Outcome.Blocks != 3 {
		t.Errorf("the DEX's settings are %+v", got)
	}
	for _, bad := range []string{
		`{"auctions":"sometimes"}`, `{"outcome":{"fill":"soon"}}`, `{"outcome":{"claim":"done"}}`, `{"outcome":{"cosign":"badly"}}`,
		`{"outcome":{"steal":true}}`, `{"deadlineSeconds":-1}`, `{"auctionImprovementBips":1001}`, `{"auctionLeastUsd":-1}`,
	} {
		if code, reply := control[settings](t, s, http.MethodPost, "/dex", bad); code != http.StatusBadRequest || reply.Error == "" {
			t.Errorf("%s: %d", bad, code)
		}
	}
	s.Reset()
	if _, got := control[settings](t, s, http.MethodGet, "/dex", ""); got != (settings{}) {
		t.Errorf("%+v after a reset", got)
	}
	if code, orders := control[[]json.RawMessage](t, s, http.MethodGet, "/dex/orders", ""); code != http.StatusOK || len(orders) != 0 {
		t.Errorf("the DEX's orders: status %d, %v; want none", code, orders)
	}
	if code, reply := control[status](t, s, http.MethodPost, "/dex/orders/"+common.Hash{1}.Hex(), `{"fill":"now"}`); code != http.StatusBadRequest || reply.Error == "" {
		t.Errorf("an order that there is not: %d", code)
	}
}

// TestControlOfPrices checks that one control request changes a price service's answers
// or makes it fail, and that its prices follow the market.
func TestControlOfPrices(t *testing.T) {
	s := manual(t, 1)
	ask := func() (int, float64) {
		status, raw := sandboxtest.Ask(t, http.MethodGet, s.Manifest().Prices["defillama"].BaseURL+"/prices/current/coingecko:ethereum", nil)
		var reply struct {
			Coins map[string]struct{ Price float64 }
		}
		_ = json.Unmarshal(raw, &reply)
		return status, reply.Coins["coingecko:ethereum"].Price
	}
	for _, tc := range []struct {
		path, body string
		status     int
		price      float64
	}{
		{"/defillama", `{}`, 200, 3000},
		{"/defillama", `{"factor":10}`, 200, 30_000},
		{"/market", `{"moves":[{"symbol":"ETH","microUsd":2500000000}]}`, 200, 25_000},
		{"/defillama", `{"factor":1}`, 200, 2500},
		{"/faults/defillama", `{"target":"*","kind":"http","status":429,"retryAfter":60}`, 429, 0},
		{"/reset", ``, 200, 3000},
	} {
		if code, raw := sandboxtest.Ask(t, http.MethodPost, s.ControlURL()+tc.path, []byte(tc.body)); code != http.StatusOK {
			t.Fatalf("%s %s: %d %s", tc.path, tc.body, code, raw)
		}
		if status, price := ask(); status != tc.status || price != tc.price {
			t.Errorf("%s %s: then %d, %v", tc.path, tc.body, status, price)
		}
	}
	if s.Prices("defillama") == nil || s.Prices("dex") != nil {
		t.Error("price services by their kinds")
	}
	if err := s.Market().Move(t.Context(), market.Move{Symbol: "ETH", MicroUSD: 0}); err == nil {
		t.Error("a price of nothing")
	}
}

// TestStalledAnswersGoOnWhenReleased checks that a stalled request is answered once the
// rule is removed.
func TestStalledAnswersGoOnWhenReleased(t *testing.T) {
	s := manual(t, 1)
	id, err := s.Faults("dex").Add(inject.Rule{Target: "/nothing", Kind: inject.Stall})
	if err != nil {
		t.Fatal(err)
	}
	answered := make(chan int, 1)
	go func() {
		resp, err := http.Get(s.DEXURL() + "/nothing")
		if err != nil {
			answered <- 0
			return
		}
		_ = resp.Body.Close()
		answered <- resp.StatusCode
	}()
	for s.Faults("dex").Held() == 0 {
		select {
		case got := <-answered:
			t.Fatalf("answered with %d while stalled", got)
		default:
		}
	}
	s.Faults("dex").Remove(id)
	if got := <-answered; got != http.StatusNotFound {
		t.Errorf("answered with %d", got)
	}
}

// TestTheDaemonTakesTheConfiguration checks that the daemon loads the configuration
// written for it.
func TestTheDaemonTakesTheConfiguration(t *testing.T) {
	s := manual(t, 1, 8453)
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil { // whatever the umask is
		t.Fatal(err)
	}
	if err := s.WriteFiles(dir); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load([]string{"SWAPKEEP_CONFIG=" + dir + "/config.toml"})
	if err != nil {
		t.Fatal(err)
	}
	if key, err := c.Providers.Bridge.Key(); key == "" || err != nil || s.Bridge().Settings().APIKey != key {
		t.Errorf("the bridge's key: %q, %v", key, err)
	}
	got := []string{c.Providers.DEX.BaseURL, c.Providers.Bridge.BaseURL, c.Providers.Intent.BaseURL, c.Providers.Intent.FrontendBaseURL, c.Providers.Gasless.BaseURL}
	want := []string{s.BaseURL("dex"), s.BaseURL("bridge"), s.BaseURL("intent"), s.BaseURL("intent"), s.BaseURL("gasless")}
	from := c.Prices.Sources
	got = append(got, from.DefiLlama.BaseURL, from.GeckoTerminal.BaseURL, from.CoinGecko.BaseURL, from.DexScreener.BaseURL, from.Blockscout.BaseURL, from.GoPlus.BaseURL)
	for _, kind := range pricesim.Kinds() {
		want = append(want, s.BaseURL(kind))
		if m := s.Manifest(); m.Prices[kind].BaseURL != s.BaseURL(kind) || m.Providers[kind].BaseURL != "" {
			t.Errorf("%s in the manifest: %+v", kind, m.Prices)
		}
	}
	if len(want) != len(got) || c.Prices.Listen != "127.0.0.1:0" {
		t.Fatalf("%d addresses, %d expected; prices are served at %s", len(got), len(want), c.Prices.Listen)
	}
	for i := range want {
		if u, err := url.Parse(got[i]); err != nil || u.Host == "" || got[i] != want[i] {
			t.Errorf("%q, want %q", got[i], want[i])
		}
	}
}

// TestServices pins the addresses of the service accounts, which other programs rely on.
func TestServices(t *testing.T) {
	services, err := sandbox.Services()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"auctionFiller": "0x81CbB27d5BBe2Ac6Ae0e446bc560f2751EfA2bdE", "auctionCosigner": "0x9F1A6E7C7273d2F75BCAE13D03b3dDdD2B7811Fc",
		"bridgeSolver": "0xAB1FCa03727F17156aD77aCBED9773319AD9D731", "intentSolver": "0x7c4Fa858cdFb46a314404409B69d7Dfa4ee5E3B0",
		"jamSolver": "0x8293512e757aA5963082136DD36AA6C8A397B4F6", "rfqMaker": "0x1b1fEFa1F35681E17a2710687d3B639C911AEA58",
		"priceMover": "0xFdc1c45CaB13d4E0b56e820b08f33418b6627D3C",
	}
	for name, address := range want {
		if got := services[name].Address.Hex(); got != address {
			t.Errorf("%s is %s, want %s", name, got, address)
		}
	}
}
