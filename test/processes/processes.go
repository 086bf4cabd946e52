//go:build unix

// Package processes finds what a test has started and ends it. A test whose programs are
// at a path of their own knows them by it.
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

// pause is between two looks at what still runs.
const pause = 20 * time.Millisecond

// In lists the processes whose program lies in a folder, an absolute path, by their
// command lines.
func In(folder string) (pids []int, err error) {
	return where(func(dir string) bool { return dir == folder })
}

// where lists the processes whose program lies in such a folder.
func where(such func(dir string) bool) (pids []int, err error) {
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		return nil, err
	}
	for _, path := range lines {
		line, err := os.ReadFile(path)
		if program, _, _ := strings.Cut(string(line), "\x00"); err != nil || !such(filepath.Dir(program)) {
			continue // one that has ended meanwhile, or not ours
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}

// Left lists those of In that have not ended in that time.
func Left(folder string, wait time.Duration) ([]int, error) {
	for end := time.Now().Add(wait); ; time.Sleep(pause) {
		if left, err := In(folder); err != nil || len(left) == 0 || time.Now().After(end) {
			return left, err
		}
	}
}

// Kill ends a process as a power cut would. It refuses an id that names more than one
// process, or the caller.
func Kill(pid int) error {
	if pid <= 1 || pid == os.Getpid() {
		return fmt.Errorf("kill process %d: that is none of a test's", pid)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		return fmt.Errorf("kill process %d: %w", pid, err)
	}
	return nil
}
