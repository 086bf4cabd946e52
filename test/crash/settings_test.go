//go:build faults && linux

package crash

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"swapkeep/host/protocol"
	"swapkeep/sandbox/sandboxtest"
	"swapkeep/test/requests"
)

// A storedChange is something that the daemon stores in one commit: after a death it is stored
// or not, and repeating it stores it.
type storedChange struct {
	name string
	do   func(*desk) error
	kept func(*desk) bool
}

const slippage = "1.25"

var storedChanges = []storedChange{
	{"setting", func(d *desk) error {
		value := slippage
		return d.ask("settings.set", protocol.SetParams{Key: "swap.slippage", Value: &value}, nil)
	}, func(d *desk) bool {
		var r protocol.SettingsResult
		d.must("settings.get", protocol.SettingsParams{Keys: []string{"swap.slippage"}}, &r)
		return r.Settings[0].Value == slippage
	}},
	{"network", func(d *desk) error {
		return d.ask("networks.select", protocol.SelectParams{ChainID: base}, nil)
	}, func(d *desk) bool {
		var r protocol.NetworksResult
		d.must("networks.list", nil, &r)
		return r.Active == base
	}},
	{"token", func(d *desk) error {
		return d.ask("tokens.import", protocol.ImportTokenParams{ChainID: base, Address: d.unknownToken()}, nil)
	}, func(d *desk) bool {
		var r protocol.SearchResult
		d.must("tokens.search", protocol.SearchParams{ChainID: base, Query: string(d.unknownToken())}, &r)
		return len(r.Tokens) == 1
	}},
	{"provider key", func(d *desk) error {
		return d.ask("providers.set_key", protocol.SetKeyParams{Provider: "dex", Key: []byte("worth-nothing"), Password: []byte(requests.Password)}, nil)
	}, func(d *desk) bool {
		files, err := filepath.Glob(filepath.Join(d.Instance.Home, "keys", "*@provider%2Fdex*"))
		if err != nil {
			d.t.Fatal(err)
		}
		return len(files) == 1
	}},
}

// unknownToken returns a token that is in no list: the V2 pair's own.
func (d *desk) unknownToken() protocol.Address {
	d.t.Helper()
	c := d.lane.Chain(base)
	pair := sandboxtest.View(d.t, c, c.Network.Contracts.V2Factory, "getPair(address,address)", 0, c.Network.Wrapped.Address, c.Network.Tokens[0].Address)
	return protocol.Address(common.BigToAddress(pair).Hex())
}

// TestKeptKilledAtEveryPoint kills the daemon around each commit of what it stores besides
// orders and wallets.
func TestKeptKilledAtEveryPoint(t *testing.T) {
	var table resultTable
	seen, kills := map[string]bool{}, map[string][]kill{}
	t.Run("trace", func(t *testing.T) {
		for _, what := range storedChanges {
			t.Run(what.name, func(t *testing.T) { kills[what.name] = traceKeeping(t, what) })
		}
	})
	t.Run("kill", func(t *testing.T) {
		for _, what := range storedChanges {
			for _, k := range kills[what.name] {
				seen[k.point] = true
				t.Run(fmt.Sprintf("%s/%s:%d", what.name, k.point, k.hit), func(t *testing.T) {
					t.Parallel()
					table.note(t, k, unlockAtOnce, func() string { return surviveKeeping(t, k, what) })
				})
			}
		}
	})
	expected(t, "TestKeptKilledAtEveryPoint", seen)
	t.Log("\n" + table.String())
}

// Moments around a commit.
var (
	unkept = onDisk{note: "not kept"}
	kept   = onDisk{note: "kept"}
)

func traceKeeping(t *testing.T, what storedChange) (kills []kill) {
	d := newDesk(t, takeLane(t))
	path := d.openTraced()
	d.wallet(mainnet)
	before := len(readTrace(t, path))
	if err := what.do(d); err != nil {
		t.Fatal(err)
	}
	points, hits := readTrace(t, path), map[string]int{}
	d.shut()
	for i, point := range points {
		if hits[point]++; i < before {
			continue
		}
		when := unkept
		if i > before {
			when = kept
		}
		kills = append(kills, kill{flow{name: what.name, chain: base}, point, hits[point], when})
	}
	if len(kills) != 2 {
		t.Fatalf("%s passes %v", what.name, points[before:])
	}
	return kills
}

func surviveKeeping(t *testing.T, k kill, what storedChange) string {
	d := newDesk(t, takeLane(t))
	d.open(k.env())
	d.wallet(mainnet)
	d.dying = d.watch()
	d.expectKilled(what.name, what.do(d))
	d.awaitSuccessor()
	if got := what.kept(d); got != (k.when == kept) {
		t.Errorf("kept is %t", got)
	}
	d.unlock()
	if err := what.do(d); err != nil {
		t.Errorf("the repeat: %v", err)
	}
	if !what.kept(d) {
		t.Error("the repeat is not kept")
	}
	d.checkNoProblems()
	d.shut()
	return k.when.note + ", then repeated"
}
