//go:build packages && linux

package packages

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"swapkeep/manifest"
	"swapkeep/test/browser/ui"
	"swapkeep/test/processes"
)

func umask(mask int) int { return syscall.Umask(mask) }

// A listing maps each file below a directory to its mode, owner and, for a link, target.
type listing map[string]string

// list returns the listing of root. It skips the directories named in except.
func list(t *testing.T, root string, except ...string) listing {
	t.Helper()
	all := listing{}
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		name := "/" + strings.TrimPrefix(strings.TrimPrefix(path, root), "/")
		if slices.Contains(except, name) {
			return fs.SkipDir
		}
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		owner := info.Sys().(*syscall.Stat_t)
		all[name] = fmt.Sprintf("%s %d:%d", info.Mode(), owner.Uid, owner.Gid)
		if info.Mode()&fs.ModeSymlink != 0 {
			target, err := os.Readlink(path)
			all[name] += " -> " + target
			return err
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// without returns the entries of l that other lacks or has differently.
func (l listing) without(other listing) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(l)) {
		if l[name] != other[name] {
			out = append(out, name+" "+l[name])
		}
	}
	return out
}

// linuxFiles lists the files of Linux packages that are not documents.
var linuxFiles = listing{
	"/etc/chromium/native-messaging-hosts/app.swapkeep.host.json":   "-rw-r--r-- 0:0",
	"/etc/opt/chrome/native-messaging-hosts/app.swapkeep.host.json": "-rw-r--r-- 0:0",
	"/etc/opt/edge/native-messaging-hosts/app.swapkeep.host.json":   "-rw-r--r-- 0:0",
	"/usr/bin/swapkeep": "Lrwxrwxrwx 0:0 -> ../lib/swapkeep/swapkeep",
	"/usr/lib/mozilla/native-messaging-hosts/app.swapkeep.host.json": "-rw-r--r-- 0:0",
	"/usr/lib/swapkeep/swapkeep":                                     "-rwxr-xr-x 0:0",
	"/usr/lib/swapkeep/swapkeepd":                                    "-rwxr-xr-x 0:0",
	"/usr/share/bash-completion/completions/swapkeep":                "-rw-r--r-- 0:0",
	"/usr/share/doc/swapkeep/CHANGELOG.md":                           "-rw-r--r-- 0:0",
	"/usr/share/doc/swapkeep/NOTICE":                                 "-rw-r--r-- 0:0",
	"/usr/share/doc/swapkeep/README.md":                              "-rw-r--r-- 0:0",
	"/usr/share/doc/swapkeep/copyright":                              "-rw-r--r-- 0:0",
	"/usr/share/fish/vendor_completions.d/swapkeep.fish":             "-rw-r--r-- 0:0",
	"/usr/share/man/man1/swapkeep.1.gz":                              "-rw-r--r-- 0:0",
	"/usr/share/zsh/site-functions/_swapkeep":                        "-rw-r--r-- 0:0",
}

const lib64 = "/usr/lib64/mozilla/native-messaging-hosts/app.swapkeep.host.json"

// checkFiles compares an installed tree with wanted. It allows more manual pages.
func checkFiles(t *testing.T, got, wanted listing) {
	t.Helper()
	for name, how := range got {
		page := strings.HasPrefix(name, "/usr/share/man/man1/swapkeep-") && how == "-rw-r--r-- 0:0"
		folder := strings.HasPrefix(how, "drwxr-xr-x 0:0")
		if how != wanted[name] && !page && !folder {
			t.Errorf("there is %s %s", name, how)
		}
	}
	for name, how := range wanted {
		if got[name] != how {
			t.Errorf("%s is %q, want %q", name, got[name], how)
		}
	}
}

// asRoot returns a command that the kernel runs as root, if only in a user namespace.
func asRoot(name string, args ...string) *exec.Cmd {
	if os.Geteuid() == 0 {
		return exec.Command(name, args...)
	}
	return exec.Command("unshare", append([]string{"--map-root-user", name}, args...)...)
}

// emptyRoot creates a root directory that has nothing but dpkg's own files.
func emptyRoot(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for _, dir := range []string{"var/lib/dpkg/info", "var/lib/dpkg/updates", "var/lib/dpkg/triggers"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "var/lib/dpkg/status"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	return root
}

func dpkg(t *testing.T, root string, args ...string) {
	t.Helper()
	cmd := asRoot("dpkg", append([]string{"--root=" + root, "--force-not-root", "--force-bad-path", "--log=/dev/null"}, args...)...)
	mustRun(t, cmd)
}

// TestDeb installs the deb in a root of its own, starts the host from each manifest as the
// browsers do, and removes the package: nothing is left.
func TestDeb(t *testing.T) {
	root := emptyRoot(t)
	before := list(t, root, "/var")
	dpkg(t, root, "-i", packageFile(t, "swapkeep_*_amd64.deb"))
	after := list(t, root, "/var")
	delete(after, "/")
	checkFiles(t, after, withOwnIDs(linuxFiles))
	if scripts, _ := filepath.Glob(filepath.Join(root, "var/lib/dpkg/info/swapkeep.*inst")); len(scripts) > 0 {
		t.Errorf("the package runs %v", scripts)
	}

	home := t.TempDir()
	env := []string{"HOME=" + home, "SWAPKEEP_HOME=" + filepath.Join(home, "state"), "XDG_RUNTIME_DIR=" + home}
	daemon := filepath.Join(root, "usr/lib/swapkeep/swapkeepd")
	command := func(name string, args ...string) *exec.Cmd {
		cmd := exec.Command(name, args...)
		cmd.Env = env
		return cmd
	}
	t.Cleanup(func() { _ = command(filepath.Join(root, "usr/bin/swapkeep"), "stop").Run() })
	for name := range after {
		if filepath.Base(name) != manifest.FileName {
			continue
		}
		family := manifest.Chromium
		if strings.Contains(name, "mozilla") {
			family = manifest.Firefox
		}
		h := checkHost(t, command(filepath.Join(root, hostPath(t, root, name, family)), arguments(family, name)...))
		t.Logf("%s: greeted %s", name, h.Connection.Origin)
	}
	// Started by the link in /usr/bin, it starts the daemon next to the link's target.
	mustRun(t, command(filepath.Join(root, "usr/bin/swapkeep"), "stop"))
	h := checkHost(t, command(filepath.Join(root, "usr/bin/swapkeep"), arguments(manifest.Chromium, "")...))
	running, err := processes.RunningFrom(filepath.Dir(daemon))
	if err != nil || len(running) != 1 || h.Version != version {
		t.Errorf("%v run, %v", running, err)
	}
	mustRun(t, command(filepath.Join(root, "usr/bin/swapkeep"), "stop"))

	dpkg(t, root, "-r", "swapkeep")
	if left := list(t, root, "/var").without(before); len(left) > 0 {
		t.Errorf("left behind: %s", strings.Join(left, "\n"))
	}
}

// withOwnIDs returns wanted with the ids that root has in this test.
func withOwnIDs(wanted listing) listing {
	out := listing{}
	for name, how := range wanted {
		out[name] = strings.Replace(how, "0:0", fmt.Sprintf("%d:%d", os.Geteuid(), os.Getegid()), 1)
	}
	return out
}

// hostPath validates a manifest and returns the program it names.
func hostPath(t *testing.T, root, name string, family manifest.Family) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	if err := manifest.Validate(family, "linux", manifest.HostName, text); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	var m struct{ Path string }
	if err := json.Unmarshal(text, &m); err != nil || m.Path != "/usr/lib/swapkeep/swapkeep" {
		t.Fatalf("%s: path %q, %v", name, m.Path, err)
	}
	return m.Path
}

// TestRPM unpacks the rpm: it has the deb's files, and Firefox's manifest in lib64 too.
func TestRPM(t *testing.T) {
	path := packageFile(t, "swapkeep-*.x86_64.rpm")
	if said := mustRun(t, exec.Command("rpm", "-K", path)); !strings.Contains(said, "digests OK") {
		t.Errorf("rpm -K says %s", said)
	}
	if said := mustRun(t, exec.Command("rpm", "-qp", "--scripts", path)); said != "" {
		t.Errorf("the package runs %s", said)
	}
	root := t.TempDir()
	mustRun(t, asRoot("sh", "-c", `cd "$1" && rpm2cpio "$2" | cpio -idm --quiet --no-absolute-filenames`, "sh", root, path))
	both := maps.Clone(linuxFiles)
	both[lib64] = "-rw-r--r-- 0:0"
	got := list(t, root)
	delete(got, "/")
	checkFiles(t, got, withOwnIDs(both))
	hostPath(t, root, lib64, manifest.Firefox)
	debs := t.TempDir()
	mustRun(t, asRoot("dpkg", "-x", packageFile(t, "swapkeep_*_amd64.deb"), debs))
	other := list(t, debs)
	for name, how := range got {
		if !strings.HasPrefix(name, "/usr/lib64") && !strings.HasPrefix(how, "d") && other[name] != how {
			t.Errorf("the rpm has %s %s, the deb %q", name, how, other[name])
		}
	}
	// rpm leaves directories behind that the package does not own.
	folders := mustRun(t, exec.Command("rpm", "-qpl", path))
	for _, folder := range []string{"/usr/lib/swapkeep", "/usr/share/doc/swapkeep", "/etc/chromium/native-messaging-hosts", "/usr/lib64/mozilla/native-messaging-hosts"} {
		if !strings.Contains(folders, folder+"\n") {
			t.Errorf("the rpm does not own %s", folder)
		}
	}
}

// volatileDirs lists the directories in which files change by themselves, and the one that holds
// the repository.
func volatileDirs() []string {
	top, _, _ := strings.Cut(strings.TrimPrefix(root, "/"), "/")
	return []string{"/proc", "/sys", "/dev", "/run", "/tmp", "/root", "/home", "/var", "/" + top}
}

// TestBrowsers installs the deb on this machine. Chromium and Firefox with empty profiles
// find the host by the system's manifests, and no longer do once it is removed. The file
// system is then as before.
func TestBrowsers(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Log("not run: it installs a package on this machine, as root only")
		return
	}
	if out, err := exec.Command("dpkg-query", "-W", "swapkeep").CombinedOutput(); err == nil {
		t.Fatalf("swapkeep is installed here: %s", out)
	}
	before := list(t, "/", volatileDirs()...)
	t.Cleanup(func() { _ = exec.Command("dpkg", "-r", "swapkeep").Run() })
	mustRun(t, exec.Command("dpkg", "-i", packageFile(t, "swapkeep_*_amd64.deb")))
	for _, kind := range ui.Kinds() {
		began := time.Now()
		if said := extensionMessages(t, kind); !strings.Contains(said, `"host.hello"`) {
			t.Errorf("%s: heard %s", kind, said)
		}
		t.Logf("%s found the host, %v", kind, time.Since(began).Round(time.Millisecond))
	}
	mustRun(t, exec.Command("dpkg", "-r", "swapkeep"))
	after := list(t, "/", volatileDirs()...)
	// base-files makes /etc/opt and does not own it: dpkg removes it when it is empty.
	removed := slices.DeleteFunc(before.without(after), func(line string) bool { return strings.HasPrefix(line, "/etc/opt ") })
	if changed := append(after.without(before), removed...); len(changed) > 0 {
		t.Errorf("not as before: %s", strings.Join(changed, "\n"))
	}
	for _, kind := range ui.Kinds() {
		if said := extensionMessages(t, kind); strings.Contains(said, `"host.hello"`) {
			t.Errorf("%s: still heard %s", kind, said)
		}
	}
}

// extensionMessages starts a browser with an empty profile and returns what the test extension got.
func extensionMessages(t *testing.T, kind ui.Kind) string {
	t.Helper()
	home, err := os.MkdirTemp("", "skp") // short, because of the limit on socket paths
	if err != nil {
		t.Fatal(err)
	}
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "XDG_RUNTIME_DIR=" + home, "TMPDIR=" + home, "SWAPKEEP_HOME=" + filepath.Join(home, "state")}
	b := ui.Start(t, ui.Setup{Kind: kind, Profile: filepath.Join(home, "profile"), Extension: extension(t, kind), Env: env, ScreenshotDir: t.ArtifactDir()})
	var heard struct {
		Error    string
		Messages []json.RawMessage
	}
	var raw json.RawMessage
	b.Open("page.html").Eval("(globalThis.browser ?? chrome).runtime.sendMessage('heard')", &raw)
	if err := json.Unmarshal(raw, &heard); err != nil {
		t.Fatal(err)
	}
	b.Close()
	if len(heard.Messages) > 0 {
		stop := exec.Command("swapkeep", "stop")
		stop.Env = env
		mustRun(t, stop)
	}
	if err := os.RemoveAll(home); err != nil {
		t.Error(err)
	}
	return string(raw)
}
