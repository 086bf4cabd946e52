//go:build packages && linux

// Package packages builds the packages and installs them: on the system they are made for,
// in a root of their own, or under wine. Run it with make packages-test.
package packages

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"swapkeep/host/client"
	"swapkeep/host/protocol"
	"swapkeep/manifest"
	"swapkeep/test/browser/ui"
)

var (
	nfpm     = flag.String("nfpm", "nfpm", "the nfpm program")
	prebuilt = flag.String("packages", "", "folder of packages that were built by these tests; built when empty")
)

// version is the version of the packages here, and epoch the time of their files.
const (
	version = "0.1.0"
	epoch   = "1760000000"
)

var (
	root         string // of the repository
	packagesDir  string // directory of the packages
	extensionDir = "../browser/extension"
	extensionIDs = map[manifest.Family]string{}
)

func TestMain(m *testing.M) {
	flag.Parse()
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "packages:", err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (int, error) {
	var err error
	if root, err = filepath.Abs("../.."); err != nil {
		return 1, err
	}
	if err := readIDs(); err != nil {
		return 1, err
	}
	if packagesDir = *prebuilt; packagesDir == "" {
		dir, err := os.MkdirTemp("", "swapkeep-packages-test-")
		if err != nil {
			return 1, err
		}
		defer os.RemoveAll(dir)
		packagesDir = filepath.Join(dir, "packages")
		out, err := build(root, packagesDir)
		fmt.Printf("%s", out)
		if err != nil {
			return 1, err
		}
	}
	return m.Run(), nil
}

// readIDs reads the ids of the test extension, which has a manifest for each browser
// family.
func readIDs() error {
	var extension struct {
		Key      string
		Settings struct{ Gecko struct{ ID string } } `json:"browser_specific_settings"`
	}
	for _, family := range manifest.Families() {
		text, err := os.ReadFile(filepath.Join(extensionDir, string(family)+".json"))
		if err != nil {
			return err
		}
		if err := json.Unmarshal(text, &extension); err != nil {
			return err
		}
	}
	chromium, err := manifest.ChromiumID(extension.Key)
	extensionIDs[manifest.Chromium], extensionIDs[manifest.Firefox] = chromium, extension.Settings.Gecko.ID
	return err
}

// build builds all packages from a working copy, for the test extension.
func build(root, out string, env ...string) ([]byte, error) {
	cmd := exec.Command("go", "run", "./packaging/build", "-version", version, "-out", out, "-nfpm", *nfpm, "-development",
		"-chromium-ids", extensionIDs[manifest.Chromium], "-firefox-ids", extensionIDs[manifest.Firefox])
	cmd.Dir = root
	cmd.Env = append(append(os.Environ(), "SOURCE_DATE_EPOCH="+epoch), env...)
	said, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("build the packages: %w\n%s", err, said)
	}
	return said, err
}

// packageFile returns the one package whose name matches pattern.
func packageFile(t *testing.T, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(packagesDir, pattern))
	if err != nil || len(found) != 1 {
		t.Fatalf("%s: %v, %v", pattern, found, err)
	}
	return found[0]
}

// mustRun runs a command, which has to succeed, and returns its output.
func mustRun(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(cmd.Args, " "), err, out)
	}
	return string(out)
}

// arguments returns the arguments with which a browser of the family starts a host.
func arguments(family manifest.Family, file string) []string {
	if family == manifest.Firefox {
		return []string{file, extensionIDs[family]}
	}
	return []string{manifest.ChromiumOrigin(extensionIDs[family])}
}

// checkHost starts a host as a browser does. The host has to greet, and to end when the browser
// disconnects.
func checkHost(t *testing.T, cmd *exec.Cmd) (h protocol.Hello) {
	t.Helper()
	p, err := client.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	callErr := p.Call(t.Context(), "host.hello", nil, &h)
	_, endErr := p.Stop()
	if err := errors.Join(callErr, endErr); err != nil {
		t.Fatalf("%s: %v", strings.Join(cmd.Args, " "), err)
	}
	if h.Product != "swapkeep" || h.Version != version || h.Connection.Kind != protocol.KindBrowser {
		t.Errorf("hello is %+v", h)
	}
	return h
}

// extension assembles the test extension for a browser.
func extension(t *testing.T, kind ui.Kind) string {
	t.Helper()
	dir := t.TempDir()
	err := errors.Join(os.CopyFS(dir, os.DirFS(extensionDir)), os.Rename(filepath.Join(dir, string(kind)+".json"), filepath.Join(dir, "manifest.json")))
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
