package main

import (
	"errors"
	"testing"

	"swapkeep/host/protocol"
	"swapkeep/keys"
	"swapkeep/keys/keystest"
)

// Import, rename, export and remove through the protocol's types.
func TestWalletInTheWordsOfTheWire(t *testing.T) {
	store, err := keys.NewStore(&keystest.Memory{}, "wallet", keys.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	v, err := keys.New(store, keys.Options{KDF: keys.KDF{Passes: 1, MemoryKiB: 8 << 10, Lanes: 1}})
	if err != nil {
		t.Fatal(err)
	}
	w, password := wallet{Vault: v}, protocol.Secret("seven purple llamas dance")
	// Made for this test.
	const key = "0x6f2c9d3b1a7e45805c8e9f1d2b3a4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d"
	made, err := w.Import(t.Context(), &protocol.ImportParams{PrivateKey: protocol.Secret(key), Password: password, Name: "Old"})
	if err != nil || made.Kind != "key" || made.Accounts[0].Path != "" {
		t.Fatalf("%+v, %v", made, err)
	}
	at := made.Accounts[0].Address
	if out, err := w.Rename(t.Context(), &protocol.RenameParams{Wallet: made.ID, Name: "New"}); err != nil || out.Name != "New" {
		t.Errorf("%+v, %v", out, err)
	}
	if out, err := w.Rename(t.Context(), &protocol.RenameParams{Account: at, Name: "Rent"}); err != nil || out.Accounts[0].Name != "Rent" {
		t.Errorf("%+v, %v", out, err)
	}
	out, err := w.Export(t.Context(), &protocol.ExportParams{Format: protocol.ExportKey, Account: at, Password: password})
	if err != nil || string(out) != key {
		t.Errorf("another key: %v", err)
	}
	file, err := w.Export(t.Context(), &protocol.ExportParams{Format: protocol.ExportKeystore, Account: at, Password: password, KeystorePassword: password})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Remove(t.Context(), made.ID, password); err != nil {
		t.Fatal(err)
	}
	again, err := w.Import(t.Context(), &protocol.ImportParams{Keystore: file, KeystorePassword: password, Password: password})
	if err != nil || again.Accounts[0].Address != at {
		t.Errorf("%+v, %v", again, err)
	}
	if _, err := w.Export(t.Context(), &protocol.ExportParams{Format: protocol.ExportWords, Wallet: again.ID, Password: password}); !errors.Is(err, keys.ErrExportForm) {
		t.Errorf("words of a key: %v", err)
	}
}

// Every name in sentinels is in the protocol's table of errors.
func TestSentinelsNameRows(t *testing.T) {
	for _, s := range sentinels {
		if _, ok := protocol.RowOf(s.Name); !ok {
			t.Errorf("%v is named %s, which is no row", s.Err, s.Name)
		}
	}
}
