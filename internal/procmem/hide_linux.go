package procmem

import "golang.org/x/sys/unix"

// hide keeps this process's memory from other processes of the same
// user: none can attach a debugger, read /proc/PID/mem or take its environment
// (PR_SET_DUMPABLE(2const)). Root still can. What this process starts is not
// covered. It may be repeated.
func hide() error { return unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) }
