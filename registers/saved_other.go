//go:build !linux

package registers

// OverwriteSaved is left to the next signal where a thread cannot be named.
func OverwriteSaved() {}
