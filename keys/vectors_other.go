//go:build !amd64 && !arm64

package keys

// clearVectors has nothing to clear where no library uses vector registers.
func clearVectors() {}
