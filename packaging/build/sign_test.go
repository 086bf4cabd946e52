//go:build packages

package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestSign: with a certificate, a program, an MSI and a setup program are signed
// verifiably and reproducibly; without one nothing is changed and the name says so.
func TestSign(t *testing.T) {
	r := newRelease(t)
	r.Time = time.Now() // within the certificate's validity
	cert, key := filepath.Join(r.work, "cert.pem"), filepath.Join(r.work, "key.pem")
	tool := func(name string, args ...string) string {
		t.Helper()
		out, err := exec.Command(name, args...).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		return string(out)
	}
	tool("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", cert, "-days", "2",
		"-subj", "/CN=Swapkeep test", "-addext", "extendedKeyUsage=codeSigning")
	i := r.samples(t)
	if said := r.uninstaller(t, signer{cert: cert, key: key}); said != "" {
		out := tool("osslsigncode", "verify", "-CAfile", cert, "-in", said)
		if !strings.Contains(out, "Signature verification: ok") {
			t.Errorf("what the setup program leaves to remove it: %s", out)
		}
	}
	if mark := r.signer.unsignedMark(); mark != "unsigned." || !strings.Contains(r.File("windows-amd64-user", "msi"), mark) {
		t.Errorf("unsigned packages are marked %q", mark)
	}
	for _, path := range i {
		plain := sumIn(t, path)
		if err := r.sign(path); err != nil || sumIn(t, path) != plain {
			t.Fatalf("changed without a certificate, %v", err)
		}
		var signed []string
		for range 2 {
			once := *r
			once.signer = signer{cert: cert, key: key}
			copied := filepath.Join(t.TempDir(), filepath.Base(path))
			if err := once.copy(copied, path); err != nil {
				t.Fatal(err)
			}
			if err := once.sign(copied); err != nil {
				t.Fatal(err)
			}
			if said := tool("osslsigncode", "verify", "-CAfile", cert, "-in", copied); !strings.Contains(said, "Signature verification: ok") {
				t.Errorf("%s", said)
			}
			signed = append(signed, sumIn(t, copied))
		}
		if signed[0] != signed[1] || signed[0] == plain {
			t.Errorf("%s: signed twice is two files", filepath.Base(path))
		}
	}
}

// sample returns what a small installer is made from.
func (r *release) sample() installer {
	return installer{release: r, msi: msis[0], Target: targets[len(targets)-1], Files: filepath.Join(r.work, "files"), Below: "files", ProductCode: r.Product("perUser")}
}

// uninstaller returns the uninstaller that a signed setup program writes; "" without
// wine.
func (r *release) uninstaller(t *testing.T, s signer) string {
	t.Helper()
	if _, err := exec.LookPath("wine"); err != nil {
		t.Log("not run: wine is missing (apt-get install wine64 wine)")
		return ""
	}
	once := *r
	once.signer, once.out = s, t.TempDir()
	i := once.sample()
	if err := i.makeSetup(); err != nil {
		t.Fatal(err)
	}
	prefix := t.TempDir()
	env := append(os.Environ(), "WINEPREFIX="+prefix, "WINEARCH=win64", "WINEDEBUG=-all", "WINEDLLOVERRIDES=mscoree,mshtml=", "DISPLAY=")
	for _, command := range [][]string{{"wine", filepath.Join(once.out, once.File("windows-amd64-setup", "exe")), "/S"}, {"wine", "wineboot", "-e"}} {
		cmd := exec.Command(command[0], command[1:]...)
		cmd.Env = env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", command, err, out)
		}
	}
	found, err := filepath.Glob(filepath.Join(prefix, "drive_c/users/*/AppData/Local/swapkeep/uninstall.exe"))
	if err != nil || len(found) != 1 {
		t.Fatalf("%v, %v", found, err)
	}
	return found[0]
}

// samples returns a small Windows program with an MSI and a setup program for it.
func (r *release) samples(t *testing.T) []string {
	t.Helper()
	i := r.sample()
	main := filepath.Join(r.work, "main.go")
	program := filepath.Join(i.Files, "bin", "swapkeep.exe")
	if err := os.WriteFile(main, []byte("package main\n\nfunc main() {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := r.run([]string{"GOOS=windows", "GOARCH=amd64"}, "go", "build", "-trimpath", "-o", program, main); err != nil {
		t.Fatal(err)
	}
	for to, from := range map[string]string{"bin/swapkeepd.exe": program, "LICENSE.txt": "LICENSE", "NOTICE.txt": "NOTICE"} {
		if err := r.copy(filepath.Join(i.Files, to), from); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(i.makeMSI(), i.makeSetup()); err != nil {
		t.Fatal(err)
	}
	return []string{program, filepath.Join(r.out, r.File("windows-amd64-user", "msi")), filepath.Join(r.out, r.File("windows-amd64-setup", "exe"))}
}

func sumIn(t *testing.T, path string) string {
	t.Helper()
	sum, err := sumOf(path)
	if err != nil {
		t.Fatal(err)
	}
	return sum
}
