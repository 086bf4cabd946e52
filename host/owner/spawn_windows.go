package owner

import (
	"errors"
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

// rootDir is the working directory of a started daemon.
const rootDir = `C:\`

// startDetached starts cmd outside the browser's job if the job allows that, because the
// job would end the daemon together with the relay. Go passes on no handles but the three
// standard ones.
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
