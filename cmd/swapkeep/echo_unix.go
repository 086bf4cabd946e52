//go:build linux || darwin

package main

import "golang.org/x/sys/unix"

// hush has a terminal no longer show what is typed.
func hush(fd int) error {
	mode, err := unix.IoctlGetTermios(fd, getTerminal)
	if err != nil {
		return err
	}
	mode.Lflag &^= unix.ECHO
	return unix.IoctlSetTermios(fd, setTerminal, mode)
}
