//go:build !linux

package main

import "syscall"

// child returns nil: only Linux can end a process with its parent.
func child() *syscall.SysProcAttr { return nil }
