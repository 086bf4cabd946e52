package config

import (
	"errors"

	"golang.org/x/sys/unix"
)

// hasACL reports whether path has a POSIX ACL. The group bits of its mode are then the
// ACL's mask, the upper bound for every entry.
func hasACL(path string) bool {
	_, err := unix.Getxattr(path, "system.posix_acl_access", nil)
	return !errors.Is(err, unix.ENODATA) && !errors.Is(err, unix.ENOTSUP)
}
