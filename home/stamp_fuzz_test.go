package home

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// FuzzStamp checks that a stamp is either complete, with a namespace, or ErrStamp.
func FuzzStamp(f *testing.F) {
	for _, s := range []string{
		`{"version":1,"sandbox":true,"namespace":"0123456789abcdef"}`, `{"version":2,"sandbox":true,"namespace":"0123456789abcdef"}`,
		`{"version":1,"namespace":""}`, `{"version":"1"}`, `{`, ``, `null`,
	} {
		f.Add([]byte(s))
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(filepath.Join(dir, "home.json"), text, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := readStamp(dir)
		switch {
		case err != nil && !errors.Is(err, ErrStamp):
			t.Fatal(err)
		case err == nil && (s.Version != 1 || len(s.Namespace) != 16):
			t.Fatalf("%q is read as %+v", text, s)
		}
	})
}
