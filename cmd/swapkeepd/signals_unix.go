//go:build unix

package main

import "syscall"

// sizeExceeded is ignored: a file at its limit is a failed write, which stops
// what depends on it, and no reason to die.
const sizeExceeded = syscall.SIGXFSZ
