//go:build !windows

package main

import "syscall"

// nullSignal asks whether a process is there and does nothing to it.
const nullSignal = syscall.Signal(0)

// ownGroup keeps a terminal's Ctrl-C from what the demo has to end in order.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
