package installer

import (
	"bytes"
	"slices"
	"testing"

	"swapkeep/manifest"
	"swapkeep/manifest/manifesttest"
)

// FuzzReadManifest: a manifest that a browser accepts is parsed as the browser parses it,
// and written again for another program it allows the same extensions.
func FuzzReadManifest(f *testing.F) {
	for _, family := range manifest.Families() {
		for goos, program := range map[string]string{"linux": "/opt/swapkeep/swapkeep", "windows": `C:\swapkeep\swapkeep.exe`} {
			text, err := manifest.Render(family, goos, program, []string{manifesttest.ID(family)})
			if err != nil {
				f.Fatal(err)
			}
			f.Add(text, goos == "windows")
			f.Add(append([]byte("\xef\xbb\xbf"), text...), goos == "windows")
		}
	}
	for _, s := range []string{`{"path":"swapkeep.exe","allowed_origins":["chrome-extension://x"]}`, `{"path":"","allowed_extensions":null}`, `{"path":7}`, `null`, `[]`, `{"path":"..\\..\\x.exe"}`} {
		f.Add([]byte(s), true)
	}
	f.Fuzz(func(t *testing.T, text []byte, windows bool) {
		m, at, goos := Machine{OS: "linux", Home: "/home/ann"}, "/etc/opt/chrome/app.swapkeep.host.json", "linux"
		if windows {
			m, at, goos = Machine{OS: "windows", Home: `C:\Users\ann`}, `C:\p\app.swapkeep.host.json`, "windows"
		}
		file, err := m.parseManifest(at, text)
		for _, family := range manifest.Families() {
			if manifest.Validate(family, goos, manifest.HostName, text) != nil {
				continue
			}
			if err != nil || file.Path == "" || !m.isAbs(file.program) {
				t.Fatalf("%s accepts %q, which is read as %+v: %v", family, text, file, err)
			}
			if file.family() != family { // it has both lists, and the other family's is ignored
				continue
			}
			again, err := manifest.Render(family, goos, map[bool]string{false: "/new/swapkeep", true: `C:\new\swapkeep.exe`}[windows], file.ids())
			if err != nil {
				t.Fatalf("%q cannot be written again: %v", text, err)
			}
			back, err := m.parseManifest(at, again)
			if want := slices.Compact(slices.Sorted(slices.Values(file.ids()))); err != nil || !slices.Equal(slices.Sorted(slices.Values(back.ids())), want) || bytes.HasPrefix(again, []byte("\xef")) {
				t.Fatalf("%q lets %q in, and before %q: %v", again, back.ids(), want, err)
			}
		}
	})
}

// FuzzOlder: at most one of two versions is older, none is older than itself, and older
// is transitive.
func FuzzOlder(f *testing.F) {
	for _, s := range [][3]string{
		{"0.1.0", "0.2.0-rc", "0.2.0"}, {"1", "1.0.0", "1.0.1"}, {"0.2.0-rc.2", "0.2.0-rc.10", "0.2.0-rc.x"}, {"0.2.0~rc", "0.2.0-rc", "0.2.0+a"},
		{"dev", "", "1..1"}, {"99999999999", "0", "00"}, {"1-~", "1", "1-"}, {"1.2-3-4", "1.2-3.4", "1.2-03"},
	} {
		f.Add(s[0], s[1], s[2])
	}
	f.Fuzz(func(t *testing.T, a, b, c string) {
		switch {
		case Older(a, a):
			t.Fatalf("%q is older than itself", a)
		case Older(a, b) && Older(b, a):
			t.Fatalf("%q and %q are each the older", a, b)
		case Older(a, b) && Older(b, c) && !Older(a, c):
			t.Fatalf("%q is before %q is before %q, and the first not before the last", a, b, c)
		}
	})
}
