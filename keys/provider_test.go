package keys_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"swapkeep/keys"
	"swapkeep/keys/keystest"
	"swapkeep/test/await"
)

func TestProviderKeys(t *testing.T) {
	chain := &keystest.Memory{}
	store := must[*keys.Store](t)(keys.NewStore(chain, namespace, keys.Limits{}))
	k := keys.NewProviderKeys(store)
	get := func(k *keys.ProviderKeys, provider string) string {
		t.Helper()
		return must[string](t)(k.Get(t.Context(), provider))
	}
	set := func(key string) {
		t.Helper()
		if err := k.SetProviderKey(t.Context(), "dex", []byte(key)); err != nil {
			t.Fatal(err)
		}
	}
	if got := get(k, "dex"); got != "" {
		t.Errorf("a key from nowhere: %q", got)
	}
	set("first")
	set("second")
	if get(k, "dex") != "second" || get(k, "bridge") != "" {
		t.Error("a key is not its provider's")
	}
	if again := keys.NewProviderKeys(store); get(again, "dex") != "second" {
		t.Error("not there after a restart")
	}
	for range 2 { // deleting may be repeated
		set("")
	}
	if get(k, "dex") != "" || get(keys.NewProviderKeys(store), "dex") != "" {
		t.Error("the key was not forgotten")
	}
	if err := k.SetProviderKey(t.Context(), "dex", []byte(strings.Repeat("x", keys.MaxItem+1))); !errors.Is(err, keys.ErrTooLarge) {
		t.Errorf("a key without end: %v", err)
	}
}

// TestProviderKeyFiles checks that with keys.backend = "file" a key is stored in a file
// that only its user can read.
func TestProviderKeyFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "keys")
	files := must[*keys.Files](t)(keys.OpenFiles(dir))
	k := keys.NewProviderKeys(must[*keys.Store](t)(keys.NewStore(files, namespace, keys.Limits{})))
	if err := k.SetProviderKey(t.Context(), "dex", []byte("token")); err != nil {
		t.Fatal(err)
	}
	entries := must[[]os.DirEntry](t)(os.ReadDir(dir))
	if len(entries) != 1 {
		t.Fatalf("%d files", len(entries))
	}
	if info := must[os.FileInfo](t)(entries[0].Info()); info.Mode().Perm() != 0o600 {
		t.Errorf("mode %s", info.Mode())
	}
	if err := k.SetProviderKey(t.Context(), "dex", nil); err != nil {
		t.Fatal(err)
	}
	if entries := must[[]os.DirEntry](t)(os.ReadDir(dir)); len(entries) != 0 {
		t.Errorf("%d files are left", len(entries))
	}
}

// TestProviderKeysOfASlowKeychain checks that a hung keychain call fails in time, and
// that the value of a late write is read afterwards.
func TestProviderKeysOfASlowKeychain(t *testing.T) {
	_, g, store := gatedStore(t)
	k := keys.NewProviderKeys(store)
	if err := k.SetProviderKey(t.Context(), "dex", []byte("old")); err != nil {
		t.Fatal(err)
	}
	g.close("set provider/dex")
	if err := k.SetProviderKey(t.Context(), "dex", []byte("new")); !errors.Is(err, keys.ErrHung) {
		t.Fatalf("error %v", err)
	}
	g.open()
	var got string
	var err error
	if !await.Holds(10*time.Second, func() bool { got, err = k.Get(t.Context(), "dex"); return err == nil && got == "new" }) {
		t.Fatalf("Get = %q, %v, want new", got, err)
	}
}

func TestProviderKeysOfABrokenKeychain(t *testing.T) {
	down := errors.New("down")
	chain := &keystest.Memory{Before: func(string, string, string) error { return down }}
	k := keys.NewProviderKeys(must[*keys.Store](t)(keys.NewStore(chain, namespace, keys.Limits{})))
	if _, err := k.Get(context.Background(), "dex"); !errors.Is(err, down) {
		t.Errorf("get: %v", err)
	}
	for _, key := range []string{"x", ""} {
		if err := k.SetProviderKey(t.Context(), "dex", []byte(key)); !errors.Is(err, down) {
			t.Errorf("set %q: %v", key, err)
		}
	}
}

// TestSetAutoLock checks that the auto-lock time can be changed while unlocked and counts
// from the last use.
func TestSetAutoLock(t *testing.T) {
	b := newBench(t, keys.Options{AutoLock: 10 * time.Minute})
	b.create(t, "Main")
	b.unlock(t)
	b.clock.Advance(5 * time.Minute)
	b.SetAutoLock(20 * time.Minute)
	if b.AutoLock() != 20*time.Minute {
		t.Error("the automatic lock was not changed")
	}
	b.clock.Advance(14 * time.Minute)
	if !b.Unlocked() {
		t.Fatal("locked by the old time")
	}
	b.SetAutoLock(15 * time.Minute)
	if b.Unlocked() {
		t.Error("unused for longer than the new time, and open")
	}
	b.unlock(t)
	b.SetAutoLock(time.Minute)
	b.clock.Advance(time.Minute)
	if must[keys.Status](t)(b.Status(t.Context())).Locked != true {
		t.Error("the timer is still the old one")
	}
}
