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

// holding is the least descriptor of a mark: a command that is told to read one that nobody
// opened, 3 for most, does not find the program there.
const holding = 100

// Hold marks this very program as one that runs, for RunningFrom: who hides the memory of
// a process hides by that which program it is. The mark ends with the process.
func Hold() {
	low, err := unix.Open("/proc/self/exe", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return // nobody is kept from anything
	}
	fd, err := unix.FcntlInt(uintptr(low), unix.F_DUPFD_CLOEXEC, holding)
	_ = unix.Close(low)
	if err != nil {
		return
	}
	for range 3 { // somebody may be looking just now
		if unix.Flock(fd, unix.LOCK_SH|unix.LOCK_NB) == nil {
			return // and stays open
		}
		time.Sleep(time.Millisecond)
	}
	_ = unix.Close(fd)
}

// RunningFrom looks at the processes of this machine as far as this user may, and at the
// marks of relays and commands. A daemon hides its program, and the path by which it was
// started leads through the link to the present version: one of an earlier version is not
// seen, unless by root, and goes on without its file, of which it needs nothing any more.
func RunningFrom(dir string) (bool, error) {
	if marked(filepath.Join(dir, "swapkeep")) {
		return true, nil
	}
	processes, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return false, err
	}
	for _, p := range processes {
		exe, _ := os.Readlink(filepath.Join(p, "exe")) // of another user, or gone
		line, _ := os.ReadFile(filepath.Join(p, "cmdline"))
		argv0, _, _ := strings.Cut(string(line), "\x00")
		if filepath.Dir(exe) == dir || filepath.Dir(argv0) == dir {
			return true, nil
		}
	}
	return false, nil
}

// marked reports whether a process holds the program at a path, or may: over NFS, a file
// that is not open for writing cannot be asked.
func marked(program string) bool {
	f, err := os.Open(program)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	defer func() { _ = f.Close() }()
	return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil
}
