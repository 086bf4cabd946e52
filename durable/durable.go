// Package durable replaces a file in one step, and on the disk: after a crash or a
// power cut it is the old one or the new one, whole.
package durable

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
)

// Unfinished begins the name of a file that was not finished: a crash may leave one.
const Unfinished = ".new-"

// ErrIrregular is wrapped by what is wrong with a path that is no file of some length,
// or a longer one than it may be.
var ErrIrregular = errors.New("not a regular file, or too long")

// Read reads a file of at most so many bytes. A pipe in its place is refused, and not
// waited for: nobody may ever write to it.
func Read(path string, most int64) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && (!info.Mode().IsRegular() || info.Size() > most) {
		err = &fs.PathError{Op: "read", Path: path, Err: ErrIrregular}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	b, err := io.ReadAll(io.LimitReader(f, most))
	return b, errors.Join(err, f.Close())
}

// Write makes path what fill writes, for this user only. An error, which is fill's
// or the system's, leaves what was there. It may be repeated.
func Write(path string, fill func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), Unfinished+"*")
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

// SyncDir makes the names in a folder durable. Windows does so by itself and cannot be
// asked. It may be repeated.
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
