package keys_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"swapkeep/keys"
)

func TestRename(t *testing.T) {
	b := newBench(t, keys.Options{})
	one, two := b.create(t, "One"), b.create(t, "Two")
	at := one.Accounts[0].Address
	listed := 0
	b.Subscribe(func(c keys.Change) {
		if c.Kind == keys.Listed {
			listed++
		}
	})
	for range 2 { // may be repeated
		w := must[keys.Wallet](t)(b.RenameWallet(t.Context(), one.ID, "Savings"))
		if w.Name != "Savings" || w.ID != one.ID {
			t.Errorf("renamed %+v", w)
		}
	}
	w := must[keys.Wallet](t)(b.RenameAccount(t.Context(), at, "Rent"))
	if w.Accounts[0].Label != "Rent" || listed != 3 {
		t.Errorf("renamed %+v, told %d times", w, listed)
	}
	for name, err := range map[string]error{
		"name in use":     second(b.RenameWallet(t.Context(), one.ID, two.Name)),
		"no name":         second(b.RenameWallet(t.Context(), one.ID, "")),
		"unprintable":     second(b.RenameWallet(t.Context(), one.ID, "a\nb")),
		"unprintable too": second(b.RenameAccount(t.Context(), at, "a\x00")),
		"long":            second(b.RenameAccount(t.Context(), at, strings.Repeat("a", 33))),
	} {
		wantErr(t, name, err, keys.ErrName)
	}
	wantErr(t, "no wallet", second(b.RenameWallet(t.Context(), "9", "Nine")), keys.ErrUnknownWallet)
	wantErr(t, "no account", second(b.RenameAccount(t.Context(), common.HexToAddress(testAccount), "x")), keys.ErrUnknownAccount)
	again := must[[]keys.Wallet](t)(b.again(t, keys.Options{}).Wallets(t.Context()))
	if again[0].Name != "Savings" || again[0].Accounts[0].Label != "Rent" || again[1].Name != "Two" {
		t.Errorf("stored %+v", again)
	}
	w = must[keys.Wallet](t)(b.RenameAccount(t.Context(), at, ""))
	if w.Accounts[0].Label != "Account 1" {
		t.Errorf("label taken back: %+v", w)
	}
}

func second[T any](_ T, err error) error { return err }

func TestRemove(t *testing.T) {
	b := newBench(t, keys.Options{})
	one, two := b.create(t, "One"), b.create(t, "Two")
	b.unlock(t)
	wantErr(t, "wrong password", second(b.Remove(t.Context(), one.ID, []byte("not the password at all"))), keys.ErrWrongPassword)
	wantErr(t, "no wallet", second(b.Remove(t.Context(), "9", password)), keys.ErrUnknownWallet)
	removed := must[keys.Wallet](t)(b.Remove(t.Context(), one.ID, password))
	if removed.Name != "One" {
		t.Errorf("removed %+v", removed)
	}
	wantErr(t, "repeated", second(b.Remove(t.Context(), one.ID, password)), keys.ErrUnknownWallet)
	wantErr(t, "its key", second(b.SignTx(t.Context(), one.Accounts[0].Address, transfer(1), chain(1))), keys.ErrUnknownAccount)
	if err := second(b.SignTx(t.Context(), two.Accounts[0].Address, transfer(1), chain(1))); err != nil {
		t.Errorf("the other: %v", err)
	}
	if items := b.chain.Items(service); len(items) != 2 || items["wallet/2"] == "" || strings.Contains(items["index"], "One") {
		t.Errorf("left %v", items)
	}
	var changes []keys.ChangeKind
	b.Subscribe(func(c keys.Change) { changes = append(changes, c.Kind) })
	must[keys.Wallet](t)(b.Remove(t.Context(), two.ID, password))
	if fmt.Sprint(changes) != "[locked listed]" || b.Unlocked() {
		t.Errorf("the last wallet's removal told %v", changes)
	}
	if items := b.chain.Items(service); len(items) != 1 || strings.Contains(items["index"], "Two") {
		t.Errorf("left %v", items)
	}
	wantErr(t, "unlock", b.Unlock(t.Context(), password), keys.ErrNoWallet)
	other := []byte("another good long password")
	if _, _, err := b.Create(t.Context(), "", 12, other); err != nil {
		t.Fatal(err)
	}
	if err := b.Unlock(t.Context(), other); err != nil {
		t.Error(err)
	}
}

// TestRemoveOfADamagedWallet removes a wallet that does not open. The password is checked
// against the other one.
func TestRemoveOfADamagedWallet(t *testing.T) {
	b := newBench(t, keys.Options{})
	b.create(t, "One")
	two := b.create(t, "Two")
	if err := b.chain.Set(service, "wallet/2", "x"); err != nil {
		t.Fatal(err)
	}
	b.unlock(t)
	must[keys.Wallet](t)(b.Remove(t.Context(), two.ID, password))
	_, err := b.Seal(two.Accounts[0].Address, []byte("m"))
	wantErr(t, "sealed for a wallet that is gone", err, keys.ErrUnknownAccount)
	if s := must[keys.Status](t)(b.Status(t.Context())); s.Wallets != 1 || len(s.Problems) != 0 || s.Locked {
		t.Errorf("status %+v", s)
	}
	if items := b.chain.Items(service); len(items) != 2 {
		t.Errorf("left %v", items)
	}
}

// TestRemovalIsAllOrNothing fails the keychain at every step of a removal, with and
// without a restart afterwards. The wallet must be intact or gone, and the other wallet
// must open. A removed wallet leaves nothing after the next unlock.
func TestRemovalIsAllOrNothing(t *testing.T) {
	var total atomic.Int32
	b := newBench(t, keys.Options{})
	b.create(t, "One")
	two := b.create(t, "Two")
	b.chain.Before = func(string, string, string) error { total.Add(1); return nil }
	must[keys.Wallet](t)(b.Remove(t.Context(), two.ID, password))
	if total.Load() < 8 {
		t.Fatalf("%d steps", total.Load())
	}
	outcomes := map[int]int{}
	for _, restart := range []bool{false, true} {
		for _, recovers := range []bool{false, true} {
			for step := 1; step <= int(total.Load()); step++ {
				name := fmt.Sprintf("step %d, recovers %v, restart %v", step, recovers, restart)
				outcomes[breakRemoval(t, name, step, recovers, restart)]++
			}
		}
	}
	if outcomes[1] == 0 || outcomes[2] == 0 {
		t.Errorf("wallets left, by number of cases: %v", outcomes)
	}
}

func breakRemoval(t *testing.T, name string, step int, recovers, restart bool) (left int) {
	t.Helper()
	b := newBench(t, keys.Options{})
	one, two := b.create(t, "One"), b.create(t, "Two")
	b.unlock(t)
	var n atomic.Int32
	b.chain.Before = func(string, string, string) error {
		if at := int(n.Add(1)); at == step || at > step && !recovers {
			return errBroken
		}
		return nil
	}
	_, err := b.Remove(t.Context(), two.ID, password)
	b.chain.Before = nil
	v := b
	if restart {
		v = b.again(t, keys.Options{})
	}
	v.unlock(t)
	wallets, items := must[[]keys.Wallet](t)(v.Wallets(t.Context())), v.chain.Items(service)
	if len(items) != len(wallets)+1 || strings.Contains(items["index"], "pending") {
		t.Errorf("%s: %d wallets, items %v", name, len(wallets), items)
	}
	if err == nil && len(wallets) != 1 {
		t.Errorf("%s: reported as removed, %d wallets", name, len(wallets))
	}
	for _, w := range []keys.Wallet{one, two}[:len(wallets)] {
		if err := second(v.SignTx(t.Context(), w.Accounts[0].Address, transfer(1), chain(1))); err != nil {
			t.Errorf("%s: %s: %v", name, w.Name, err)
		}
	}
	return len(wallets)
}
