//go:build linux || darwin

package doctor

import "golang.org/x/sys/unix"

// freeSpace is what the file system of a folder has left for this user, in bytes.
func freeSpace(dir string) (int64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, err
	}
	return int64(s.Bavail) * int64(s.Bsize), nil
}
