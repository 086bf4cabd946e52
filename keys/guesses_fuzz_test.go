package keys

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// FuzzGuesses: whatever stands in the record, some guess is counted, and nobody is kept
// out for longer than the longest wait.
func FuzzGuesses(f *testing.F) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, seed := range []string{"", "{", "[]", `{"version":1,"wrong":3,"at":"2026-01-02T03:04:00Z"}`, `{"version":1,"wrong":99,"at":"9999-12-31T23:59:59Z"}`, `{"version":2,"wrong":-1,"at":""}`} {
		f.Add([]byte(seed))
	}
	path := filepath.Join(f.TempDir(), "guesses.json")
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		b := guessRecord(path).load(now)
		if wait := b.until(now).Sub(now); b.wrong < 1 || wait > backoffSteps[len(backoffSteps)-1] {
			t.Errorf("%q: %d wrong, wait %v", text, b.wrong, wait)
		}
		if !b.until(now.Add(time.Minute)).IsZero() {
			t.Errorf("%q: locked out for more than a minute", text)
		}
	})
}
