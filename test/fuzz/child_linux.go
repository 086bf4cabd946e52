package main

import "syscall"

// child has what is started end with this program, also where that is killed: the fuzzer
// that is interrupted ends its worker.
func child() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGINT} }
