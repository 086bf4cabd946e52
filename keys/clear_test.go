package keys_test

import (
	"testing"

	"swapkeep/keys"
)

// TestClear checks that Clear deletes everything if there is no wallet, and nothing if
// there is one, listed or not.
func TestClear(t *testing.T) {
	b := newBench(t, keys.Options{})
	w := b.create(t, "Main")
	store := must[*keys.Store](t)(keys.NewStore(b.chain, namespace, keys.Limits{}))
	if err := keys.NewProviderKeys(store).SetProviderKey(t.Context(), "dex", []byte("a key")); err != nil {
		t.Fatal(err)
	}
	wantErr(t, "with a wallet", b.Clear(t.Context()), keys.ErrWalletLeft)

	index := b.chain.Items(service)["index"]
	if err := b.chain.Delete(service, "index"); err != nil {
		t.Fatal(err)
	}
	wantErr(t, "with a wallet that is not listed", b.again(t, keys.Options{}).Clear(t.Context()), keys.ErrWalletLeft)
	if got := len(b.chain.Items(service)); got != 2 {
		t.Errorf("%d items after two refusals", got)
	}

	if err := b.chain.Set(service, "index", index); err != nil {
		t.Fatal(err)
	}
	if _, err := b.again(t, keys.Options{}).Remove(t.Context(), w.ID, password); err != nil {
		t.Fatal(err)
	}
	if err := b.chain.Set("swapkeep/other", "index", "another home's"); err != nil {
		t.Fatal(err)
	}
	b = b.again(t, keys.Options{})
	for range 2 { // it may be repeated
		if err := b.Clear(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	_, _, err := b.Create(t.Context(), "Late", 12, password)
	wantErr(t, "a wallet that comes too late", err, keys.ErrCleared)
	if left := b.chain.Items(service); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
	if len(b.chain.Items("swapkeep/other")) != 1 {
		t.Error("another home's items are gone")
	}
}

// TestClearFails checks that a keychain that does not answer is not treated as empty.
func TestClearFails(t *testing.T) {
	b := newBench(t, keys.Options{})
	for _, op := range []string{"get", "delete all"} {
		b.chain.Before = func(is, _, item string) error {
			if is == op && item != "index" {
				return keys.ErrNoService
			}
			return nil
		}
		wantErr(t, op, b.again(t, keys.Options{}).Clear(t.Context()), keys.ErrNoService)
	}
}
