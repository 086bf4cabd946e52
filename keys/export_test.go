package keys_test

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"

	"swapkeep/keys"
)

// ownKey is made for these tests and used nowhere else.
var (
	ownKey     = crypto.Keccak256([]byte("a key for the tests of keys"))
	ownDigits  = []byte("0x" + hex.EncodeToString(ownKey))
	ownAddress = func() common.Address {
		k, err := crypto.ToECDSA(ownKey)
		if err != nil {
			panic(err)
		}
		return crypto.PubkeyToAddress(k.PublicKey)
	}()
)

func TestImportKey(t *testing.T) {
	b := newBench(t, keys.Options{})
	w := must[keys.Wallet](t)(b.ImportKey(t.Context(), "Old", ownDigits, password))
	if w.Kind != "key" || len(w.Accounts) != 1 || w.Accounts[0].Address != ownAddress || w.Accounts[0].Path != "" {
		t.Errorf("imported %+v", w)
	}
	if strings.Contains(fmt.Sprint(b.chain.Items(service)), string(ownDigits[2:])) {
		t.Error("the key is stored openly")
	}
	v := b.again(t, keys.Options{})
	v.unlock(t)
	if err := second(v.SignTx(t.Context(), ownAddress, transfer(1), chain(1))); err != nil {
		t.Error(err)
	}
	wantErr(t, "a second account", second(v.Add(t.Context(), w.ID, "")), keys.ErrAccountExhausted)
	wantErr(t, "the same again", second(v.ImportKey(t.Context(), "", ownDigits, password)), keys.ErrDuplicateWallet)
	wantErr(t, "no key", second(v.ImportKey(t.Context(), "", ownDigits[4:], password)), keys.ErrBadKey)
	wantErr(t, "key one", second(v.ImportKey(t.Context(), "", []byte(fmt.Sprintf("%064d", 1)), password)), keys.ErrTestKey)
	box := newBench(t, keys.Options{Sandbox: true})
	wantErr(t, "sandbox", second(box.ImportKey(t.Context(), "", ownDigits, password)), keys.ErrSandboxImport)
	if items := box.chain.Items(service); len(items) != 0 {
		t.Errorf("a refusal stored %v", items)
	}
}

// TestAddPassesOverAnImportedKey checks that Add skips an account whose key was imported
// separately. An index that lists an address twice would be refused as damaged.
func TestAddPassesOverAnImportedKey(t *testing.T) {
	other := newBench(t, keys.Options{})
	w := must[keys.Wallet](t)(other.ImportMnemonic(t.Context(), "", []byte(ownMnemonic), password))
	other.unlock(t)
	next := must[keys.Account](t)(other.Add(t.Context(), w.ID, ""))
	third := must[keys.Account](t)(other.Add(t.Context(), w.ID, ""))
	key := must[*keys.Exported](t)(other.Export(t.Context(), keys.Export{Form: keys.FormKey, Account: next.Address, Password: password}))

	b := newBench(t, keys.Options{})
	w = must[keys.Wallet](t)(b.ImportMnemonic(t.Context(), "", []byte(ownMnemonic), password))
	must[keys.Wallet](t)(b.ImportKey(t.Context(), "", key.Reveal(), password))
	b.unlock(t)
	if got := must[keys.Account](t)(b.Add(t.Context(), w.ID, "")); got.Address != third.Address || got.Path != third.Path {
		t.Errorf("added %+v", got)
	}
	b.again(t, keys.Options{}).unlock(t)
}

func TestImportKeystore(t *testing.T) {
	text, err := os.ReadFile("testdata/keystore_v3.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Vectors map[string]struct{ File json.RawMessage }
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	v := file.Vectors["pbkdf2"].File // a public test key
	b, box := newBench(t, keys.Options{}), newBench(t, keys.Options{Sandbox: true})
	filePassword := []byte("testpassword")
	wantErr(t, "published", second(b.ImportKeystore(t.Context(), "", v, filePassword, password)), keys.ErrTestKey)
	wantErr(t, "sandbox", second(box.ImportKeystore(t.Context(), "", v, filePassword, password)), keys.ErrSandboxImport)
	wantErr(t, "wrong password of the file", second(b.ImportKeystore(t.Context(), "", v, []byte("x"), password)), keys.ErrKeystorePassword)
	wantErr(t, "no file", second(b.ImportKeystore(t.Context(), "", []byte("{}"), filePassword, password)), keys.ErrBadKeystore)
	light := file.Vectors["key of 31 bytes"].File
	w := must[keys.Wallet](t)(b.ImportKeystore(t.Context(), "From a file", light, []byte("foo"), password))
	if w.Kind != "key" || w.Name != "From a file" {
		t.Errorf("imported %+v", w)
	}
	b.unlock(t)
	if err := second(b.SignTx(t.Context(), w.Accounts[0].Address, transfer(1), chain(1))); err != nil {
		t.Error(err)
	}
}

// TestExport checks that exported key material gives the same accounts in another vault.
func TestExport(t *testing.T) {
	b := newBench(t, keys.Options{})
	w := must[keys.Wallet](t)(b.ImportMnemonic(t.Context(), "Main", []byte(ownMnemonic), password))
	single := must[keys.Wallet](t)(b.ImportKey(t.Context(), "Old", ownDigits, password))
	b.unlock(t)
	added := must[keys.Account](t)(b.Add(t.Context(), w.ID, ""))
	b.Lock() // the password is enough
	before := fmt.Sprint(b.chain.Items(service))
	export := func(e keys.Export) *keys.Exported {
		t.Helper()
		e.Password = password
		return must[*keys.Exported](t)(b.Export(t.Context(), e))
	}
	words := export(keys.Export{Form: keys.FormWords, Wallet: w.ID})
	if string(words.Reveal()) != ownMnemonic {
		t.Error("the exported words differ from the wallet's")
	}
	if key := export(keys.Export{Form: keys.FormKey, Account: ownAddress}); string(key.Reveal()) != string(ownDigits) {
		t.Error("the exported key differs from the account's")
	}
	filePassword := []byte("a password for the file")
	elsewhere := newBench(t, keys.Options{})
	for _, at := range []common.Address{added.Address, ownAddress} {
		file := export(keys.Export{Form: keys.FormKeystore, Account: at, KeystorePassword: filePassword})
		k := must[keys.Wallet](t)(elsewhere.ImportKeystore(t.Context(), "", file.Reveal(), filePassword, password))
		if k.Accounts[0].Address != at {
			t.Errorf("the file of %s gives %s", at, k.Accounts[0].Address)
		}
	}
	if fmt.Sprint(b.chain.Items(service)) != before || b.Unlocked() {
		t.Error("an export changed something")
	}
	encoded, _ := json.Marshal(words)
	if shown := fmt.Sprintf("%v %+v %#v %s %x %s", words, *words, words, words, *words, encoded); strings.Contains(shown, "melt") ||
		strings.Contains(shown, fmt.Sprintf("%x", "melt")) {
		t.Errorf("shows %s", shown)
	}
	words.Zero()
	if strings.Trim(string(words.Reveal()), "\x00") != "" {
		t.Error("words survive Zero")
	}
	for name, c := range map[string]struct {
		export keys.Export
		want   error
	}{
		"words of a key":     {keys.Export{Form: keys.FormWords, Wallet: single.ID, Password: password}, keys.ErrExportForm},
		"no form":            {keys.Export{Wallet: w.ID, Password: password}, keys.ErrExportForm},
		"no wallet":          {keys.Export{Form: keys.FormWords, Wallet: "9", Password: password}, keys.ErrUnknownWallet},
		"no account":         {keys.Export{Form: keys.FormKey, Password: password}, keys.ErrUnknownAccount},
		"weak file password": {keys.Export{Form: keys.FormKeystore, Account: ownAddress, Password: password, KeystorePassword: []byte("short")}, keys.ErrWeakPassword},
		"wrong password":     {keys.Export{Form: keys.FormWords, Wallet: w.ID, Password: []byte("not the password")}, keys.ErrWrongPassword},
	} {
		wantErr(t, name, second(b.Export(t.Context(), c.export)), c.want)
	}
	export(keys.Export{Form: keys.FormKey, Account: ownAddress}) // a right password resets the count of wrong ones
	for range 3 {
		wantErr(t, "guess", second(b.Export(t.Context(), keys.Export{Form: keys.FormKey, Account: ownAddress})), keys.ErrWrongPassword)
	}
	wantErr(t, "guesses count", second(b.Export(t.Context(), keys.Export{Form: keys.FormKey, Account: ownAddress, Password: password})), keys.ErrBackoff)
}

func TestTheSandboxGivesNoKeyAway(t *testing.T) {
	b := newBench(t, keys.Options{Sandbox: true})
	w := b.create(t, "Main")
	b.unlock(t)
	for _, e := range []keys.Export{
		{Form: keys.FormWords, Wallet: w.ID, Password: password},
		{Form: keys.FormKey, Account: w.Accounts[0].Address, Password: password},
		{Form: keys.FormKeystore, Account: w.Accounts[0].Address, Password: password, KeystorePassword: password},
	} {
		wantErr(t, string(e.Form), second(b.Export(t.Context(), e)), keys.ErrSandboxExport)
	}
}
