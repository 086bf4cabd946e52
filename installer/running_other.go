//go:build !linux

package installer

// Hold has nothing to do where RunningFrom reports nothing.
func Hold() {}

// RunningFrom reports nothing: macOS keeps the file of a program that runs, and
// Windows, where versions have no folders, refuses to remove it.
func RunningFrom(string) (bool, error) { return false, nil }
