package processes

import "golang.org/x/sys/unix"

// TooSmall is less than an empty database takes, so that a new file cannot hold one.
const TooSmall = 8192

// LimitFiles limits the size in bytes of every file that a process writes, which acts like
// a full disk. 0 lifts the limit.
func LimitFiles(pid int, size uint64) error {
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
