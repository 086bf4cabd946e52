package tokens

import (
	"path/filepath"
	"testing"

	bolt "go.etcd.io/bbolt"
)

// TestDecimalsConfirmation checks that decimals are confirmed by the built-in list and by
// two hosts that agree, but not by a list, a provider, one host, or a record that does
// not say by how many.
func TestDecimalsConfirmation(t *testing.T) {
	list, err := ParseList([]byte(`{"name":"Mine","timestamp":"2026-01-01T00:00:00Z","version":{"major":1,"minor":0,"patch":0},"tokens":[
		{"chainId":1,"address":"0x5ec2e70000000000000000000000000000000001","symbol":"LST","name":"Listed","decimals":18}]}`))
	if err != nil {
		t.Fatal(err)
	}
	foreign, ok := Unverified(10, other, "FOO", "Foo", 18, "Provider")
	if !ok {
		t.Fatal("Unverified returns no token")
	}
	for hosts, want := range map[int]DecimalsSource{0: FromOneHost, 1: FromOneHost, 2: FromHosts} {
		path := filepath.Join(t.TempDir(), "orders.db")
		answers := token("FOO", "Foo Token")
		answers.Hosts = hosts
		db := openDB(t, path)
		r, err := Open(db, &fakeChain{answers: answers}, Options{Lists: []*List{list}})
		if err != nil {
			t.Fatal(err)
		}
		if got, _, err := r.Import(t.Context(), 1, other); err != nil || got.DecimalsFrom != want {
			t.Errorf("%d hosts: %+v, %v", hosts, got, err)
		}
		_ = db.Close()
		db = openDB(t, path)
		if r, err = Open(db, &fakeChain{}, Options{Lists: []*List{list}}); err != nil {
			t.Fatal(err)
		}
		for name, c := range map[string]struct {
			Token
			want bool
		}{
			"imported":   {Token{Chain: 1, Address: other}, want == FromHosts},
			"listed":     {list.tokens[0], false},
			"built in":   {Token{Chain: 1, Address: usdc}, true},
			"coin":       {Token{Chain: 1}, true},
			"a stranger": {foreign, false},
		} {
			if got := r.DecimalsConfirmed(c.Chain, c.Address); got != c.want {
				t.Errorf("%d hosts: %s: %t", hosts, name, got)
			}
		}
		if err := db.Update(func(tx *bolt.Tx) error {
			return tx.Bucket(bucket).Put(id{1, other}.key(), []byte(`{"symbol":"FOO","name":"Foo","decimals":6,"imported":"2026-11-20T09:00:00Z"}`))
		}); err != nil {
			t.Fatal(err)
		}
		if r, err = Open(db, &fakeChain{}, Options{}); err != nil || r.DecimalsConfirmed(1, other) {
			t.Errorf("an old record is confirmed: %v", err)
		}
	}
}
