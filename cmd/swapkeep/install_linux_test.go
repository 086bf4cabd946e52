package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// treeOf lists everything below a directory: modes, paths and link targets.
func treeOf(dir string) (string, error) {
	var out strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		to := ""
		if info.Mode()&fs.ModeSymlink != 0 {
			if to, err = os.Readlink(path); err != nil {
				return err
			}
			to = " -> " + to
		}
		fmt.Fprintf(&out, "%s %s%s\n", info.Mode(), name, to)
		return nil
	})
	return out.String(), err
}

// cmdTree lists a directory into a file:
//
//	tree FILE FOLDER
func cmdTree(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: tree FILE FOLDER")
	}
	listing, err := treeOf(ts.MkAbs(args[1]))
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(listing), 0o600))
}

// With sudo, root creates nothing in a user's home; sudo -u is like that user.
func TestInstallBySudo(t *testing.T) {
	m := newMachine(t, "SUDO_UID=1000")
	home := t.TempDir()
	m.env = append(m.env, "HOME="+home)
	asUser := m.command(bin, "install", "--dry-run", "--browser", "chromium")
	if os.Geteuid() == 0 {
		for _, args := range [][]string{{"install"}, {"install", "--user", "--dry-run"}, {"uninstall"}} {
			if out, code := m.do(args...); code != exitRefused || !strings.Contains(out, "without sudo") {
				t.Errorf("%v: exit status %d:\n%s", args, code, out)
			}
		}
		const nobody = 65534
		if err := errors.Join(os.Chmod(filepath.Dir(bin), 0o755), os.Chown(home, nobody, nobody), os.Chmod(filepath.Dir(home), 0o755)); err != nil {
			t.Fatal(err)
		}
		asUser.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	if out, err := asUser.CombinedOutput(); err != nil || !strings.Contains(string(out), "Planned changes:") {
		t.Errorf("as a user: %v\n%s", err, out)
	}
	if os.Geteuid() != 0 {
		if out, code := m.do("install", "--system"); code != exitRefused || !strings.Contains(out, "sudo") {
			t.Errorf("--system: exit status %d:\n%s", code, out)
		}
	}
	if left, err := treeOf(home); err != nil || left != "" {
		t.Errorf("left behind: %v\n%s", err, left)
	}
}

// Many concurrent installations run one after the other: the receipts have what each one
// made, and one uninstall removes all of it.
func TestInstallAtOnce(t *testing.T) {
	m := newMachine(t)
	home := t.TempDir()
	m.env = append(m.env, "HOME="+home)
	var all sync.WaitGroup
	names := []string{"chrome", "chromium", "brave", "edge", "vivaldi", "firefox"}
	for _, name := range names {
		all.Go(func() {
			if out, err := m.command(bin, "install", "--browser", name).CombinedOutput(); err != nil {
				t.Errorf("for %s: %v\n%s", name, err, out)
			}
		})
	}
	all.Wait()
	for _, name := range names {
		if out, code := m.do("install", "--browser", name); code != 0 || !strings.Contains(out, "nothing to do") {
			t.Errorf("%s: exit status %d:\n%s", name, code, out)
		}
	}
	if out, code := m.do("uninstall"); code != 0 {
		t.Errorf("uninstall: exit status %d:\n%s", code, out)
	}
	if left, err := treeOf(home); err != nil || left != "" {
		t.Errorf("left behind: %v\n%s", err, left)
	}
}
