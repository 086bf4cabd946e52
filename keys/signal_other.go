//go:build !linux

package keys

// overwriteSignal is left to the next signal where a thread cannot be named.
func overwriteSignal() {}
