// Package atomicfile replaces a file in one step, and durably: after a crash or a power
// cut it is the old one or the new one, complete. It also reads small files, and refuses
// whatever else is in their place.
package atomicfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// TempPrefix begins the name of an unfinished file, which a crash may leave behind.
const TempPrefix = ".new-"

// ErrNotRegular means that a path is not a regular file, or one that is too long.
var ErrNotRegular = errors.New("not a regular file, or too long")

// Read reads a regular file of at most limit bytes; anything else is ErrNotRegular. It
// does not block on a pipe, to which nobody may ever write.
func Read(path string, limit int64) ([]byte, error) {
	f, err := os.OpenFile(path, nonblockFlags(), 0)
	if err != nil {
		return nil, err
	}
	b, err := readRegular(f, limit)
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	return b, nil
}

// nonblockFlags returns flags with which opening a pipe does not block. Windows has no pipes
// among its files.
func nonblockFlags() int {
	if runtime.GOOS == "windows" {
		return os.O_RDONLY
	}
	return os.O_RDONLY | syscall.O_NONBLOCK
}

func readRegular(f *os.File, limit int64) ([]byte, error) {
	irregular := &fs.PathError{Op: "read", Path: f.Name(), Err: ErrNotRegular}
	switch info, err := f.Stat(); {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular() || info.Size() > limit:
		return nil, irregular
	}
	b, err := io.ReadAll(io.LimitReader(f, limit+1)) // it may have grown since
	if err == nil && int64(len(b)) > limit {
		err = irregular
	}
	return b, err
}

// Write replaces path with what fill writes, for this user only. An error, which is
// fill's or the system's, leaves the old file, unless only the last step failed, which
// makes the new name durable. It may be repeated.
func Write(path string, fill func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), TempPrefix+"*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if err := errors.Join(fill(f), f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return SyncDir(filepath.Dir(path))
}

// RemoveUnfinished removes from a folder the files that killed processes left unfinished, so that
// many kills do not leave many files. Nothing else may write there meanwhile.
func RemoveUnfinished(dir string) error {
	all, err := os.ReadDir(dir) // the entries read before an error
	for _, entry := range all {
		if strings.HasPrefix(entry.Name(), TempPrefix) && entry.Type().IsRegular() {
			err = errors.Join(err, os.Remove(filepath.Join(dir, entry.Name())))
		}
	}
	return err
}

// SyncDir makes the names in a folder durable. Windows does so by itself and has no call
// for it. It may be repeated.
func SyncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
