//go:build faults && linux

package crash

import (
	"errors"
	"fmt"
	"testing"

	"swapkeep/host/protocol"
	"swapkeep/test/requests"
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
	killAtEach(t, traceRemoval(t), surviveRemoval)
}

func traceRemoval(t *testing.T) (kills []kill) {
	d := newDesk(t, takeLane(t))
	path := d.openTraced()
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
		d.must("keys.create", protocol.CreateParams{Request: requests.NewUUID(), Password: []byte(requests.Password)}, nil)
	}
}

func removing() protocol.RemoveParams {
	return protocol.RemoveParams{Request: requests.NewUUID(), Wallet: "2", Password: []byte(requests.Password)}
}

func surviveRemoval(t *testing.T, k kill) string {
	d := newDesk(t, takeLane(t))
	d.open(k.env())
	d.twoWallets()
	d.dying = d.watch()
	d.expectKilled("remove", d.ask("keys.remove", removing(), nil))
	d.awaitSuccessor()
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
	d.checkNoProblems()
	d.shut()
	return fmt.Sprintf("%d wallets before the repeat, nothing left over", left)
}
