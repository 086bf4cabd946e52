//go:build !linux

package main

import "syscall"

// child: only Linux has what is started end with who started it.
func child() *syscall.SysProcAttr { return nil }
