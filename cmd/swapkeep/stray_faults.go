//go:build faults

package main

import (
	"fmt"
	"os"
	"syscall"
)

// strayPrint prints like a careless library, to os.Stdout and to descriptor 1.
func strayPrint() {
	if os.Getenv("SWAPKEEP_FAILPOINT") != "stray-print" {
		return
	}
	fmt.Println("hello from a library")
	_, _ = syscall.Write(1, []byte("hello from C\n"))
}
