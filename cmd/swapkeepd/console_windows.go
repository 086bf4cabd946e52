package main

import (
	"os"

	"golang.org/x/sys/windows"
)

// attachParent stands for the process that started this one.
const attachParent = ^uintptr(0)

// Releases are linked for no window, and Windows gives such a program no terminal. What is
// asked for words alone takes the terminal that it was started in; the daemon takes none,
// which would end it.
func init() {
	if len(os.Args) < 2 || os.Args[1] != "check" && said[os.Args[1]] == "" {
		return
	}
	if ok, _, _ := windows.NewLazySystemDLL("kernel32.dll").NewProc("AttachConsole").Call(attachParent); ok == 0 {
		return // it has one, or there is none
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
