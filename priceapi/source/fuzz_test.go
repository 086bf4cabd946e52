package source

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"testing"

	"swapkeep/priceapi/price"
	"swapkeep/rest"
)

// fuzzReader fuzzes one reader with replies and Date headers: a reply is rejected, or every
// returned value was requested, appears once and makes sense.
func fuzzReader(f *testing.F, file string) {
	r := recordedAs(file)
	asks := r.asks(testTokens)
	read := newResults()
	if err := r.read(&rest.Reply{Body: recording(f, file), Received: testNow}, asks, read); err != nil {
		f.Fatal(err)
	}
	if len(read.readings)+len(read.marketCaps)+len(read.holders)+len(read.series)+len(read.dayAgo) == 0 {
		f.Fatal("the recorded reply tells nothing")
	}
	dates := []string{"", testNow.Format(http.TimeFormat), "Fri, 31 Dec 9999 23:59:59 GMT", "Thu, 01 Jan 1970 00:00:00 GMT", "Sat, 01 Jan 0000 00:00:00 GMT", "yesterday"}
	for _, date := range dates {
		f.Add(recording(f, file), date)
	}
	for i, s := range []string{`{}`, `[]`, `null`, `{"data":[{}]}`, `{"coins":{"coingecko:ethereum":null}}`, `{"code":4029}`} {
		f.Add([]byte(s), dates[i])
	}
	f.Fuzz(func(t *testing.T, body []byte, date string) {
		to := newResults()
		if err := r.read(&rest.Reply{Header: http.Header{"Date": {date}}, Body: body, Received: testNow}, asks, to); err != nil {
			var e *rest.Error
			if !errors.Is(err, ErrReply) && !errors.As(err, &e) && len(err.Error()) > maxText {
				t.Fatal(err)
			}
		}
		for _, wrong := range to.wrong(asks) {
			t.Error(wrong)
		}
	})
}

// wrong lists values that must not have been returned.
func (a *results) wrong(asks *keySet) (wrong []string) {
	ids := make(map[price.ID]bool)
	for _, some := range asks.ids {
		for _, id := range some {
			ids[id] = true
		}
	}
	check := func(id price.ID, what string, ok bool) {
		if !ids[id] || !ok {
			wrong = append(wrong, fmt.Sprintf("%s of %v", what, id))
		}
	}
	seen := make(map[price.ID]bool)
	for _, r := range a.readings {
		c := r.Confidence
		check(r.ID, describe(r), !seen[r.ID] && !r.Value.IsZero() && !r.At.After(testNow) && r.At.Unix() > 0 && (c == nil || *c >= 0 && *c <= 1) && r.Source != price.Unknown)
		seen[r.ID] = true
	}
	for _, values := range []map[price.ID]price.Value{a.marketCaps, a.dayAgo} {
		for id, v := range values {
			check(id, v.String(), !v.IsZero())
		}
	}
	for id, n := range a.holders {
		check(id, fmt.Sprint(n), n > 0)
	}
	for id, s := range a.series {
		for at, v := range maps.All(s.prices) {
			check(id, v.String(), !v.IsZero() && at > 0 && at <= testNow.Unix())
		}
		check(id, "candles", len(candlesOf(s, since, step)) <= len(s.prices))
	}
	return wrong
}

func FuzzLlamaPrices(f *testing.F)  { fuzzReader(f, "defillama-prices") }
func FuzzLlamaCaps(f *testing.F)    { fuzzReader(f, "defillama-mcaps") }
func FuzzLlamaChart(f *testing.F)   { fuzzReader(f, "defillama-chart") }
func FuzzGeckoPrices(f *testing.F)  { fuzzReader(f, "geckoterminal-eth") }
func FuzzGeckoHolders(f *testing.F) { fuzzReader(f, "geckoterminal-info") }
func FuzzCoinGecko(f *testing.F)    { fuzzReader(f, "coingecko-ethereum") }
func FuzzPairs(f *testing.F)        { fuzzReader(f, "dexscreener-ethereum") }
func FuzzExplorer(f *testing.F)     { fuzzReader(f, "blockscout-supr") }
func FuzzExplorerOld(f *testing.F)  { fuzzReader(f, "blockscout-old") }
func FuzzSecurity(f *testing.F)     { fuzzReader(f, "goplus") }
func FuzzHostedTokens(f *testing.F) { fuzzReader(f, "hosted-tokens-1") }
func FuzzHostedDayOld(f *testing.F) { fuzzReader(f, "hosted-day-1") }

// FuzzDecimal checks that changes, times and prices decoded from any text are within
// bounds.
func FuzzDecimal(f *testing.F) {
	for _, s := range []string{"-1.88", "1e6", "-99.99999999999", "1795356000", "0.99", "9e99", "-"} {
		f.Add(s)
	}
	now := must(price.Parse("3050.12"))
	f.Fuzz(func(t *testing.T, s string) {
		d := decimal(s)
		if v, ok := d.dayAgo(now); !ok && !v.IsZero() || v.Cmp(price.Max) > 0 {
			t.Errorf("ago %s, %t", v, ok)
		}
		if at, ok := d.time(testNow); ok && (at.After(testNow) || at.Unix() <= 0) {
			t.Errorf("at %s", at)
		}
		if c, ok := d.confidence(); ok && c != nil && !(*c >= 0 && *c <= 1) {
			t.Errorf("sure %f", *c)
		}
		if v, ok := d.value(); ok && v.IsZero() {
			t.Error("zero is a price")
		}
	})
}
