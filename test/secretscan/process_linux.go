package secretscan

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
)

// procFiles lists the files in /proc that show a process to others.
var procFiles = []string{"environ", "cmdline", "comm"}

// Process searches the environment and arguments of a running process. The error names what
// could not be read. A process that has ended, or that hides both, counts as having none.
func (s *Search) Process(pid int) (found []Finding, err error) {
	for _, name := range procFiles {
		more, failed := s.File(fmt.Sprintf("/proc/%d/%s", pid, name))
		found = append(found, more...)
		if !errors.Is(failed, fs.ErrNotExist) && !errors.Is(failed, fs.ErrPermission) && !errors.Is(failed, syscall.ESRCH) {
			err = errors.Join(err, failed)
		}
	}
	return found, err
}
