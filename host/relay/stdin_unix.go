//go:build linux || darwin

package relay

import (
	"os"

	"golang.org/x/sys/unix"
)

// Stdin is standard input such that waiting for it takes no thread: what arrives
// is handed on without waking another. Call it before GuardStdout, once.
func Stdin() *os.File {
	info, err := os.Stdin.Stat()
	if err != nil || info.Mode()&(os.ModeNamedPipe|os.ModeSocket) == 0 { // a terminal's flags are its shell's too
		return os.Stdin
	}
	if unix.SetNonblock(0, true) != nil {
		return os.Stdin
	}
	return os.NewFile(0, "browser")
}
