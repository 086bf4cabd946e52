package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"swapkeep/cmd/internal/screen"
	"swapkeep/host/protocol"
)

// A networkCoverage is how many of a network's tokens have a current price.
type networkCoverage struct {
	ChainID uint64 `json:"chainId"`
	Tokens  int    `json:"tokens"`
	Current int    `json:"current"` // with a price that is not stale
}

var coverageColumns = []screen.Column{{Head: "network"}, {Head: "tokens", Right: true}, {Head: "with a current price", Right: true}, {Head: "share", Right: true}}

// coverage shows for each network how many of its known tokens have a current price. It asks
// the daemon alone.
func (l *daemonConn) coverage(ctx context.Context) error {
	if err := l.loadNetworks(ctx); err != nil {
		return err
	}
	var all []networkCoverage
	for _, id := range slices.Sorted(maps.Keys(l.networks)) {
		c, err := l.coverageOf(ctx, id)
		if err != nil {
			return err
		}
		all = append(all, c)
	}
	if l.t.json {
		return writeJSON(l.t.out, map[string]any{"networks": all})
	}
	rows := make([][]string, 0, len(all))
	for _, c := range all {
		share := "-"
		if c.Tokens > 0 {
			share = fmt.Sprintf("%d %%", 100*c.Current/c.Tokens)
		}
		rows = append(rows, []string{l.networks[c.ChainID].Name, strconv.Itoa(c.Tokens), strconv.Itoa(c.Current), share})
	}
	l.t.result.Table(coverageColumns, rows)
	return l.t.result.Err()
}

func (l *daemonConn) coverageOf(ctx context.Context, chain uint64) (networkCoverage, error) {
	c := networkCoverage{ChainID: chain}
	cursor := ""
	for range maxPages {
		r, err := ask[protocol.PricesResult](ctx, l, "prices.list", protocol.PricesParams{ChainID: chain, Cursor: cursor, Limit: protocol.PageMax})
		if err != nil {
			return c, err
		}
		for _, p := range r.Prices {
			c.Tokens++
			if p.Now != "" && !p.Stale {
				c.Current++
			}
		}
		if cursor = r.Cursor; cursor == "" {
			return c, nil
		}
	}
	return c, fmt.Errorf("prices.list: no end after %d pages", maxPages)
}
