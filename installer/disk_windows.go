package installer

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/windows"
)

// rights reports whether the process is elevated.
func rights(func(string) string) (root, sudo bool) {
	return windows.GetCurrentProcessToken().IsElevated(), false
}

// Owner is unknown: access is decided by access control lists.
func (Disk) Owner(fs.FileInfo) (int, bool) { return 0, false }

// Writable is always nil; the first write shows whether it is possible.
func (Disk) Writable(string) error { return nil }

func chmodFolder(string, fs.FileMode) error { return nil }

func chmod(*os.File, fs.FileMode) error { return nil }

// replace moves a running program aside first, because it cannot be overwritten.
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
		return errors.Join(err, os.Rename(aside, to)) // keep the old one working
	}
	return nil
}

// remove moves a running program aside, because it cannot be deleted before it exits.
func remove(path string) error {
	err := os.Remove(path)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if info, stat := os.Lstat(path); stat != nil || !info.Mode().IsRegular() || isAsideName(filepath.Base(path)) {
		return err
	}
	_, err = moveAside(path)
	return err
}

// moveAside moves a file to the temporary directory or, if that is on another disk, to
// the grandparent directory. Windows deletes it at the next boot if this process may
// request that, otherwise removeAside does.
func moveAside(path string) (aside string, err error) {
	for _, dir := range []string{os.TempDir(), filepath.Dir(filepath.Dir(path))} {
		aside = filepath.Join(dir, asideName(filepath.Base(path), time.Now()))
		moved := os.Rename(path, aside)
		if moved != nil {
			err = errors.Join(err, moved)
			continue
		}
		if name, err := windows.UTF16PtrFromString(aside); err == nil {
			_ = windows.MoveFileEx(name, nil, windows.MOVEFILE_DELAY_UNTIL_REBOOT)
		}
		return aside, nil
	}
	return "", err
}

// Lock opens a file in the directory's temporary directory exclusively. Windows deletes
// it when it is closed. It returns ErrBusy if another process has it open.
func (Disk) Lock(dir string) (unlock func(), err error) {
	temp := filepath.Join(dir, "Temp") // exists for Windows and for each user
	if info, err := os.Stat(temp); err != nil || !info.IsDir() {
		temp = os.TempDir()
	}
	name, err := windows.UTF16PtrFromString(filepath.Join(temp, "swapkeep-install.lock"))
	if err != nil {
		return nil, err
	}
	file, err := windows.CreateFile(name, windows.GENERIC_WRITE, 0, nil, windows.OPEN_ALWAYS, windows.FILE_ATTRIBUTE_TEMPORARY|windows.FILE_FLAG_DELETE_ON_CLOSE, 0)
	switch {
	case errors.Is(err, windows.ERROR_SHARING_VIOLATION), errors.Is(err, windows.ERROR_ACCESS_DENIED):
		return nil, ErrBusy
	case err != nil:
		return func() {}, nil
	}
	return func() { _ = windows.CloseHandle(file) }, nil
}
