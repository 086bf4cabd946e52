package keys

import (
	"bytes"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
)

// TestSealIsHMACUnderADerivedKey compares seals with the standard library's HMAC under a
// key derived with HKDF.
func TestSealIsHMACUnderADerivedKey(t *testing.T) {
	for _, message := range [][]byte{nil, []byte("an order"), bytes.Repeat([]byte{7}, 5000)} {
		account := bytes.Repeat([]byte{1}, 32)
		derived, err := hkdf.Key(sha256.New, account, nil, sealInfo, 32)
		if err != nil {
			t.Fatal(err)
		}
		want := hmac.New(sha256.New, derived)
		want.Write(message)
		if got := seal(account, message); !bytes.Equal(got, want.Sum(nil)) {
			t.Errorf("%d bytes: %x, the library says %x", len(message), []byte(got), want.Sum(nil))
		}
	}
}

// TestSeal checks that only an unlocked vault seals, only for its own accounts and with a
// different key for each, and that sealing does not reset the auto-lock timer.
func TestSeal(t *testing.T) {
	files, err := OpenFiles(filepath.Join(t.TempDir(), "keys"))
	if err != nil {
		t.Fatal(err)
	}
	store, err := NewStore(files, "seals", Limits{})
	if err != nil {
		t.Fatal(err)
	}
	clock := &standing{now: time.Now()}
	v, err := New(store, Options{KDF: cheapKDF, Clock: clock, AttemptInterval: -1, AutoLock: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(v.Close)
	password := []byte("seven purple llamas dance")
	w, _, err := v.Create(t.Context(), "", 12, password)
	if err != nil {
		t.Fatal(err)
	}
	at := w.Accounts[0].Address
	if _, err := v.Seal(at, []byte("m")); !errors.Is(err, ErrLocked) {
		t.Errorf("sealed while locked: %v", err)
	}
	if err := v.Unlock(t.Context(), password); err != nil {
		t.Fatal(err)
	}
	other, err := v.Add(t.Context(), w.ID, "")
	if err != nil {
		t.Fatal(err)
	}
	codes := map[[32]byte]bool{}
	for _, account := range []common.Address{at, other.Address} {
		for _, message := range []string{"m", "n"} {
			code, err := v.Seal(account, []byte(message))
			again, errAgain := v.Seal(account, []byte(message))
			if err != nil || errAgain != nil || code != again {
				t.Fatalf("%v, %v: %x and %x", err, errAgain, code, again)
			}
			codes[code] = true
		}
	}
	if len(codes) != 4 {
		t.Errorf("%d codes of two accounts and two messages", len(codes))
	}
	if _, err := v.Seal(common.Address{9}, []byte("m")); !errors.Is(err, ErrUnknownAccount) {
		t.Errorf("sealed for a stranger: %v", err)
	}
	clock.now = clock.now.Add(40 * time.Second)
	if _, err := v.Seal(at, []byte("m")); err != nil {
		t.Fatal(err)
	}
	clock.now = clock.now.Add(40 * time.Second)
	if _, err := v.Seal(at, []byte("m")); !errors.Is(err, ErrLocked) {
		t.Errorf("unused for longer than the automatic lock, and kept open by seals: %v", err)
	}
}

// standing is a clock that only the test moves and whose timers never fire.
type standing struct{ now time.Time }

func (c *standing) Now() time.Time                              { return c.now }
func (c *standing) AfterFunc(time.Duration, func()) func() bool { return func() bool { return true } }
