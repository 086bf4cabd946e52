package keys

import (
	"path/filepath"
	"testing"
)

// TestLockWipesTheKeys checks that Lock zeroes the memory that held the keys.
func TestLockWipesTheKeys(t *testing.T) {
	files, err := OpenFiles(filepath.Join(t.TempDir(), "keys"))
	if err != nil {
		t.Fatal(err)
	}
	store, err := NewStore(files, "wipe", Limits{})
	if err != nil {
		t.Fatal(err)
	}
	v, err := New(store, Options{KDF: fastKDF})
	if err != nil {
		t.Fatal(err)
	}
	password := []byte("seven purple llamas dance")
	w, _, err := v.Create(t.Context(), "", 12, password)
	if err != nil {
		t.Fatal(err)
	}
	if err := v.Unlock(t.Context(), password); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Add(t.Context(), w.ID, ""); err != nil {
		t.Fatal(err)
	}
	if err := v.TakeIsolated(t.Context(), w.Accounts[0].Address, 0); err != nil {
		t.Fatal(err)
	}
	b := v.unlocked.roots[w.ID].(*branches)
	secrets := []secret{b.external.key, b.external.code, b.internal.key, b.internal.code}
	for _, key := range v.unlocked.keys {
		secrets = append(secrets, key)
	}
	if len(secrets) != 7 {
		t.Fatalf("%d secrets", len(secrets))
	}
	blank := make(secret, 32)
	for _, s := range secrets {
		if s.equal(blank) {
			t.Fatal("no key in an open vault")
		}
	}
	v.Lock()
	for i, s := range secrets {
		if !s.equal(blank) {
			t.Errorf("secret %d survives Lock", i)
		}
	}
	if v.unlocked != nil {
		t.Error("the vault is still open")
	}
}
