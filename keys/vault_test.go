package keys_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"swapkeep/keys"
	"swapkeep/keys/keystest"
)

const (
	testMnemonic = "test test test test test test test test test test test junk" // public test key
	testAccount  = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"
	// A valid mnemonic made for these tests and used nowhere else.
	ownMnemonic = "melt video distance fortune orphan solar history unfold gossip burden face pistol"
	namespace   = "test"
	service     = "swapkeep/test"
)

var (
	password = []byte("seven purple llamas dance")
	start    = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	fastKDF  = keys.KDF{Passes: 1, MemoryKiB: 8 << 10, Lanes: 1}
)

// A bench is a vault with a keychain in memory and a settable clock.
type bench struct {
	*keys.Vault
	chain *keystest.Memory
	clock *keystest.Clock
}

func newBench(t testing.TB, o keys.Options) *bench {
	t.Helper()
	return benchOn(t, &keystest.Memory{}, o, keys.Limits{})
}

func benchOn(t testing.TB, chain *keystest.Memory, o keys.Options, limits keys.Limits) *bench {
	t.Helper()
	clock := keystest.NewClock(start)
	store, err := keys.NewStore(chain, namespace, limits)
	if err != nil {
		t.Fatal(err)
	}
	o.KDF, o.Clock = fastKDF, clock
	if o.AttemptInterval == 0 {
		o.AttemptInterval = -1 // because the clock stands still
	}
	v, err := keys.New(store, o)
	if err != nil {
		t.Fatal(err)
	}
	return &bench{v, chain, clock}
}

// again returns a vault of a second process with the same keychain.
func (b *bench) again(t testing.TB, o keys.Options) *bench {
	t.Helper()
	return benchOn(t, b.chain, o, keys.Limits{})
}

func must[T any](t testing.TB) func(T, error) T {
	return func(value T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

func (b *bench) create(t testing.TB, name string) keys.Wallet {
	t.Helper()
	w, words, err := b.Create(t.Context(), name, 12, password)
	if err != nil {
		t.Fatal(err)
	}
	words.Zero()
	return w
}

func (b *bench) unlock(t testing.TB) {
	t.Helper()
	if err := b.Unlock(t.Context(), password); err != nil {
		t.Fatal(err)
	}
}

func wantErr(t testing.TB, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: %v, want %v", what, err, want)
	}
	if err != nil && keys.Remedy(err) == "" {
		t.Errorf("%s: %v has no remedy", what, err)
	}
}

func TestCreatedWalletLivesOnInTheKeychain(t *testing.T) {
	b := newBench(t, keys.Options{})
	for _, count := range []int{12, 24} {
		w, words, err := b.Create(t.Context(), "", count, password)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(strings.Fields(string(words.Reveal()))); got != count {
			t.Errorf("%d words, want %d", got, count)
		}
		// In another vault the words give the same account.
		other := newBench(t, keys.Options{})
		same := must[keys.Wallet](t)(other.ImportMnemonic(t.Context(), "", words.Reveal(), password))
		if same.Accounts[0].Address != w.Accounts[0].Address {
			t.Error("the words give another account")
		}
		words.Zero()
		if strings.Trim(string(words.Reveal()), "\x00") != "" {
			t.Error("words survive Zero")
		}
	}
	later := b.again(t, keys.Options{})
	before := must[[]keys.Account](t)(b.Accounts(t.Context()))
	after := must[[]keys.Account](t)(later.Accounts(t.Context()))
	if len(after) != 2 || !slices.Equal(before, after) {
		t.Errorf("accounts %v, before %v", after, before)
	}
	if after[0].Label != "Account 1" || after[0].Path != "m/44'/60'/0'/0/0" {
		t.Errorf("account %+v", after[0])
	}
	later.unlock(t)
	if _, err := later.SignTx(t.Context(), after[1].Address, transfer(1), chain(1)); err != nil {
		t.Error(err)
	}
}

func TestNothingSecretIsStoredOpenly(t *testing.T) {
	b := newBench(t, keys.Options{})
	_, words, err := b.Create(t.Context(), "Main", 12, password)
	if err != nil {
		t.Fatal(err)
	}
	defer words.Zero()
	items := b.chain.Items(service)
	if len(items) != 2 {
		t.Fatalf("%d items", len(items))
	}
	for item, text := range items {
		if len(text) > keys.MaxItem {
			t.Errorf("%s has %d bytes", item, len(text))
		}
		for _, word := range append(strings.Fields(string(words.Reveal())), string(password)) {
			if len(word) > 5 && strings.Contains(text, word) {
				t.Errorf("%s shows a secret", item)
			}
		}
	}
	if strings.Contains(items["index"], "salt") || !strings.Contains(items["wallet/1"], `"argon2id"`) {
		t.Errorf("index %s", items["index"])
	}
}

func TestImportUnlockLock(t *testing.T) {
	b := newBench(t, keys.Options{})
	var changes []keys.Change
	cancel := b.Subscribe(func(c keys.Change) { changes = append(changes, c) })
	w := must[keys.Wallet](t)(b.ImportMnemonic(t.Context(), "Main", []byte(ownMnemonic), password))
	at := w.Accounts[0].Address
	if s := must[keys.Status](t)(b.Status(t.Context())); !s.Locked || s.Wallets != 1 || s.Accounts != 1 || s.Sandbox {
		t.Errorf("status %+v", s)
	}
	_, err := b.SignTx(t.Context(), at, transfer(1), chain(1))
	wantErr(t, "sign while locked", err, keys.ErrLocked)
	wantErr(t, "wrong password", b.Unlock(t.Context(), []byte("eight purple llamas dance")), keys.ErrWrongPassword)
	b.unlock(t)
	if s := must[keys.Status](t)(b.Status(t.Context())); s.Locked || !s.LocksAt.Equal(start.Add(keys.DefaultAutoLock)) {
		t.Errorf("status %+v", s)
	}
	if _, err := b.SignTx(t.Context(), at, transfer(1), chain(1)); err != nil {
		t.Error(err)
	}
	_, err = b.SignTx(t.Context(), common.HexToAddress(testAccount), transfer(1), chain(1))
	wantErr(t, "other account", err, keys.ErrUnknownAccount)
	b.Lock()
	b.Lock()
	_, err = b.SignTx(t.Context(), at, transfer(1), chain(1))
	wantErr(t, "sign after lock", err, keys.ErrLocked)
	cancel()
	b.unlock(t)
	want := []keys.Change{{Kind: keys.Listed}, {Kind: keys.Unlocked}, {Kind: keys.Locked}}
	if !slices.Equal(changes, want) {
		t.Errorf("changes %v", changes)
	}
}

func TestWalletsOfAnUnlockedVaultOpenAtOnce(t *testing.T) {
	b := newBench(t, keys.Options{})
	b.create(t, "One")
	b.unlock(t)
	two := b.create(t, "Two")
	if _, err := b.SignTx(t.Context(), two.Accounts[0].Address, transfer(1), chain(1)); err != nil {
		t.Error(err)
	}
	added := must[keys.Account](t)(b.Add(t.Context(), two.ID, "Savings"))
	if added.Label != "Savings" || added.Path != "m/44'/60'/0'/0/1" || added.Wallet != two.ID {
		t.Errorf("added %+v", added)
	}
	for _, v := range []*bench{b, b.again(t, keys.Options{})} {
		v.unlock(t)
		if _, err := v.SignTx(t.Context(), added.Address, transfer(1), chain(1)); err != nil {
			t.Error(err)
		}
	}
	b.Lock()
	_, err := b.Add(t.Context(), two.ID, "")
	wantErr(t, "add while locked", err, keys.ErrLocked)
	_, err = b.Add(t.Context(), "77", "")
	wantErr(t, "unknown wallet", err, keys.ErrUnknownWallet)
	_, err = b.Add(t.Context(), two.ID, "a\nb")
	wantErr(t, "label", err, keys.ErrName)
}

func TestRefusedWallets(t *testing.T) {
	b := newBench(t, keys.Options{})
	_, _, err := b.Create(t.Context(), "", 15, password)
	wantErr(t, "15 words", err, keys.ErrWordCount)
	_, _, err = b.Create(t.Context(), "", 12, []byte("short"))
	wantErr(t, "weak password", err, keys.ErrWeakPassword)
	_, err = b.ImportMnemonic(t.Context(), "", []byte("twelve words they are not"), password)
	wantErr(t, "bad mnemonic", err, keys.ErrBadMnemonic)
	wantErr(t, "unlock without wallet", b.Unlock(t.Context(), password), keys.ErrNoWallet)
	if items := b.chain.Items(service); len(items) != 0 {
		t.Errorf("refusals stored %v", items)
	}
	must[keys.Wallet](t)(b.ImportMnemonic(t.Context(), "Main", []byte(ownMnemonic), password))
	_, err = b.ImportMnemonic(t.Context(), "Other", []byte(strings.ToUpper(ownMnemonic)), password)
	wantErr(t, "the same again", err, keys.ErrDuplicateWallet)
	_, _, err = b.Create(t.Context(), "Main", 12, password)
	wantErr(t, "name in use", err, keys.ErrName)
	_, _, err = b.Create(t.Context(), "", 12, []byte("another good long password"))
	wantErr(t, "second wallet, other password", err, keys.ErrWrongPassword)
	if n := must[keys.Status](t)(b.Status(t.Context())).Wallets; n != 1 {
		t.Errorf("%d wallets", n)
	}
}

func TestSandboxAndRealNeverMix(t *testing.T) {
	actual, box := newBench(t, keys.Options{}), newBench(t, keys.Options{Sandbox: true})
	for _, published := range []string{
		testMnemonic,
		"abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about",
		"myth like bonus scare over problem client lizard pioneer submit female collect",
	} {
		_, err := actual.ImportMnemonic(t.Context(), "", []byte(published), password)
		wantErr(t, "published mnemonic in a real vault", err, keys.ErrTestKey)
	}
	_, err := box.ImportMnemonic(t.Context(), "", []byte(ownMnemonic), password)
	wantErr(t, "own mnemonic in the sandbox", err, keys.ErrSandboxImport)
	w := must[keys.Wallet](t)(box.ImportMnemonic(t.Context(), "", []byte(testMnemonic), password))
	if w.Accounts[0].Address.Hex() != testAccount {
		t.Errorf("test account %s", w.Accounts[0].Address)
	}
	box.create(t, "Made here")
	box.unlock(t)
	if s := must[keys.Status](t)(box.Status(t.Context())); !s.Sandbox || len(s.Problems) != 0 {
		t.Errorf("status %+v", s)
	}
	// Open the same keychain in the other mode.
	other := box.again(t, keys.Options{})
	_, err = other.Accounts(t.Context())
	wantErr(t, "sandbox vault opened as real", err, keys.ErrSandboxMismatch)
	wantErr(t, "unlock", other.Unlock(t.Context(), password), keys.ErrSandboxMismatch)
	// With the sandbox mark removed from the index, the wallet itself is refused.
	index := strings.Replace(box.chain.Items(service)["index"], `"sandbox":true,`, "", 1)
	if err := box.chain.Set(service, "index", index); err != nil {
		t.Fatal(err)
	}
	forged := box.again(t, keys.Options{})
	forged.unlock(t)
	_, err = forged.SignTx(t.Context(), common.HexToAddress(testAccount), transfer(1), chain(1))
	wantErr(t, "test key with the mark removed", err, keys.ErrLocked)
}

func TestSandboxRefusesAnImportedWalletPutIntoIt(t *testing.T) {
	actual := newBench(t, keys.Options{})
	must[keys.Wallet](t)(actual.ImportMnemonic(t.Context(), "", []byte(ownMnemonic), password))
	index := strings.Replace(actual.chain.Items(service)["index"], `{"v":1,`, `{"v":1,"sandbox":true,`, 1)
	if err := actual.chain.Set(service, "index", index); err != nil {
		t.Fatal(err)
	}
	wantErr(t, "unlock", actual.again(t, keys.Options{Sandbox: true}).Unlock(t.Context(), password), keys.ErrSandboxImport)
}

func TestBackoffGrowsAndCountsEveryGuess(t *testing.T) {
	b := newBench(t, keys.Options{})
	b.create(t, "Main")
	wrong := []byte("not the password at all")
	guess := []func() error{
		func() error { return b.Unlock(t.Context(), wrong) },
		func() error { return b.CheckPassword(t.Context(), wrong) },
		func() error { _, _, err := b.Create(t.Context(), "", 12, wrong); return err },
	}
	var waits []time.Duration
	for i := range 9 {
		wantErr(t, "guess", guess[i%3](), keys.ErrWrongPassword)
		var wait *keys.BackoffError
		if err := b.Unlock(t.Context(), password); errors.As(err, &wait) {
			wantErr(t, "right password too early", err, keys.ErrBackoff)
			waits = append(waits, wait.Left)
			b.clock.Advance(wait.Left - time.Millisecond)
			wantErr(t, "a moment too early", b.Unlock(t.Context(), password), keys.ErrBackoff)
			b.clock.Advance(time.Millisecond)
		} else if err != nil || i > 1 {
			t.Fatalf("guess %d: %v", i+1, err)
		} else if i == 1 {
			// Two typing errors cost nothing, and the right password resets the count.
			for range 2 {
				wantErr(t, "guess", b.Unlock(t.Context(), wrong), keys.ErrWrongPassword)
			}
		}
	}
	if !slices.IsSorted(waits) || len(waits) != 7 || waits[6] != time.Minute {
		t.Errorf("waits %v", waits)
	}
	b.unlock(t)
	if err := b.CheckPassword(t.Context(), password); err != nil {
		t.Error(err)
	}
}

func TestAutoLock(t *testing.T) {
	b := newBench(t, keys.Options{AutoLock: 10 * time.Minute})
	at := b.create(t, "Main").Accounts[0].Address
	var idle []bool
	b.Subscribe(func(c keys.Change) {
		if c.Kind == keys.Locked {
			idle = append(idle, c.Idle)
		}
	})
	locked := func() bool { return must[keys.Status](t)(b.Status(t.Context())).Locked }
	b.unlock(t)
	b.clock.Advance(9 * time.Minute)
	b.Touch()
	b.clock.Advance(9 * time.Minute)
	if _, err := b.SignTx(t.Context(), at, transfer(1), chain(1)); err != nil {
		t.Errorf("after a touch: %v", err)
	}
	b.clock.Advance(9*time.Minute + 59*time.Second)
	if locked() {
		t.Error("a signature does not count as use")
	}
	b.clock.Advance(time.Second)
	if len(idle) != 1 || !idle[0] || !locked() {
		t.Errorf("not locked by itself: %v", idle)
	}
	// After the machine slept no timer has fired, but nothing is signed.
	b.unlock(t)
	b.clock.Sleep(time.Hour)
	b.Touch()
	_, err := b.SignTx(t.Context(), at, transfer(1), chain(1))
	wantErr(t, "after sleep", err, keys.ErrLocked)
	if len(idle) != 2 {
		t.Errorf("locks %v", idle)
	}
}

func TestADamagedWalletDoesNotLockTheOthersOut(t *testing.T) {
	b := newBench(t, keys.Options{})
	one, two := b.create(t, "One"), b.create(t, "Two")
	items := b.chain.Items(service)
	for name, damage := range map[string]func() error{
		"missing":  func() error { return b.chain.Delete(service, "wallet/2") },
		"swapped":  func() error { return b.chain.Set(service, "wallet/2", items["wallet/1"]) },
		"not JSON": func() error { return b.chain.Set(service, "wallet/2", "x") },
	} {
		if err := b.chain.Set(service, "wallet/2", items["wallet/2"]); err != nil {
			t.Fatal(err)
		}
		if err := damage(); err != nil {
			t.Fatal(err)
		}
		v := b.again(t, keys.Options{})
		v.unlock(t)
		if _, err := v.SignTx(t.Context(), one.Accounts[0].Address, transfer(1), chain(1)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		_, err := v.SignTx(t.Context(), two.Accounts[0].Address, transfer(1), chain(1))
		wantErr(t, name, err, keys.ErrLocked)
		_, err = v.Seal(two.Accounts[0].Address, []byte("m"))
		wantErr(t, name+": sealed for a wallet that did not open", err, keys.ErrLocked)
		s := must[keys.Status](t)(v.Status(t.Context()))
		if len(s.Problems) != 1 || s.Problems[0].Wallet != "Two" || keys.Remedy(s.Problems[0].Err) == "" {
			t.Errorf("%s: problems %v", name, s.Problems)
		}
	}
	for _, item := range []string{"wallet/1", "wallet/2"} {
		if err := b.chain.Delete(service, item); err != nil && !errors.Is(err, keys.ErrMissingItem) {
			t.Fatal(err)
		}
	}
	wantErr(t, "all missing", b.again(t, keys.Options{}).Unlock(t.Context(), password), keys.ErrMissingItem)
}

func TestAnAlteredAddressIsNoticed(t *testing.T) {
	b := newBench(t, keys.Options{})
	at := b.create(t, "Main").Accounts[0].Address
	digits := strings.ToLower(at.Hex()[2:])
	altered := "0"
	if digits[0] == '0' {
		altered = "1"
	}
	index := strings.Replace(b.chain.Items(service)["index"], digits, altered+digits[1:], 1)
	if err := b.chain.Set(service, "index", index); err != nil {
		t.Fatal(err)
	}
	wantErr(t, "unlock", b.again(t, keys.Options{}).Unlock(t.Context(), password), keys.ErrDamaged)
}

func TestALostIndexOverwritesNoWallet(t *testing.T) {
	b := newBench(t, keys.Options{})
	b.create(t, "Main")
	before := b.chain.Items(service)["wallet/1"]
	if err := b.chain.Delete(service, "index"); err != nil {
		t.Fatal(err)
	}
	w := b.again(t, keys.Options{}).create(t, "New")
	if w.ID == "1" || b.chain.Items(service)["wallet/1"] != before {
		t.Error("an unlisted wallet was written over")
	}
}

func TestTooManyAccounts(t *testing.T) {
	b := newBench(t, keys.Options{})
	w := b.create(t, "Main")
	b.unlock(t)
	var err error
	n := 1
	for ; err == nil && n < 200; n++ {
		_, err = b.Add(t.Context(), w.ID, "")
	}
	wantErr(t, fmt.Sprintf("account %d", n), err, keys.ErrTooLarge)
	if n < 35 {
		t.Errorf("only %d accounts fit", n)
	}
	later := b.again(t, keys.Options{})
	later.unlock(t)
	if got := must[[]keys.Account](t)(later.Accounts(t.Context())); len(got) != n-1 {
		t.Errorf("%d accounts stored of %d", len(got), n-1)
	}
}

func TestTwentyAtOnce(t *testing.T) {
	b := newBench(t, keys.Options{})
	w := b.create(t, "Main")
	b.unlock(t)
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			var err error
			switch i % 4 {
			case 0:
				_, err = b.Add(t.Context(), w.ID, "")
			case 1:
				err = b.Unlock(t.Context(), password)
			case 2:
				_, err = b.SignTx(t.Context(), w.Accounts[0].Address, transfer(1), chain(1))
			case 3:
				_, err = b.Status(t.Context())
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got := must[[]keys.Account](t)(b.again(t, keys.Options{}).Accounts(t.Context())); len(got) != 6 {
		t.Errorf("%d accounts", len(got))
	}
}

func TestLockDuringUnlockWins(t *testing.T) {
	b := newBench(t, keys.Options{})
	b.create(t, "Main")
	b.chain.Before = func(op, _, item string) error {
		if item == "wallet/1" {
			b.Lock()
		}
		return nil
	}
	wantErr(t, "unlock", b.Unlock(t.Context(), password), keys.ErrLocked)
	if !must[keys.Status](t)(b.Status(t.Context())).Locked {
		t.Error("unlocked after Lock")
	}
}

func TestNothingPrintsSecrets(t *testing.T) {
	b := newBench(t, keys.Options{})
	_, words, err := b.Create(t.Context(), "Main", 12, password)
	if err != nil {
		t.Fatal(err)
	}
	b.unlock(t)
	first := strings.Fields(string(words.Reveal()))[0]
	encoded, _ := json.Marshal(map[string]any{"words": words, "vault": b.Vault})
	shown := string(encoded)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		shown += fmt.Sprintf(verb+verb+verb, words, *words, b.Vault)
	}
	for _, secret := range []string{first, fmt.Sprintf("%x", first), fmt.Sprintf("%d", []byte(first))} {
		if strings.Contains(shown, secret) {
			t.Errorf("shows %s", secret)
		}
	}
	if !strings.Contains(shown, "[secret]") || !strings.Contains(shown, "[vault]") {
		t.Error(shown)
	}
}

func TestOptionsAreBounded(t *testing.T) {
	store := must[*keys.Store](t)(keys.NewStore(&keystest.Memory{}, namespace, keys.Limits{}))
	_, err := keys.New(store, keys.Options{KDF: keys.KDF{Passes: 1, MemoryKiB: 16, Lanes: 1}})
	wantErr(t, "weak key derivation", err, keys.ErrKeyDerivation)
	for _, bad := range []string{"", "UPPER", "a/b", "a b", strings.Repeat("x", 65), "../x"} {
		_, err := keys.NewStore(&keystest.Memory{}, bad, keys.Limits{})
		wantErr(t, "namespace "+bad, err, keys.ErrNamespace)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	v := must[*keys.Vault](t)(keys.New(store, keys.Options{}))
	if _, err := v.Accounts(cancelled); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
