package journal

import (
	"fmt"
	"path/filepath"
	"testing"

	"swapkeep/swap"

	bolt "go.etcd.io/bbolt"
)

// TestHistoryIsCut checks that a very long history keeps its beginning and its newest
// lines, and that other orders' histories are untouched.
func TestHistoryIsCut(t *testing.T) {
	db, err := bolt.Open(filepath.Join(t.TempDir(), "orders.db"), 0o600, &bolt.Options{NoSync: true, NoFreelistSync: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	j, err := Open(db)
	if err != nil {
		t.Fatal(err)
	}
	const last = maxLines + 2*cutAtOnce + 3
	err = db.Update(func(tx *bolt.Tx) error {
		o, other := swap.Order{ID: "a", Consent: swap.Consent{Terms: testTerms()}, Progress: swap.Progress{State: swap.Settling}}, swap.Order{ID: "b", Consent: swap.Consent{Terms: testTerms()}, Progress: swap.Progress{State: swap.Settling}}
		for i := range last {
			if err := write(tx, o, &o, swap.Cause{}.WithText(fmt.Sprint(i+1))); err != nil {
				return err
			}
			if i < 10 {
				if err := write(tx, other, &other, swap.NewCause("other")); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	lines, err := j.History("a")
	if err != nil || len(lines) > maxLines || len(lines) < maxLines-cutAtOnce {
		t.Fatalf("%d lines, %v", len(lines), err)
	}
	if lines[firstKept-1].Note != fmt.Sprint(firstKept) || lines[len(lines)-1].Note != fmt.Sprint(last) || lines[len(lines)-1000].Note != fmt.Sprint(last-999) {
		t.Errorf("kept up to %q, then to %q", lines[firstKept-1].Note, lines[len(lines)-1].Note)
	}
	if others, err := j.History("b"); err != nil || len(others) != 10 {
		t.Errorf("another order's: %d lines, %v", len(others), err)
	}
}
