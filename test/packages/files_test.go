//go:build packages && linux

package packages

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"swapkeep/installer"
	"swapkeep/manifest"
)

// TestSums checks SHA256SUMS against all files, and the sums in the Homebrew formula and
// the winget manifest.
func TestSums(t *testing.T) {
	check := exec.Command("sha256sum", "--check", "--quiet", "SHA256SUMS")
	check.Dir = packagesDir
	mustRun(t, check)
	sums, err := os.ReadFile(filepath.Join(packagesDir, "SHA256SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	for name, told := range map[string]struct {
		pair  string // a file's name, then its sum
		count int
	}{
		"homebrew/swapkeep.rb":                    {`url ".*/([^/"]+)"\s+sha256 "([0-9a-f]{64})"`, 4},
		"winget/Swapkeep.Swapkeep.installer.yaml": {`InstallerUrl: .*/(\S+)\s+InstallerSha256: ([0-9A-F]{64})`, 2},
	} {
		text, err := os.ReadFile(filepath.Join(packagesDir, name))
		if err != nil {
			t.Fatal(err)
		}
		pairs := regexp.MustCompile(told.pair).FindAllStringSubmatch(string(text), -1)
		if len(pairs) != told.count {
			t.Errorf("%s names %d files", name, len(pairs))
		}
		for _, p := range pairs {
			if !strings.Contains(string(sums), strings.ToLower(p[2])+"  "+p[1]+"\n") {
				t.Errorf("%s: %s is not %s", name, p[1], p[2])
			}
		}
	}
}

// macFiles lists the files of the macOS tree other than documents, below its top directory.
var macFiles = map[string]string{
	"Library/Application Support/swapkeep/lib/swapkeep":                                "-rwxr-xr-x",
	"Library/Application Support/swapkeep/lib/swapkeepd":                               "-rwxr-xr-x",
	"Library/Application Support/swapkeep/uninstall.sh":                                "-rwxr-xr-x",
	"Library/Application Support/Chromium/NativeMessagingHosts/app.swapkeep.host.json": "-rw-r--r--",
	"Library/Application Support/Mozilla/NativeMessagingHosts/app.swapkeep.host.json":  "-rw-r--r--",
	"Library/Google/Chrome/NativeMessagingHosts/app.swapkeep.host.json":                "-rw-r--r--",
	"Library/LaunchAgents/app.swapkeep.daemon.plist":                                   "-rw-r--r--",
	"Library/Microsoft/Edge/NativeMessagingHosts/app.swapkeep.host.json":               "-rw-r--r--",
	"usr/local/bin/swapkeep": "Lrwxrwxrwx",
}

// TestMac checks the tree for pkgbuild: each file is in its place, and the archive's name
// says it is unsigned; its manifests are valid; its LaunchAgent is the one that swapkeep
// install writes, and starts nothing before a user enables it.
func TestMac(t *testing.T) {
	for _, arch := range []string{"amd64", "arm64"} {
		left := map[string]string{}
		for name, mode := range macFiles {
			left[name] = mode
		}
		eachFile(t, packageFile(t, "*-darwin-"+arch+"-pkgroot.unsigned.tar.gz"), func(name string, h *tar.Header, text []byte) {
			if mode, wanted := left[name]; wanted && h.FileInfo().Mode().String() == mode {
				delete(left, name)
			}
			if h.Uid != 0 || h.Gid != 0 || h.ModTime.Unix() != 1760000000 {
				t.Errorf("%s: %+v", name, h)
			}
			switch family := manifest.Chromium; filepath.Ext(name) {
			case ".json":
				if strings.Contains(name, "Mozilla") {
					family = manifest.Firefox
				}
				if err := manifest.Validate(family, "darwin", manifest.HostName, text); err != nil || !strings.Contains(string(text), `"/Library/Application Support/swapkeep/lib/swapkeep"`) {
					t.Errorf("%s: %v\n%s", name, err, text)
				}
			case ".plist":
				var list struct {
					Keys []string `xml:"dict>key"`
				}
				if err := xml.Unmarshal(text, &list); err != nil || len(list.Keys) == 0 {
					t.Errorf("%s: %v", name, err)
				}
				if !regexp.MustCompile(`<key>Disabled</key>\s*<true/>`).Match(text) {
					t.Errorf("%s starts by itself", name)
				}
				if string(text) != installer.LaunchAgent("/Library/Application Support/swapkeep/lib/swapkeepd", true) {
					t.Errorf("%s is another than swapkeep install writes:\n%s", name, text)
				}
			}
		})
		if len(left) > 0 {
			t.Errorf("%s: not there, or not so: %v", arch, left)
		}
	}
}

// TestMacRemover unpacks the tree as pkgbuild's package does and runs its remover:
// everything is as before, launchctl and pkgutil are called, and other products' files
// stay.
func TestMacRemover(t *testing.T) {
	root, fakes := t.TempDir(), t.TempDir()
	told := filepath.Join(fakes, "told")
	for _, dir := range []string{"Library/Application Support", "Library/LaunchAgents", "Library/Google/Chrome/NativeMessagingHosts", "usr/local/bin", "usr/local/share"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "Library/Google/Chrome/NativeMessagingHosts/other.json"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tool := range []string{"pkgutil", "launchctl", "stat"} { // macOS tools
		text := "#!/bin/sh\necho " + tool + ` "$@" >>"` + told + "\"\n" + map[string]string{"stat": "echo 501\n"}[tool]
		if err := os.WriteFile(filepath.Join(fakes, tool), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	before := list(t, root)
	mustRun(t, exec.Command("tar", "-xzf", packageFile(t, "*-darwin-arm64-pkgroot.unsigned.tar.gz"), "-C", root, "--strip-components=1", "--no-same-owner"))
	remove := asRoot("sh", filepath.Join(root, "Library/Application Support/swapkeep/uninstall.sh"), root)
	remove.Env = append(os.Environ(), "PATH="+fakes+":"+os.Getenv("PATH"))
	t.Logf("%s", mustRun(t, remove))
	after := list(t, root)
	delete(before, "/") // its mode comes from the archive
	delete(after, "/")
	if changed := append(after.without(before), before.without(after)...); len(changed) > 0 {
		t.Errorf("not as before: %s", strings.Join(changed, "\n"))
	}
	said, err := os.ReadFile(told)
	if err != nil || !strings.Contains(string(said), "launchctl bootout gui/501/app.swapkeep.daemon\n") || !strings.Contains(string(said), "pkgutil --volume "+root+" --forget app.swapkeep\n") {
		t.Errorf("the system was told %s, %v", said, err)
	}
}

// TestBillOfMaterials checks that every linked module is listed with version and licence.
func TestBillOfMaterials(t *testing.T) {
	text, err := os.ReadFile(packageFile(t, "*.cdx.json"))
	if err != nil {
		t.Fatal(err)
	}
	var bill struct {
		Components []struct {
			Type, Name, Version, PURL string
			Licenses                  []struct{ Expression string }
		}
	}
	if err := json.Unmarshal(text, &bill); err != nil || len(bill.Components) < 30 {
		t.Fatalf("%d components, %v", len(bill.Components), err)
	}
	for _, c := range bill.Components {
		if len(c.Licenses) != 1 || c.Licenses[0].Expression == "" || c.Version == "" || c.Type == "library" && !strings.HasSuffix(c.PURL, "@"+url.PathEscape(c.Version)) {
			t.Errorf("%+v", c)
		}
		if c.Name == "github.com/ethereum/go-ethereum" && c.Licenses[0].Expression != "LGPL-3.0-or-later" {
			t.Errorf("%+v", c)
		}
	}
}

// TestFormula checks that Homebrew's formula is valid Ruby, where Ruby is installed, and
// says what an upgrade needs.
func TestFormula(t *testing.T) {
	path := filepath.Join(packagesDir, "homebrew/swapkeep.rb")
	text, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(text), "after every upgrade") {
		t.Errorf("%v\n%s", err, text)
	}
	if _, err := exec.LookPath("ruby"); err != nil {
		t.Log("not run: no ruby reads the formula")
		return
	}
	mustRun(t, exec.Command("ruby", "-c", path))
}

// TestDirty checks that make marks a build of uncommitted changes as dirty, and no other.
func TestDirty(t *testing.T) {
	recipe := exec.Command("make", "--no-print-directory", "-n", "packages")
	recipe.Dir = root
	dirty := mustRun(t, exec.Command("git", "-C", root, "status", "--porcelain")) != ""
	if marked := strings.Contains(mustRun(t, recipe), "-dirty "); marked != dirty {
		t.Errorf("dirty is %v, marked is %v", dirty, marked)
	}
}

// TestContainer checks that the container's build directory has everything but the CA
// certificates, and that the program needs no shared library.
func TestContainer(t *testing.T) {
	files := map[string][]byte{}
	eachFile(t, packageFile(t, "swapkeep-server-*-linux-amd64.tar.gz"), func(name string, _ *tar.Header, text []byte) { files[name] = text })
	for line := range strings.Lines(string(files["Containerfile"])) {
		if words := strings.Fields(line); len(words) > 2 && words[0] == "COPY" {
			from := words[len(words)-2]
			if files[from] == nil && from != "ca-certificates.crt" {
				t.Errorf("%s is not there", from)
			}
		}
	}
	program := filepath.Join(t.TempDir(), "swapkeep-server")
	if err := os.WriteFile(program, files["swapkeep-server"], 0o700); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("ldd", program).CombinedOutput(); err == nil {
		t.Errorf("it needs %s", out)
	}
	if said := mustRun(t, exec.Command(program, "--version")); !strings.Contains(said, version) {
		t.Errorf("it says %s", said)
	}
	if !strings.Contains(string(files["Containerfile"]), "\nUSER 65532:65532\n") {
		t.Error("it runs as root")
	}
	t.Log("not run: no container is built, which needs a daemon for that")
}

// eachFile calls see for every file of an archive, without the top directory in the names.
func eachFile(t *testing.T, path string, see func(name string, h *tar.Header, text []byte)) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	top := strings.TrimSuffix(filepath.Base(path), ".tar.gz") + "/"
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil || !strings.HasPrefix(h.Name, top) {
			t.Fatalf("%s: %v", path, err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		see(strings.TrimPrefix(h.Name, top), h, text)
	}
}
