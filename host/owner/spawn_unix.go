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

// rootDir is the working directory of a started daemon.
const rootDir = "/"

// umaskMu serializes changes of the umask, which applies to the whole process.
var umaskMu sync.Mutex

// startDetached starts a program in a session of its own, so that it outlives this process. Files
// that it creates are accessible to the user only.
func startDetached(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	closeOnExec()
	umaskMu.Lock()
	defer umaskMu.Unlock()
	defer unix.Umask(unix.Umask(0o077))
	return cmd.Start()
}

// closeOnExec marks all file descriptors above 2 as close-on-exec, so that the daemon does not
// inherit them. Go marks those that it opens, but a browser may leave some open in its native
// host: Firefox leaves a pipe on 3.
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
