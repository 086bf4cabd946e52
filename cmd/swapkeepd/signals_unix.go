//go:build unix

package main

import "syscall"

// sizeExceeded is ignored, so that a file at its size limit makes the write fail instead
// of killing the process.
const sizeExceeded = syscall.SIGXFSZ
