package zeroize

import "golang.org/x/sys/unix"

// SavedRegisters sends this thread a signal, so that the kernel overwrites the registers
// that the previous signal saved. It uses SIGURG, which the runtime sends to itself for
// preemption and tolerates at any time.
func SavedRegisters() { _ = unix.Tgkill(unix.Getpid(), unix.Gettid(), unix.SIGURG) }
