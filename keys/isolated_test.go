package keys_test

import (
	"fmt"
	"slices"
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
			b.unlock(t)
			check("unlocked again", b)
			again.unlock(t)
			check("another process", again)
		})
	}
}
