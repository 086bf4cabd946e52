package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"swapkeep/test/await"
)

// TestEnd checks that the processes that the program started end with it, and that it
// removes its directory unless it was killed.
func TestEnd(t *testing.T) {
	program := filepath.Join(t.TempDir(), "fuzz")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for signal, left := range map[syscall.Signal]int{syscall.SIGTERM: 0, syscall.SIGKILL: 1} {
		module, folders := t.TempDir(), t.TempDir()
		for name, text := range map[string]string{
			"go.mod":    "module swapkeep\n\ngo 1.26\n",
			"a_test.go": "package a\n\nimport \"testing\"\n\nfunc FuzzFine(f *testing.F) { f.Fuzz(func(*testing.T, int) {}) }\n",
		} {
			if err := os.WriteFile(filepath.Join(module, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.CommandContext(t.Context(), program, "-time", "300s")
		cmd.Dir, cmd.Env = module, append(os.Environ(), "TMPDIR="+folders)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		await.Until(t, time.Minute, "the target runs", func() bool { return started(folders) >= 2 }) // the target and its worker
		if err := cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		await.Until(t, time.Minute, "all have ended", func() bool { return started(folders) == 0 })
		if all, err := filepath.Glob(filepath.Join(folders, "swapkeep-fuzz*")); err != nil || len(all) != left {
			t.Errorf("%v: %v is left, %v", signal, all, err)
		}
	}
}

// started counts the processes whose program is below a directory.
func started(folder string) (n int) {
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, line := range lines {
		if b, err := os.ReadFile(line); err == nil && bytes.HasPrefix(b, []byte(folder)) {
			n++
		}
	}
	return n
}
