//go:build unix

package installer

import (
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

func chmod(f *os.File, mode fs.FileMode) error { return f.Chmod(mode) }

func replace(from, to string) error { return os.Rename(from, to) }

func remove(path string) error { return os.Remove(path) }

// syncDir makes names durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if closed := d.Close(); err == nil {
		err = closed
	}
	return err
}

func thisRegistry() Registry { return nil }
