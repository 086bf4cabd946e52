package host

import (
	"context"
	"encoding/json"
	"errors"
	"math/big"
	"slices"
	"testing"
	"time"

	"swapkeep/host/protocol"
	"swapkeep/priceapi/price"
	"swapkeep/priceapi/pricetable"
	"swapkeep/priceapi/valuation"
	"swapkeep/tokens"

	"github.com/ethereum/go-ethereum/common"
)

// fakePrices is a board and a chart.
type fakePrices struct {
	*pricetable.Feed
	chart []price.Candle
	fail  error
	moves bool // asking for a chart publishes a newer board
}

func newFakePrices() *fakePrices { return &fakePrices{Feed: pricetable.NewFeed()} }

func (f *fakePrices) Dollars(id price.ID, amount *big.Int) (price.Value, error) {
	return valuation.Valuer{Feed: f.Feed}.DisplayValue(id, amount)
}

func (f *fakePrices) Chart(context.Context, price.ID, price.Period) ([]price.Candle, error) {
	if now := f.Now(); f.moves {
		f.Publish(pricetable.New(now.Seq+1, now.Fetched.Add(time.Minute), now.Rows))
	}
	return f.chart, f.fail
}

func (f *fakePrices) Status() protocol.PricesStatus {
	return protocol.PricesStatus{URL: "http://127.0.0.1:5330"}
}

var priced = time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC)

func dollars(s string) price.Value {
	v, err := price.Parse(s)
	if err != nil {
		panic(err)
	}
	return v
}

// priceRow returns a row of chain 1, for a token of 18 decimals, or of 6 for USDC.
func priceRow(address, symbol, now, ago string) pricetable.Row {
	t := tokens.Token{Chain: 1, Address: common.HexToAddress(address), Symbol: symbol, Decimals: 18, Verified: true}
	if symbol == "USDC" {
		t.Decimals = 6
	}
	r := pricetable.Row{Token: t}
	if now != "" {
		r.Now = price.Sample{Value: dollars(now), At: priced.Add(-time.Minute), Source: price.DefiLlama}
	}
	if ago != "" {
		r.DayAgo = price.Sample{Value: dollars(ago), At: priced.Add(-24 * time.Hour), Source: price.DefiLlama}
	}
	return r
}

// withPrices publishes prices of ETH, a stale USDC and a token without a price.
func withPrices(f *fakePrices) {
	eth := priceRow("0x0", "ETH", "3000.5", "2500")
	eth.Facts = price.Facts{MarketCap: dollars("400000000000.129"), Holders: 7}
	usdc := priceRow("0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48", "USDC", "1", "")
	usdc.Stale = true
	f.Publish(pricetable.New(1, priced, []pricetable.Row{priceRow("0x70997970C51812dc3A010C7d01b50e0d17dc79C8", "NONE", "", ""), usdc, eth}))
	f.chart = []price.Candle{{At: priced, Open: dollars("1"), High: dollars("3"), Low: dollars("0.5"), Close: dollars("2")}}
}

func TestOffersAreValued(t *testing.T) {
	prices := newFakePrices()
	r := newRig(t, func(c *Config) { c.Prices = prices })
	p := r.session()
	quote := func() protocol.Offer {
		t.Helper()
		var out protocol.QuoteResult
		m := p.must("swap.quote", map[string]any{"account": account, "tokenIn": protocol.Native, "amountIn": "1000000000000000000", "tokenOut": usdc})
		if err := json.Unmarshal(m.Result, &out); err != nil || len(out.Offers) == 0 {
			t.Fatal(err, out)
		}
		return out.Offers[0]
	}
	if o := quote(); o.USD != (protocol.OfferUSD{}) {
		t.Errorf("without prices an offer is worth %+v", o.USD)
	}
	withPrices(prices)
	if o := quote(); o.USD.AmountIn != "3000.50" || o.USD.AmountOut != "" || o.USD.MinAmountOut != "" {
		t.Errorf("with a stale price of the output an offer is worth %+v", o.USD)
	}
}

func TestPricesArePushed(t *testing.T) {
	prices := newFakePrices()
	r := newRig(t, func(c *Config) { c.Prices = prices })
	p := r.attach("extension")
	withPrices(prices)
	var changed protocol.PricesChanged
	if m := p.note(); m.Method != "prices.changed" || json.Unmarshal(m.Params, &changed) != nil || !changed.Fetched.Equal(priced) {
		t.Errorf("notification = %s, want prices.changed of the first fetch", m.raw)
	}
	old := prices.Now() // nothing was fetched since, but a price has become stale
	rows := slices.Clone(old.Rows)
	for i := range rows {
		rows[i].Stale = rows[i].Now.Known()
	}
	prices.Publish(pricetable.New(2, old.Fetched, rows))
	if m := p.note(); m.Method != "prices.changed" || json.Unmarshal(m.Params, &changed) != nil || !changed.Fetched.Equal(priced) {
		t.Errorf("notification = %s, want prices.changed after a price became stale", m.raw)
	}
}

// TestOldBoard checks that nothing on a board that was not replaced for long, as after
// the machine slept, is reported as current.
func TestOldBoard(t *testing.T) {
	prices := newFakePrices()
	withPrices(prices)
	rows := slices.Clone(prices.Now().Rows)
	for i := range rows {
		rows[i].AcceptedAt = priced
	}
	prices.Publish(pricetable.New(2, priced, rows))
	r := newRig(t, func(c *Config) { c.Prices = prices })
	var out protocol.PricesResult
	m := r.attach("extension").must("prices.list", map[string]any{"chainId": 1})
	if err := json.Unmarshal(m.Result, &out); err != nil || len(out.Prices) != 3 {
		t.Fatal(err, out)
	}
	for _, p := range out.Prices {
		if p.Stale != (p.Now != "") || p.DayAgo != "" {
			t.Errorf("stale price %+v is reported as current", p)
		}
	}
	if usd := r.server.coinPrice(1); usd != "" {
		t.Errorf("a coin is worth %s", usd)
	}
}

func TestBrokenChart(t *testing.T) {
	prices := newFakePrices()
	withPrices(prices)
	prices.fail = errors.New("the disk is gone")
	r := newRig(t, func(c *Config) { c.Prices = prices })
	r.attach("extension").refused("internal", "prices.history", map[string]any{"token": protocol.Native, "period": "24h"})
}
