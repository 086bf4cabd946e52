package owner

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// errHeld: another process, or another lock of this one, holds the file.
var errHeld = errors.New("lock is held")

// A fileLock ends with the process, whatever ends the process.
type fileLock struct {
	file *os.File
}

// lockOffset is past any text: locked bytes cannot be read by others.
var lockOffset = windows.Overlapped{OffsetHigh: 1}

// tryLock never waits. Error: errHeld, else the file system's.
func tryLock(path string) (*fileLock, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	at := lockOffset
	err = windows.LockFileEx(windows.Handle(f.Fd()),
		windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		err = errHeld
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &fileLock{file: f}, nil
}

func (l *fileLock) release() error { return l.file.Close() }
