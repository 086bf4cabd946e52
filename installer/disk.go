package installer

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"swapkeep/internal/atomicfile"
)

// This is the machine that the program runs on, and who runs it.
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

// maxProgram bounds what is read, in bytes.
const maxProgram = 256 << 20

// Lstat is os.Lstat.
func (Disk) Lstat(path string) (fs.FileInfo, error) { return os.Lstat(path) }

// Stat is os.Stat.
func (Disk) Stat(path string) (fs.FileInfo, error) { return os.Stat(path) }

// ReadDir is os.ReadDir.
func (Disk) ReadDir(path string) ([]fs.DirEntry, error) { return os.ReadDir(path) }

// Readlink is os.Readlink.
func (Disk) Readlink(path string) (string, error) { return os.Readlink(path) }

// ReadFile reads a plain file of at most the size of a program.
func (Disk) ReadFile(path string) ([]byte, error) { return atomicfile.Read(path, maxProgram) }

// Mkdir makes a folder of exactly that mode.
func (Disk) Mkdir(path string, mode fs.FileMode) error {
	if err := os.Mkdir(path, mode); err != nil {
		return err
	}
	if err := chmodFolder(path, mode); err != nil { // whatever the umask says
		return err
	}
	return atomicfile.SyncDir(filepath.Dir(path))
}

// Write replaces a file by way of one beside it.
func (Disk) Write(path string, content []byte, mode fs.FileMode) error {
	aside := path + Unfinished
	if err := unlessAbsent(os.Remove(aside)); err != nil {
		return err
	}
	f, err := os.OpenFile(aside, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode) // never through a link that waits there
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

// Symlink replaces a link by way of one beside it.
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

// Rename is os.Rename, made durable.
func (Disk) Rename(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	return atomicfile.SyncDir(filepath.Dir(to))
}

// Remove removes a file, a link or an empty folder.
func (Disk) Remove(path string) error { return remove(path) }
