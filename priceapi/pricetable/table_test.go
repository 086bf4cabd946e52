package pricetable

import (
	"testing"
	"time"

	"swapkeep/priceapi/price"
	"swapkeep/tokens"
)

// TestServed checks that only a current price of a service outside the networks counts.
func TestServed(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	one, err := price.Parse("1")
	if err != nil {
		t.Fatal(err)
	}
	row := func(chain uint64, s price.Source, age time.Duration) Row {
		return Row{Token: tokens.Token{Chain: chain}, Now: price.Sample{Value: one, At: now, Source: s}, AcceptedAt: now.Add(-age)}
	}
	for _, c := range []struct {
		name string
		rows []Row
		want bool
	}{
		{"nothing", nil, false},
		{"no price", []Row{{Token: tokens.Token{Chain: 1}}}, false},
		{"oracles and pools", []Row{row(1, price.Chainlink, 0), row(10, price.UniswapV3, 0), row(56, price.Canonical, 0)}, false},
		{"a service, long ago", []Row{row(1, price.Chainlink, 0), row(10, price.DefiLlama, StaleAfter+time.Second)}, false},
		{"a service", []Row{row(1, price.Chainlink, 0), row(10, price.DefiLlama, StaleAfter)}, true},
		{"one of the others", []Row{row(1, price.DexScreener, 0)}, true},
	} {
		if got := New(1, now, c.rows).Served(now); got != c.want {
			t.Errorf("%s: %t", c.name, got)
		}
	}
}
