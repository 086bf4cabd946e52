package main

import "syscall"

// sizeExceeded has no counterpart on Windows.
const sizeExceeded = syscall.SIGHUP
