package series

import (
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"swapkeep/internal/failpoint"
	"swapkeep/priceapi/poll"
	"swapkeep/priceapi/price"

	bolt "go.etcd.io/bbolt"
)

// maxAhead is how many minutes a new minute may be ahead of the clock.
const maxAhead = 5

// Append implements [poll.History]. Errors: ErrTime, ErrTokens, ErrFull, ErrReadOnly,
// ErrDamaged. With any of them nothing was written and the call may be repeated.
func (s *Store) Append(ctx context.Context, m poll.Minute) error {
	at := minuteOf(m.At)
	var e *edit
	err := s.update(ctx, func(with *edit) error {
		e = with
		if at > e.now+maxAhead || at < e.rings[price.Minutes].oldest(e.now) {
			return fmt.Errorf("%w: %s, and the clock says %s", ErrTime, m.At.UTC().Format(time.RFC3339), timeOf(e.now).Format(time.RFC3339))
		}
		if err := s.catchUp(e); err != nil {
			return err
		}
		if err := e.appendMinute(at, m); err != nil {
			return err
		}
		failpoint.Point("prices.before_append")
		return nil
	})
	if err == nil {
		failpoint.Point("prices.after_append")
	}
	return err
}

func (e *edit) appendMinute(at int64, m poll.Minute) error {
	known := maps.Clone(m.Samples)
	maps.DeleteFunc(known, func(id price.ID, p price.Sample) bool {
		return !p.Known() || p.Source == price.Unknown || id.Chain == 0
	})
	if err := e.addTokens(slices.Collect(maps.Keys(known))); err != nil {
		return err
	}
	h, entries := e.minute(at)
	for id, p := range known {
		entry := entries[e.tokens.index[id]*minuteSize:][:minuteSize]
		fresh := sample{p.Value.Pack(), p.Source, min(at, minuteOf(p.At))}
		if isEmpty(entry) || parseSample(entry, at).at <= max(fresh.at, at-maxAge) {
			fresh.put(entry, at)
		}
	}
	if m.OK {
		h.flags |= flagOK
	}
	h.took += uint64(max(0, m.Took))
	if err := e.put(h, entries); err != nil {
		return err
	}
	if err := e.count(m); err != nil {
		return err
	}
	return e.updateCoarser(price.Minutes, []int64{at})
}

// minute returns the current row of a minute, extended to all tokens.
func (e *edit) minute(at int64) (header, []byte) { return e.rowForAll(price.Minutes, at) }

// rowForAll returns the row of a time, extended to all tokens; empty if there is none.
func (e *edit) rowForAll(r price.Resolution, at int64) (header, []byte) {
	if was, ok := e.rings[r].get(e.tx, e.tokens, at); ok {
		return was.header, was.entries(len(e.tokens.ids))
	}
	return header{res: r, at: at}, blank(r, len(e.tokens.ids))
}

const (
	totalsKind = 'S'
	totalsSize = 1 + 3*8 + sumSize
)

func encodeTotals(t poll.Totals) []byte {
	b := []byte{totalsKind}
	for _, n := range []uint64{t.Fetches, t.Successful, uint64(t.Took)} {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	return sealed(totalsKey, b)
}

// parseTotals returns false if the record is damaged.
func parseTotals(value []byte) (t poll.Totals, ok bool) {
	b, ok := unsealed(totalsKey, value, totalsKind, totalsSize)
	if !ok {
		return t, false
	}
	n := func(i int) uint64 { return binary.LittleEndian.Uint64(b[1+8*i:]) }
	t = poll.Totals{Fetches: n(0), Successful: n(1), Took: time.Duration(n(2))}
	return t, t.Took >= 0 && t.Successful <= t.Fetches
}

func (e *edit) count(m poll.Minute) error {
	meta := e.tx.Bucket(metaBucket)
	t, ok := parseTotals(meta.Get(totalsKey))
	if !ok {
		t = poll.Totals{}
	}
	t.Fetches++
	if m.OK {
		t.Successful++
	}
	t.Took += min(max(0, m.Took), math.MaxInt64-t.Took)
	return meta.Put(totalsKey, encodeTotals(t))
}

// Totals implements [poll.History].
func (s *Store) Totals(ctx context.Context) (t poll.Totals, err error) {
	err = s.view(ctx, func(tx *bolt.Tx) error {
		t = poll.Totals{}
		if stored, ok := parseTotals(tx.Bucket(metaBucket).Get(totalsKey)); ok {
			t = stored
		}
		return nil
	})
	return t, err
}
