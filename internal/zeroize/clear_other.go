//go:build !amd64 && !arm64

package zeroize

// Registers does nothing: on these architectures no library uses vector registers.
func Registers() {}
