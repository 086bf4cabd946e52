//go:build !linux

package registers

// OverwriteSaved does nothing: a signal cannot be sent to one thread here. The next
// signal overwrites the saved registers.
func OverwriteSaved() {}
