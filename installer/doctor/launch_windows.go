package doctor

import (
	"os/exec"
	"syscall"
)

// byLine starts a program with an unparsed command line and without a window, as Chromium
// does.
func byLine(program, line string) *exec.Cmd {
	return &exec.Cmd{Path: program, SysProcAttr: &syscall.SysProcAttr{CmdLine: line, HideWindow: true}}
}
