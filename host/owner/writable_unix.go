//go:build linux || darwin

package owner

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// unwritable returns why nothing can be created in a directory; nil if it can, or if the
// directory does not exist yet.
func unwritable(dir string) error {
	if err := unix.Access(dir, unix.W_OK|unix.X_OK); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("write to %s: %w", dir, err)
	}
	return nil
}
