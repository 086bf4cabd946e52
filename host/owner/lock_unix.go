//go:build linux || darwin

package owner

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// errHeld: another process, or another lock of this one, holds the file.
var errHeld = errors.New("lock is held")

// A fileLock ends with the process, whatever ends the process. Its file is
// never removed: a lock on a removed file locks nobody out.
type fileLock struct {
	file *os.File
}

// tryLock never waits. Error: errHeld, else the file system's.
func tryLock(path string) (*fileLock, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		err = errHeld
	}
	if err == nil {
		err = stillThere(f, path)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &fileLock{file: f}, nil
}

// stillThere refuses a lock on a file that is no longer the one at its path.
func stillThere(f *os.File, path string) error {
	locked, err := f.Stat()
	if err != nil {
		return err
	}
	now, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if !os.SameFile(locked, now) {
		return errHeld
	}
	return nil
}

func (l *fileLock) release() error { return l.file.Close() }
