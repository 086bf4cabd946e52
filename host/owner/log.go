package owner

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"swapkeep/host/transport"
)

// MaxLog is the size in bytes at which a log is copied to its ".1" file. The two files
// together stay below about twice that.
const MaxLog = 4 << 20

// A Log is the daemon's log file: appended to, private to the user, limited in size. A
// panic's text gets into the same file through standard error.
type Log struct {
	mu   sync.Mutex
	file *os.File
	max  int64
}

// OpenLog opens the log of a place whose directories exist.
func OpenLog(p transport.Instance) (*Log, error) { return openLog(p.LogPath(), MaxLog) }

func openLog(path string, limit int64) (*Log, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the log: %w", err)
	}
	l := &Log{file: f, max: limit}
	if err := errors.Join(f.Chmod(0o600), l.rotate()); err != nil {
		return nil, errors.Join(fmt.Errorf("open the log: %w", err), f.Close())
	}
	return l, nil
}

// Write appends one record and first rotates a full log.
func (l *Log) Write(record []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.rotate(); err != nil {
		return 0, err
	}
	return l.file.Write(record)
}

// rotate rotates a full log: it copies the log to its ".1" file and truncates it. Renaming
// would not do, because a daemon's standard error is open on this file.
func (l *Log) rotate() error {
	info, err := l.file.Stat()
	if err != nil || info.Size() < l.max {
		return err
	}
	old, err := os.OpenFile(l.file.Name()+".1", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	last := io.NewSectionReader(l.file, max(0, info.Size()-l.max), l.max)
	_, err = io.Copy(old, last)
	return errors.Join(err, old.Chmod(0o600), old.Close(), l.file.Truncate(0))
}

func (l *Log) Close() error { return l.file.Close() }
