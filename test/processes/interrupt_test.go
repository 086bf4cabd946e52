//go:build linux

package processes

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestCleanUpOnInterrupt runs itself in a second process and interrupts that process.
func TestCleanUpOnInterrupt(t *testing.T) {
	const rootEnv = "SWAPKEEP_TEST_INTERRUPTED"
	if root := os.Getenv(rootEnv); root != "" {
		CleanUpOnInterrupt(root)
		if err := exec.Command(filepath.Join(root, "home", "sleep"), "60").Start(); err != nil {
			t.Fatal(err)
		}
		_, _ = os.Stdout.WriteString("\n") // tells the parent that sleep is running
		time.Sleep(time.Minute)
	}
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(t.TempDir(), "root")
	home := filepath.Join(root, "home")
	if err := errors.Join(os.MkdirAll(home, 0o700), os.Symlink(sleep, filepath.Join(home, "sleep"))); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "-test.run=^TestCleanUpOnInterrupt$")
	cmd.Env = append(os.Environ(), rootEnv+"="+root)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	started, err := RunningFrom(home)
	if err := errors.Join(err, cmd.Process.Signal(syscall.SIGTERM)); err != nil || len(started) != 1 {
		t.Fatal(started, err)
	}
	_ = cmd.Wait()
	left, err := StillRunning(home, 5*time.Second)
	if err != nil || len(left) != 0 || cmd.ProcessState.ExitCode() != 130 {
		t.Errorf("still running: %v (error %v); exit code %d, want 130", left, err, cmd.ProcessState.ExitCode())
	}
	if _, err := os.Stat(root); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("root was not removed: %v", err)
	}
}
