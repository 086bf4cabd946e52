//go:build linux || darwin

package owner

import (
	"os"
	"os/exec"
	"strconv"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

const rootDir = "/"

// umaskMu: the mask belongs to the process, not to the call.
var umaskMu sync.Mutex

func startDetached(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	closeOnExec()
	umaskMu.Lock()
	defer umaskMu.Unlock()
	defer unix.Umask(unix.Umask(0o077))
	return cmd.Start()
}

// closeOnExec keeps what a browser left open in us, such as Firefox's
// sentinel pipe on descriptor 3, from the daemon. Our own are marked already.
func closeOnExec() {
	entries, err := os.ReadDir("/dev/fd")
	if err != nil {
		return
	}
	for _, entry := range entries {
		if fd, err := strconv.Atoi(entry.Name()); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
}
