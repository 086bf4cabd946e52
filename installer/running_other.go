//go:build !linux

package installer

// MarkRunning does nothing where RunningFrom reports nothing.
func MarkRunning() {}

// RunningFrom always reports false: macOS keeps the file of a running program, and
// Windows, where versions have no directories, refuses to remove it.
func RunningFrom(string) (bool, error) { return false, nil }
