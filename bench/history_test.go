package main

import (
	"slices"
	"testing"
	"time"

	"swapkeep/priceapi/price"
)

// The peers keep the same history as ours: their charts are as long, of samples the same,
// and the bytes that are counted as written are at least those that had to be.
func TestRivals(t *testing.T) {
	const count = 12
	l := &lab{places: places{c: "c"}, dir: t.TempDir(), short: true, made: map[string]bool{}}
	own, err := openLedger(t.Context(), l.dir+"/own.db", count)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = own.Close() }()
	own.now = own.now.Add(-time.Minute) // what was filled ends before
	r, err := l.openRivals(t.Context(), "test", count)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.fill(t.Context(), own.now); err != nil {
		t.Fatal(err)
	}
	took, written, err := r.minutes(t.Context(), own, 61) // an hour ends, and what is too old goes
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
	// Another price is found out: the last of a candle that is over.
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

// A price is the same, whichever way it is packed.
func TestPacked(t *testing.T) {
	for n := range 12_000 {
		at := time.Unix(int64(n)*7_777*60, 0)
		if got, want := packedAt(n, minuteOf(at)), priceAt(n, at).Pack(); got != want {
			t.Fatalf("token %d: %x, not %x", n, got, want)
		}
	}
}
