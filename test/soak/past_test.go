//go:build faults && linux

package soak

import (
	"path/filepath"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"swapkeep/host/protocol"
	"swapkeep/internal/clock"
	"swapkeep/priceapi/price"
	"swapkeep/priceapi/series"
)

// fillPrices fills the home with a month of prices, so that new minutes replace expired ones.
func (h *home) fillPrices() {
	h.t.Helper()
	ids := h.pricedTokens()
	h.stop()
	s, err := series.Open(filepath.Join(h.Instance.Home, "prices.db"), series.Options{})
	if err != nil {
		h.t.Fatal(err)
	}
	now := clock.Now()
	for _, kept := range []struct {
		of   price.Resolution
		span time.Duration
	}{{price.Hours, 32 * 24 * time.Hour}, {price.Quarters, 8 * 24 * time.Hour}, {price.Minutes, 25 * time.Hour}} {
		step := kept.of.Step()
		candles := map[price.ID][]price.Candle{}
		for n, id := range ids {
			for at := now.Add(-kept.span).Truncate(step); at.Before(now); at = at.Add(step) {
				v, err := price.FromFloat(float64(n+1) * (1 + float64(at.Unix()%997)/1e4))
				if err != nil {
					h.t.Fatal(err)
				}
				candles[id] = append(candles[id], price.Candle{At: at, Open: v, High: v, Low: v, Close: v})
			}
		}
		if err := s.Fill(h.t.Context(), kept.of, price.DefiLlama, candles); err != nil {
			h.t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		h.t.Fatal(err)
	}
	h.start()
}

// pricedTokens returns the tokens whose prices the daemon keeps.
func (h *home) pricedTokens() (ids []price.ID) {
	h.t.Helper()
	w := h.window()
	defer w.closeWindow()
	var networks protocol.NetworksResult
	w.must("networks.list", nil, &networks)
	for _, n := range networks.Networks {
		p := protocol.PricesParams{ChainID: n.ChainID, Limit: protocol.PageMax}
		for more := true; more; more = p.Cursor != "" {
			var r protocol.PricesResult
			w.must("prices.list", p, &r)
			for _, token := range r.Prices {
				ids = append(ids, price.ID{Chain: n.ChainID, Address: common.HexToAddress(string(token.Token))})
			}
			p.Cursor = r.Cursor
		}
	}
	return ids
}
