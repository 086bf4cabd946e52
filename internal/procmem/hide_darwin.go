package procmem

import "golang.org/x/sys/unix"

// hide keeps debuggers of the same user from this process
// (PT_DENY_ATTACH, ptrace(2)). Root still reads its memory. What this process
// starts is not covered. It may be repeated.
func hide() error { return unix.PtraceDenyAttach() }
