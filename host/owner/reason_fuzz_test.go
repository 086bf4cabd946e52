package owner

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzReason checks that the last line of a failed daemon's log is one line of valid text
// of limited length, from what was written since the offset.
func FuzzReason(f *testing.F) {
	for _, s := range []string{ReasonPrefix + "no", "a\n" + ReasonPrefix + "no\n\n", "\xff\xfe\n", "", "\n\n", "a\rb", strings.Repeat("long ", 2000), "é\xc3"} {
		f.Add([]byte(s), int64(0))
		f.Add([]byte(s), int64(3))
	}
	f.Add([]byte("x"), int64(99))
	path := filepath.Join(f.TempDir(), "log")
	f.Fuzz(func(t *testing.T, text []byte, from int64) {
		if from < 0 {
			return // offsets are never negative
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		got := lastLine(path, from)
		since := text[min(from, int64(len(text))):]
		if strings.Contains(got, "\n") || !utf8.ValidString(got) || len(got) > maxReason || !strings.Contains(strings.ToValidUTF8(string(since), ""), got) {
			t.Fatalf("%q from %d ends with %q", text, from, got)
		}
		if got == "" && strings.TrimSpace(strings.ToValidUTF8(string(since[max(0, len(since)-maxReason):]), "")) != "" {
			t.Fatalf("%q from %d says nothing", text, from)
		}
	})
}
