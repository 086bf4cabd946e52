//go:build faults && linux

package torture

import (
	"os"
	"testing"

	"swapkeep/test/keychain"
)

// TestThaw checks that a keychain that ended while stopped is restarted; others continue.
func TestThaw(t *testing.T) {
	dir, err := os.MkdirTemp("", "skk") // short, because of the limit on socket paths
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	w := &world{report: newReport(0)}
	if w.keychain, err = keychain.Start(dir); err != nil {
		t.Fatal(err)
	}
	defer w.keychain.Close()
	for _, ends := range []bool{false, true} {
		if ends {
			err = w.keychain.SetState(keychain.Gone)
		} else {
			err = w.keychain.Freeze()
		}
		if err != nil {
			t.Fatal(err)
		}
		w.thaw()
		if n := w.counts["keychains that had ended by themselves"]; n != map[bool]int{true: 1}[ends] || len(w.findings) > 0 {
			t.Errorf("it ended %t: %d started again, %v", ends, n, w.findings)
		}
	}
}
