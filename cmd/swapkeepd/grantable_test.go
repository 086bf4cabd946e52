package main

import (
	"path/filepath"
	"slices"
	"testing"

	"swapkeep/host"
	"swapkeep/tokens"

	"github.com/ethereum/go-ethereum/common"
	bolt "go.etcd.io/bbolt"
)

// TestGrantable checks that a call that cannot be decoded is checked against allowances on
// every token of the built-in list, of which two hosts are asked in at most five calls, but not
// on those of a user's list.
func TestGrantable(t *testing.T) {
	list, err := tokens.ParseList([]byte(`{"name":"Mine","timestamp":"2026-01-01T00:00:00Z","version":{"major":1,"minor":0,"patch":0},"tokens":[
		{"chainId":42161,"address":"0x00000000000000000000000000000000000A11cE","symbol":"FOO","name":"Foo","decimals":18}]}`))
	if err != nil {
		t.Fatal(err)
	}
	db, err := bolt.Open(filepath.Join(t.TempDir(), "orders.db"), 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	d := &daemon{}
	if d.tokens, err = tokens.Open(db, nil, tokens.Options{Lists: []*tokens.List{list}}); err != nil {
		t.Fatal(err)
	}
	arb, foo := common.HexToAddress("0x912CE59144191C1204E64559FE8253a0e49E6548"), common.HexToAddress("0x00000000000000000000000000000000000A11cE")
	all := d.grantable(42161)
	if !slices.Contains(all, arb) || slices.Contains(all, foo) || len(all) > 5*200 {
		t.Errorf("%d tokens: %t, %t", len(all), slices.Contains(all, arb), slices.Contains(all, foo))
	}
	if own := host.OwnTokens(d.tokens.On(42161)); slices.Contains(own, arb) {
		t.Error("the list of allowances reads a token that the user may never have had")
	}
}
