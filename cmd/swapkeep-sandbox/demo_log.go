package main

import (
	"bytes"
	"os"
	"strings"
)

// logTail is how many lines of a log are printed after a failure.
const logTail = 12

// tail returns the last lines of a file; none if it cannot be read.
func tail(path string, n int) []string {
	content, err := os.ReadFile(path)
	content = bytes.TrimSpace(content)
	if err != nil || len(content) == 0 {
		return nil
	}
	lines := strings.Split(string(content), "\n")
	return lines[max(0, len(lines)-n):]
}
