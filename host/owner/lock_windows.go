package owner

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// errLocked means that another process, or another lock of this process, holds the file.
var errLocked = errors.New("lock is held")

// A fileLock is released when its process ends, for whatever reason.
type fileLock struct {
	file *os.File
}

// lockOffset is beyond any text in the file, because others cannot read locked bytes.
var lockOffset = windows.Overlapped{OffsetHigh: 1}

// tryLock locks the file without waiting. Errors: errLocked, those of the file system.
func tryLock(path string) (*fileLock, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	at := lockOffset
	err = windows.LockFileEx(windows.Handle(f.Fd()),
		windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		err = errLocked
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &fileLock{file: f}, nil
}

func (l *fileLock) release() error { return l.file.Close() }
