//go:build !linux

package zeroize

// SavedRegisters does nothing: a signal cannot be sent to one thread here. The next
// signal overwrites the saved registers.
func SavedRegisters() {}
