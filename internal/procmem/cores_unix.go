//go:build linux || darwin

package procmem

import "golang.org/x/sys/unix"

// noCoreDumps keeps the memory of this process and of what it starts out of
// core files: it may hold a password or a key.
func noCoreDumps() error { return unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}) }
