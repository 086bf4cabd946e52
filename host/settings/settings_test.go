package settings

import (
	"path/filepath"
	"testing"

	bolt "go.etcd.io/bbolt"
)

// TestChoiceStays: a choice outlives the process, and before the first one the
// fallback holds.
func TestChoiceStays(t *testing.T) {
	path := filepath.Join(t.TempDir(), "orders.db")
	for i, want := range []uint64{1, 8453} {
		db, err := bolt.Open(path, 0o600, nil)
		if err != nil {
			t.Fatal(err)
		}
		s, err := Open(db)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := s.ActiveNetwork(1); err != nil || got != want {
			t.Errorf("start %d: %d, %v, want %d", i, got, err, want)
		}
		if err := s.SetActiveNetwork(8453); err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		if i == 1 && s.SetActiveNetwork(1) == nil {
			t.Error("a choice that was not written is no error")
		}
	}
}
