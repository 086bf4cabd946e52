package installer

import (
	"slices"
	"testing"
)

// Windows paths, including those on shares.
func TestPathsOfWindows(t *testing.T) {
	m := Machine{OS: "windows"}
	for _, c := range []struct {
		path   string
		abs    bool
		parent string
	}{
		{`C:\Users\ann`, true, `C:\Users`},
		{`C:\Users`, true, `C:\`},
		{`Users\ann`, false, `Users`},
		{`\Users\ann`, false, `\Users`},
		{`\\files\home\ann`, true, `\\files\home`},
		{`\\files\home`, true, `\\files\home`},
		{`\\files`, false, `\`},
		{`\\.\pipe\swapkeep`, false, `\\.\pipe`},
		{`\\?\C:\Users`, false, `\\?\C:`},
		{`HKCU\Software`, false, `HKCU`},
	} {
		if abs, parent := m.isAbs(c.path), m.parent(c.path); abs != c.abs || abs && parent != c.parent {
			t.Errorf("%s: absolute %t, in %s", c.path, abs, parent)
		}
		if joined := m.join(c.path); joined != c.path && c.abs {
			t.Errorf("%s joined is %s", c.path, joined)
		}
	}
	elem := []string{`\\files\home`, `ann/swapkeep`, `..`, `bin`}
	kept := slices.Clone(elem)
	if got := m.join(elem...); got != `\\files\home\ann\bin` || !slices.Equal(elem, kept) {
		t.Errorf("joined %s of %v", got, elem)
	}
	if got := m.base(`\\files\home\ann\x.exe`); got != "x.exe" {
		t.Errorf("the last name is %s", got)
	}
}
