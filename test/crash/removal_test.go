//go:build faults && linux

package crash

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"swapkeep/host/protocol"
)

// removal is not a swap either.
var removal = flow{name: "removal", chain: base}

var (
	present = onDisk{note: "whole"}   // nothing is written yet: the wallet is there
	removed = onDisk{note: "removed"} // its index entry is gone: the rest is cleaned up
)

// TestRemovalKilledAtEveryPoint kills the daemon around every change of the keychain while
// a wallet is removed: afterwards the wallet is complete or gone without a trace.
func TestRemovalKilledAtEveryPoint(t *testing.T) {
	kills := traceRemoval(t)
	var table resultTable
	t.Run("kill", func(t *testing.T) {
		for _, k := range kills {
			t.Run(fmt.Sprintf("%s:%d", k.point, k.hit), func(t *testing.T) {
				t.Parallel()
				table.note(t, k, unlockAtOnce, func() string { return surviveRemoval(t, k) })
			})
		}
	})
	t.Log("\n" + table.String())
}

func traceRemoval(t *testing.T) (kills []kill) {
	d := newDesk(t, takeLane(t))
	path := filepath.Join(d.Dir, "trace")
	d.open("SWAPKEEP_FAILPOINT_TRACE=" + path)
	d.twoWallets()
	before := len(readTrace(t, path))
	d.must("keys.remove", removing(), nil)
	points, hits := readTrace(t, path), map[string]int{}
	d.shut()
	when := present
	for i, point := range points {
		hits[point]++
		if i < before {
			continue
		}
		if point == "keys.after_index" {
			when = removed
		}
		kills = append(kills, kill{removal, point, hits[point], when})
	}
	if len(kills) != 6 || hits["keys.before_delete"] != 1 || hits["keys.after_delete"] != 1 {
		t.Fatalf("a removal passes %v", points[before:])
	}
	return kills
}

func (d *desk) twoWallets() {
	d.t.Helper()
	for range 2 {
		d.must("keys.create", protocol.CreateParams{Request: newUUID(), Password: []byte(password)}, nil)
	}
}

func removing() protocol.RemoveParams {
	return protocol.RemoveParams{Request: newUUID(), Wallet: "2", Password: []byte(password)}
}

func surviveRemoval(t *testing.T, k kill) string {
	d := newDesk(t, takeLane(t))
	d.open(fmt.Sprintf("SWAPKEEP_FAILPOINT=%s:%d", k.point, k.hit))
	d.twoWallets()
	d.dying = d.watch()
	if err := d.ask("keys.remove", removing(), nil); !errors.Is(err, errLost) {
		t.Fatalf("remove: %v", err)
	}
	if err := d.dying.killed(longTimeout); err != nil {
		t.Fatal(err)
	}
	d.dying = nil
	if err := greeted(d.relay); err != nil {
		t.Fatal(err)
	}
	left := map[onDisk]int{present: 2, removed: 1}[k.when]
	d.vaultHolds(left)
	d.unlock()
	d.onlyListedItems(left)
	var refused *protocol.Error
	switch err := d.ask("keys.remove", removing(), nil); {
	case k.when == present && err != nil:
		t.Errorf("the repeat: %v", err)
	case k.when == removed && !(errors.As(err, &refused) && refused.Name == "no_wallet"):
		t.Errorf("the repeat: %v, want no_wallet", err)
	}
	d.vaultHolds(1)
	d.onlyListedItems(1)
	if s := d.status(); len(s.Problems) != 0 {
		t.Errorf("problems: %+v", s.Problems)
	}
	d.shut()
	return fmt.Sprintf("%d wallets before the repeat, nothing left over", left)
}
