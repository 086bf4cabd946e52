package processes

import "golang.org/x/sys/unix"

// TooSmall is less than an empty database: nothing new can be written to it.
const TooSmall = 8192

// LimitFiles bounds the size of every file that a process writes, as a full disk does;
// 0 lifts it.
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
