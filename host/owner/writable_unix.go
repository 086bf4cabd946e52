//go:build linux || darwin

package owner

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// unwritable is why nothing can be made in a directory, nil if it can or if
// the directory is still to be made.
func unwritable(dir string) error {
	if err := unix.Access(dir, unix.W_OK|unix.X_OK); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("write to %s: %w", dir, err)
	}
	return nil
}
