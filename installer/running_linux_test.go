package installer

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// A program that a process has marked is running, even if the process hides which program
// it runs. It may be marked through several links and by several processes.
func TestHeldProgramRuns(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "swapkeep")
	if err := os.WriteFile(program, []byte("a program"), 0o755); err != nil {
		t.Fatal(err)
	}
	want := func(when string, want bool) {
		t.Helper()
		if runs, err := RunningFrom(dir); err != nil || runs != want {
			t.Errorf("%s it runs: %v, %v", when, runs, err)
		}
	}
	want("before anybody holds it", false)
	var holders []*os.File
	for range 2 {
		f, err := os.Open(program)
		if err == nil {
			err = unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB)
		}
		if err != nil {
			t.Fatal(err)
		}
		holders = append(holders, f)
	}
	want("while two hold it", true)
	_ = holders[0].Close()
	want("while one holds it", true)
	_ = holders[1].Close()
	want("afterwards", false)
}
