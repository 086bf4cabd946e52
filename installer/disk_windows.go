package installer

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/windows"
)

// rights are those of the process.
func rights(func(string) string) (root, sudo bool) {
	return windows.GetCurrentProcessToken().IsElevated(), false
}

// Owner is not told: lists of access decide here.
func (Disk) Owner(fs.FileInfo) (int, bool) { return 0, false }

// Writable is found out by the first write.
func (Disk) Writable(string) error { return nil }

func chmod(*os.File, fs.FileMode) error { return nil }

// replace moves a program that runs out of the way first: it cannot be written over.
func replace(from, to string) error {
	err := os.Rename(from, to)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return err
	}
	aside, moved := moveAside(to)
	if moved != nil {
		return errors.Join(err, moved)
	}
	if err := os.Rename(from, to); err != nil {
		return errors.Join(err, os.Rename(aside, to)) // the old one works on
	}
	return nil
}

// remove moves a program that runs out of the way: it cannot be removed before it ends.
func remove(path string) error {
	err := os.Remove(path)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if info, stat := os.Lstat(path); stat != nil || !info.Mode().IsRegular() {
		return err
	}
	_, err = moveAside(path)
	return err
}

// moveAside moves a file to the folder for temporary ones, to be removed by the system
// where this process may ask for that, and else by sweepAside.
func moveAside(path string) (aside string, err error) {
	aside = filepath.Join(os.TempDir(), filepath.Base(path)+"."+strconv.FormatInt(time.Now().UnixNano(), 36)+".old")
	if err := os.Rename(path, aside); err != nil {
		return "", err
	}
	if name, err := windows.UTF16PtrFromString(aside); err == nil {
		_ = windows.MoveFileEx(name, nil, windows.MOVEFILE_DELAY_UNTIL_REBOOT)
	}
	return aside, nil
}

// syncDir is nothing: Windows makes names durable by itself.
func syncDir(string) error { return nil }
