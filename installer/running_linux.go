package installer

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// minMarkFD is the minimum file descriptor of a mark. A command that is told to read a
// secret from a descriptor that nobody opened, usually 3, must not read the program.
const minMarkFD = 100

// MarkRunning marks this program as running, for RunningFrom, with a shared lock on its file: a
// process that hides its memory also hides its program. The mark ends with it.
func MarkRunning() {
	low, err := unix.Open("/proc/self/exe", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return // without a mark
	}
	fd, err := unix.FcntlInt(uintptr(low), unix.F_DUPFD_CLOEXEC, minMarkFD)
	_ = unix.Close(low)
	if err != nil {
		return
	}
	for range 3 { // RunningFrom may hold the lock for a moment
		if unix.Flock(fd, unix.LOCK_SH|unix.LOCK_NB) == nil {
			return // the descriptor stays open
		}
		time.Sleep(time.Millisecond)
	}
	_ = unix.Close(fd)
}

// RunningFrom reports whether a process of this machine runs a program from a directory,
// as far as this user can see it, or has marked one with MarkRunning. A daemon hides its
// program, and was started through the link to the current version. So a daemon of an
// earlier version is seen by root only; it keeps running without its file.
func RunningFrom(dir string) (bool, error) {
	if marked(filepath.Join(dir, "swapkeep")) {
		return true, nil
	}
	processes, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return false, err
	}
	for _, p := range processes {
		exe, _ := os.Readlink(filepath.Join(p, "exe")) // empty if it belongs to another user or is gone
		line, _ := os.ReadFile(filepath.Join(p, "cmdline"))
		argv0, _, _ := strings.Cut(string(line), "\x00")
		if filepath.Dir(exe) == dir || filepath.Dir(argv0) == dir {
			return true, nil
		}
	}
	return false, nil
}

// marked reports whether a process holds the lock on the program at a path, or may hold
// it: over NFS, a file that is not open for writing cannot be locked exclusively.
func marked(program string) bool {
	f, err := os.Open(program)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	defer func() { _ = f.Close() }()
	return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil
}
