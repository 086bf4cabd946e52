//go:build !amd64 && !arm64

package registers

// Clear does nothing: on these architectures no library uses vector registers.
func Clear() {}
