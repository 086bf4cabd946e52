// Package procmem keeps a process's memory out of core files and from other processes.
package procmem

import "fmt"

// Protect keeps passwords, recovery words and keys that pass through this process, or live
// in it, out of core files and from other processes of the same user. Call it before
// anything secret is read; a program must not go on if it fails.
func Protect() error {
	if err := noCoreDumps(); err != nil {
		return fmt.Errorf("forbid core dumps: %w", err)
	}
	if err := hide(); err != nil {
		return fmt.Errorf("hide the memory: %w", err)
	}
	return nil
}
