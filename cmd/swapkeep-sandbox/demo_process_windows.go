package main

import "syscall"

// nullSignal cannot be sent here.
const nullSignal = syscall.Signal(0)

// ownGroup keeps a terminal's Ctrl-C from what the demo has to end in order.
func ownGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}
