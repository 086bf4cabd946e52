package installer

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"swapkeep/manifest"
)

// writeInNew writes a file whose directories may be missing. They are created under a
// temporary name, which [Machine.clearStages] finds, and renamed together with the file,
// so that there is never a directory without a receipt.
func (m Machine) writeInNew(path string, content []byte, mode fs.FileMode) error {
	if err := m.clearStages(path); err != nil {
		return err
	}
	dirs, err := m.missing(m.parent(path))
	if err != nil {
		return err
	}
	if len(dirs) == 0 {
		return m.Files.Write(path, content, mode)
	}
	if err := m.stage(dirs, path, content, mode); err != nil {
		return errors.Join(err, m.clearStages(path))
	}
	return nil
}

// stage creates missing directories, and a file in the last of them, atomically.
func (m Machine) stage(dirs []string, path string, content []byte, mode fs.FileMode) error {
	stage := dirs[0] + Unfinished
	aside := func(p string) string { return stage + strings.TrimPrefix(p, dirs[0]) }
	for _, dir := range dirs {
		if err := m.Files.Mkdir(aside(dir), m.modeOf(dir)); err != nil {
			return err
		}
	}
	if err := m.Files.Write(aside(path), content, mode); err != nil {
		return err
	}
	return m.Files.Rename(stage, dirs[0])
}

// modeOf returns the mode of a new directory. A user's state directory is private.
func (m Machine) modeOf(dir string) fs.FileMode {
	if dir == systemLayouts[m.OS][manifest.User].state(m) {
		return 0o700
	}
	return 0o755
}

// clearStages removes leftovers of writeInNew and removeWithNew after a crash.
func (m Machine) clearStages(path string) error {
	for dir := m.parent(path); dir != m.parent(dir); dir = m.parent(dir) {
		stage := dir + Unfinished
		if there, err := m.exists(stage); err != nil || !there {
			if err != nil {
				return err
			}
			continue
		}
		if err := m.removeChain(stage, stage+strings.TrimPrefix(path, dir)); err != nil {
			return fmt.Errorf("%s is left of an earlier run and cannot be removed: %w", stage, err)
		}
	}
	return nil
}

// removeChain removes a file and its parent directories up to and including top. It fails
// if they contain anything else.
func (m Machine) removeChain(top, path string) error {
	for _, p := range []string{path + Unfinished, path} {
		if err := unlessAbsent(m.Files.Remove(p)); err != nil {
			return err
		}
	}
	for dir := m.parent(path); ; dir = m.parent(dir) {
		if err := unlessAbsent(m.Files.Remove(dir)); err != nil {
			return err
		}
		if dir == top {
			return nil
		}
	}
}

// removeWithNew removes a file, and those of its directories that were made for it and
// contain nothing else. A crash leaves no directory that clearStages does not find.
func (m Machine) removeWithNew(path string, made map[string]bool) error {
	top := ""
	for dir, last := m.parent(path), path; made[dir]; dir, last = m.parent(dir), dir {
		entries, err := m.Files.ReadDir(dir)
		if err != nil {
			return err
		}
		if len(entries) != 1 || m.join(dir, entries[0].Name()) != last {
			break
		}
		top = dir
	}
	if top == "" {
		return m.Files.Remove(path)
	}
	stage := top + Unfinished
	if err := m.Files.Rename(top, stage); err != nil {
		return err
	}
	return m.removeChain(stage, stage+strings.TrimPrefix(path, top))
}
