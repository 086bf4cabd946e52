package main

import "syscall"

// nullSignal cannot be sent on Windows.
const nullSignal = syscall.Signal(0)

// ownGroup puts a process in its own group, so that Ctrl-C in the terminal does not reach
// processes that the demo has to stop in order.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}
