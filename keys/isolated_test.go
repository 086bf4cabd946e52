package keys_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"swapkeep/keys"
)

// The first isolated accounts, computed by a program of its own from BIP-32, BIP-39 and
// RFC 5869: of the published test mnemonic and of ownMnemonic m/44'/60'/0'/1/0/k, of
// strayKey by HKDF.
var (
	testIsolated  = []string{"0xA4F0F9a955b5e4e036BD5bC785F413eD67402Fed", "0x4CC17bB8d2921e7150Ac800752828c3e9Ab81d24", "0xE3154cb746502eeba829584037F1c0d20B63b961"}
	ownIsolated   = []string{"0x213806B36bC43A2B16a2b6B1B14A7B94cfF974bc", "0x370DE482736CeB9f5e64954D1A57c8a1cDA4DA13", "0xbd19dccD4ddF38eA4D9016C43103C20FEf060881"}
	strayIsolated = []string{"0x336dadc76525CEEb5A7662535631bBefF05f1D87", "0x386789aa73f9fB656a692d429Ed7b3854f70DD69"}
)

// signs checks that the vault signs and seals for an account, or that it does not with
// want.
func (b *bench) signs(t *testing.T, what string, at common.Address, want error) {
	t.Helper()
	_, err := b.SignTx(t.Context(), at, transfer(1), chain(1))
	wantErr(t, what+": transaction", err, want)
	_, err = b.SignTypedData(t.Context(), at, permits(t)[0].typedData())
	wantErr(t, what+": typed data", err, want)
	_, err = b.Seal(at, []byte("m"))
	wantErr(t, what+": seal", err, want)
}

func (b *bench) taken(t *testing.T) (all []string) {
	t.Helper()
	for _, i := range must[[]keys.Isolated](t)(b.TakenIsolated(t.Context())) {
		all = append(all, fmt.Sprintf("%s/%d %s", i.Owner, i.Number, i.Address))
	}
	return all
}

// TestIsolated takes isolated accounts of a wallet made from words and of a single key.
func TestIsolated(t *testing.T) {
	for name, c := range map[string]struct {
		sandbox bool
		words   string // "": strayKey
		want    []string
	}{
		"test mnemonic": {true, testMnemonic, testIsolated},
		"own mnemonic":  {false, ownMnemonic, ownIsolated},
		"single key":    {false, "", strayIsolated},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, keys.Options{Sandbox: c.sandbox})
			var w keys.Wallet
			if c.words == "" {
				w = must[keys.Wallet](t)(b.ImportKey(t.Context(), "", []byte(strayKey), password))
			} else {
				w = must[keys.Wallet](t)(b.ImportMnemonic(t.Context(), "", []byte(c.words), password))
			}
			owner, first := w.Accounts[0].Address, common.HexToAddress(c.want[0])
			_, err := b.NextIsolated(t.Context(), owner, 0)
			wantErr(t, "next while locked", err, keys.ErrLocked)
			wantErr(t, "take while locked", b.TakeIsolated(t.Context(), owner, 0), keys.ErrLocked)
			_, err = b.TakenIsolated(t.Context())
			wantErr(t, "list while locked", err, keys.ErrLocked)
			b.unlock(t)
			before := b.chain.Items(service)["index"]
			for k, want := range c.want {
				for range 2 { // may be repeated
					got := must[keys.Isolated](t)(b.NextIsolated(t.Context(), owner, uint32(k)))
					if got != (keys.Isolated{Owner: owner, Number: uint32(k), Address: common.HexToAddress(want)}) {
						t.Errorf("isolated account %d: %+v, want %s", k, got, want)
					}
				}
			}
			if after := b.chain.Items(service)["index"]; after != before || len(b.taken(t)) != 0 {
				t.Errorf("a look recorded something: %s", after)
			}
			b.signs(t, "looked up", first, keys.ErrUnknownAccount)

			// Number 1 is taken, and with it 0.
			if err := b.TakeIsolated(t.Context(), owner, 1); err != nil {
				t.Fatal(err)
			}
			want := []string{fmt.Sprintf("%s/0 %s", owner, c.want[0]), fmt.Sprintf("%s/1 %s", owner, c.want[1])}
			again := b.again(t, keys.Options{Sandbox: c.sandbox})
			check := func(what string, b *bench) {
				t.Helper()
				if got := b.taken(t); !slices.Equal(got, want) {
					t.Errorf("%s: taken %v, want %v", what, got, want)
				}
				for _, at := range c.want[:2] {
					b.signs(t, what, common.HexToAddress(at), nil)
				}
				wantErr(t, what+": twice", b.TakeIsolated(t.Context(), owner, 1), keys.ErrIsolatedTaken)
				wantErr(t, what+": lower", b.TakeIsolated(t.Context(), owner, 0), keys.ErrIsolatedTaken)
				if next := must[keys.Isolated](t)(b.NextIsolated(t.Context(), owner, 0)); next.Number != 2 {
					t.Errorf("%s: next is %d", what, next.Number)
				}
				if accounts := must[[]keys.Account](t)(b.Accounts(t.Context())); len(accounts) != 1 {
					t.Errorf("%s: listed %v", what, accounts)
				}
				_, err := b.Export(t.Context(), keys.Export{Form: keys.FormKey, Account: first, Password: password})
				if !c.sandbox {
					wantErr(t, what+": export", err, keys.ErrUnknownAccount)
				}
			}
			check("taken", b)
			b.Lock()
			b.signs(t, "locked", first, keys.ErrLocked)
			if next := must[keys.Isolated](t)(b.NextIsolated(t.Context(), owner, 0)); next.Number != 2 {
				t.Errorf("while locked the next is %d", next.Number)
			}
			_, err = b.NextIsolated(t.Context(), owner, 3)
			wantErr(t, "locked, one not named before", err, keys.ErrLocked)
			b.unlock(t)
			check("unlocked again", b)
			again.unlock(t)
			check("another process", again)
		})
	}
}

// TestIsolatedOfSeveral takes isolated accounts of two accounts and a second wallet, and
// removes one wallet.
func TestIsolatedOfSeveral(t *testing.T) {
	b := newBench(t, keys.Options{})
	one, two := must[keys.Wallet](t)(b.ImportMnemonic(t.Context(), "", []byte(ownMnemonic), password)), b.create(t, "Two")
	b.unlock(t)
	added := must[keys.Account](t)(b.Add(t.Context(), one.ID, ""))
	owners := []common.Address{one.Accounts[0].Address, added.Address, two.Accounts[0].Address}
	var at []common.Address
	for _, owner := range owners {
		at = append(at, must[keys.Isolated](t)(b.NextIsolated(t.Context(), owner, 0)).Address)
		if err := b.TakeIsolated(t.Context(), owner, 0); err != nil {
			t.Fatal(err)
		}
	}
	if want := common.HexToAddress("0x93Dd93760c1d19fC7C12a6E67842200A042a98eC"); at[1] != want {
		t.Errorf("m/44'/60'/0'/1/1/0 is %s, want %s", at[1], want)
	}
	if len(b.taken(t)) != 3 {
		t.Errorf("taken %v", b.taken(t))
	}
	stranger := common.Address{9}
	wantErr(t, "stranger", second(b.NextIsolated(t.Context(), stranger, 0)), keys.ErrUnknownAccount)
	wantErr(t, "stranger", b.TakeIsolated(t.Context(), stranger, 0), keys.ErrUnknownAccount)
	wantErr(t, "isolated account of an isolated one", b.TakeIsolated(t.Context(), at[0], 0), keys.ErrUnknownAccount)
	wantErr(t, "the thousand and first", second(b.NextIsolated(t.Context(), owners[0], 1000)), keys.ErrAccountExhausted)
	wantErr(t, "the thousand and first", b.TakeIsolated(t.Context(), owners[0], 1000), keys.ErrAccountExhausted)

	must[keys.Wallet](t)(b.Remove(t.Context(), one.ID, password))
	b.signs(t, "removed", at[0], keys.ErrUnknownAccount)
	b.signs(t, "removed", at[1], keys.ErrUnknownAccount)
	b.signs(t, "the other", at[2], nil)
	if len(b.taken(t)) != 1 {
		t.Errorf("taken %v", b.taken(t))
	}
	// The words bring the accounts back, and a look finds the same ones.
	must[keys.Wallet](t)(b.ImportMnemonic(t.Context(), "", []byte(ownMnemonic), password))
	if again := must[keys.Isolated](t)(b.NextIsolated(t.Context(), owners[0], 0)); again.Address != at[0] {
		t.Errorf("after the removal %s, before %s", again.Address, at[0])
	}
	if err := b.TakeIsolated(t.Context(), owners[0], 0); err != nil {
		t.Fatal(err)
	}
	b.signs(t, "taken again", at[0], nil)
}

// TestIsolatedOfADamagedWallet checks that who signs for an isolated account waits while
// its wallet does not open. The index does not tell whose it is.
func TestIsolatedOfADamagedWallet(t *testing.T) {
	b := newBench(t, keys.Options{})
	one, two := b.create(t, "One"), b.create(t, "Two")
	b.unlock(t)
	owner := two.Accounts[0].Address
	at := must[keys.Isolated](t)(b.NextIsolated(t.Context(), owner, 0)).Address
	if err := b.TakeIsolated(t.Context(), owner, 0); err != nil {
		t.Fatal(err)
	}
	if err := b.chain.Set(service, "wallet/2", "x"); err != nil {
		t.Fatal(err)
	}
	b.unlock(t)
	b.signs(t, "damaged", at, keys.ErrLocked)
	wantErr(t, "next", second(b.NextIsolated(t.Context(), owner, 0)), keys.ErrLocked)
	wantErr(t, "take", b.TakeIsolated(t.Context(), owner, 1), keys.ErrLocked)
	b.signs(t, "the other", one.Accounts[0].Address, nil)
	must[keys.Wallet](t)(b.Remove(t.Context(), two.ID, password))
	b.signs(t, "removed", at, keys.ErrUnknownAccount)
}

// TestListedIsNotIsolated imports the key of an isolated account, which only who derives
// it elsewhere can know. From then on it may own anything.
func TestListedIsNotIsolated(t *testing.T) {
	const ofOwnIsolated0 = "0x1c732ffb5d650534af4713b3f664f74ebd3680532514a868158ded99c9301939"
	b := newBench(t, keys.Options{})
	w := must[keys.Wallet](t)(b.ImportMnemonic(t.Context(), "", []byte(ownMnemonic), password))
	owner, at := w.Accounts[0].Address, common.HexToAddress(ownIsolated[0])
	b.unlock(t)
	if err := b.TakeIsolated(t.Context(), owner, 0); err != nil {
		t.Fatal(err)
	}
	k := must[keys.Wallet](t)(b.ImportKey(t.Context(), "", []byte(ofOwnIsolated0), password))
	if k.Accounts[0].Address != at {
		t.Fatalf("another key: %s", k.Accounts[0].Address)
	}
	for range 2 {
		if got := b.taken(t); len(got) != 0 {
			t.Errorf("taken %v", got)
		}
		b.signs(t, "listed", at, nil)
		b.unlock(t)
	}

	other := newBench(t, keys.Options{})
	must[keys.Wallet](t)(other.ImportKey(t.Context(), "", []byte(ofOwnIsolated0), password))
	must[keys.Wallet](t)(other.ImportMnemonic(t.Context(), "", []byte(ownMnemonic), password))
	other.unlock(t)
	if next := must[keys.Isolated](t)(other.NextIsolated(t.Context(), owner, 0)); next.Number != 1 {
		t.Errorf("a listed account is offered: %+v", next)
	}
	wantErr(t, "a listed account", other.TakeIsolated(t.Context(), owner, 0), keys.ErrIsolatedTaken)
}

// TestTakingIsAllOrNothing fails the keychain at every step. An account that was reported
// as taken is taken, and none is taken twice.
func TestTakingIsAllOrNothing(t *testing.T) {
	for step := 1; step <= 3; step++ { // read, write, read back
		for _, restart := range []bool{false, true} {
			b := newBench(t, keys.Options{})
			owner := b.create(t, "").Accounts[0].Address
			b.unlock(t)
			n := 0
			b.chain.Before = func(string, string, string) error {
				if n++; n == step {
					return errBroken
				}
				return nil
			}
			err := b.TakeIsolated(t.Context(), owner, 0)
			if !errors.Is(err, errBroken) {
				t.Errorf("step %d: %v", step, err)
			}
			b.chain.Before = nil
			if restart {
				b = b.again(t, keys.Options{})
			}
			b.unlock(t)
			err = b.TakeIsolated(t.Context(), owner, 0)
			if err != nil && !errors.Is(err, keys.ErrIsolatedTaken) {
				t.Errorf("step %d: again: %v", step, err)
			}
			if len(b.taken(t)) != 1 {
				t.Errorf("step %d: taken %v", step, b.taken(t))
			}
		}
	}
}

// TestIsolatedCountIsTrusted checks what docs/security.md says of somebody who writes the
// index: a count that was lowered has an account offered again, and one that was raised
// only uses numbers up.
func TestIsolatedCountIsTrusted(t *testing.T) {
	b := newBench(t, keys.Options{})
	owner := b.create(t, "").Accounts[0].Address
	b.unlock(t)
	if err := b.TakeIsolated(t.Context(), owner, 4); err != nil {
		t.Fatal(err)
	}
	index := b.chain.Items(service)["index"]
	for count, want := range map[string]uint32{`"i":2`: 2, `"i":900`: 900} {
		if err := b.chain.Set(service, "index", strings.Replace(index, `"i":5`, count, 1)); err != nil {
			t.Fatal(err)
		}
		other := b.again(t, keys.Options{})
		other.unlock(t)
		if next := must[keys.Isolated](t)(other.NextIsolated(t.Context(), owner, 0)); next.Number != want || len(other.taken(t)) != int(want) {
			t.Errorf("%s: next is %d, %d taken", count, next.Number, len(other.taken(t)))
		}
	}
}
