//go:build browser

package desk

import (
	"errors"
	"os"
	"path/filepath"
	"time"
)

func (d *Desk) clockFile() string { return filepath.Join(d.dir, "clock") }

// SetClock sets how far the daemon's clock is ahead from now on. It needs Options.Faults.
func (d *Desk) SetClock(ahead time.Duration) {
	d.t.Helper()
	beside := d.clockFile() + "~" // renamed into place, as the daemon may read at any time
	if err := errors.Join(os.WriteFile(beside, []byte(ahead.String()), 0o600), os.Rename(beside, d.clockFile())); err != nil {
		d.t.Fatal(err)
	}
}
