package source

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"swapkeep/rest"
)

// summary formats the answers without their tokens.
func (a *results) summary() string {
	var lines []string
	for _, r := range a.readings {
		lines = append(lines, "now "+describe(r))
	}
	for _, v := range a.marketCaps {
		lines = append(lines, "cap "+short(v))
	}
	for _, v := range a.dayAgo {
		lines = append(lines, "ago "+short(v))
	}
	for _, n := range a.holders {
		lines = append(lines, fmt.Sprint("holders ", n))
	}
	for _, s := range a.series {
		lines = append(lines, "past "+chart(candlesOf(s, since, step)))
	}
	slices.Sort(lines)
	return strings.Join(slices.Compact(lines), "; ")
}

// TestRules tests the edge cases of accepting a row.
func TestRules(t *testing.T) {
	const (
		usdc = `0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48`
		pair = `[{"chainId":"ethereum","baseToken":{"address":"` + usdc + `"},"quoteToken":{"address":"0x1"},"priceUsd":"0.99",%s}]`
		page = `{"data":[%s],"total_count":1}`
		row  = `{"chain_id":1,"token_address":"` + usdc + `","price_now":"0.99","price_updated_at":"2026-11-22T13:59:00Z",%s}`
		day  = `{"chain_id":1,"token_address":"` + usdc + `","price_24h_ago":"1.01",%s}`
		scan = `{"address":"0x6ea1ffcbd7f5d210db07d9e773862b0512fa219b","exchange_rate":"0.001"%s}`
		pool = `{"data":{"attributes":{"token_prices":{"` + usdc + `":"0.99"}%s}}}`
		info = `{"data":{"attributes":{"address":"%s","holders":{"count":7}}}}`
		coin = `{"coins":{"ethereum:` + usdc + `":{"price":0.99%s}}}`
		mcap = `{"ethereum:` + usdc + `":{"mcap":75%s}}`
		past = `{"coins":{"ethereum:` + usdc + `":{%s"prices":[{"timestamp":1795352400,"price":0.99}]}}}`
		cg   = `{"` + usdc + `":{"usd":0.99%s}}`
		old  = "now 0.99 at 13:00:00 from "
	)
	for _, x := range []struct{ file, form, with, want string }{
		{"dexscreener-ethereum", pair, `"liquidity":{"usd":10000},"txns":{"h1":{"buys":1,"sells":0}}`, old + "dexscreener"},
		{"dexscreener-ethereum", pair, `"liquidity":{"usd":10000},"txns":{"h1":{"buys":0,"sells":1}}`, old + "dexscreener"},
		{"dexscreener-ethereum", pair, `"liquidity":{"usd":"9999.999"},"txns":{"h1":{"buys":1,"sells":0}}`, ""},
		{"dexscreener-ethereum", pair, `"liquidity":null,"txns":{"h1":{"buys":1,"sells":0}}`, ""},
		{"dexscreener-ethereum", pair, `"liquidity":{"usd":10000},"txns":{"h1":{"buys":0,"sells":0},"h24":{"buys":9,"sells":9}}`, ""},
		{"dexscreener-ethereum", pair, `"liquidity":{"usd":10000}`, ""},
		{"dexscreener-ethereum", strings.ReplaceAll(pair, "baseToken", "tokenBase"), `"liquidity":{"usd":10000},"txns":{"h1":{"buys":1,"sells":0}}`, ""},

		{"hosted-tokens-1", page, fmt.Sprintf(row, `"stale":false`), "now 0.99 at 13:59:00 from hosted"},
		{"hosted-tokens-1", page, fmt.Sprintf(row, `"stale":true`), ""},
		{"hosted-tokens-1", page, fmt.Sprintf(row, `"stale":null`), ""},
		{"hosted-tokens-1", page, strings.ReplaceAll(fmt.Sprintf(row, `"stale":false`), `"chain_id":1`, `"chain_id":10`), ""},
		{"hosted-tokens-1", page, strings.ReplaceAll(fmt.Sprintf(row, `"stale":false`), "13:59:00Z", "14:01:59Z"), "now 0.99 at 14:00:00 from hosted"},
		{"hosted-tokens-1", page, strings.ReplaceAll(fmt.Sprintf(row, `"stale":false`), "13:59:00Z", "14:02:01Z"), ""},
		{"hosted-tokens-1", page, strings.ReplaceAll(fmt.Sprintf(row, `"stale":false`), "13:59:00Z", "13:59:00"), ""},
		{"hosted-day-1", page, fmt.Sprintf(day, `"has_24h_data":true,"market_cap":"0.00","holders":0`), "ago 1.01"},
		{"hosted-day-1", page, fmt.Sprintf(day, `"has_24h_data":false,"market_cap":"75.10","holders":7`), "cap 75.1; holders 7"},

		{"blockscout-supr", scan, `,"volume_24h":"0.1"`, "now 0.001 at 14:00:00 from blockscout"},
		{"blockscout-supr", scan, ``, "now 0.001 at 14:00:00 from blockscout"},
		{"blockscout-supr", scan, `,"volume_24h":"0"`, ""},
		{"blockscout-supr", scan, `,"volume_24h":0.00`, ""},
		{"blockscout-supr", scan, `,"holders":"5","holders_count":"7","volume_24h":"0"`, "holders 7"},

		{"geckoterminal-eth", pool, ``, "now 0.99 at 14:00:00 from geckoterminal"},
		{"geckoterminal-eth", pool, `,"last_trade_timestamp":{}`, ""},
		{"geckoterminal-eth", pool, `,"last_trade_timestamp":{"` + usdc + `":"1795352400"}`, old + "geckoterminal"},
		{"geckoterminal-eth", pool, `,"total_reserve_in_usd":{"` + usdc + `":"9999.99"}`, ""},
		{"geckoterminal-eth", pool, `,"total_reserve_in_usd":{"` + usdc + `":null}`, ""},
		{"geckoterminal-eth", pool, `,"total_reserve_in_usd":{"` + usdc + `":"10000"},"market_cap_usd":{"` + usdc + `":7}`, "cap 7; now 0.99 at 14:00:00 from geckoterminal"},
		{"geckoterminal-info", info, "0x55D398326f99059ff775485246999027b3197955", "holders 7"},
		{"geckoterminal-info", info, usdc, ""},
		{"geckoterminal-info", info, "", ""},

		{"defillama-prices", coin, `,"timestamp":1795352400`, old + "defillama"},
		{"defillama-prices", coin, `,"timestamp":1795352400,"confidence":0.1`, old + "defillama sure 0.100"},
		{"defillama-prices", coin, `,"timestamp":1795352400,"confidence":1.1`, ""},
		{"defillama-prices", coin, `,"timestamp":0`, ""},
		{"defillama-prices", coin, ``, ""},
		{"defillama-mcaps", mcap, `,"timestamp":1795269600`, "cap 75"},
		{"defillama-mcaps", mcap, `,"timestamp":1795269599`, ""},
		{"defillama-mcaps", mcap, ``, ""},
		{"defillama-chart", past, ``, "past 13:00 0.99 0.99 0.99 0.99"},
		{"defillama-chart", past, `"confidence":0.8,`, "past 13:00 0.99 0.99 0.99 0.99"},
		{"defillama-chart", past, `"confidence":0.79,`, ""},

		{"coingecko-ethereum", cg, `,"last_updated_at":1795352400`, old + "coingecko"},
		{"coingecko-ethereum", cg, `,"last_updated_at":null`, ""},
		{"coingecko-ethereum", cg, ``, ""},
		{"coingecko-ethereum", cg, `,"last_updated_at":1795352400,"usd_24h_change":-200`, old + "coingecko"},
		{"coingecko-ethereum", cg, `,"last_updated_at":1795352400,"usd_24h_change":10,"usd_market_cap":0`, old + "coingecko after 0.9"},
	} {
		r, to := recordedAs(x.file), newResults()
		body := fmt.Sprintf(x.form, x.with)
		err := r.read(&rest.Reply{Body: []byte(body), Received: testNow}, r.asks(testTokens), to)
		if got := to.summary(); got != x.want || err != nil {
			t.Errorf("%s: %s\ntells %q, %v; want %q", x.file, body, got, err, x.want)
		}
	}
}

// TestWrongClock checks that prices without a time are dated by the service's clock, even
// if ours is wrong.
func TestWrongClock(t *testing.T) {
	bodies := map[string]string{
		"geckoterminal-eth":    `{"data":{"attributes":{"token_prices":{"0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48":"0.99"}}}}`,
		"dexscreener-ethereum": string(recording(t, "dexscreener-ethereum")),
		"blockscout-supr":      string(recording(t, "blockscout-supr")),
	}
	for file, body := range bodies {
		r := recordedAs(file)
		for off, want := range map[time.Duration]time.Duration{0: 0, time.Minute: 0, 3 * time.Minute: -1, 400 * 24 * time.Hour: -1, -time.Minute: time.Minute, -3 * time.Hour: 3 * time.Hour} {
			header := http.Header{"Date": {testNow.Add(off).Format(http.TimeFormat)}}
			to := newResults()
			if err := r.read(&rest.Reply{Body: []byte(body), Header: header, Received: testNow}, r.asks(testTokens), to); err != nil {
				t.Fatal(err)
			}
			if (len(to.readings) > 0) != (want >= 0) {
				t.Errorf("%s: the service is ahead by %s: %s", file, off, to.summary())
			}
			for _, x := range to.readings {
				if age := testNow.Sub(x.At); age < want || age > want+time.Hour {
					t.Errorf("%s: the service is ahead by %s, and its price %s old", file, off, age)
				}
			}
		}
	}
}
