// Package procmem keeps the memory of a process to itself.
package procmem

import "fmt"

// Keep keeps passwords, words and keys, which pass through this process or live in it,
// from core files and from other processes of the same user. It is called before
// anything secret is read; a program that cannot do it does not go on.
func Keep() error {
	if err := noCoreDumps(); err != nil {
		return fmt.Errorf("forbid core dumps: %w", err)
	}
	if err := hide(); err != nil {
		return fmt.Errorf("hide the memory: %w", err)
	}
	return nil
}
