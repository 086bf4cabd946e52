package relay

import (
	"fmt"
	"os"

	"golang.org/x/sys/windows"
)

// GuardStdout takes the real standard output away from everything that could
// print to it: the standard handle and os.Stdout lead to standard error from
// now on, and the file returned is the only way to the browser. Call it once.
func GuardStdout() (*os.File, error) {
	browser := os.Stdout
	if err := windows.SetStdHandle(windows.STD_OUTPUT_HANDLE, windows.Handle(os.Stderr.Fd())); err != nil {
		return nil, fmt.Errorf("guard standard output: %w", err)
	}
	os.Stdout = os.Stderr
	return browser, nil
}

// Hangup never closes here: the end of the stream is seen by reading it.
func Hangup(int) <-chan struct{} { return nil }

// Stdin is standard input.
func Stdin() *os.File { return os.Stdin }
