package keys

import (
	"path/filepath"
	"testing"
)

// TestWhatAGuessCosts checks the key derivation that a new vault writes into each record,
// which is the cost of a guess for whoever has the item.
func TestWhatAGuessCosts(t *testing.T) {
	if want := (KDF{Passes: 3, MemoryKiB: 64 << 10, Lanes: 4}); DefaultKDF != want {
		t.Errorf("new wallets are stretched with %+v, want %+v", DefaultKDF, want)
	}
	files, err := OpenFiles(filepath.Join(t.TempDir(), "keys"))
	if err != nil {
		t.Fatal(err)
	}
	store, err := NewStore(files, "cost", Limits{})
	if err != nil {
		t.Fatal(err)
	}
	v, err := New(store, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(v.Close)
	w, words, err := v.Create(t.Context(), "", 12, []byte("seven purple llamas dance"))
	if err != nil {
		t.Fatal(err)
	}
	words.Zero()
	text, err := store.Get(t.Context(), walletItem(w.ID))
	if err != nil {
		t.Fatal(err)
	}
	if r, err := parseRecord(text); err != nil || r.KDF.Name != kdfName || r.KDF.cost() != DefaultKDF {
		t.Errorf("the record says %+v, %v", r.KDF, err)
	}
}
