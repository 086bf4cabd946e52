// Package installer puts the programs in place and tells browsers of them, so that
// everything it did is known and can be undone: a plan names every change, receipts
// are written before the first of them, and an uninstall goes by the receipts.
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

// A Machine is what is installed to: this one ([This]), or one that is only described.
type Machine struct {
	OS       string              // as GOOS
	Home     string              // the user's home directory, an absolute path
	Env      func(string) string // as os.Getenv
	Root     bool                // has the system's rights: root, or an elevated process of Windows
	Sudo     bool                // got them from a user, by sudo, doas or pkexec
	UID      int                 // the effective user id, where files have owners
	Files    Files
	Registry Registry // of Windows; nil elsewhere
}

// Files is a file system as far as installing needs one. Errors are those of package
// os. Paths are absolute and in the machine's own form.
type Files interface {
	Lstat(path string) (fs.FileInfo, error)
	Stat(path string) (fs.FileInfo, error)
	ReadFile(path string) ([]byte, error) // of a plain file; refuses what is larger than any program of ours
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

	// Lock keeps others from locking the same folder until unlock is called, or the
	// process ends. It makes no file that stays. Error: ErrBusy. Where a folder cannot
	// be locked, as on some network file systems, nobody is kept out.
	Lock(dir string) (unlock func(), err error)
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
	slashed := make([]string, len(elem))
	for i, e := range elem {
		slashed[i] = strings.ReplaceAll(e, `\`, "/")
	}
	joined := path.Join(slashed...)
	if strings.HasPrefix(slashed[0], "//") { // a share, which Join takes for a folder
		joined = "/" + joined
	}
	return strings.ReplaceAll(joined, "/", `\`)
}

// base is the last name of a path.
func (m Machine) base(p string) string {
	if m.OS != "windows" {
		return path.Base(p)
	}
	return p[strings.LastIndexAny(p, `\/`)+1:]
}

// share is the beginning of a path of Windows that names another machine's share,
// \\HOST\SHARE; it is empty for other paths, those of devices too.
func share(p string) string {
	parts := strings.SplitN(strings.ReplaceAll(p, "/", `\`), `\`, 5)
	if len(parts) < 4 || parts[0] != "" || parts[1] != "" || strings.Trim(parts[2], ".?") == "" || parts[3] == "" {
		return ""
	}
	return strings.Join(parts[:4], `\`)
}

// parent is the folder that a path, or the key that a registry key, is in; of the
// topmost it is itself.
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

// speakable reports whether a path can be written as it is into manifests, receipts and
// units: JSON would make another name of it, and a line must not end in it.
func speakable(p string) bool {
	return utf8.ValidString(p) && !strings.ContainsFunc(p, unicode.IsControl)
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
	return there(err)
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
		case !absent(err):
			return nil, err
		case dir == m.parent(dir):
			return nil, fmt.Errorf("%s: %w", dir, err)
		}
		if link, err := m.exists(dir); err == nil && link {
			return nil, fmt.Errorf("%s is a link that leads nowhere; have it lead to a folder, or move it away", dir)
		}
		out = append([]string{dir}, out...)
		dir = m.parent(dir)
	}
}

// nearest is the folder that gets something new when a folder is made: itself, or the
// first around it that is there.
func (m Machine) nearest(dir string) (string, error) {
	missing, err := m.missing(dir)
	if err != nil || len(missing) == 0 {
		return dir, err
	}
	return m.parent(missing[0]), nil
}

// exe is the file name of a program.
func (m Machine) exe(name string) string {
	if m.OS == "windows" {
		return name + ".exe"
	}
	return name
}
