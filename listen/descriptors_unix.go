//go:build unix

package listen

import "syscall"

// spareDescriptors returns how many of the process's descriptors connections may take: a
// quarter, since a wallet runs in the same process.
func spareDescriptors() int {
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l); err != nil {
		return fewDescriptors
	}
	return int(max(1, min(uint64(l.Cur)/4, 1<<20)))
}

// fewDescriptors is a quarter of the lowest limit that systems start with.
const fewDescriptors = 64
