package main

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"testing"

	"swapkeep/host/owner"
	"swapkeep/host/protocol"
	"swapkeep/host/transport"
)

// A browser is told why the daemon is unavailable, also that a person stopped it:
// otherwise the extension would restart it at once.
func TestRelayReportsAStop(t *testing.T) {
	for want, err := range map[string]error{
		"daemon_stopped":    fmt.Errorf("%w: %w", owner.ErrStopped, transport.ErrNoDaemon),
		"daemon_lost":       transport.ErrNoDaemon,
		"database_locked":   &owner.StartError{Exit: owner.ExitLocked},
		"database_readonly": fs.ErrPermission,
		"database_full":     syscall.ENOSPC,
		"database_newer":    &owner.StartError{Exit: owner.ExitNewer},
	} {
		var fault *protocol.Error
		if !errors.As(startFault(err), &fault) || fault.Name != want {
			t.Errorf("%v is told as %v, want %s", err, fault, want)
		}
	}
}
