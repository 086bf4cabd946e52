package processes

import "golang.org/x/sys/unix"

// TinyFileLimit is less than an empty database takes, so that a new file cannot hold one.
const TinyFileLimit = 8192

// LimitFileSize limits the size in bytes of every file that a process writes, which acts like
// a full disk. 0 lifts the limit.
func LimitFileSize(pid int, size uint64) error {
	var old unix.Rlimit
	if err := unix.Prlimit(pid, unix.RLIMIT_FSIZE, nil, &old); err != nil {
		return err
	}
	bound := unix.Rlimit{Cur: old.Max, Max: old.Max}
	if size > 0 {
		bound.Cur = size
	}
	return unix.Prlimit(pid, unix.RLIMIT_FSIZE, &bound, nil)
}
