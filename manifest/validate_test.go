package manifest_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"swapkeep/manifest"
	"swapkeep/manifest/manifesttest"
)

const program = "/opt/swapkeep/swapkeep"

func TestValidate(t *testing.T) {
	var table bytes.Buffer
	for _, c := range manifesttest.Cases() {
		fmt.Fprintf(&table, "%s | %s | %s", c.Name, c.System, c.Evidence)
		if c.Stricter != "" {
			fmt.Fprintf(&table, " | stricter than %s", c.Stricter)
		}
		fmt.Fprintln(&table)
		for _, f := range manifest.Families() {
			file := c.File(f, manifesttest.ID(f), program)
			err := manifest.Validate(f, c.System, c.Host, file)
			if (err == nil) != c.Accepted(f) || err != nil && !errors.Is(err, manifest.ErrInvalid) {
				t.Errorf("%s, %s %s: want accepted %t: %v\n%s", f, c.Name, c.System, c.Accepted(f), err, file)
			}
			says := "accepted"
			if err != nil {
				says = strings.TrimPrefix(err.Error(), manifest.ErrInvalid.Error()+": ")
			}
			fmt.Fprintf(&table, "\t%-8s  %s\n", f, says)
		}
	}
	golden(t, "validation.golden", table.Bytes())
	if err := manifest.Validate("netscape", "linux", manifest.HostName, nil); !errors.Is(err, manifest.ErrInvalid) {
		t.Errorf("no such family: %v", err)
	}
}

// A manifest that is rendered for a system is valid there.
func TestRenderIsForItsSystem(t *testing.T) {
	for _, tt := range []struct {
		goos, path string
		ok         bool
	}{
		{"linux", program, true},
		{"darwin", "/Users/ann/Library/Application Support/swapkeep/lib/current/swapkeep", true},
		{"windows", `C:\Users\ann\AppData\Local\swapkeep\bin\swapkeep.exe`, true},
		{"linux", `C:\swapkeep.exe`, false},
		{"darwin", "swapkeep", false},
	} {
		b, err := manifest.Render(manifest.Firefox, tt.goos, tt.path, []string{manifesttest.ID(manifest.Firefox)})
		if (err == nil) != tt.ok || (b != nil) != tt.ok {
			t.Errorf("%s for %s: %s, %v", tt.path, tt.goos, b, err)
		}
	}
}

// A valid file allows only what it names, and has what its family requires.
func FuzzValidate(f *testing.F) {
	for _, family := range manifest.Families() {
		file, err := manifest.Render(family, "linux", program, []string{manifesttest.ID(family)})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(family), "linux", manifest.HostName, file)
	}
	f.Fuzz(func(t *testing.T, family, goos, host string, file []byte) {
		fam := manifest.Family(family)
		if manifest.Validate(fam, goos, host, file) != nil {
			return
		}
		var m map[string]any
		if err := json.Unmarshal(bytes.TrimPrefix(file, []byte("\xef\xbb\xbf")), &m); err != nil {
			t.Fatal(err)
		}
		path := m["path"].(string)
		if m["name"] != host || m["type"] != "stdio" || path == "" || goos != "windows" && path[0] != '/' {
			t.Fatalf("accepted %q for %q on %s", file, host, goos)
		}
		if fam == manifest.Firefox && len(m) != 5 || fam == manifest.Chromium && m["description"] == "" {
			t.Fatalf("%s accepts %q", family, file)
		}
		allowed := m[map[manifest.Family]string{manifest.Chromium: "allowed_origins", manifest.Firefox: "allowed_extensions"}[fam]].([]any)
		if len(allowed) == 0 || slices.ContainsFunc(allowed, func(entry any) bool { return !names(fam, entry.(string)) }) {
			t.Fatalf("%s accepts the list %q", family, allowed)
		}
		if err := manifest.Validate(fam, "windows", host, file); err != nil {
			t.Fatalf("accepted on %s and not on Windows: %v", goos, err)
		}
	})
}

// names reports whether an entry names exactly one extension, in the family's form.
func names(f manifest.Family, entry string) bool {
	if f == manifest.Firefox {
		return f.ValidID(entry)
	}
	id := strings.TrimSuffix(strings.TrimPrefix(entry, "chrome-extension://"), "/")
	return f.ValidID(id) && manifest.ChromiumOrigin(id) == entry
}
