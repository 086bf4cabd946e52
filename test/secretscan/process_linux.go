package secretscan

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
)

// shown are the files in which the system shows a process to others.
var shown = []string{"environ", "cmdline", "comm"}

// Process searches the environment and the arguments of a running process. An error
// means that one of them could not be read; a process that has ended, or shows itself
// to nobody, has none.
func (s *Search) Process(pid int) (found []Finding, err error) {
	for _, name := range shown {
		more, failed := s.File(fmt.Sprintf("/proc/%d/%s", pid, name))
		found = append(found, more...)
		if !errors.Is(failed, fs.ErrNotExist) && !errors.Is(failed, fs.ErrPermission) && !errors.Is(failed, syscall.ESRCH) {
			err = errors.Join(err, failed)
		}
	}
	return found, err
}
