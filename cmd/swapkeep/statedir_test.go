package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"swapkeep/host/transport"
	"swapkeep/internal/atomicfile"
)

// Leftovers of a crash are removed with the state directory; foreign files stay.
func TestRemoveState(t *testing.T) {
	for left, gone := range map[string]bool{atomicfile.TempPrefix + "123": true, "orders.db.v1.bak": true, "swapkeepd.log.1": true, "receipts.json": false, "mine": false} {
		dir, err := os.MkdirTemp("", "st") // a short path, for the socket
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.RemoveAll(dir) })
		place := transport.Instance{Home: filepath.Join(dir, "state")}
		if err := os.Mkdir(place.Home, 0o700); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"home.json", "orders.db", left} {
			if err := os.WriteFile(filepath.Join(place.Home, name), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := removeState(place); err != nil {
			t.Error(err)
		}
		if err := removeStateFolder(place); err != nil {
			t.Error(err)
		}
		if _, err := os.Lstat(place.Home); os.IsNotExist(err) != gone {
			t.Errorf("with %s: %v", left, err)
		}
	}
}

// Key files that the daemon did not know of keep the whole directory.
func TestRemoveStateWithKeys(t *testing.T) {
	dir, err := os.MkdirTemp("", "st")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	place := transport.Instance{Home: filepath.Join(dir, "state")}
	key := filepath.Join(place.Home, "keys", "swapkeep@wallet")
	if err := os.MkdirAll(filepath.Dir(key), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(place.Home, "home.json"), filepath.Join(place.Home, "orders.db"), key} {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := removeState(place); err == nil || !strings.Contains(err.Error(), "keys.backend") {
		t.Errorf("removed: %v", err)
	}
	for _, path := range []string{filepath.Join(place.Home, "home.json"), filepath.Join(place.Home, "orders.db"), key} {
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
	if err := os.Remove(key); err != nil {
		t.Fatal(err)
	}
	if err := removeState(place); err != nil {
		t.Error(err)
	}
}
