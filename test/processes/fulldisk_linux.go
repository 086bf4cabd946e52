package processes

import (
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
)

// WithFullDisk runs f while this process may not write any file past its first byte, which
// looks like a full disk to a database. The test must run in a child process: RunInChild.
func WithFullDisk(t *testing.T, f func()) {
	t.Helper()
	signal.Ignore(syscall.SIGXFSZ)
	defer signal.Reset(syscall.SIGXFSZ)
	limit := func(size uint64) {
		if err := LimitFileSize(os.Getpid(), size); err != nil {
			t.Fatal(err)
		}
	}
	limit(1)
	defer limit(0)
	f()
}

// RunInChild reruns the test in a child process, in which it returns true. The limits that
// the test sets there do not apply to what the test framework writes for this process.
func RunInChild(t *testing.T) bool {
	t.Helper()
	const name = "SWAPKEEP_TEST_CHILD"
	if os.Getenv(name) == t.Name() {
		return true
	}
	c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	c.Env = append(os.Environ(), name+"="+t.Name())
	if out, err := c.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()+" ") {
		t.Errorf("%v\n%s", err, out)
	}
	return false
}
