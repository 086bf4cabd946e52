package main

import "golang.org/x/sys/windows"

// hush has a console no longer show what is typed.
func hush(fd int) error {
	var mode uint32
	if err := windows.GetConsoleMode(windows.Handle(fd), &mode); err != nil {
		return err
	}
	return windows.SetConsoleMode(windows.Handle(fd), mode&^windows.ENABLE_ECHO_INPUT)
}
