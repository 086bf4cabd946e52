package main

import "syscall"

// childAttr makes a started process end with this program, even if that is killed: an
// interrupted fuzzer ends its worker.
func childAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGINT} }
