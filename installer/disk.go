package installer

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"swapkeep/internal/atomicfile"
)

// This returns the machine and user that the program runs on and as.
func This() Machine {
	home, err := os.UserHomeDir()
	if err != nil {
		home = "" // refused where it is needed
	}
	root, sudo := rights(os.Getenv)
	return Machine{OS: runtime.GOOS, Home: home, Env: os.Getenv, Root: root, Sudo: sudo, UID: os.Geteuid(), Files: Disk{}, Registry: thisRegistry()}
}

// Disk is the file system of this machine.
type Disk struct{}

// maxProgram limits the bytes read from a file.
const maxProgram = 256 << 20

func (Disk) Lstat(path string) (fs.FileInfo, error) { return os.Lstat(path) }

func (Disk) Stat(path string) (fs.FileInfo, error) { return os.Stat(path) }

func (Disk) ReadDir(path string) ([]fs.DirEntry, error) { return os.ReadDir(path) }

func (Disk) Readlink(path string) (string, error) { return os.Readlink(path) }

// ReadFile reads a regular file of at most maxProgram bytes.
func (Disk) ReadFile(path string) ([]byte, error) { return atomicfile.Read(path, maxProgram) }

// Mkdir creates a directory with exactly that mode.
func (Disk) Mkdir(path string, mode fs.FileMode) error {
	if err := os.Mkdir(path, mode); err != nil {
		return err
	}
	if err := chmodFolder(path, mode); err != nil { // regardless of the umask
		return err
	}
	return atomicfile.SyncDir(filepath.Dir(path))
}

// Write replaces a file atomically, through a temporary file next to it.
func (Disk) Write(path string, content []byte, mode fs.FileMode) error {
	aside := path + Unfinished
	if err := unlessAbsent(os.Remove(aside)); err != nil {
		return err
	}
	f, err := os.OpenFile(aside, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode) // never through a link planted there
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	err = errors.Join(err, chmod(f, mode), f.Sync(), f.Close())
	if err == nil {
		err = replace(aside, path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(aside))
	}
	return atomicfile.SyncDir(filepath.Dir(path))
}

// Symlink replaces a link atomically, through a temporary one next to it.
func (Disk) Symlink(target, path string) error {
	aside := path + Unfinished
	if err := unlessAbsent(os.Remove(aside)); err != nil {
		return err
	}
	if err := os.Symlink(target, aside); err != nil {
		return err
	}
	if err := os.Rename(aside, path); err != nil {
		return errors.Join(err, os.Remove(aside))
	}
	return atomicfile.SyncDir(filepath.Dir(path))
}

// Rename is os.Rename followed by a sync of the directory.
func (Disk) Rename(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	return atomicfile.SyncDir(filepath.Dir(to))
}

// Remove removes a file, a link or an empty directory.
func (Disk) Remove(path string) error { return remove(path) }
