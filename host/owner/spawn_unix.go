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

// umaskMu guards the umask, which belongs to the whole process.
var umaskMu sync.Mutex

func startDetached(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	closeOnExec()
	umaskMu.Lock()
	defer umaskMu.Unlock()
	defer unix.Umask(unix.Umask(0o077))
	return cmd.Start()
}

// closeOnExec marks descriptors that a browser left open in us, such as Firefox's
// sentinel pipe on 3, so that the daemon does not get them. Our own are marked already.
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
