// Package installertest has an in-memory file system and registry, on which plans for any
// system can be made and applied.
package installertest

import (
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"syscall"
	"time"

	"swapkeep/installer"
)

// Files is an in-memory file system. Windows paths are recognized by their backslashes.
type Files struct {
	nodes map[string]*node
	// Fail, unless nil, is called before every change and may return an error.
	Fail func(op, path string) error
	// Locked are directories in which nobody may write.
	Locked []string
	// Busy are the directories that are locked with [Files.Lock].
	Busy map[string]bool
}

type node struct {
	name    string
	mode    fs.FileMode
	content []byte
	uid     int
}

// NewFiles returns a file system with these directories and their parents.
func NewFiles(folders ...string) *Files {
	f := &Files{nodes: map[string]*node{}, Busy: map[string]bool{}}
	for _, dir := range folders {
		f.Folder(dir)
	}
	return f
}

// Folder creates a directory and its parents.
func (f *Files) Folder(dir string) {
	for {
		if f.nodes[dir] == nil {
			f.nodes[dir] = &node{name: base(dir), mode: fs.ModeDir | 0o755}
		}
		if dir == parent(dir) {
			return
		}
		dir = parent(dir)
	}
}

// File creates a file and its parents.
func (f *Files) File(p, content string) {
	f.Folder(parent(p))
	f.nodes[p] = &node{name: base(p), mode: 0o644, content: []byte(content)}
}

// Link creates a link and its parents.
func (f *Files) Link(p, target string) {
	f.Folder(parent(p))
	f.nodes[p] = &node{name: base(p), mode: fs.ModeSymlink | 0o777, content: []byte(target)}
}

// Lock returns installer.ErrBusy while a directory is locked.
func (f *Files) Lock(dir string) (unlock func(), err error) {
	if f.Busy[dir] {
		return nil, installer.ErrBusy
	}
	f.Busy[dir] = true
	return func() { delete(f.Busy, dir) }, nil
}

// Chown sets the owner of a path.
func (f *Files) Chown(p string, uid int) { f.nodes[p].uid = uid }

// Chmod sets the permissions of a path.
func (f *Files) Chmod(p string, mode fs.FileMode) { f.nodes[p].mode = f.nodes[p].mode.Type() | mode }

// List returns everything, sorted: path, mode and content.
func (f *Files) List() []string {
	var out []string
	for _, p := range slices.Sorted(maps.Keys(f.nodes)) {
		n := f.nodes[p]
		out = append(out, p+" "+n.mode.String()+" "+string(n.content))
	}
	return out
}

func sep(p string) string {
	if strings.Contains(p, `\`) {
		return `\`
	}
	return "/"
}

func parent(p string) string {
	i := strings.LastIndex(p, sep(p))
	switch {
	case sep(p) == "/" && i == 0:
		return "/"
	case i < 0:
		return p
	case i == 2 && p[1] == ':':
		return p[:3]
	}
	return p[:i]
}

func base(p string) string { return p[strings.LastIndex(p, sep(p))+1:] }

func errorOf(op, p string, err error) error { return &fs.PathError{Op: op, Path: p, Err: err} }

// resolve follows links of parent directories and, if last, one at the end.
func (f *Files) resolve(p string, last bool) string {
	for range 40 {
		at, next := "", p
		for dir := p; ; dir = parent(dir) {
			if n := f.nodes[dir]; n != nil && n.mode&fs.ModeSymlink != 0 && (last || dir != p) {
				at = dir
			}
			if dir == parent(dir) {
				break
			}
		}
		if at == "" {
			return p
		}
		target := string(f.nodes[at].content)
		if !strings.HasPrefix(target, "/") {
			target = path.Join(parent(at), target)
		}
		next = target + strings.TrimPrefix(p, at)
		p = next
	}
	return p
}

func (f *Files) stat(op, p string, last bool) (fs.FileInfo, error) {
	n := f.nodes[f.resolve(p, last)]
	if n == nil {
		return nil, errorOf(op, p, fs.ErrNotExist)
	}
	return info{n}, nil
}

// Lstat does not follow a link at the end.
func (f *Files) Lstat(p string) (fs.FileInfo, error) { return f.stat("lstat", p, false) }

// Stat follows every link.
func (f *Files) Stat(p string) (fs.FileInfo, error) { return f.stat("stat", p, true) }

func (f *Files) ReadFile(p string) ([]byte, error) {
	n := f.nodes[f.resolve(p, true)]
	if n == nil {
		return nil, errorOf("open", p, fs.ErrNotExist)
	}
	return slices.Clone(n.content), nil
}

// ReadDir lists a directory.
func (f *Files) ReadDir(p string) ([]fs.DirEntry, error) {
	p = f.resolve(p, true)
	if f.nodes[p] == nil {
		return nil, errorOf("open", p, fs.ErrNotExist)
	}
	var out []fs.DirEntry
	for _, name := range slices.Sorted(maps.Keys(f.nodes)) {
		if parent(name) == p && name != p {
			out = append(out, fs.FileInfoToDirEntry(info{f.nodes[name]}))
		}
	}
	return out, nil
}

// Readlink returns a link's target.
func (f *Files) Readlink(p string) (string, error) {
	n := f.nodes[f.resolve(p, false)]
	if n == nil {
		return "", errorOf("readlink", p, fs.ErrNotExist)
	}
	if n.mode&fs.ModeSymlink == 0 {
		return "", errorOf("readlink", p, fs.ErrInvalid)
	}
	return string(n.content), nil
}

// Owner is root unless [Files.Chown] set another.
func (f *Files) Owner(i fs.FileInfo) (int, bool) { return i.(info).uid, true }

// Writable fails for the directories in Locked.
func (f *Files) Writable(dir string) error {
	if slices.Contains(f.Locked, dir) {
		return errorOf("write in", dir, fs.ErrPermission)
	}
	return nil
}

// change makes the checks before every change of the file at p.
func (f *Files) change(op, p string) (string, error) {
	if f.Fail != nil {
		if err := f.Fail(op, p); err != nil {
			return p, err
		}
	}
	p = f.resolve(p, false)
	if dir := f.nodes[parent(p)]; dir == nil {
		return p, errorOf(op, p, fs.ErrNotExist)
	}
	return p, f.Writable(parent(p))
}

// Mkdir creates a directory.
func (f *Files) Mkdir(p string, mode fs.FileMode) error {
	p, err := f.change("mkdir", p)
	if err != nil {
		return err
	}
	if f.nodes[p] != nil {
		return errorOf("mkdir", p, fs.ErrExist)
	}
	f.nodes[p] = &node{name: base(p), mode: fs.ModeDir | mode}
	return nil
}

// Write creates or replaces a file. If Fail refuses only the rename, as in a crash, the
// unfinished file stays.
func (f *Files) Write(p string, content []byte, mode fs.FileMode) error {
	return f.put(p, &node{mode: mode, content: slices.Clone(content)})
}

// Symlink creates or replaces a link.
func (f *Files) Symlink(target, p string) error {
	return f.put(p, &node{mode: fs.ModeSymlink | 0o777, content: []byte(target)})
}

func (f *Files) put(p string, n *node) error {
	aside, err := f.change("write", p+installer.Unfinished)
	if err != nil {
		return err
	}
	n.name = base(aside)
	f.nodes[aside] = n
	return f.Rename(aside, p)
}

// Rename moves a file, a link or a directory with its content.
func (f *Files) Rename(from, to string) error {
	to, err := f.change("rename", to)
	if err != nil {
		return err
	}
	from = f.resolve(from, false)
	if f.nodes[from] == nil {
		return errorOf("rename", from, fs.ErrNotExist)
	}
	if n := f.nodes[to]; n != nil && (n.mode.IsDir() || f.nodes[from].mode.IsDir()) {
		return errorOf("rename", to, fs.ErrExist)
	}
	for _, p := range slices.Collect(maps.Keys(f.nodes)) {
		if p == from || strings.HasPrefix(p, from+sep(from)) {
			moved := f.nodes[p]
			delete(f.nodes, p)
			p = to + strings.TrimPrefix(p, from)
			moved.name = base(p)
			f.nodes[p] = moved
		}
	}
	return nil
}

// Remove removes a file, a link or an empty directory.
func (f *Files) Remove(p string) error {
	p = f.resolve(p, false)
	if f.nodes[p] == nil {
		return errorOf("remove", p, fs.ErrNotExist)
	}
	if _, err := f.change("remove", p); err != nil {
		return err
	}
	if inside, _ := f.ReadDir(p); f.nodes[p].mode.IsDir() && len(inside) > 0 {
		return errorOf("remove", p, syscall.ENOTEMPTY)
	}
	delete(f.nodes, p)
	return nil
}

type info struct{ *node }

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return int64(len(i.content)) }
func (i info) Mode() fs.FileMode  { return i.mode }
func (i info) ModTime() time.Time { return time.Time{} }
func (i info) IsDir() bool        { return i.mode.IsDir() }
func (i info) Sys() any           { return nil }
