//go:build faults && linux

package torture

import (
	"os"
	"testing"

	"swapkeep/test/keychain"
)

// TestThaw: a keychain that has ended while it was stopped is there again afterwards, and
// one that has not goes on.
func TestThaw(t *testing.T) {
	dir, err := os.MkdirTemp("", "skk") // short, for a socket
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
			err = w.keychain.Be(keychain.Gone)
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
