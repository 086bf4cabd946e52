package owner

import (
	"errors"
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

const rootDir = `C:\`

// startDetached leaves the browser's job, which would end the daemon with the
// relay, where the job lets go of its children. Go hands down no handle but
// the three standard ones.
func startDetached(cmd *exec.Cmd) error {
	const own = windows.DETACHED_PROCESS | windows.CREATE_NEW_PROCESS_GROUP
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: own | windows.CREATE_BREAKAWAY_FROM_JOB}
	err := cmd.Start()
	if !errors.Is(err, windows.ERROR_ACCESS_DENIED) {
		return err
	}
	again := exec.Command(cmd.Path, cmd.Args[1:]...)
	again.Dir, again.Env, again.Stderr = cmd.Dir, cmd.Env, cmd.Stderr
	again.SysProcAttr = &syscall.SysProcAttr{CreationFlags: own}
	*cmd = *again
	return cmd.Start()
}
