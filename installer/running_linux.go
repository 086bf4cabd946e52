package installer

import (
	"os"
	"path/filepath"
	"strings"
)

// RunningFrom looks at the processes of this machine as far as this user may: a browser's
// relay is seen. A daemon hides its program, and the path by which it was started leads
// through the link to the present version: one of an earlier version is not seen, unless
// by root, and goes on without its file, of which it needs nothing any more.
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
