package main

import (
	"slices"
	"testing"
	"time"

	"swapkeep/priceapi/price"
)

// TestPeersKeepTheSameCharts checks that the peers' charts are as long as ours, and equal where made of
// samples, and that the counted bytes are at least those that had to be written.
func TestPeersKeepTheSameCharts(t *testing.T) {
	const count = 12
	l := &lab{places: places{c: "c"}, dir: t.TempDir(), short: true, made: map[string]bool{}}
	own, err := openLedger(t.Context(), l.dir+"/own.db", count)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = own.Close() }()
	own.now = own.now.Add(-time.Minute) // the filled part ends before
	r, err := l.openHistoryPeers(t.Context(), "test", count)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.fill(t.Context(), own.now); err != nil {
		t.Fatal(err)
	}
	took, written, err := r.minutes(t.Context(), own, 61) // an hour ends, and old entries are deleted
	if err != nil || len(took) != 4 || len(took[3]) != 61 {
		t.Fatal(len(took), err)
	}
	for i, w := range written {
		if least := float64(61 * count * entrySize); sum(w) < least {
			t.Errorf("side %d wrote %g bytes, of %g", i, sum(w), least)
		}
	}
	for _, p := range price.Periods() {
		if _, err := r.read(t.Context(), own, p, 20); err != nil {
			t.Error(err)
		}
	}
	// A different price is detected: the last of a closed candle.
	other := slices.Repeat([]price.Packed{64}, count)
	if err := r.keyed.minute(other, minuteOf(own.now)/5*5-1); err != nil {
		t.Fatal(err)
	}
	if _, err := r.read(t.Context(), own, price.Periods()[0], 1); err == nil {
		t.Error("a chart of other prices is taken for the same")
	}
	if err := r.close(); err != nil {
		t.Error(err)
	}
}

// TestPacked checks that both ways of packing give the same price.
func TestPacked(t *testing.T) {
	for n := range 12_000 {
		at := time.Unix(int64(n)*7_777*60, 0)
		if got, want := packedAt(n, minuteOf(at)), priceAt(n, at).Pack(); got != want {
			t.Fatalf("token %d: %x, not %x", n, got, want)
		}
	}
}
