//go:build browser

package desk

import (
	"errors"
	"os"
	"path/filepath"
	"time"
)

func (d *Desk) clockFile() string { return filepath.Join(d.dir, "clock") }

// SetClock sets by how much the clock of the daemon, one with faults, is ahead from now on.
func (d *Desk) SetClock(ahead time.Duration) {
	d.t.Helper()
	beside := d.clockFile() + "~" // the daemon reads at any time
	if err := errors.Join(os.WriteFile(beside, []byte(ahead.String()), 0o600), os.Rename(beside, d.clockFile())); err != nil {
		d.t.Fatal(err)
	}
}
