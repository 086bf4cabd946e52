//go:build !linux

package installer

// Hold does nothing where RunningFrom reports nothing.
func Hold() {}

// RunningFrom always reports false: macOS keeps the file of a running program, and
// Windows, where versions have no directories, refuses to remove it.
func RunningFrom(string) (bool, error) { return false, nil }
