package keys

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

const oneWallet = `{"v":1,"wallets":[{"id":"1","name":"Main","kind":"mnemonic","accounts":[{"n":0,"a":"f39fd6e51aad88f6f4ce6ab8827279cfffb92266"}]}]}`

func TestInconsistentIndexIsRefused(t *testing.T) {
	if _, err := parseIndex(oneWallet); err != nil {
		t.Fatal(err)
	}
	replace := func(old, with string) string { return strings.Replace(oneWallet, old, with, 1) }
	for name, text := range map[string]string{
		"id with sign":       replace(`"id":"1"`, `"id":"+1"`),
		"id 0":               replace(`"id":"1"`, `"id":"0"`),
		"id with path":       replace(`"id":"1"`, `"id":"../1"`),
		"control character":  replace(`"Main"`, `"Ma\u0007in"`),
		"long name":          replace(`"Main"`, `"`+strings.Repeat("x", 33)+`"`),
		"no account":         replace(`{"n":0,"a":"f39fd6e51aad88f6f4ce6ab8827279cfffb92266"}`, ``),
		"short address":      replace(`f39f`, ``),
		"upper case":         replace(`f39f`, `F39F`),
		"not hex":            replace(`f39f`, `g39f`),
		"unknown field":      replace(`"v":1`, `"v":1,"x":1`),
		"hardened account":   replace(`"n":0`, `"n":2147483648`),
		"account twice":      replace(`"accounts":[`, `"accounts":[{"n":0,"a":"f39fd6e51aad88f6f4ce6ab8827279cfffb92267"},`),
		"address twice":      replace(`"accounts":[`, `"accounts":[{"n":1,"a":"f39fd6e51aad88f6f4ce6ab8827279cfffb92266"},`),
		"listed and making":  replace(`]}]}`, `]}],"pending":["1"]}`),
		"cut short":          oneWallet[:60],
		"version 0":          replace(`"v":1`, `"v":0`),
		"version 2":          replace(`"v":1`, `"v":2`), // which says that there are isolated accounts
		"version 1, too new": replace(`"n":0,`, `"n":0,"i":1,`),
		"many isolated":      strings.Replace(withIsolated, `"i":7`, `"i":1001`, 1),
		"isolated below 0":   strings.Replace(withIsolated, `"i":7`, `"i":-1`, 1),
	} {
		if _, err := parseIndex(text); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := parseIndex(`{"v":3,"new":1}`); !errors.Is(err, ErrNewer) {
		t.Errorf("newer: %v", err)
	}
}

const withIsolated = `{"v":2,"wallets":[{"id":"1","name":"Main","kind":"mnemonic","accounts":[{"n":0,"a":"f39fd6e51aad88f6f4ce6ab8827279cfffb92266","i":7}]}]}`

// TestIndexVersions checks that an index without isolated accounts stays one that an older
// Swapkeep reads, and that older indexes are read.
func TestIndexVersions(t *testing.T) {
	for _, text := range []string{oneWallet, withIsolated} {
		x, err := parseIndex(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if again, err := x.encode(); err != nil || again != text {
			t.Errorf("%s became %s, %v", text, again, err)
		}
	}
}

func TestIndexHoldsThirtyAccounts(t *testing.T) {
	x, err := parseIndex(oneWallet)
	if err != nil {
		t.Fatal(err)
	}
	for n := uint32(1); n < 30; n++ {
		x.Wallets[0].Accounts = append(x.Wallets[0].Accounts, indexAccount{Number: n, Address: address{byte(n)}, Label: fmt.Sprintf("Label %02d", n), Isolated: 100})
	}
	text, err := x.encode()
	if err != nil || len(text) > MaxItem {
		t.Errorf("%d bytes, %v", len(text), err)
	}
}

// TestCountsFitAFullIndex checks that whoever may have an account may take its isolated
// accounts: an index that is full of accounts still has room for their counts.
func TestCountsFitAFullIndex(t *testing.T) {
	x, err := parseIndex(oneWallet)
	if err != nil {
		t.Fatal(err)
	}
	w := &x.Wallets[0]
	for n := uint32(1); x.fits(); n++ {
		w.Accounts = append(w.Accounts, indexAccount{Number: n, Address: address{byte(n)}})
	}
	w.Accounts, w.Unsearched = w.Accounts[:len(w.Accounts)-1], true
	for i := range w.Accounts {
		w.Accounts[i].Isolated = maxIsolated
	}
	if text, err := x.encode(); err != nil || len(text) > MaxItem || len(w.Accounts) < 30 {
		t.Errorf("%d accounts, %d bytes, %v", len(w.Accounts), len(text), err)
	}
}

func TestIDsAreNotUsedAgainWhileInUse(t *testing.T) {
	x := &index{Wallets: []indexWallet{{ID: "2"}, {ID: "10"}}, Pending: []string{"11"}}
	if x.nextID() != 12 {
		t.Errorf("next id %d", x.nextID())
	}
}
