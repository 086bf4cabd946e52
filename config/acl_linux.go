package config

import (
	"errors"

	"golang.org/x/sys/unix"
)

// hasACL reports whether a list of access says who may write: the group's bits of the mode
// are then the most of what any of those on it may.
func hasACL(path string) bool {
	_, err := unix.Getxattr(path, "system.posix_acl_access", nil)
	return !errors.Is(err, unix.ENODATA) && !errors.Is(err, unix.ENOTSUP)
}
