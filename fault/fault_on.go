//go:build faults

// Package fault names the places where a test may stop the process or shift
// its clock. This is the variant for tests; releases are built without it.
package fault

import (
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Enabled reports whether this binary was built for fault tests.
const Enabled = true

// SWAPKEEP_FAULT=name[:n] kills the process with SIGKILL when the point name is
// reached for the nth time (default 1). SWAPKEEP_FAULT_TRACE=FILE appends the
// name of every point reached, which is how a test learns of them all.
// SWAPKEEP_CLOCK_SHIFT=DURATION moves the clock; with @FILE it is moved by what
// that file says whenever it is looked at.
var (
	mu    sync.Mutex
	left  int
	want  string
	trace = os.Getenv("SWAPKEEP_FAULT_TRACE")

	shift     time.Duration
	shiftFile string
)

func init() {
	name, count, found := strings.Cut(os.Getenv("SWAPKEEP_FAULT"), ":")
	want, left = name, 1
	if found {
		if n, err := strconv.Atoi(count); err == nil {
			left = n
		}
	}
	moved := os.Getenv("SWAPKEEP_CLOCK_SHIFT")
	if shiftFile, found = strings.CutPrefix(moved, "@"); !found {
		shiftFile = ""
		shift, _ = time.ParseDuration(moved)
	}
}

// Point marks a place where a fault test may kill the process.
func Point(name string) {
	mu.Lock()
	defer mu.Unlock()
	if trace != "" {
		if f, err := os.OpenFile(trace, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err == nil {
			_, _ = f.WriteString(name + "\n")
			_ = f.Close()
		}
	}
	if name != want || want == "" {
		return
	}
	if left--; left > 0 {
		return
	}
	_ = syscall.Kill(syscall.Getpid(), syscall.SIGKILL)
	select {} // the signal is on its way; nothing may run after this point
}

// Now is the current time, shifted as the test asked.
func Now() time.Time {
	if shiftFile == "" {
		return time.Now().Add(shift)
	}
	said, _ := os.ReadFile(shiftFile)
	moved, _ := time.ParseDuration(strings.TrimSpace(string(said)))
	return time.Now().Add(moved)
}
