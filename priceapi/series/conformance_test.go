package series_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"swapkeep/priceapi/poll"
	"swapkeep/priceapi/poll/historytest"
	"swapkeep/priceapi/series"
)

// TestConformance runs the tests that every history must pass.
func TestConformance(t *testing.T) {
	root := t.TempDir()
	historytest.Run(t, 25, func(now func() time.Time) (poll.History, func(), error) {
		dir, err := os.MkdirTemp(root, "")
		if err != nil {
			return nil, nil, err
		}
		s, err := series.Open(filepath.Join(dir, "prices.db"), series.Options{Days: historytest.Days, Now: now})
		if err != nil {
			return nil, nil, err
		}
		return s, func() { _ = s.Close(); _ = os.RemoveAll(dir) }, nil
	})
}
