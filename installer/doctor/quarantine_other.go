//go:build !darwin

package doctor

// inQuarantine is implemented on macOS only.
func inQuarantine(string) bool { return false }
