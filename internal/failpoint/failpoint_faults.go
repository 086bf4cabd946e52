//go:build faults

// Package failpoint marks the points at which a crash test may kill the process. This is
// the variant for tests; releases are built without it.
package failpoint

import (
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// Enabled reports whether this binary was built for fault tests.
const Enabled = true

// SWAPKEEP_FAILPOINT=name[:n] kills the process with SIGKILL when the point is reached for
// the nth time (default 1). SWAPKEEP_FAILPOINT_TRACE=FILE appends the name of every point
// reached, from which a test learns them all; SWAPKEEP_FAILPOINT_DEATHS=FILE appends the name
// of the point at which the process dies.
var (
	mu    sync.Mutex
	left  int
	want  string
	trace = os.Getenv("SWAPKEEP_FAILPOINT_TRACE")
	dying = os.Getenv("SWAPKEEP_FAILPOINT_DEATHS")
)

func init() {
	name, count, found := strings.Cut(os.Getenv("SWAPKEEP_FAILPOINT"), ":")
	want, left = name, 1
	if found {
		if n, err := strconv.Atoi(count); err == nil {
			left = n
		}
	}
}

// Point marks a place where a fault test may kill the process.
func Point(name string) {
	mu.Lock()
	defer mu.Unlock()
	note(trace, name)
	if name != want || want == "" {
		return
	}
	if left--; left > 0 {
		return
	}
	note(dying, name)
	_ = syscall.Kill(syscall.Getpid(), syscall.SIGKILL)
	select {} // the signal is on its way; nothing may run after this point
}

// note appends a name to a file, if one is given.
func note(file, name string) {
	if file == "" {
		return
	}
	if f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
		_, _ = f.WriteString(name + "\n")
		_ = f.Close()
	}
}
