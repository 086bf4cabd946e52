//go:build !unix

package listen

import "math"

// spareDescriptors returns how many of the process's descriptors connections may take;
// here they are not counted.
func spareDescriptors() int { return math.MaxInt }
