//go:build linux || darwin

package doctor

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"swapkeep/installer"
	"swapkeep/manifest"
)

// onDisk returns a Env with a home on this machine's disk, and a program that its
// receipts name.
func onDisk(t *testing.T) (p *Env, program string) {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	version := filepath.Join(home, ".local/lib/swapkeep/0.1.0")
	program = filepath.Join(version, "swapkeep")
	state := filepath.Join(home, ".local/state/swapkeep")
	for _, dir := range []string{version, state} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	m := installer.Machine{OS: "linux", Home: home, Env: func(string) string { return "" }, Files: installer.Disk{}, UID: os.Getuid()}
	text, err := json.Marshal(installer.Receipts{Format: 1, Scope: manifest.User, Entries: []installer.Receipt{
		{Kind: installer.Directory, Path: version}, {Kind: installer.Directory, Path: filepath.Join(home, ".local")},
		{Kind: installer.Program, Path: program, SHA256: installer.Sum([]byte("program")), Version: "0.1.0"},
	}})
	for path, content := range map[string]string{program: "program", filepath.Join(state, "receipts.json"): string(text)} {
		if err == nil {
			err = os.WriteFile(path, []byte(content), 0o644)
		}
	}
	if err == nil {
		err = os.Symlink("0.1.0", filepath.Join(filepath.Dir(version), "current"))
	}
	if err != nil {
		t.Fatal(err)
	}
	return &Env{Machine: m, UID: os.Getuid(), Version: "0.1.0", Program: program, facts: &facts{}}, program
}

// The parent directories and links of a program are checked for who could change it.
// --fix changes only what is ours and unchanged.
func TestExposed(t *testing.T) {
	for name, row := range map[string]struct {
		path    string // below the home
		mode    fs.FileMode
		changed bool
		says    string // "" is no finding
		fixable bool
	}{
		"as installed":             {"", 0o700, false, "", false},
		"home of a umask of 002":   {"", 0o775 | fs.ModeSetgid, false, "", false},
		"folder of many":           {".local", 0o775, false, "", false},
		"folder for everybody":     {".local", 0o777, false, "chmod o-w", false},
		"folder like /tmp":         {".local", 0o777 | fs.ModeSticky, false, "", false},
		"folder of ours":           {".local/lib/swapkeep/0.1.0", 0o775, false, "chmod go-w", true},
		"folder with a stranger":   {".local/lib/swapkeep/0.1.0", 0o775, true, "unpack swapkeep 0.1.0 or later anew", false},
		"folder of the link":       {".local/lib/swapkeep", 0o777, false, "chmod o-w", false},
		"program":                  {".local/lib/swapkeep/0.1.0/swapkeep", 0o777, false, "chmod go-w", true},
		"program, group":           {".local/lib/swapkeep/0.1.0/swapkeep", 0o775, false, "chmod go-w", true},
		"program that was changed": {".local/lib/swapkeep/0.1.0/swapkeep", 0o777, true, "bin/swapkeep install --force", false},
	} {
		t.Run(name, func(t *testing.T) {
			p, program := onDisk(t)
			at := filepath.Join(p.Machine.Home, row.path)
			if row.changed {
				if err := os.WriteFile(program, []byte("another"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Chmod(at, row.mode); err != nil {
				t.Fatal(err)
			}
			f, bad := p.exposed(filepath.Join(p.Machine.Home, ".local/lib/swapkeep/current/swapkeep"))
			if f = p.fixByRestricting(f, f.About); bad != (row.says != "") || !strings.Contains(f.Remedy, row.says) || (f.fix != nil) != row.fixable {
				t.Fatalf("found %v, with a fix %v: %+v", bad, f.fix != nil, f)
			}
			if bad && f.About != at {
				t.Errorf("it is about %s, not %s", f.About, at)
			}
			if f.fix != nil {
				if did, err := f.fix(t.Context()); err != nil {
					t.Error(did, err)
				}
				if info, err := os.Stat(at); err != nil || info.Mode().Perm() != 0o755 {
					t.Errorf("it is %v by now, %v", info.Mode(), err)
				}
			}
		})
	}
}

// Something of another user must be looked at first; it is given to root if it is the
// system's, and left alone if it is a shared directory.
func TestOpenOfAnother(t *testing.T) {
	for path, want := range map[string]string{
		"/home/ann/.config/x/app.json": `check what is in it, then sudo chown "$USER" /home/ann/.config/x/app.json`,
		"/etc/chromium/app.json":       "check what is in it, then sudo chown root /etc/chromium/app.json",
		"/home/ann/.config":            "check who that is",
		"/etc":                         "check who that is",
	} {
		p, files := onLinux(t)
		files.File("/home/ann/.config/x/app.json", "")
		files.File("/etc/chromium/app.json", "")
		files.Chown(path, 12345)
		if f, bad := p.open(path); !bad || !strings.HasPrefix(f.Remedy, want) || strings.Contains(want, "who") && strings.Contains(f.Remedy, "chown") {
			t.Errorf("%s: %+v", path, f)
		}
	}
}

// Permissions are given only to what was installed, because a manifest may name any file.
func TestNotExecutable(t *testing.T) {
	p, program := onDisk(t)
	key := filepath.Join(p.Machine.Home, "id_ed25519")
	if err := os.WriteFile(key, []byte("key"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{program: true, key: false} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if f := p.notExecutable(path, info); (f.fix != nil) != want {
			t.Errorf("%s: with a fix %v: %+v", path, f.fix != nil, f)
		}
	}
}

// Something that changes between check and remedy stays open, and so is not started.
func TestNarrowedFileIsCheckedAgain(t *testing.T) {
	p, program := onDisk(t)
	if err := os.Chmod(program, 0o777); err != nil {
		t.Fatal(err)
	}
	f, _ := p.exposed(program)
	f = p.fixByRestricting(f, f.About)
	if f.fix == nil {
		t.Fatal("the finding has no fix")
	}
	if err := os.WriteFile(program, []byte("another"), 0o777); err != nil {
		t.Fatal(err)
	}
	if did, err := f.fix(t.Context()); err == nil {
		t.Errorf("the fix did %q, want an error", did)
	}
	if _, bad := p.exposed(program); !bad {
		t.Error("it looks safe")
	}
}

// A home may be behind a link, as on systems where /home is a link to /var/home.
func TestUntouchedBehindALink(t *testing.T) {
	p, program := onDisk(t)
	link := filepath.Join(t.TempDir(), "home")
	if err := os.Symlink(p.Machine.Home, link); err != nil {
		t.Fatal(err)
	}
	receipts := filepath.Join(p.Machine.Home, ".local/state/swapkeep/receipts.json")
	text, err := os.ReadFile(receipts)
	if err == nil {
		err = os.WriteFile(receipts, []byte(strings.ReplaceAll(string(text), p.Machine.Home, link)), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	if p.Machine.Home = link; !p.untouched(program) || !p.made(filepath.Dir(program)) {
		t.Error("it is not known what was installed")
	}
}

// Receipts that others could have written do not show that anything is unchanged.
func TestUntouchedDistrustsOpenReceipts(t *testing.T) {
	for _, open := range []string{".local/state/swapkeep", ".local/state/swapkeep/receipts.json"} {
		p, program := onDisk(t)
		if !p.untouched(program) {
			t.Fatal("a program with its installed content counts as changed")
		}
		if err := os.Chmod(filepath.Join(p.Machine.Home, open), 0o775); err != nil {
			t.Fatal(err)
		}
		if p.untouched(program) {
			t.Errorf("with %s open", open)
		}
	}
}

// A mode is changed relative to its current value and keeps the special bits.
func TestChmod(t *testing.T) {
	p, program := onDisk(t)
	for _, row := range []struct{ from, give, take, want fs.FileMode }{
		{0o664, 0o755, othersWrite, 0o755}, {0o644, 0o755, othersWrite, 0o755}, {0o777, 0, othersWrite, 0o755},
		{0o775 | fs.ModeSetgid, 0, othersWrite, 0o755 | fs.ModeSetgid}, {0o666, 0, 0o177, 0o600},
	} {
		if err := os.Chmod(program, row.from); err != nil {
			t.Fatal(err)
		}
		if _, err := p.chmod(program, row.give, row.take)(t.Context()); err != nil {
			t.Error(err)
		}
		if info, err := os.Stat(program); err != nil || info.Mode() != row.want {
			t.Errorf("%v became %v, not %v", row.from, info.Mode(), row.want)
		}
	}
}
