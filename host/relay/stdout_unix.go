//go:build linux || darwin

package relay

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// GuardStdout reserves standard output for the browser: descriptor 1 and os.Stdout lead
// to standard error from now on, and only the returned file leads to the browser. Call it
// once.
func GuardStdout() (*os.File, error) {
	fd, err := unix.FcntlInt(1, unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, fmt.Errorf("keep standard output: %w", err)
	}
	if err := divert(1); err != nil {
		return nil, fmt.Errorf("guard standard output: %w", err)
	}
	os.Stdout = os.Stderr
	return os.NewFile(uintptr(fd), "browser"), nil
}

// divert points fd at standard error, or at the null device if that is closed.
func divert(fd int) error {
	if err := dup2(2, fd); err == nil {
		return nil
	}
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer func() { _ = null.Close() }()
	return dup2(int(null.Fd()), fd)
}
