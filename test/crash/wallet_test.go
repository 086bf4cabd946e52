//go:build faults && linux

package crash

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"swapkeep/host/protocol"
	"swapkeep/test/requests"
)

// creation is not a swap and has its own matrix.
var creation = flow{name: "wallet", chain: base}

var (
	unlisted = onDisk{note: "unlisted"} // no wallet yet: the unfinished one is cleaned up
	listed   = onDisk{note: "listed"}   // the wallet is there; its words were never shown
)

// TestWalletKilledAtEveryPoint kills the daemon around every write to the keychain while a
// wallet is created. The vault must not be damaged.
func TestWalletKilledAtEveryPoint(t *testing.T) {
	killAtEach(t, traceCreation(t), surviveCreation)
}

func traceCreation(t *testing.T) (kills []kill) {
	d := newDesk(t, takeLane(t))
	path := d.openTraced()
	d.must("keys.create", protocol.CreateParams{Request: requests.NewUUID(), Password: []byte(requests.Password)}, nil)
	points, hits := readTrace(t, path), map[string]int{}
	d.shut()
	for i, point := range points {
		hits[point]++
		when := unlisted
		if i == len(points)-1 {
			when = listed
		}
		kills = append(kills, kill{creation, point, hits[point], when})
	}
	if hits["keys.before_index"] != 2 || hits["keys.after_index"] != 2 || hits["keys.before_item"] != 1 || hits["keys.after_item"] != 1 {
		t.Fatalf("a wallet's creation passes %v", points)
	}
	return kills
}

func surviveCreation(t *testing.T, k kill) string {
	d := newDesk(t, takeLane(t))
	d.open(k.env())
	d.dying = d.watch()
	create := protocol.CreateParams{Request: requests.NewUUID(), Password: []byte(requests.Password)}
	d.expectKilled("create", d.ask("keys.create", create, nil))
	d.awaitSuccessor()
	before := map[onDisk]int{unlisted: 0, listed: 1}[k.when]
	d.vaultHolds(before)
	var made protocol.CreateResult
	d.must("keys.create", protocol.CreateParams{Request: create.Request, Password: []byte(requests.Password)}, &made)
	if n := len(strings.Fields(string(made.Words))); n != 12 {
		t.Errorf("the repeat shows %d words", n)
	}
	d.unlock()
	d.vaultHolds(before + 1)
	d.onlyListedItems(before + 1)
	d.checkNoProblems()
	d.canSwap(made.Wallet)
	return fmt.Sprintf("%d wallet before the repeat, all open", before)
}

// vaultHolds checks that there are n readable wallets.
func (d *desk) vaultHolds(n int) {
	d.t.Helper()
	var s protocol.KeysStatus
	if d.must("keys.status", nil, &s); len(s.Wallets) != n {
		d.t.Errorf("%d wallets (%s), want %d", len(s.Wallets), s.State, n)
	}
}

// onlyListedItems checks that the keychain has one item for each wallet and the index only.
func (d *desk) onlyListedItems(wallets int) {
	d.t.Helper()
	files, err := os.ReadDir(filepath.Join(d.Instance.Home, "keys"))
	if err != nil {
		d.t.Fatal(err)
	}
	if len(files) != wallets+1 {
		d.t.Errorf("%d items in the keychain for %d wallets and their list: %v", len(files), wallets, files)
	}
}

// canSwap pays with the wallet's key.
func (d *desk) canSwap(w protocol.Wallet) {
	d.t.Helper()
	d.must("networks.select", protocol.SelectParams{ChainID: creation.chain}, nil)
	d.account = evmAddress(w.Accounts[0].Address)
	p := &flowRun{desk: d, flow: creation}
	p.fund(native, gasMoney)
	p.since = d.lane.Chain(base).Head().Number.Uint64()
	p.record()
	p.checkNextSwap(0)
	d.shut()
	p.checkAudit()
}
