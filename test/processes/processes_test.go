//go:build linux

package processes

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// TestOneFolder checks that only programs of the directory are found, and none after a
// kill.
func TestOneFolder(t *testing.T) {
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Fatal(err)
	}
	folder, elsewhere := t.TempDir(), t.TempDir()
	start := func(folder string) *exec.Cmd {
		at := filepath.Join(folder, "sleep")
		if err := os.Symlink(sleep, at); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(at, "60")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
		return cmd
	}
	ours := start(folder)
	start(elsewhere)
	if left, err := StillRunning(folder, 60*time.Millisecond); err != nil || !slices.Equal(left, []int{ours.Process.Pid}) {
		t.Fatalf("left are %v, %v; want %d", left, err, ours.Process.Pid)
	}
	if err := Kill(ours.Process.Pid); err != nil {
		t.Fatal(err)
	}
	_ = ours.Wait()
	if left, err := StillRunning(folder, time.Second); err != nil || len(left) != 0 {
		t.Errorf("after the kill: %v, %v", left, err)
	}
}

// TestKillRefuses tries only the test's own pid: if accepted, ids below 2 would do harm.
func TestKillRefuses(t *testing.T) {
	if Kill(os.Getpid()) == nil {
		t.Error("this lives on, and was killed")
	}
}
