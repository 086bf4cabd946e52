//go:build unix

package installer

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// rights reports whether the user is root, and whether through sudo, doas or pkexec.
func rights(getenv func(string) string) (root, sudo bool) {
	root = os.Geteuid() == 0
	for _, name := range []string{"SUDO_UID", "DOAS_USER", "PKEXEC_UID"} {
		sudo = sudo || root && getenv(name) != ""
	}
	return root, sudo
}

// Owner returns the user id of a file's owner.
func (Disk) Owner(info fs.FileInfo) (int, bool) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(s.Uid), true
}

// Writable asks the kernel with access(2).
func (Disk) Writable(dir string) error {
	if err := unix.Access(dir, unix.W_OK|unix.X_OK); err != nil {
		return &fs.PathError{Op: "write in", Path: dir, Err: err}
	}
	return nil
}

// chmodFolder does not follow a link in the place of the directory.
func chmodFolder(path string, mode fs.FileMode) error {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_DIRECTORY, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Chmod(mode), f.Close())
}

func chmod(f *os.File, mode fs.FileMode) error { return f.Chmod(mode) }

func replace(from, to string) error { return os.Rename(from, to) }

func remove(path string) error { return os.Remove(path) }

// Lock takes an exclusive flock on the directory itself; ErrBusy if it is held.
func (Disk) Lock(dir string) (unlock func(), err error) {
	f, err := os.Open(dir)
	if err != nil {
		return func() {}, nil // a home that does not exist yet or cannot be read
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); errors.Is(err, unix.EWOULDBLOCK) {
		return nil, errors.Join(ErrBusy, f.Close())
	}
	return func() { _ = f.Close() }, nil
}

func thisRegistry() Registry { return nil }
