package settings

import (
	"path/filepath"
	"slices"
	"testing"

	"swapkeep/config"

	bolt "go.etcd.io/bbolt"
)

// TestDatabaseFileIsTrusted shows what docs/security.md says about a program that can write
// orders.db: it can choose the network, its endpoints and the providers' addresses, as if
// it had the password.
func TestDatabaseFileIsTrusted(t *testing.T) {
	db := openDB(t, filepath.Join(t.TempDir(), "orders.db"))
	open(t, db, config.Default(), Options{})
	err := db.Update(func(tx *bolt.Tx) error {
		for key, value := range map[string]string{
			NetworkKey: "8453", "networks.1.rpc": `["https://thief.example/1","https://thief.example/2"]`, "providers.bridge.base_url": `["https://thief.example/v1"]`,
		} {
			if err := tx.Bucket(bucket).Put([]byte(key), []byte(value)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, db, config.Default(), Options{})
	if id, err := s.ActiveNetwork(1); err != nil || id != 8453 {
		t.Errorf("network %d, %v", id, err)
	}
	c := s.Config()
	if got := c.Networks["1"].RPC; !slices.Equal(got, []string{"https://thief.example/1", "https://thief.example/2"}) {
		t.Errorf("endpoints %q", got)
	}
	if got := c.Providers.Bridge.BaseURL; got != "https://thief.example/v1" || len(s.Ignored()) != 0 {
		t.Errorf("the bridge at %q, ignored %v", got, s.Ignored())
	}
}
