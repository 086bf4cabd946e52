package installer

import (
	"fmt"
	"os"
	"path/filepath"
)

// OwnProgram returns the path of the running program, links resolved.
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

// StablePath returns the path under which browsers should know a program of ours, which is
// given without links: for an installed copy, the one that all versions share.
func (m Machine) StablePath(program string) string {
	folder := m.parent(m.parent(program))
	lasting := m.join(folder, "current", m.base(program))
	if !m.installsInto(folder) || m.isMissing(lasting) {
		return program
	}
	return lasting
}

// ProgramOf returns the program that the manifest at a path starts.
func (m Machine) ProgramOf(path string) (string, error) {
	file, err := m.readManifest(path)
	return file.program, err
}
