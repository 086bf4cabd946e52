//go:build faults

package main

import (
	"fmt"
	"os"
	"syscall"
)

// strayPrint prints as a careless library would, in both ways there are.
func strayPrint() {
	if os.Getenv("SWAPKEEP_FAULT") != "stray-print" {
		return
	}
	fmt.Println("hello from a library")
	_, _ = syscall.Write(1, []byte("hello from C\n"))
}
