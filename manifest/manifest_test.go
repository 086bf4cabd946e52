package manifest

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

var (
	chromiumID = strings.Repeat("abcdefghijklmnop", 2)
	firefoxID  = "test@swapkeep.invalid"
	exe        = absolute()
)

func absolute() string {
	if runtime.GOOS == "windows" {
		return `C:\Swapkeep\swapkeep.exe`
	}
	return "/opt/swapkeep/swapkeep"
}

func TestRender(t *testing.T) {
	path, err := json.Marshal(exe)
	if err != nil {
		t.Fatal(err)
	}
	tests := map[Family]string{
		Chromium: `{
  "allowed_origins": [
    "chrome-extension://` + chromiumID + `/"
  ],
  "description": "Swapkeep: a wallet's keys and swaps, outside the browser",
  "name": "app.swapkeep.host",
  "path": ` + string(path) + `,
  "type": "stdio"
}
`,
		Firefox: `{
  "allowed_extensions": [
    "test@swapkeep.invalid"
  ],
  "description": "Swapkeep: a wallet's keys and swaps, outside the browser",
  "name": "app.swapkeep.host",
  "path": ` + string(path) + `,
  "type": "stdio"
}
`,
	}
	ids := map[Family]string{Chromium: chromiumID, Firefox: firefoxID}
	for _, family := range Families() {
		got, err := Render(family, exe, []string{ids[family], ids[family]})
		if err != nil || string(got) != tests[family] {
			t.Errorf("%s: %v\n%s", family, err, got)
		}
	}
}

func TestRenderRefuses(t *testing.T) {
	for name, render := range map[string]func() ([]byte, error){
		"no extension":     func() ([]byte, error) { return Render(Chromium, exe, nil) },
		"another's id":     func() ([]byte, error) { return Render(Chromium, exe, []string{firefoxID}) },
		"a wildcard":       func() ([]byte, error) { return Render(Chromium, exe, []string{"*"}) },
		"a relative path":  func() ([]byte, error) { return Render(Firefox, "swapkeep", []string{firefoxID}) },
		"an empty path":    func() ([]byte, error) { return Render(Firefox, "", []string{firefoxID}) },
		"no such family":   func() ([]byte, error) { return Render("netscape", exe, []string{firefoxID}) },
		"one bad of three": func() ([]byte, error) { return Render(Firefox, exe, []string{firefoxID, "x", "{}"}) },
	} {
		if b, err := render(); !errors.Is(err, ErrInvalid) || b != nil {
			t.Errorf("%s: %s, %v", name, b, err)
		}
	}
}

// What both browsers did with these files was measured; see the package's
// sources.
func TestValidate(t *testing.T) {
	chromium := members("allowed_origins", ChromiumOrigin(chromiumID))
	firefox := members("allowed_extensions", firefoxID)
	tests := []struct {
		name     string
		family   Family
		file     map[string]any
		fileName string
		accepted bool
	}{
		{"plain", Chromium, chromium, FileName, true},
		{"plain", Firefox, firefox, FileName, true},
		{"extra key", Chromium, with(chromium, "note", "x"), FileName, true},
		{"extra key", Firefox, with(firefox, "note", "x"), FileName, false},
		{"both lists", Chromium, with(chromium, "allowed_extensions", []string{firefoxID}), FileName, true},
		{"both lists", Firefox, with(firefox, "allowed_origins", []string{ChromiumOrigin(chromiumID)}), FileName, false},
		{"no description", Chromium, with(chromium, "description", nil), FileName, false},
		{"empty description", Firefox, with(firefox, "description", ""), FileName, false},
		{"other file name", Chromium, chromium, "other.json", false},
		{"other file name", Firefox, firefox, "other.json", false},
		{"upper-case name", Chromium, with(chromium, "name", "App.host"), "App.host.json", false},
		{"upper-case name", Firefox, with(firefox, "name", "App.host"), "App.host.json", true},
		{"double dot", Chromium, with(chromium, "name", "app..host"), "app..host.json", false},
		{"leading dot", Firefox, with(firefox, "name", ".host"), ".host.json", false},
		{"other type", Chromium, with(chromium, "type", "pipe"), FileName, false},
		{"relative path", Firefox, with(firefox, "path", "swapkeep"), FileName, false},
		{"no slash", Chromium, members("allowed_origins", "chrome-extension://"+chromiumID), FileName, false},
		{"wildcard", Chromium, members("allowed_origins", "chrome-extension://*/"), FileName, false},
		{"one bad entry", Chromium, with(chromium, "allowed_origins", []string{ChromiumOrigin(chromiumID), "x"}), FileName, false},
		{"other scheme", Firefox, members("allowed_extensions", "chrome-extension://"+firefoxID+"/"), FileName, false},
		{"uuid", Firefox, members("allowed_extensions", "{0123abcd-0123-4567-89ab-0123456789ab}"), FileName, true},
		{"no list", Chromium, with(chromium, "allowed_origins", nil), FileName, false},
		{"list is text", Firefox, with(firefox, "allowed_extensions", firefoxID), FileName, false},
		{"name is a number", Firefox, with(firefox, "name", 1), FileName, false},
	}
	for _, tt := range tests {
		file, err := json.Marshal(tt.file)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range [][]byte{file, append([]byte("\xef\xbb\xbf"), file...)} {
			if err := Validate(tt.family, tt.fileName, text); (err == nil) != tt.accepted || err != nil && !errors.Is(err, ErrInvalid) {
				t.Errorf("%s, %s: %v", tt.family, tt.name, err)
			}
		}
	}
	for _, text := range []string{"", "null", "[]", "{", `{"name":`} {
		if err := Validate(Chromium, FileName, []byte(text)); !errors.Is(err, ErrInvalid) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if err := Validate("netscape", FileName, nil); !errors.Is(err, ErrInvalid) {
		t.Errorf("no such family: %v", err)
	}
}

func members(list, entry string) map[string]any {
	return map[string]any{"name": HostName, "description": "d", "path": exe, "type": "stdio", list: []string{entry}}
}

// with is a copy of m in which key has a value, or is not there for nil.
func with(m map[string]any, key string, value any) map[string]any {
	out := map[string]any{}
	for k, v := range m {
		out[k] = v
	}
	out[key] = value
	if value == nil {
		delete(out, key)
	}
	return out
}

func TestChromiumID(t *testing.T) {
	// SHA-256 of "key" begins 2c70e12b 7a0646f9 2279f427 c7b38e73.
	if id, err := ChromiumID("a2V5"); err != nil || id != "cmhaobclhkagegpjcchjpechmhldiohd" {
		t.Fatalf("%s, %v", id, err)
	}
	for _, key := range []string{"", "not base64!"} {
		if id, err := ChromiumID(key); err == nil {
			t.Errorf("%q gave %s", key, id)
		}
	}
}

func TestFileNameIsPlain(t *testing.T) {
	if filepath.Base(FileName) != FileName || !rules[Chromium].name(HostName) {
		t.Fatal("a browser would not look for this name")
	}
}

// A file that validates is one that can be read back, whatever is in it.
func FuzzValidate(f *testing.F) {
	for _, family := range Families() {
		ids := map[Family]string{Chromium: chromiumID, Firefox: firefoxID}
		file, err := Render(family, exe, []string{ids[family]})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(family), FileName, file)
	}
	f.Add("firefox", "a.json", []byte(`{"name":"a","allowed_extensions":[]}`))
	f.Fuzz(func(t *testing.T, family, name string, file []byte) {
		if Validate(Family(family), name, file) != nil {
			return
		}
		var m struct{ Name, Path, Description, Type string }
		text := strings.TrimPrefix(string(file), "\xef\xbb\xbf")
		if err := json.Unmarshal([]byte(text), &m); err != nil || m.Name+".json" != name || m.Type != "stdio" {
			t.Fatalf("accepted %q as %s: %+v, %v", file, name, m, err)
		}
	})
}

// TestReleased: an id that is out of form would let nobody in.
func TestReleased(t *testing.T) {
	for family, ids := range Released {
		for _, id := range ids {
			if !family.ValidID(id) {
				t.Errorf("%s has no id %q", family, id)
			}
		}
	}
}
