package installer

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
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

func chmodFolder(string, fs.FileMode) error { return nil }

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
	if info, stat := os.Lstat(path); stat != nil || !info.Mode().IsRegular() || wasAside(filepath.Base(path)) {
		return err
	}
	_, err = moveAside(path)
	return err
}

// moveAside moves a file to the folder for temporary ones or, where that is on another
// disk, out of its folder, to be removed by the system where this process may ask for
// that, and else by sweepAside.
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

// Lock opens a file in the folder's temporary one that nobody else can open meanwhile,
// and that Windows removes when it is closed.
func (Disk) Lock(dir string) (unlock func(), err error) {
	temp := filepath.Join(dir, "Temp") // Windows has one, and each user
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
