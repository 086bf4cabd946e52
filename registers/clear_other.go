//go:build !amd64 && !arm64

package registers

// Clear has nothing to clear where no library uses vector registers.
func Clear() {}
