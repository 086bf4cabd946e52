package installer

import (
	"fmt"
	"os"
	"path/filepath"
)

// OwnProgram is the program that runs, links resolved.
func OwnProgram() (string, error) {
	exe, err := os.Executable()
	if err == nil {
		exe, err = filepath.EvalSymlinks(exe)
	}
	if err != nil {
		return "", fmt.Errorf("find this program: %w", err)
	}
	return exe, nil
}

// Lasting is the path by which a browser is told of a program of ours, at a path without
// links: of an installed copy the one that stays from version to version.
func (m Machine) Lasting(program string) string {
	folder := m.parent(m.parent(program))
	lasting := m.join(folder, "current", m.base(program))
	if !m.installsInto(folder) || m.lost(lasting) {
		return program
	}
	return lasting
}

// Starts is the program that the manifest at a path starts.
func (m Machine) Starts(path string) (string, error) {
	file, err := m.readManifest(path)
	return file.program, err
}
