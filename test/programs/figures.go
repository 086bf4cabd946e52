//go:build faults && linux

package programs

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"swapkeep/internal/failpoint"
	"swapkeep/test/await"
)

// FiguresEnv creates the directory for figures and returns the environment entry that makes a
// program write them, so that Figures can ask it.
func (h *Home) FiguresEnv() (string, error) {
	return "SWAPKEEP_FAILPOINT_FIGURES=" + h.figures(), os.MkdirAll(h.figures(), 0o700)
}

func (h *Home) figures() string { return filepath.Join(h.Dir, "figures") }

// Figures asks a running program for its current resource figures and waits up to wait.
func (h *Home) Figures(pid int, wait time.Duration) (f failpoint.ResourceUsage, err error) {
	path := filepath.Join(h.figures(), strconv.Itoa(pid))
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return f, err
	}
	await.Holds(wait, func() bool {
		var b []byte
		if b, err = os.ReadFile(path); err == nil {
			err = json.Unmarshal(b, &f)
		}
		return err == nil
	})
	return f, err
}
