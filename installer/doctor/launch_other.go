//go:build !windows

package doctor

import "os/exec"

// byLine is for Windows, where a program parses its command line itself.
func byLine(program, line string) *exec.Cmd { return exec.Command(program, line) }
