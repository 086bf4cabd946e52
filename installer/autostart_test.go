package installer

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"swapkeep/manifest"
)

func nothingSet(string) string { return "" }

func TestAutostart(t *testing.T) {
	for _, c := range []struct {
		m      Machine
		daemon string
		path   []string
		holds  string
	}{
		{Machine{OS: "linux", Home: "/home/ann", Env: nothingSet}, "/home/ann/.local/lib/swapkeep/current/swapkeepd",
			[]string{"/home/ann/.config/systemd/user/swapkeepd.service", "/home/ann/.config/systemd/user/default.target.wants/swapkeepd.service"},
			"\nExecStart=\"/home/ann/.local/lib/swapkeep/current/swapkeepd\"\n"},
		{Machine{OS: "linux", Home: "/home/ann", Env: func(string) string { return "/conf" }}, `/home/50% of $HOME/swapkeepd`,
			[]string{"/conf/systemd/user/swapkeepd.service", "/conf/systemd/user/default.target.wants/swapkeepd.service"},
			"\nExecStart=\"/home/50%% of $HOME/swapkeepd\"\n"},
		{Machine{OS: "darwin", Home: "/Users/ann", Env: nothingSet}, "/Users/ann/R&D <1>/swapkeepd",
			[]string{"/Users/ann/Library/LaunchAgents/app.swapkeep.daemon.plist"}, "<string>/Users/ann/R&amp;D &lt;1&gt;/swapkeepd</string>"},
		{Machine{OS: "windows", Home: `C:\Users\ann`, Env: nothingSet}, `C:\Users\ann b\swapkeepd.exe`,
			[]string{`HKCU\Software\Microsoft\Windows\CurrentVersion\Run`}, `"C:\Users\ann b\swapkeepd.exe"`},
	} {
		changes := autostarts[c.m.OS](c.m, c.daemon)
		if len(changes) != len(c.path) {
			t.Fatalf("%s: %v", c.m.OS, changes)
		}
		for i, change := range changes {
			if change.Path != c.path[i] {
				t.Errorf("%s: %s, want %s", c.m.OS, change.Path, c.path[i])
			}
		}
		if !strings.Contains(changes[0].Content+changes[0].To, c.holds) {
			t.Errorf("%s: no %s in %s%s", c.m.OS, c.holds, changes[0].Content, changes[0].To)
		}
	}
	for _, o := range []planner{
		{m: Machine{OS: "plan9"}, o: Options{Scope: manifest.User, Autostart: true}},
		{m: Machine{OS: "linux"}, o: Options{Scope: manifest.System, Autostart: true}},
		{m: Machine{OS: "linux", Env: nothingSet}, o: Options{Scope: manifest.User, Autostart: true}, layout: Layout{Daemon: `/home/"ann"/swapkeepd`}},
	} {
		if err := o.autostart(); !errors.Is(err, ErrNoAutostart) {
			t.Errorf("%s, %s: %v", o.m.OS, o.o.Scope, err)
		}
	}
}

// TestAgentIsXML: launchd takes no plist that is not well-formed.
func TestAgentIsXML(t *testing.T) {
	d := xml.NewDecoder(strings.NewReader(launchAgent(Machine{OS: "darwin", Home: "/Users/ann"}, `/a"'<&>/d`)[0].Content))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// TestUnitIsUnderstood asks systemd itself, with a program at a path that must be quoted.
func TestUnitIsUnderstood(t *testing.T) {
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Log("not run: no systemd-analyze")
		return
	}
	dir := filepath.Join(t.TempDir(), `100% sure $HOME`)
	daemon, unit := filepath.Join(dir, "swapkeepd"), filepath.Join(dir, "swapkeepd.service")
	changes := systemdUnit(Machine{OS: "linux", Home: dir, Env: nothingSet}, daemon)
	if err := errors.Join(os.Mkdir(dir, 0o755), os.WriteFile(daemon, []byte("#!/bin/sh\n"), 0o755), os.WriteFile(unit, []byte(changes[0].Content), 0o644)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "systemd-analyze", "--user", "verify", unit)
	cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+dir)
	if out, err := cmd.CombinedOutput(); err != nil || strings.Contains(string(out), "swapkeepd.service") {
		t.Errorf("%v: %s", err, out)
	}
}
