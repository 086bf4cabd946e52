//go:build man

package main

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestManual checks the pages that packages get, and that the command refuses a missing
// directory.
func TestManual(t *testing.T) {
	run := func(args ...string) error {
		root := newRoot(io.Discard, io.Discard)
		root.SetArgs(append([]string{"man"}, args...))
		return root.Execute()
	}
	dir := t.TempDir()
	if err := run("--dir", dir); err != nil {
		t.Fatal(err)
	}
	for page, wanted := range map[string][]string{
		"swapkeep.1":             {`.TH "SWAPKEEP" "1" "Jan 1970"`, "\n13\n", "\n130\n", "\nSWAPKEEP_*\n"},
		"swapkeep-swap.1":        {"password-fd"},
		"swapkeep-keys-create.1": {"recovery"},
	} {
		text, err := os.ReadFile(filepath.Join(dir, page))
		if err != nil {
			t.Error(err)
		}
		for _, want := range wanted {
			if !strings.Contains(string(text), want) {
				t.Errorf("%s: no %q", page, want)
			}
		}
		if home, err := os.UserHomeDir(); err == nil && strings.Contains(string(text), home+"/") {
			t.Errorf("%s names the home directory", page)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "swapkeep-man.1")); err == nil {
		t.Error("the hidden command has a page")
	}
	var usage usageError
	if err := run(); !errors.As(err, &usage) {
		t.Errorf("no directory: %v, want a usage error", err)
	}
	if err := run("--dir", filepath.Join(dir, "missing")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing directory: %v, want %v", err, fs.ErrNotExist)
	}
}
