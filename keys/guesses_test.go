package keys_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"swapkeep/keys"
)

var wrongPassword = []byte("not the password at all")

// guessed is a vault with so many wrong guesses behind it, each of which waited.
func guessed(t *testing.T, times int) (b *bench, record string) {
	t.Helper()
	record = filepath.Join(t.TempDir(), "guesses.json")
	b = newBench(t, keys.Options{Guesses: record})
	b.create(t, "Main")
	for range times {
		b.clock.Advance(time.Minute)
		wantErr(t, "guess", b.Unlock(t.Context(), wrongPassword), keys.ErrWrongPassword)
	}
	return b, record
}

// waits is how long the vault refuses to try any password.
func waits(t *testing.T, b *bench) time.Duration {
	t.Helper()
	s := must[keys.Status](t)(b.Status(t.Context()))
	if s.RetryAt.IsZero() {
		return 0
	}
	return s.RetryAt.Sub(b.clock.Now())
}

// restarted is the vault's next process, with another clock if moved is not 0.
func restarted(t *testing.T, b *bench, record string, moved time.Duration) *bench {
	t.Helper()
	store := must[*keys.Store](t)(keys.NewStore(b.chain, namespace, keys.Limits{}))
	b.clock.Advance(moved)
	return &bench{must[*keys.Vault](t)(keys.New(store, keys.Options{KDF: cheap, Clock: b.clock, Guesses: record})), b.chain, b.clock}
}

func TestGuessesOutliveTheProcess(t *testing.T) {
	b, record := guessed(t, 8)
	if info, err := os.Stat(record); err != nil || info.Mode().Perm() != 0o600 || info.Size() > 100 {
		t.Errorf("the record: %v, %v", info, err)
	}
	for range 3 {
		b = restarted(t, b, record, 0)
		if wait := waits(t, b); wait != time.Minute {
			t.Errorf("after a restart the wait is %v", wait)
		}
		wantErr(t, "the right password too early", b.Unlock(t.Context(), password), keys.ErrBackoff)
	}
	b = restarted(t, b, record, 59*time.Second)
	wantErr(t, "a second too early", b.Unlock(t.Context(), password), keys.ErrBackoff)
	b.clock.Advance(time.Second)
	b.unlock(t)
	if _, err := os.Stat(record); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the right password leaves the record: %v", err)
	}
	if wait := waits(t, restarted(t, b, record, 0)); wait != 0 {
		t.Errorf("after the right password the wait is %v", wait)
	}
}

// Who sets the clock back is neither locked out for longer than the wait, nor free of it.
func TestGuessesAndAClockThatWasSetBack(t *testing.T) {
	b, record := guessed(t, 8)
	b = restarted(t, b, record, -1000*time.Hour)
	if wait := waits(t, b); wait != time.Minute {
		t.Errorf("the wait is %v", wait)
	}
	b.clock.Advance(time.Minute)
	b.unlock(t)
}

// A record that is not as we write them is the longest wait, and no longer.
func TestDamagedGuesses(t *testing.T) {
	for name, text := range map[string]string{
		"empty": "", "no JSON": "{", "cut": `{"version":1,"wrong":8,"at":"2026-`, "another version": `{"version":2,"wrong":1,"at":"2026-01-02T03:04:05Z"}`,
		"none": `{"version":1,"wrong":0,"at":"2026-01-02T03:04:05Z"}`, "negative": `{"version":1,"wrong":-3,"at":"2026-01-02T03:04:05Z"}`,
		"no time": `{"version":1,"wrong":3}`, "too many": `{"version":1,"wrong":9999999999,"at":"2026-01-02T03:04:05Z"}`,
		"too long": `{"version":1,"wrong":3,"at":"2026-01-02T03:04:05Z"}` + strings.Repeat(" ", 1000),
		"a list":   "[]", "zeros": string(make([]byte, 64)),
	} {
		t.Run(name, func(t *testing.T) {
			b, record := guessed(t, 1)
			if err := os.WriteFile(record, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			b = restarted(t, b, record, 0)
			if wait := waits(t, b); wait != time.Minute {
				t.Errorf("the wait is %v", wait)
			}
			b.clock.Advance(time.Minute)
			b.unlock(t)
		})
	}
}

// Who removes the record has the count forgotten by the next process, and by that alone:
// who can remove it can read the wallets' items and guess without a vault.
func TestRemovedGuessesAreForgottenByTheNextProcess(t *testing.T) {
	b, record := guessed(t, 8)
	if err := os.Remove(record); err != nil {
		t.Fatal(err)
	}
	if wait := waits(t, b); wait != time.Minute {
		t.Errorf("the process that counted waits %v", wait)
	}
	if wait := waits(t, restarted(t, b, record, 0)); wait != 0 {
		t.Errorf("the next one waits %v", wait)
	}
}

// A guess is on the disk before it is made: who kills the process at any time gains none.
func TestGuessIsKeptBeforeItIsMade(t *testing.T) {
	b, record := guessed(t, 3)
	b.clock.Advance(time.Minute)
	before, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	var during []byte
	b.chain.Before = func(string, string, string) error {
		during, _ = os.ReadFile(record) // the last time with the wallet's item
		return nil
	}
	wantErr(t, "guess", b.Unlock(t.Context(), wrongPassword), keys.ErrWrongPassword)
	if bytes.Equal(before, during) || !bytes.Contains(during, []byte(`"wrong":4`)) {
		t.Errorf("while the wallet is read the record is %s", during)
	}
}

// Where nothing can be written down every wrong guess waits the longest, and the right
// password opens all the same.
func TestGuessesThatCannotBeKept(t *testing.T) {
	b := newBench(t, keys.Options{Guesses: filepath.Join(t.TempDir(), "no such folder", "guesses.json")})
	b.create(t, "Main")
	b.unlock(t)
	b.Lock()
	wantErr(t, "guess", b.Unlock(t.Context(), wrongPassword), keys.ErrWrongPassword)
	if wait := waits(t, b); wait != time.Minute {
		t.Errorf("the wait is %v", wait)
	}
	b.clock.Advance(time.Minute)
	b.unlock(t)
}
