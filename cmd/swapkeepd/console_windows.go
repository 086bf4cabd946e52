package main

import (
	"os"

	"golang.org/x/sys/windows"
)

// attachParent is ATTACH_PARENT_PROCESS.
const attachParent = ^uintptr(0)

// Releases are linked as windowless programs, to which Windows gives no console. Commands
// that print text attach to the console they were started in. The daemon does not,
// because closing that console would end it.
func init() {
	if len(os.Args) < 2 || os.Args[1] != "check" && textAnswers[os.Args[1]] == "" {
		return
	}
	if ok, _, _ := windows.NewLazySystemDLL("kernel32.dll").NewProc("AttachConsole").Call(attachParent); ok == 0 {
		return // already has a console, or there is none
	}
	for _, out := range []**os.File{&os.Stdout, &os.Stderr} {
		if _, err := (*out).Stat(); err == nil {
			continue // a file or a pipe
		}
		if console, err := os.OpenFile("CONOUT$", os.O_RDWR, 0); err == nil {
			*out = console
		}
	}
}
