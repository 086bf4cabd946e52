package relay

import (
	"fmt"
	"os"

	"golang.org/x/sys/windows"
)

// GuardStdout reserves standard output for the browser: the standard handle and os.Stdout
// lead to standard error from now on, and only the returned file leads to the browser.
// Call it once.
func GuardStdout() (*os.File, error) {
	browser := os.Stdout
	if err := windows.SetStdHandle(windows.STD_OUTPUT_HANDLE, windows.Handle(os.Stderr.Fd())); err != nil {
		return nil, fmt.Errorf("guard standard output: %w", err)
	}
	os.Stdout = os.Stderr
	return browser, nil
}

// Hangup returns nil: here the end of the stream is seen only by reading.
func Hangup(int) <-chan struct{} { return nil }

// Stdin returns standard input.
func Stdin() *os.File { return os.Stdin }
