// Package atomicfile replaces a file in one step, and on the disk: after a crash or a
// power cut it is the old one or the new one, whole. It reads small files, too, whatever
// is in their place.
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

// Unfinished begins the name of a file that was not finished: a crash may leave one.
const Unfinished = ".new-"

// ErrIrregular is wrapped by what is wrong with a path that is no file of some length,
// or a longer one than it may be.
var ErrIrregular = errors.New("not a regular file, or too long")

// Read reads a file of at most so many bytes. A pipe in its place is refused, and not
// waited for: nobody may ever write to it.
func Read(path string, most int64) ([]byte, error) {
	f, err := os.OpenFile(path, atOnce(), 0)
	if err != nil {
		return nil, err
	}
	b, err := readRegular(f, most)
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	return b, nil
}

// atOnce waits for nobody at the other end of a pipe. Windows has none among its files.
func atOnce() int {
	if runtime.GOOS == "windows" {
		return os.O_RDONLY
	}
	return os.O_RDONLY | syscall.O_NONBLOCK
}

func readRegular(f *os.File, most int64) ([]byte, error) {
	irregular := &fs.PathError{Op: "read", Path: f.Name(), Err: ErrIrregular}
	switch info, err := f.Stat(); {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular() || info.Size() > most:
		return nil, irregular
	}
	b, err := io.ReadAll(io.LimitReader(f, most+1)) // it may have grown since
	if err == nil && int64(len(b)) > most {
		err = irregular
	}
	return b, err
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

// Sweep removes from a folder what a process that was killed did not finish writing: many
// kills must not leave many files. Nobody else writes there meanwhile.
func Sweep(dir string) error {
	all, err := os.ReadDir(dir) // as far as it can be read
	for _, entry := range all {
		if strings.HasPrefix(entry.Name(), Unfinished) && entry.Type().IsRegular() {
			err = errors.Join(err, os.Remove(filepath.Join(dir, entry.Name())))
		}
	}
	return err
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
