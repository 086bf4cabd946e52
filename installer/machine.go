// Package installer installs the programs and registers them with browsers, so that
// everything it did is known and can be undone: a plan lists every change, receipts are
// written before the first change, and an uninstall follows the receipts.
package installer

import (
	"fmt"
	"io/fs"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"swapkeep/manifest"
)

// A Machine is what is installed to: this one ([This]), or a simulated one.
type Machine struct {
	OS       string              // a GOOS value
	Home     string              // the user's home directory, an absolute path
	Env      func(string) string // like os.Getenv
	Root     bool                // runs as root, or as an elevated process on Windows
	Sudo     bool                // became root through sudo, doas or pkexec
	UID      int                 // effective user id, where files have owners
	Files    Files
	Registry Registry // on Windows; nil elsewhere
}

// Files is the part of a file system that an installation needs. Errors are those of
// package os. Paths are absolute and in the machine's own form.
type Files interface {
	Lstat(path string) (fs.FileInfo, error)
	Stat(path string) (fs.FileInfo, error)
	ReadFile(path string) ([]byte, error) // of a regular file; refuses one larger than any program of ours
	ReadDir(path string) ([]fs.DirEntry, error)
	Readlink(path string) (string, error)
	// Owner returns the user id of a file's owner, if the system has owners.
	Owner(info fs.FileInfo) (uid int, known bool)
	// Writable returns nil if this process may create files in the directory.
	Writable(dir string) error

	Mkdir(path string, mode fs.FileMode) error
	// Write creates or replaces a file atomically and durably, with exactly that mode,
	// through path + Unfinished.
	Write(path string, content []byte, mode fs.FileMode) error
	// Symlink creates or replaces a link atomically, through path + Unfinished.
	Symlink(target, path string) error
	Rename(from, to string) error
	Remove(path string) error // a file, a link or an empty directory

	// Lock keeps others from locking the same directory until unlock is called or the
	// process ends. It leaves no file. It returns ErrBusy if the directory is locked. If
	// it cannot be locked, as on some network file systems, Lock keeps nobody out.
	Lock(dir string) (unlock func(), err error)
}

// Unfinished is the suffix of files that are not in their place yet. After a crash they
// are recognized by it.
const Unfinished = ".swapkeep-new"

// environment returns the values of the placeholders in the table of places.
func (m Machine) environment() manifest.Environment {
	return manifest.Environment{Home: m.Home, Getenv: m.Env}
}

// join joins path elements in the form of the machine's system.
func (m Machine) join(elem ...string) string {
	if m.OS != "windows" {
		return path.Join(elem...)
	}
	slashed := make([]string, len(elem))
	for i, e := range elem {
		slashed[i] = strings.ReplaceAll(e, `\`, "/")
	}
	joined := path.Join(slashed...)
	if strings.HasPrefix(slashed[0], "//") { // a share, which Join would turn into a directory
		joined = "/" + joined
	}
	return strings.ReplaceAll(joined, "/", `\`)
}

// base returns the last element of a path.
func (m Machine) base(p string) string {
	if m.OS != "windows" {
		return path.Base(p)
	}
	return p[strings.LastIndexAny(p, `\/`)+1:]
}

// share returns the prefix \\HOST\SHARE of a Windows path on another machine's share; ""
// for other paths, including device paths.
func share(p string) string {
	parts := strings.SplitN(strings.ReplaceAll(p, "/", `\`), `\`, 5)
	if len(parts) < 4 || parts[0] != "" || parts[1] != "" || strings.Trim(parts[2], ".?") == "" || parts[3] == "" {
		return ""
	}
	return strings.Join(parts[:4], `\`)
}

// parent returns the parent directory of a path, or the parent of a registry key; of a
// root it returns the root itself.
func (m Machine) parent(p string) string {
	if m.OS != "windows" {
		return path.Dir(p)
	}
	i := strings.LastIndexByte(p, '\\')
	if i < 0 || p == share(p) || i == 2 && p[1] == ':' && len(p) == 3 {
		return p
	}
	if i == 2 && p[1] == ':' {
		return p[:3]
	}
	return p[:i]
}

func (m Machine) isAbs(p string) bool {
	if m.OS == "windows" {
		return len(p) > 3 && p[1] == ':' && (p[2] == '\\' || p[2] == '/') || share(p) != ""
	}
	return path.IsAbs(p)
}

// encodable reports whether a path can be written unchanged into manifests, receipts and
// units: JSON would replace invalid UTF-8, and a control character could end a line.
func encodable(p string) bool {
	return utf8.ValidString(p) && !strings.ContainsFunc(p, unicode.IsControl)
}

// same reports whether two paths are equal, ignoring case on Windows.
func (m Machine) same(a, b string) bool {
	return a == b || m.OS == "windows" && strings.EqualFold(a, b)
}

// within reports whether a path is below a directory.
func (m Machine) within(p, dir string) bool {
	return strings.HasPrefix(p, dir) && strings.ContainsAny(p[len(dir):min(len(p), len(dir)+1)], `/\`)
}

// exists reports whether anything is at a path, without following a link there.
func (m Machine) exists(p string) (bool, error) {
	_, err := m.Files.Lstat(p)
	return there(err)
}

// missing returns the directories that do not exist yet, outermost first.
func (m Machine) missing(dir string) ([]string, error) {
	var out []string
	for {
		info, err := m.Files.Stat(dir)
		switch {
		case err == nil && !info.IsDir():
			return nil, fmt.Errorf("%s is not a folder; move it away", dir)
		case err == nil:
			return out, nil
		case !absent(err):
			return nil, err
		case dir == m.parent(dir):
			return nil, fmt.Errorf("%s: %w", dir, err)
		}
		if link, err := m.exists(dir); err == nil && link {
			return nil, fmt.Errorf("%s is a broken link; point it to a folder, or move it away", dir)
		}
		out = append([]string{dir}, out...)
		dir = m.parent(dir)
	}
}

// nearest returns the directory in which something is created when a directory is made:
// itself or its first existing parent.
func (m Machine) nearest(dir string) (string, error) {
	missing, err := m.missing(dir)
	if err != nil || len(missing) == 0 {
		return dir, err
	}
	return m.parent(missing[0]), nil
}

// exe returns the file name of a program.
func (m Machine) exe(name string) string {
	if m.OS == "windows" {
		return name + ".exe"
	}
	return name
}
