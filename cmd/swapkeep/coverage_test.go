//go:build linux || darwin

package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"swapkeep/host/protocol"
)

// TestCoverage checks that every page is counted, that a stale price is none, and that a
// network without tokens has no share.
func TestCoverage(t *testing.T) {
	pages := map[string]protocol.PricesResult{
		"1 ":  {Prices: []protocol.Price{{Token: protocol.Native, Now: "1"}, {Token: protocol.Native, Now: "2", Stale: true}, {Token: protocol.Native}}, Cursor: "3"},
		"1 3": {Prices: []protocol.Price{{Token: protocol.Native, Now: "3"}}},
		"10 ": {},
	}
	answers := map[string]any{
		"networks.list": protocol.NetworksResult{Active: 1, Networks: []protocol.Network{{ChainID: 10, Name: "Optimism", GasCeiling: "0"}, {ChainID: 1, Name: "Ethereum", GasCeiling: "0"}}},
		"prices.list": func(raw json.RawMessage) any {
			var p protocol.PricesParams
			if err := json.Unmarshal(raw, &p); err != nil {
				t.Error(err)
			}
			return pages[fmt.Sprint(p.ChainID, " ", p.Cursor)]
		},
	}
	l, out := (&fakeDaemon{answers: answers}).at(t)
	if err := l.coverage(t.Context()); err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(rows) != 3 || strings.Join(strings.Fields(rows[1]), " ") != "Ethereum 4 2 50 %" || strings.Join(strings.Fields(rows[2]), " ") != "Optimism 0 0 -" {
		t.Errorf("%q", rows)
	}
	l, out = (&fakeDaemon{answers: answers}).at(t)
	l.t.json = true
	if err := l.coverage(t.Context()); err != nil {
		t.Fatal(err)
	}
	var got struct{ Networks []networkCoverage }
	if err := json.Unmarshal(out.Bytes(), &got); err != nil || len(got.Networks) != 2 || got.Networks[0] != (networkCoverage{1, 4, 2}) {
		t.Errorf("%s: %+v, %v", out, got, err)
	}
}
