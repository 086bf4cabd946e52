// Package installer puts the programs in place and tells browsers of them, so that
// everything it did is known and can be undone: a plan names every change, receipts
// are written before the first of them, and an uninstall goes by the receipts.
package installer

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"swapkeep/manifest"
)

// A Machine is what is installed to: this one ([This]), or one that is only described.
type Machine struct {
	OS       string              // as GOOS
	Home     string              // the user's home directory, an absolute path
	Env      func(string) string // as os.Getenv
	Root     bool                // has the system's rights: root, or an elevated process of Windows
	Sudo     bool                // got them from a user, by sudo, doas or pkexec
	Files    Files
	Registry Registry // of Windows; nil elsewhere
}

// Files is a file system as far as installing needs one. Errors are those of package
// os. Paths are absolute and in the machine's own form.
type Files interface {
	Lstat(path string) (fs.FileInfo, error)
	Stat(path string) (fs.FileInfo, error)
	ReadFile(path string) ([]byte, error) // refuses what is larger than any program of ours
	ReadDir(path string) ([]fs.DirEntry, error)
	Readlink(path string) (string, error)
	// Owner is the user id that a file belongs to, where the system has such.
	Owner(info fs.FileInfo) (uid int, known bool)
	// Writable is nil when this process may make files in the folder.
	Writable(dir string) error

	Mkdir(path string, mode fs.FileMode) error
	// Write makes or replaces a file in one step, durably and with exactly that mode,
	// by way of path + Unfinished.
	Write(path string, content []byte, mode fs.FileMode) error
	// Symlink makes or replaces a link in one step, by way of path + Unfinished.
	Symlink(target, path string) error
	Rename(from, to string) error
	Remove(path string) error // a file, a link or an empty folder
}

// Unfinished ends the name of what is not in its place yet. After a crash it is found
// by its name.
const Unfinished = ".swapkeep-new"

// environment is what the placeholders of the table of places stand for.
func (m Machine) environment() manifest.Environment {
	return manifest.Environment{Home: m.Home, Getenv: m.Env}
}

// join is a path of the machine's system.
func (m Machine) join(elem ...string) string {
	if m.OS != "windows" {
		return path.Join(elem...)
	}
	for i, e := range elem {
		elem[i] = strings.ReplaceAll(e, `\`, "/")
	}
	return strings.ReplaceAll(path.Join(elem...), "/", `\`)
}

// parent is the folder that a path, or the key that a registry key, is in; of the
// topmost it is itself.
func (m Machine) parent(p string) string {
	if m.OS != "windows" {
		return path.Dir(p)
	}
	i := strings.LastIndexByte(p, '\\')
	if i < 0 || i == 2 && p[1] == ':' && len(p) == 3 {
		return p
	}
	if i == 2 && p[1] == ':' {
		return p[:3]
	}
	return p[:i]
}

func (m Machine) isAbs(p string) bool {
	if m.OS == "windows" {
		return len(p) > 3 && p[1] == ':' && (p[2] == '\\' || p[2] == '/')
	}
	return path.IsAbs(p)
}

// same reports whether two paths are one: Windows does not look at capitals.
func (m Machine) same(a, b string) bool {
	return a == b || m.OS == "windows" && strings.EqualFold(a, b)
}

// within reports whether a path is in a folder or in one inside it.
func (m Machine) within(p, dir string) bool {
	return strings.HasPrefix(p, dir) && strings.ContainsAny(p[len(dir):min(len(p), len(dir)+1)], `/\`)
}

// exists reports whether anything is at a path; a link counts as itself.
func (m Machine) exists(p string) (bool, error) {
	_, err := m.Files.Lstat(p)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// missing are the folders that are not there yet, outermost first.
func (m Machine) missing(dir string) ([]string, error) {
	var out []string
	for {
		info, err := m.Files.Stat(dir)
		switch {
		case err == nil && !info.IsDir():
			return nil, fmt.Errorf("%s is not a folder; move it away", dir)
		case err == nil:
			return out, nil
		case !errors.Is(err, fs.ErrNotExist):
			return nil, err
		case dir == m.parent(dir):
			return nil, fmt.Errorf("%s: %w", dir, err)
		}
		out = append([]string{dir}, out...)
		dir = m.parent(dir)
	}
}

// exe is the file name of a program.
func (m Machine) exe(name string) string {
	if m.OS == "windows" {
		return name + ".exe"
	}
	return name
}
