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

// setTo returns a getenv with these variables.
func setTo(values map[string]string) func(string) string {
	return func(name string) string { return values[name] }
}

func TestAutostart(t *testing.T) {
	moved := setTo(map[string]string{"SWAPKEEP_HOME": `/mnt/"50%" \n & <x>`, "XDG_CONFIG_HOME": "/conf", "XDG_STATE_HOME": "/state", "PATH": "/bin"})
	for _, c := range []struct {
		m      Machine
		daemon string
		path   []string
		holds  string
	}{
		{Machine{OS: "linux", Home: "/home/ann", Env: nothingSet}, "/home/ann/.local/lib/swapkeep/current/swapkeepd",
			[]string{"/home/ann/.config/systemd/user/swapkeepd.service", "/home/ann/.config/systemd/user/default.target.wants/swapkeepd.service"},
			"[Service]\nExecStart=\"/home/ann/.local/lib/swapkeep/current/swapkeepd\"\n"},
		{Machine{OS: "linux", Home: "/home/ann", Env: moved}, `/home/50% of $HOME/swapkeepd`,
			[]string{"/home/ann/.config/systemd/user/swapkeepd.service", "/home/ann/.config/systemd/user/default.target.wants/swapkeepd.service",
				"/conf/systemd/user/swapkeepd.service", "/conf/systemd/user/default.target.wants/swapkeepd.service"},
			"[Service]\n" + `Environment="SWAPKEEP_HOME=/mnt/\"50%%\" \\n & <x>"` + "\nEnvironment=\"XDG_CONFIG_HOME=/conf\"\nEnvironment=\"XDG_STATE_HOME=/state\"\nExecStart=\"/home/50%% of $HOME/swapkeepd\"\n"},
		{Machine{OS: "linux", Home: "/home/ann", Env: setTo(map[string]string{"XDG_CONFIG_HOME": "/home/ann/.config/"})}, "/swapkeepd",
			[]string{"/home/ann/.config/systemd/user/swapkeepd.service", "/home/ann/.config/systemd/user/default.target.wants/swapkeepd.service"}, ""},
		{Machine{OS: "darwin", Home: "/Users/ann", Env: nothingSet}, "/Users/ann/R&D <1>/swapkeepd",
			[]string{"/Users/ann/Library/LaunchAgents/app.swapkeep.daemon.plist"}, "<string>/Users/ann/R&amp;D &lt;1&gt;/swapkeepd</string>\n\t</array>\n\t<key>RunAtLoad</key>"},
		{Machine{OS: "darwin", Home: "/Users/ann", Env: moved}, "/swapkeepd", []string{"/Users/ann/Library/LaunchAgents/app.swapkeep.daemon.plist"},
			"\t<key>EnvironmentVariables</key>\n\t<dict>\n\t\t<key>SWAPKEEP_HOME</key>\n\t\t<string>/mnt/&#34;50%&#34; \\n &amp; &lt;x&gt;</string>\n\t\t<key>XDG_CONFIG_HOME</key>"},
		{Machine{OS: "windows", Home: `C:\Users\ann`, Env: nothingSet}, `C:\Users\ann b\swapkeepd.exe`,
			[]string{`HKCU\Software\Microsoft\Windows\CurrentVersion\Run`}, `"C:\Users\ann b\swapkeepd.exe"`},
		{Machine{OS: "windows", Home: `C:\Users\ann`, Env: setTo(map[string]string{"SWAPKEEP_HOME": `D:\state`}), Registry: account{"SWAPKEEP_HOME": `D:\state`}}, `C:\swapkeepd.exe`,
			[]string{`HKCU\Software\Microsoft\Windows\CurrentVersion\Run`}, `"C:\swapkeepd.exe"`},
	} {
		c.m.Files = Disk{}
		b := planner{m: c.m, o: Options{Scope: manifest.User, Autostart: true}, layout: Layout{Daemon: c.daemon}}
		changes, err := b.atLogin()
		if err != nil || len(changes) != len(c.path) {
			t.Fatalf("%s: %v, %v", c.m.OS, changes, err)
		}
		for i, change := range changes {
			if change.Path != c.path[i] {
				t.Errorf("%s: %s, want %s", c.m.OS, change.Path, c.path[i])
			}
			if text := change.Content + change.To; change.Kind != Link && !strings.Contains(text, c.holds) {
				t.Errorf("%s: no %s in %s", c.m.OS, c.holds, text)
			}
		}
	}
}

// An account is a registry with the environment variables of a Windows account.
type account map[string]string

func (a account) Value(key, name string) (string, bool, error) {
	text, there := a[name]
	return text, there && key == accountVariables, nil
}
func (account) Number(string, string) (uint64, bool, error) { return 0, false, nil }
func (account) Exists(string) (bool, error)                 { return true, nil }
func (account) Make(string) error                           { return nil }
func (account) Set(string, string, string) error            { return nil }
func (account) Unset(string, string) error                  { return nil }
func (account) RemoveEmpty(string) (bool, error)            { return false, nil }

// There is no autostart if the daemon would use another home than the shell's, or would
// not start.
func TestNoAutostart(t *testing.T) {
	user := Options{Scope: manifest.User, Autostart: true}
	for words, b := range map[string]planner{
		"a browser starts the daemon": {m: Machine{OS: "plan9"}, o: user},
		"each user may":               {m: Machine{OS: "linux"}, o: Options{Scope: manifest.System, Autostart: true}},
		"quotation marks":             {m: Machine{OS: "linux", Env: nothingSet}, o: user, layout: Layout{Daemon: `/home/"ann"/swapkeepd`}},
		`SWAPKEEP_CONFIG is "my.toml": make it an absolute path`: {m: Machine{OS: "linux", Env: setTo(map[string]string{"SWAPKEEP_CONFIG": "my.toml"})}, o: user},
		`SWAPKEEP_HOME is "/a\nExecStart=b"`:                     {m: Machine{OS: "linux", Env: setTo(map[string]string{"SWAPKEEP_HOME": "/a\nExecStart=b"})}, o: user},
		`XDG_CONFIG_HOME is "/a\xe4"`:                            {m: Machine{OS: "darwin", Env: setTo(map[string]string{"XDG_CONFIG_HOME": "/a\xe4"})}, o: user},
		`setx SWAPKEEP_HOME "D:\state"`:                          {m: Machine{OS: "windows", Env: setTo(map[string]string{"SWAPKEEP_HOME": `D:\state`}), Registry: account{"SWAPKEEP_HOME": `C:\state`}}, o: user},
	} {
		if err := b.autostart(); !errors.Is(err, ErrNoAutostart) || !strings.Contains(err.Error(), words) {
			t.Errorf("%s, %s: %v", b.m.OS, b.o.Scope, err)
		}
	}
}

// TestAgentIsXML: launchd accepts only well-formed plists.
func TestAgentIsXML(t *testing.T) {
	changes, err := launchAgent(Machine{OS: "darwin", Home: "/Users/ann"}, `/a"'<&>/d`, []variable{{"SWAPKEEP_HOME", `/a"'<&>/h`}})
	if err != nil {
		t.Fatal(err)
	}
	d := xml.NewDecoder(strings.NewReader(changes[0].Content))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// TestUnitIsUnderstood lets systemd verify the unit, with a path that must be quoted.
func TestUnitIsUnderstood(t *testing.T) {
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Log("not run: no systemd-analyze")
		return
	}
	dir := filepath.Join(t.TempDir(), `100% sure $HOME`)
	daemon, unit := filepath.Join(dir, "swapkeepd"), filepath.Join(dir, "swapkeepd.service")
	changes, err := systemdUnit(Machine{OS: "linux", Home: dir, Env: nothingSet}, daemon, []variable{{"SWAPKEEP_HOME", dir + `/"x" \y`}})
	if err := errors.Join(err, os.Mkdir(dir, 0o755), os.WriteFile(daemon, []byte("#!/bin/sh\n"), 0o755), os.WriteFile(unit, []byte(changes[0].Content), 0o644)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "systemd-analyze", "--user", "verify", unit)
	cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+dir)
	if out, err := cmd.CombinedOutput(); err != nil || strings.Contains(string(out), "swapkeepd.service") {
		t.Errorf("%v: %s", err, out)
	}
}

// One directory with two names gets one unit, and a relative XDG path is ignored.
func TestUnitFolders(t *testing.T) {
	home := t.TempDir()
	dotfiles := filepath.Join(home, "dotfiles")
	if err := errors.Join(os.Mkdir(dotfiles, 0o755), os.Symlink(dotfiles, filepath.Join(home, ".config"))); err != nil {
		t.Fatal(err)
	}
	for config, want := range map[string]int{"": 1, dotfiles: 1, "relative": 1, filepath.Join(home, "other"): 2} {
		m := Machine{OS: "linux", Home: home, Env: setTo(map[string]string{"XDG_CONFIG_HOME": config}), Files: Disk{}}
		if got := m.unitFolders(); len(got) != want {
			t.Errorf("XDG_CONFIG_HOME=%q: %v", config, got)
		}
		if moved, err := m.moved([]string{"XDG_CONFIG_HOME"}); err != nil || len(moved) == 1 == (config == "" || config == "relative") {
			t.Errorf("XDG_CONFIG_HOME=%q: written down are %v, %v", config, moved, err)
		}
	}
}
