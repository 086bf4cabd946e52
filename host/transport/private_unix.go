//go:build linux || darwin

package transport

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

const (
	othersWrite = 0o022
	othersAny   = 0o077
)

// Prepare creates the place's directories. It refuses existing ones that are unsafe:
// owned by another user, writable by others, or below a directory in which others can
// replace them. It may be repeated.
func Prepare(p Instance) error {
	if !filepath.IsAbs(p.Home) {
		return fmt.Errorf("%w (it is %q)", ErrNoHome, p.Home)
	}
	if err := os.MkdirAll(p.Home, 0o700); err != nil {
		return fmt.Errorf("make the state directory: %w", err)
	}
	if err := checkHome(p.Home); err != nil {
		return err
	}
	return makePrivate(p.RunDir())
}

// Check returns the error that Prepare would return for the existing directories, without
// creating or changing anything. Further error: fs.ErrNotExist if there is no state
// directory.
func Check(p Instance) error {
	if err := checkHome(p.Home); err != nil {
		return err
	}
	info, err := os.Lstat(p.RunDir())
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return checkOwner(p.RunDir(), info, othersWrite)
}

// checkHome checks the state directory. It follows links, because the directory may have
// been moved to another disk.
func checkHome(home string) error {
	real, err := filepath.EvalSymlinks(home)
	if err != nil {
		return fmt.Errorf("state directory: %w", err)
	}
	info, err := os.Stat(real)
	if err != nil {
		return fmt.Errorf("state directory: %w", err)
	}
	if err := checkOwner(real, info, othersWrite); err != nil {
		return err
	}
	return checkAbove(filepath.Dir(real))
}

// checkAbove refuses a directory on the way to the root that everybody can write to,
// unless its sticky bit prevents renaming our files.
func checkAbove(dir string) error {
	for {
		info, err := os.Stat(dir)
		if err != nil {
			return fmt.Errorf("state directory: %w", err)
		}
		if info.Mode().Perm()&0o002 != 0 && info.Mode()&os.ModeSticky == 0 {
			return &UnsafeDirectoryError{dir, "is above the state directory and writable by anyone", "run chmod o-w on it"}
		}
		if dir == filepath.Dir(dir) {
			return nil
		}
		dir = filepath.Dir(dir)
	}
}

// makePrivate creates dir for this user only. An existing one is refused if others could
// have written to it, and its mode is narrowed if they could only read it.
func makePrivate(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return fmt.Errorf("make %s: %w", dir, err)
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if err := checkOwner(dir, info, othersWrite); err != nil {
		return err
	}
	if info.Mode().Perm()&othersAny == 0 {
		return nil
	}
	return os.Chmod(dir, 0o700)
}

func checkPrivate(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	return checkOwner(dir, info, othersAny)
}

func checkOwner(dir string, info os.FileInfo, forbidden os.FileMode) error {
	stat, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.IsDir():
		return &UnsafeDirectoryError{dir, "is not a directory", "move it away"}
	case !ok || int(stat.Uid) != os.Getuid():
		return &UnsafeDirectoryError{dir, "belongs to another user", "run as its owner or set " + HomeVariable + " to a directory of your own"}
	case info.Mode().Perm()&forbidden != 0:
		return &UnsafeDirectoryError{dir, fmt.Sprintf("is accessible to others (mode %04o)", info.Mode().Perm()), "check what is in it, then run chmod 700 on it"}
	}
	return nil
}
