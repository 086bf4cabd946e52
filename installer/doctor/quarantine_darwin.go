package doctor

import "golang.org/x/sys/unix"

// inQuarantine reports whether a file has the quarantine attribute of a download.
func inQuarantine(path string) bool {
	_, err := unix.Getxattr(path, "com.apple.quarantine", nil)
	return err == nil
}
