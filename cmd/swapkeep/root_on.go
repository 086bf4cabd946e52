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

// thisMachine is this one, or with SWAPKEEP_ROOT one whose system is in that folder,
// and whose homes are below it: what is already in the folder stays what it is.
func thisMachine() installer.Machine {
	m := installer.This()
	if root := os.Getenv("SWAPKEEP_ROOT"); root != "" {
		m.Files = rooted{m.Files, root}
	}
	return m
}

// ownersFile names paths and the user ids that they are to have, for tests that are not
// root.
const ownersFile = "owners"

type rooted struct {
	installer.Files
	root string
}

func (r rooted) at(path string) string {
	if path == r.root || strings.HasPrefix(path, r.root+"/") {
		return path
	}
	return filepath.Join(r.root, path)
}

func (r rooted) Lstat(path string) (fs.FileInfo, error) { return r.info(r.Files.Lstat, path) }
func (r rooted) Stat(path string) (fs.FileInfo, error)  { return r.info(r.Files.Stat, path) }

func (r rooted) ReadFile(path string) ([]byte, error)       { return r.Files.ReadFile(r.at(path)) }
func (r rooted) ReadDir(path string) ([]fs.DirEntry, error) { return r.Files.ReadDir(r.at(path)) }
func (r rooted) Readlink(path string) (string, error)       { return r.Files.Readlink(r.at(path)) }
func (r rooted) Writable(dir string) error                  { return r.Files.Writable(r.at(dir)) }

// An owned file is one that the owners' file names.
type owned struct {
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
			return owned{info, uid}, nil
		}
	}
	return info, nil
}

func (r rooted) Owner(info fs.FileInfo) (int, bool) {
	if o, ok := info.(owned); ok {
		return o.uid, true
	}
	return r.Files.Owner(info)
}
