//go:build unix

package processes

import (
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

// CleanUpOnInterrupt makes an interrupted test clean up from now on: programs anywhere below
// root, the test's own temporary directory, are killed, root is removed, and the test exits
// with 130.
func CleanUpOnInterrupt(root string) {
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
	go func() {
		why := <-stop
		for range 3 { // a program that is just starting may start another
			pids, _ := runningWhere(func(dir string) bool { return strings.HasPrefix(dir, root+"/") })
			for _, pid := range pids {
				_ = Kill(pid)
			}
		}
		_ = os.RemoveAll(root)
		fmt.Fprintln(os.Stderr, why)
		os.Exit(130)
	}()
}
