package priceapi_test

import (
	"context"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"swapkeep/chain"
	"swapkeep/priceapi/poll"
	"swapkeep/priceapi/price"
	"swapkeep/priceapi/pricetable"
	"swapkeep/priceapi/series"
	"swapkeep/priceapi/source"
	"swapkeep/priceapi/valuation"
	"swapkeep/rest"
	"swapkeep/tokens"

	"golang.org/x/time/rate"
)

// coinOracles measures the networks' own coins, which cost what DexScreener says of everything,
// and nothing else.
type coinOracles struct{ now time.Time }

func (coinOracles) Name() string { return "oracles" }

func (o coinOracles) Now(_ context.Context, ts []tokens.Token) (all []price.Reading, err error) {
	for _, t := range ts {
		if t.Address == tokens.Native {
			v, _ := price.Parse("0.98")
			all = append(all, price.Reading{ID: price.IDOf(t), Sample: price.Sample{Value: v, At: o.now, Source: price.Chainlink}})
		}
	}
	return all, nil
}

// services answers as DefiLlama and DexScreener do, for every token on a network that they
// have a name for.
func services(now time.Time) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Date", now.Format(http.TimeFormat))
		var rows []string
		if keys, ok := strings.CutPrefix(r.URL.Path, "/prices/current/"); ok {
			for key := range strings.SplitSeq(keys, ",") {
				if !strings.HasPrefix(key, "coingecko:") {
					rows = append(rows, fmt.Sprintf(`%q:{"price":0.99,"timestamp":%d,"confidence":0.99}`, key, now.Unix()))
				}
			}
			fmt.Fprintf(w, `{"coins":{%s}}`, strings.Join(rows, ","))
			return
		}
		slug, keys, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/tokens/v1/"), "/")
		for key := range strings.SplitSeq(keys, ",") {
			rows = append(rows, fmt.Sprintf(`{"chainId":%q,"baseToken":{"address":%q},"priceUsd":"0.98","liquidity":{"usd":5000000},
				"priceChange":{"h24":0},"txns":{"m5":{"buys":3,"sells":2}}}`, slug, key))
		}
		fmt.Fprintf(w, `[%s]`, strings.Join(rows, ","))
	}
}

// TestGasIsWeighedAgainstEveryStableCoin checks that what every stable coin of the built-in list
// is worth in its network's coin is known on every network that has not ended, even where no
// oracle measures it and no other network's coin is followed: two services of different
// operators suffice, and one does not.
func TestGasIsWeighedAgainstEveryStableCoin(t *testing.T) {
	now := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	clock := func() time.Time { return now }
	server := httptest.NewServer(services(now))
	t.Cleanup(server.Close)
	config := source.Config{Base: server.URL, Reach: rest.LoopbackOnly, Now: clock, Limits: rest.Limits{Rate: rate.Inf, Burst: 1000}}
	llama, err := source.NewDefiLlama(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(llama.Close)
	dex, err := source.NewDexScreener(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(dex.Close)
	var watched []poll.Watched
	stable := 0
	for _, n := range chain.Networks() {
		for _, token := range tokens.Builtin().Tokens() {
			if token.Chain == n.ID && !n.HasEnded() && (token.Par > 0 || token.Address == tokens.Native) {
				watched = append(watched, poll.Watched{Token: token, Slow: !token.Verified})
				stable += min(1, int(token.Par))
			}
		}
	}
	if stable < 120 {
		t.Fatalf("%d stable coins", stable)
	}
	for name, c := range map[string]struct {
		further []poll.Paced
		all     bool
	}{"two services": {[]poll.Paced{{Source: dex}}, true}, "one service": {nil, false}} {
		history, err := series.Open(filepath.Join(t.TempDir(), "prices.db"), series.Options{Now: clock})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { history.Close() })
		feed := pricetable.NewFeed()
		p := poll.New(poll.Options{Tokens: func() []poll.Watched { return watched }, Leading: []poll.Paced{{Source: llama}, {Source: coinOracles{now}, Trusted: true}},
			Further: c.further, History: history, Feed: feed, Now: clock})
		for range 10 {
			p.Fetch(t.Context())
		}
		value := valuation.Valuer{Feed: feed, Now: clock}
		for _, w := range watched {
			amount := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(w.Decimals)), nil)
			worth, err := value.Worth(t.Context(), w.Chain, w.Address, amount)
			if w.Address != tokens.Native && (err == nil) != c.all {
				t.Errorf("%s: %s on chain %d, %s: %s, %v", name, w.Symbol, w.Chain, w.Address, worth, err)
			}
			if w.Address != tokens.Native && err == nil && worth.Cmp(big.NewInt(1e18)) > 0 {
				t.Errorf("%s: %s on chain %d counts as %s wei, more than the lower service says", name, w.Symbol, w.Chain, worth)
			}
			if _, err := value.Dollars(t.Context(), w.Chain, w.Address, amount); w.Address != tokens.Native && err == nil {
				t.Errorf("%s: other guards value %s on chain %d by the market", name, w.Symbol, w.Chain)
			}
		}
	}
}
