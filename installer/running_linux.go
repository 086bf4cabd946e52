package installer

import (
	"os"
	"path/filepath"
	"strings"
)

// RunningFrom looks at the processes of this machine as far as this user may. The
// daemon hides its program from others; the path by which it was started counts.
func RunningFrom(dir string) (bool, error) {
	processes, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return false, err
	}
	for _, p := range processes {
		exe, _ := os.Readlink(filepath.Join(p, "exe")) // of another user, or gone
		line, _ := os.ReadFile(filepath.Join(p, "cmdline"))
		argv0, _, _ := strings.Cut(string(line), "\x00")
		if filepath.Dir(exe) == dir || filepath.Dir(argv0) == dir {
			return true, nil
		}
	}
	return false, nil
}
