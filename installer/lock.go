package installer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"swapkeep/manifest"
)

// ErrBusy means that another process is installing, uninstalling or repairing.
var ErrBusy = errors.New("another installation is running")

// How long to wait for another installation, and how often to try.
const (
	lockPatience = 20 * time.Second
	lockPause    = 50 * time.Millisecond
)

// Lock keeps other processes from changing a scope's installation until unlock is called:
// two at once would each write receipts without the other's changes. It must be called
// before the plan is made. It waits for the present holder and leaves nothing on the
// disk. Errors: ErrBusy, the context's.
func (m Machine) Lock(ctx context.Context, scope manifest.Scope) (unlock func(), err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, lockPatience, fmt.Errorf("%w, or its lock folder is locked; wait until it ends, then try again", ErrBusy))
	defer cancel()
	for {
		if unlock, err = m.TryLock(scope); !errors.Is(err, ErrBusy) {
			return unlock, err
		}
		select {
		case <-time.After(lockPause):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// TryLock is Lock without waiting.
func (m Machine) TryLock(scope manifest.Scope) (unlock func(), err error) {
	switch {
	case scope == manifest.System:
		return m.Files.Lock(m.rootsHome())
	case m.OS == "windows":
		return m.Files.Lock(m.Env("LOCALAPPDATA"))
	}
	return m.Files.Lock(m.Home)
}

// rootsHome returns an existing directory that, if possible, only the administrator can
// open: whoever can open a directory can lock it.
func (m Machine) rootsHome() string {
	for _, dir := range map[string][]string{"linux": {"/root"}, "darwin": {"/var/root"}, "windows": {m.Env("SystemRoot")}}[m.OS] {
		if _, err := m.Files.Stat(dir); err == nil {
			return dir
		}
	}
	return "/"
}
