package host

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"swapkeep/chain"
	"swapkeep/host/protocol"
	"swapkeep/test/await"
)

// TestGasWatch checks that prices go only to the connections that watch, until they stop
// or end.
func TestGasWatch(t *testing.T) {
	r := newRig(t)
	a, b, other := r.attach("extension"), r.attach("terminal"), r.attach("extension")
	for range 2 { // the second call has no effect
		a.must("gas.watch", nil)
	}
	a.must("gas.watch", map[string]any{"chainId": 8453})
	b.must("gas.watch", map[string]any{"chainId": 1})
	if n := r.networks.watching(1); n != 2 || r.networks.watching(8453) != 1 {
		t.Fatalf("%d watch chain 1", n)
	}
	r.networks.mine(1, 101)
	r.networks.mine(8453, 7)
	for _, want := range []struct {
		p     *peer
		chain uint64
		block uint64
	}{{a, 1, 101}, {a, 8453, 7}, {b, 1, 101}} {
		var g protocol.GasPrice
		m := want.p.note()
		if err := json.Unmarshal(m.Params, &g); err != nil || m.Method != "gas.price" || g.ChainID != want.chain || g.Block != want.block || g.Fast.MaxPriorityFee != "5000000" {
			t.Errorf("want block %d of chain %d, got %s, %v", want.block, want.chain, m.raw, err)
		}
	}
	a.must("gas.watch", map[string]any{"stop": true})
	if n := r.networks.watching(1); n != 1 {
		t.Errorf("%d watch chain 1 after one stopped", n)
	}
	r.networks.mine(1, 102)
	r.networks.mine(8453, 8)
	if m := a.note(); m.Method != "gas.price" || r.networks.watching(8453) != 1 {
		t.Errorf("the other network is not watched any more: %s", m.raw)
	}
	_ = b.nc.Close()
	await.Until(t, 10*time.Second, "the watch ends with its connection", func() bool { return r.networks.watching(1) == 0 })
	other.must("networks.list", nil)
	if len(other.notes) != 0 {
		t.Errorf("who does not watch was told %s", other.notes[0].raw)
	}
}

// TestGasWatchFails checks that an unreachable network is not watched.
func TestGasWatchFails(t *testing.T) {
	r := newRig(t)
	r.networks.fail = chain.ErrUnreachable
	p := r.attach("extension")
	p.refused("network_unreachable", "gas.watch", nil)
	if n := r.networks.watching(1); n != 0 {
		t.Errorf("%d watch", n)
	}
}

// TestEndedNetworkIsNotWatched checks that a network that was shut down has no gas price, and
// is listed with its end.
func TestEndedNetworkIsNotWatched(t *testing.T) {
	r := newRig(t)
	r.networks.fail = fmt.Errorf("chain 5330: %w", chain.ErrNetworkEnded)
	p := r.attach("extension")
	p.refused("network_ended", "gas.watch", nil)
	superseed, _ := chain.NetworkByID(5330)
	if got := networkOf(superseed); !got.Ended.Equal(superseed.Ended) || got.Ended.IsZero() {
		t.Errorf("listed with the end %s", got.Ended)
	}
	if b, err := json.Marshal(networkOf(chain.Network{ID: 1, GasCeiling: new(big.Int)})); err != nil || strings.Contains(string(b), "ended") {
		t.Errorf("a network that runs has an end: %s, %v", b, err)
	}
}

// TestLegacyGasPrice checks that a network without a fee market has one price per tier.
func TestLegacyGasPrice(t *testing.T) {
	b, err := json.Marshal((&Server{Config: Config{Prices: newFakePrices()}}).gasPriceOf(fakeGas(39, 5)))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"chainId":39,"block":5,"time":"` + testTime.UTC().Format("2006-01-02T15:04:05Z07:00") + `","slow":{"gasPrice":"2001000000"},"normal":{"gasPrice":"2002000000"},"fast":{"gasPrice":"2005000000"}}`
	if string(b) != want {
		t.Errorf("got %s\nwant %s", b, want)
	}
}
