package doctor

import "golang.org/x/sys/unix"

// mountByStatfs returns how macOS mounted the file system of a path.
func mountByStatfs(path string) (m mount, err error) {
	var s unix.Statfs_t
	if err := unix.Statfs(path, &s); err != nil {
		return m, err
	}
	m.point = unix.ByteSliceToString(s.Mntonname[:])
	if s.Flags&unix.MNT_NOEXEC != 0 {
		m.options = "noexec"
	}
	return m, nil
}
