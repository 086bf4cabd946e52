package config

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"unicode/utf8"
)

// FuzzInstalledExtensions: the file is either refused, or exactly the extensions that it
// names are allowed, for both browser families.
func FuzzInstalledExtensions(f *testing.F) {
	for _, s := range []string{`{"chromium":["a"],"firefox":["b@c"]}`, `{"chromium":null}`, `{"firefox":["a@b","a@b",""]}`, `{"firefox":["a@b"],"allow_unknown":true}`, `{"chrome":[]}`, `{} {}`, `[]`, `null`, ``} {
		f.Add([]byte(s))
	}
	path := filepath.Join(f.TempDir(), "extensions.json")
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		c := Default()
		c.ExtensionsFile = path
		if c.readExtensions(newPathChecker()) != nil {
			return
		}
		for family, lists := range map[string][2][]string{
			"chromium": {c.Installed.Chromium, c.Extensions.Chromium}, "firefox": {c.Installed.Firefox, c.Extensions.Firefox},
		} {
			for _, id := range lists[0] {
				if !slices.Contains(lists[1], id) {
					t.Errorf("%s: %q is not let in", family, id)
				}
			}
			for _, id := range lists[1] {
				if !slices.Contains(lists[0], id) || id != "" && !bytes.Contains(text, []byte(id[:1])) && !bytes.Contains(text, []byte(`\`)) && utf8.Valid(text) {
					t.Errorf("%s: %q, which nobody named, is let in", family, id)
				}
			}
		}
		if c.Extensions.AllowUnknown {
			t.Error("callers without a name are let in")
		}
	})
}
