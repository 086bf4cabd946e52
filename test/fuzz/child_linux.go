package main

import "syscall"

// child makes a started process end with this program, even if that is killed: an
// interrupted fuzzer ends its worker.
func child() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGINT} }
