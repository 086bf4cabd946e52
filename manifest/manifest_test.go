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
		got, err := Render(family, runtime.GOOS, exe, []string{ids[family], ids[family]})
		if err != nil || string(got) != tests[family] {
			t.Errorf("%s: %v\n%s", family, err, got)
		}
	}
}

func TestRenderRefuses(t *testing.T) {
	for name, render := range map[string]func() ([]byte, error){
		"no extension":                      func() ([]byte, error) { return Render(Chromium, runtime.GOOS, exe, nil) },
		"an id of the other browser family": func() ([]byte, error) { return Render(Chromium, runtime.GOOS, exe, []string{firefoxID}) },
		"a wildcard":                        func() ([]byte, error) { return Render(Chromium, runtime.GOOS, exe, []string{"*"}) },
		"a relative path":                   func() ([]byte, error) { return Render(Firefox, runtime.GOOS, "swapkeep", []string{firefoxID}) },
		"an empty path":                     func() ([]byte, error) { return Render(Firefox, runtime.GOOS, "", []string{firefoxID}) },
		"no UTF-8":                          func() ([]byte, error) { return Render(Firefox, runtime.GOOS, exe+"\xe4", []string{firefoxID}) },
		"unknown family":                    func() ([]byte, error) { return Render("netscape", runtime.GOOS, exe, []string{firefoxID}) },
		"one bad of three":                  func() ([]byte, error) { return Render(Firefox, runtime.GOOS, exe, []string{firefoxID, "x", "{}"}) },
	} {
		if b, err := render(); !errors.Is(err, ErrInvalid) || b != nil {
			t.Errorf("%s: %s, %v", name, b, err)
		}
	}
}

func TestChromiumID(t *testing.T) {
	// SHA-256 of "key" begins 2c70e12b 7a0646f9 2279f427 c7b38e73.
	if id, err := ChromiumID("a2V5"); err != nil || id != "cmhaobclhkagegpjcchjpechmhldiohd" {
		t.Fatalf("ChromiumID = %s, %v, want cmhaobclhkagegpjcchjpechmhldiohd", id, err)
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

// TestReleased: a malformed id would allow nothing.
func TestReleased(t *testing.T) {
	for family, ids := range Released {
		for _, id := range ids {
			if !family.ValidID(id) {
				t.Errorf("%s has no id %q", family, id)
			}
		}
	}
}
