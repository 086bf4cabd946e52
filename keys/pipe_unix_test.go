//go:build unix

package keys

import (
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestGuessesInAPipe: a pipe in the place of the record is the longest wait, and is
// itself not waited for.
func TestGuessesInAPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "guesses.json")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	done := make(chan backoff, 1)
	go func() { done <- guessRecord(path).load(time.Now()) }()
	select {
	case b := <-done:
		if b.wrong != len(backoffSteps) {
			t.Errorf("%d wrong", b.wrong)
		}
	case <-time.After(5 * time.Second):
		t.Fatal("the record is waited for")
	}
}
