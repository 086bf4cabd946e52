//go:build unix

// Package processes finds and ends the processes that a test has started. Tests start
// programs from a directory of their own and recognise them by that path.
package processes

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"swapkeep/test/await"
)

// RunningFrom lists the processes whose program, by command line, is in folder, an absolute path.
func RunningFrom(folder string) (pids []int, err error) {
	return runningWhere(func(dir string) bool { return dir == folder })
}

// runningWhere lists the processes whose program is in a directory that such accepts.
func runningWhere(such func(dir string) bool) (pids []int, err error) {
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		return nil, err
	}
	for _, path := range lines {
		line, err := os.ReadFile(path)
		if program, _, _ := strings.Cut(string(line), "\x00"); err != nil || !such(filepath.Dir(program)) {
			continue // has ended meanwhile, or is not ours
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

// StillRunning returns the processes of RunningFrom that outlast wait, or none as soon as all have ended.
func StillRunning(folder string, wait time.Duration) ([]int, error) {
	var left []int
	var err error
	await.Holds(wait, func() bool { left, err = RunningFrom(folder); return err != nil || len(left) == 0 })
	return left, err
}

// Kill sends SIGKILL to a process. It refuses ids of several processes, and the caller's
// own.
func Kill(pid int) error {
	if pid <= 1 || pid == os.Getpid() {
		return fmt.Errorf("kill process %d: that is none of a test's", pid)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		return fmt.Errorf("kill process %d: %w", pid, err)
	}
	return nil
}
