//go:build linux || darwin

package relay

import (
	"os"

	"golang.org/x/sys/unix"
)

// Stdin returns standard input in nonblocking mode, so that waiting for it needs no
// thread and data is passed on without waking another. Call it before GuardStdout, once.
func Stdin() *os.File {
	info, err := os.Stdin.Stat()
	if err != nil || info.Mode()&(os.ModeNamedPipe|os.ModeSocket) == 0 { // a terminal shares its flags with the shell
		return os.Stdin
	}
	if unix.SetNonblock(0, true) != nil {
		return os.Stdin
	}
	return os.NewFile(0, "browser")
}
