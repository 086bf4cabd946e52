package transport

import (
	"errors"
	"path/filepath"
	"testing"
)

// FuzzHome checks that the state directory is always an absolute path, the one that
// SWAPKEEP_HOME names if set, and never derived from a relative one.
func FuzzHome(f *testing.F) {
	for _, s := range [][3]string{{"/h", "", "/home/ann"}, {"h", "/s", "/home/ann"}, {"", "s", "/home/ann"}, {"", "/s/", "home"}, {"", "", ""}, {"/../..", "", ""}, {"", "/s\x00", "/"}, {"//h//.", "", ""}, {" /h", "", "/home/ann"}} {
		f.Add(s[0], s[1], s[2])
	}
	f.Fuzz(func(t *testing.T, own, state, home string) {
		env := map[string]string{HomeVariable: own, "XDG_STATE_HOME": state, "HOME": home, "LOCALAPPDATA": home}
		for _, system := range []string{"linux", "darwin", "windows", "plan9"} {
			got, err := homeOn(system, func(name string) string { return env[name] })
			switch {
			case err != nil && (!errors.Is(err, ErrNoHome) || got != "" || filepath.IsAbs(own)):
				t.Fatalf("%s, %q: %q, %v", system, env, got, err)
			case err == nil && (!filepath.IsAbs(got) || filepath.Clean(got) != got):
				t.Fatalf("%s, %q: %q", system, env, got)
			case err == nil && own != "" && got != filepath.Clean(own):
				t.Fatalf("%s, %q leads to %q", system, env, got)
			case err == nil && own == "" && filepath.Base(got) != "swapkeep":
				t.Fatalf("%s, %q leads to %q", system, env, got)
			}
		}
	})
}
