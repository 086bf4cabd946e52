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
)

// pause is the interval between two checks for running processes.
const pause = 20 * time.Millisecond

// In lists the processes whose program, by command line, is in folder, an absolute path.
func In(folder string) (pids []int, err error) {
	return where(func(dir string) bool { return dir == folder })
}

// where lists the processes whose program is in a directory that such accepts.
func where(such func(dir string) bool) (pids []int, err error) {
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

// Left returns the processes of In that outlast wait, or none as soon as all have ended.
func Left(folder string, wait time.Duration) ([]int, error) {
	for end := time.Now().Add(wait); ; time.Sleep(pause) {
		if left, err := In(folder); err != nil || len(left) == 0 || time.Now().After(end) {
			return left, err
		}
	}
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
