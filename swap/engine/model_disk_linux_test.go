package engine

import (
	"os/signal"
	"syscall"
)

// init sets fullDisk: a file size limit of one byte looks like a full disk to the
// database.
func init() {
	var free syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_FSIZE, &free) != nil {
		return
	}
	signal.Ignore(syscall.SIGXFSZ)
	fullDisk = func(full bool) {
		limit := free
		if full {
			limit.Cur = 1
		}
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
			panic(err)
		}
	}
}
