//go:build faults

package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"swapkeep/installer"
)

// thisMachine returns this machine or, with SWAPKEEP_ROOT, one whose file system is in
// that directory. Paths already below the directory are not mapped again.
func thisMachine() installer.Machine {
	m := installer.This()
	if root := os.Getenv("SWAPKEEP_ROOT"); root != "" {
		m.Files = rooted{m.Files, root}
	}
	return m
}

// ownersFile lists paths and the user ids they should appear to have, for tests that do
// not run as root.
const ownersFile = "owners"

// rooted maps all paths into root. It embeds nothing, so that a new method of
// installer.Files does not compile until it is mapped too.
type rooted struct {
	files installer.Files
	root  string
}

func (r rooted) at(path string) string {
	if path == r.root || strings.HasPrefix(path, r.root+"/") {
		return path
	}
	return filepath.Join(r.root, path)
}

func (r rooted) Lstat(path string) (fs.FileInfo, error) { return r.info(r.files.Lstat, path) }
func (r rooted) Stat(path string) (fs.FileInfo, error)  { return r.info(r.files.Stat, path) }

func (r rooted) ReadFile(path string) ([]byte, error)       { return r.files.ReadFile(r.at(path)) }
func (r rooted) ReadDir(path string) ([]fs.DirEntry, error) { return r.files.ReadDir(r.at(path)) }
func (r rooted) Readlink(path string) (string, error)       { return r.files.Readlink(r.at(path)) }
func (r rooted) Writable(dir string) error                  { return r.files.Writable(r.at(dir)) }
func (r rooted) Lock(dir string) (func(), error)            { return r.files.Lock(r.at(dir)) }

func (r rooted) Mkdir(path string, mode fs.FileMode) error { return r.files.Mkdir(r.at(path), mode) }
func (r rooted) Symlink(target, path string) error         { return r.files.Symlink(target, r.at(path)) }
func (r rooted) Rename(from, to string) error              { return r.files.Rename(r.at(from), r.at(to)) }
func (r rooted) Remove(path string) error                  { return r.files.Remove(r.at(path)) }
func (r rooted) Write(path string, content []byte, mode fs.FileMode) error {
	return r.files.Write(r.at(path), content, mode)
}

// An fileWithOwner file has the owner that ownersFile gives it.
type fileWithOwner struct {
	fs.FileInfo
	uid int
}

func (r rooted) info(look func(string) (fs.FileInfo, error), path string) (fs.FileInfo, error) {
	info, err := look(r.at(path))
	if err != nil {
		return nil, err
	}
	table, _ := os.ReadFile(filepath.Join(r.root, ownersFile))
	for line := range strings.Lines(string(table)) {
		name, id, _ := strings.Cut(strings.TrimSpace(line), " ")
		if uid, err := strconv.Atoi(id); err == nil && r.at(name) == r.at(path) {
			return fileWithOwner{info, uid}, nil
		}
	}
	return info, nil
}

func (r rooted) Owner(info fs.FileInfo) (int, bool) {
	if o, ok := info.(fileWithOwner); ok {
		return o.uid, true
	}
	return r.files.Owner(info)
}
