package config

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// FuzzInstalledExtensions: the file is refused, or all that it lets in is let in.
func FuzzInstalledExtensions(f *testing.F) {
	for _, s := range []string{`{"chromium":["a"],"firefox":["b@c"]}`, `{"chromium":null}`, `{"chrome":[]}`, `{} {}`, `[]`, `null`, ``} {
		f.Add([]byte(s))
	}
	path := filepath.Join(f.TempDir(), "extensions.json")
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		c := Default()
		c.ExtensionsFile = path
		if c.readExtensions() != nil {
			return
		}
		for _, id := range c.LetIn.Chromium {
			if !slices.Contains(c.Extensions.Chromium, id) {
				t.Errorf("%q is not let in", id)
			}
		}
	})
}
