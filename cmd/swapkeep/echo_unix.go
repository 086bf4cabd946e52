//go:build linux || darwin

package main

import "golang.org/x/sys/unix"

// disableEcho turns off the terminal's echo and sets line mode.
func disableEcho(fd int) error {
	mode, err := unix.IoctlGetTermios(fd, getTerminal)
	if err != nil {
		return err
	}
	mode.Lflag &^= unix.ECHO
	mode.Lflag |= unix.ICANON | unix.ISIG
	mode.Iflag |= unix.ICRNL
	return unix.IoctlSetTermios(fd, setTerminal, mode)
}
