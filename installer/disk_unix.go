//go:build unix

package installer

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// rights are who runs this: root, and root by the grace of sudo, doas or pkexec.
func rights(getenv func(string) string) (root, sudo bool) {
	root = os.Geteuid() == 0
	for _, name := range []string{"SUDO_UID", "DOAS_USER", "PKEXEC_UID"} {
		sudo = sudo || root && getenv(name) != ""
	}
	return root, sudo
}

// Owner is the file's user.
func (Disk) Owner(info fs.FileInfo) (int, bool) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(s.Uid), true
}

// Writable asks the kernel.
func (Disk) Writable(dir string) error {
	if err := unix.Access(dir, unix.W_OK|unix.X_OK); err != nil {
		return &fs.PathError{Op: "write in", Path: dir, Err: err}
	}
	return nil
}

// chmodFolder follows no link that somebody put in the folder's place.
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

// Lock locks the folder itself.
func (Disk) Lock(dir string) (unlock func(), err error) {
	f, err := os.Open(dir)
	if err != nil {
		return func() {}, nil // a home that is not made yet, or cannot be read
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); errors.Is(err, unix.EWOULDBLOCK) {
		return nil, errors.Join(ErrBusy, f.Close())
	}
	return func() { _ = f.Close() }, nil
}

func thisRegistry() Registry { return nil }
