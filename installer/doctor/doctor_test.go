package doctor

import (
	"regexp"
	"slices"
	"testing"

	"swapkeep/host/transport"
	"swapkeep/installer"
	"swapkeep/installer/installertest"
	"swapkeep/manifest"
)

const linuxHost = "/home/ann/.local/lib/swapkeep/0.1.0/swapkeep"

// onLinux returns a Env in memory, with an installation and without a browser.
func onLinux(t testing.TB) (*Env, *installertest.Files) {
	t.Helper()
	files := installertest.NewFiles("/home/ann")
	files.File(linuxHost, "program")
	files.Link("/home/ann/.local/lib/swapkeep/current", "0.1.0")
	return &Env{
		Machine: installer.Machine{OS: "linux", Home: "/home/ann", Env: func(string) string { return "" }, Files: files},
		Version: "0.1.0", Program: linuxHost, Place: transport.Instance{Home: t.TempDir()},
		Allowed: map[manifest.Family][]string{manifest.Chromium: {chromiumID}, manifest.Firefox: {"test@swapkeep.invalid"}},
	}, files
}

// Scripts rely on the ids: they are unique, and lower case with dots.
func TestIDs(t *testing.T) {
	form := regexp.MustCompile(`^[a-z]+(\.[a-z]+)?$`)
	var ids []string
	for _, c := range slices.Concat(slices.Concat(groups...), launchChecks) {
		if !form.MatchString(c.id) || slices.Contains(ids, c.id) {
			t.Errorf("id %q is malformed or used twice", c.id)
		}
		ids = append(ids, c.id)
	}
	for id, title := range titles {
		if title == "" || slices.Contains(ids, id) {
			t.Errorf("the daemon's %q", id)
		}
	}
}

// The launches have their own time limit, whatever the other checks take.
func TestTimeForLaunches(t *testing.T) {
	p, files := onLinux(t)
	files.Folder("/home/ann/.config/chromium")
	found := p.examine(t.Context(), 0)
	late := 0
	for _, f := range found {
		if f.Evidence == noTime.Evidence {
			late++
		}
	}
	if last := found[len(found)-1]; late != len(found)-1 || last.ID != "launch" || last.Evidence == noTime.Evidence {
		t.Errorf("%d of %d have no time; the last: %+v", late, len(found), last)
	}
}

func TestWorst(t *testing.T) {
	for _, row := range []struct {
		of   []Status
		want Status
	}{{nil, OK}, {[]Status{OK, Skipped, OK}, Skipped}, {[]Status{Note, Skipped}, Note}, {[]Status{OK, Fail, Warn}, Fail}} {
		var found []Finding
		for _, s := range row.of {
			found = append(found, Finding{Status: s})
		}
		if got := Worst(found); got != row.want {
			t.Errorf("of %v the worst is %s", row.of, got)
		}
	}
}
