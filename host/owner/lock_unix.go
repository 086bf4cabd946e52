//go:build linux || darwin

package owner

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// errLocked means that another process, or another lock of this process, holds the file.
var errLocked = errors.New("lock is held")

// A fileLock is released when its process ends, for whatever reason. Its file is never
// removed, because a lock on a removed file excludes nobody.
type fileLock struct {
	file *os.File
}

// tryLock locks the file without waiting. Errors: errLocked, those of the file system.
func tryLock(path string) (*fileLock, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		err = errLocked
	}
	if err == nil {
		err = sameFileAtPath(f, path)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &fileLock{file: f}, nil
}

// sameFileAtPath returns errLocked if the locked file is no longer the one at its path.
func sameFileAtPath(f *os.File, path string) error {
	locked, err := f.Stat()
	if err != nil {
		return err
	}
	now, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if !os.SameFile(locked, now) {
		return errLocked
	}
	return nil
}

func (l *fileLock) release() error { return l.file.Close() }
