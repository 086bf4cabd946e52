package keys

import (
	"bytes"
	"encoding/hex"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
)

// TestSealIsHMACUnderADerivedKey compares seals with those that RFC 2104 and RFC 5869
// give, computed by another program.
func TestSealIsHMACUnderADerivedKey(t *testing.T) {
	for message, want := range map[string]string{
		"":                         "81ca055fb03bd80eb62bd88312881ba921b749a1f735b65022e4ca1309113555",
		"an order":                 "2bf8e75924ca0d3fecf1fa79cd246bb5b6841b3de53ca1e0a4ab4038a6d79cef",
		strings.Repeat("\a", 5000): "53d81a5e98f5c56d1734ccb0a3126ef5e021a8b5a99e732f35c12ef658d087a6",
	} {
		if got, err := seal(bytes.Repeat([]byte{1}, 32), []byte(message)); err != nil || hex.EncodeToString(got) != want {
			t.Errorf("%d bytes: %x, %v, want %s", len(message), []byte(got), err, want)
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
	clock := &manualClock{now: time.Now()}
	v, err := New(store, Options{KDF: fastKDF, Clock: clock, AttemptInterval: -1, AutoLock: time.Minute})
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

// manualClock is a clock that only the test moves and whose timers never fire.
type manualClock struct{ now time.Time }

func (c *manualClock) Now() time.Time { return c.now }
func (c *manualClock) AfterFunc(time.Duration, func()) func() bool {
	return func() bool { return true }
}
