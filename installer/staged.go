package installer

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"swapkeep/manifest"
)

// writeInNew writes a file whose folders may be missing. They are made aside, under a
// name that [Machine.clearStages] finds, and come to their place together with the
// file: at no moment is there a folder that no receipt names.
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

// stage makes folders that are missing, and a file in the last of them, in one step.
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

// modeOf is the mode of a folder that is made. A user's state directory is theirs alone.
func (m Machine) modeOf(dir string) fs.FileMode {
	if dir == settings[m.OS][manifest.User].state(m) {
		return 0o700
	}
	return 0o755
}

// clearStages removes what a crash left of writeInNew and removeWithNew.
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

// removeChain removes a file and the folders around it, up to and with top. They hold
// nothing else, or it fails.
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

// removeWithNew removes a file, and of the folders made for it those that hold nothing
// else, in a way that leaves no folder without a name after a crash.
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
