//go:build !linux

package main

import "syscall"

// childAttr returns nil: only Linux can end a process with its parent.
func childAttr() *syscall.SysProcAttr { return nil }
