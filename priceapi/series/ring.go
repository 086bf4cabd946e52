package series

import (
	"encoding/binary"
	"fmt"
	"strings"
	"time"

	"swapkeep/priceapi/price"

	bolt "go.etcd.io/bbolt"
)

// Times in this package are whole minutes since 1970, as int64.
const (
	hour = 60
	day  = 24 * hour
)

// Retention: the current hour and this many minutes before it.
const (
	keepMinutes  = 25 * hour
	keepQuarters = 8 * day
)

func minuteOf(t time.Time) int64 { return floor(t.Unix(), 60) / 60 }

func timeOf(minute int64) time.Time { return time.Unix(60*minute, 0).UTC() }

// floor rounds down to a multiple of step.
func floor(n, step int64) int64 { return n - ((n%step)+step)%step }

func quarterOf(minute int64) int64 { return floor(minute, 15) }

// A ring holds the rows of a resolution. A row's slot is time/step mod slots, so it
// overwrites the previous row of its slot and nothing is ever deleted. Rows carry their own
// time, so rows written while the clock was wrong are never taken for another time; they
// only occupy their slots.
type ring struct {
	res    price.Resolution
	step   int64
	keep   int64
	slots  int64
	bucket []byte // its name contains the number of slots
}

type rings [3]ring

var ringNames = [...]string{price.Minutes: "minutes", price.Quarters: "quarters", price.Hours: "hours"}

// newRings sizes each ring for its retention, the current hour and one spare hour. With the
// spare hour, rows written before the clock is set back slightly do not take the slots of
// the hour that becomes the oldest again.
func newRings(days int) (all rings) {
	for r, keep := range []int64{keepMinutes, keepQuarters, int64(days) * day} {
		g := ring{res: price.Resolution(r), step: int64(price.Resolution(r).Step() / time.Minute), keep: keep}
		g.slots = (keep + 2*hour) / g.step
		g.bucket = fmt.Appendf(nil, "%s.%d", ringNames[r], g.slots)
		all[r] = g
	}
	return all
}

// oldest returns the oldest row that is kept. It starts an hour, so the candle of an hour
// has all of its finer rows or none.
func (g ring) oldest(now int64) int64 { return floor(now, hour) - g.keep }

func (g ring) key(at int64) []byte {
	slot := floor(at, g.step) / g.step % g.slots
	return binary.BigEndian.AppendUint32(nil, uint32((slot+g.slots)%g.slots))
}

func (g ring) get(tx *bolt.Tx, t *table, at int64) (row, bool) {
	return g.getFrom(tx.Bucket(g.bucket), t, at)
}

// getFrom is get with the bucket already looked up.
func (g ring) getFrom(b *bolt.Bucket, t *table, at int64) (row, bool) {
	r, ok := readRow(b.Get(g.key(at)))
	return r, ok && r.at == at && r.res == g.res && t.matches(r.header)
}

func (e *edit) put(h header, entries []byte) error {
	g := e.rings[h.res]
	h.tokens = e.tokens.chainAt(len(entries) / entrySizes[h.res])
	e.changed = true
	return e.tx.Bucket(g.bucket).Put(g.key(h.at), encode(h, entries))
}

// each calls f with the rows from one time to another, both inclusive and multiples of the
// step, oldest first, until f returns false.
func (g ring) each(tx *bolt.Tx, t *table, from, to int64, f func(row) bool) {
	from = max(from, to-(g.slots-1)*g.step)
	if from > to {
		return
	}
	c := tx.Bucket(g.bucket).Cursor()
	key := g.key(from)
	first := int64(binary.BigEndian.Uint32(key))
	span := (to - from) / g.step
	part := func(k, v []byte, end int64) bool {
		for ; k != nil; k, v = c.Next() {
			if len(k) != slotSize {
				continue
			}
			slot := int64(binary.BigEndian.Uint32(k))
			if slot > end {
				return true
			}
			at := from + (slot-first+g.slots)%g.slots*g.step
			r, ok := readRow(v)
			if ok && r.at == at && r.res == g.res && t.matches(r.header) && !f(r) {
				return false
			}
		}
		return true
	}
	k, v := c.Seek(key)
	if !part(k, v, min(first+span, g.slots-1)) || first+span < g.slots {
		return
	}
	k, v = c.First()
	part(k, v, first+span-g.slots)
}

func (g rings) create(db *bolt.DB) error {
	missing := false
	if err := db.View(func(tx *bolt.Tx) error {
		for _, r := range g {
			missing = missing || tx.Bucket(r.bucket) == nil
		}
		return nil
	}); err != nil || !missing {
		return err
	}
	return db.Update(func(tx *bolt.Tx) error {
		for _, r := range g {
			if _, err := tx.CreateBucketIfNotExists(r.bucket); err != nil {
				return fmt.Errorf("%w: bucket %s: %w", ErrDamaged, r.bucket, err)
			}
		}
		return nil
	})
}

// resize moves the rows of rings of other sizes, left by other settings, into the current
// ones. It may be interrupted and repeated.
func (g rings) resize(db *bolt.DB) error {
	old := map[string]ring{}
	if err := db.View(func(tx *bolt.Tx) error {
		return tx.ForEach(func(name []byte, _ *bolt.Bucket) error {
			for _, r := range g {
				if n := string(name); strings.HasPrefix(n, ringNames[r.res]+".") && n != string(r.bucket) {
					old[n] = r
				}
			}
			return nil
		})
	}); err != nil {
		return err
	}
	for name, to := range old {
		var from []byte
		for more := true; more; {
			if err := db.Update(func(tx *bolt.Tx) (err error) {
				if from, err = to.moveFrom(tx, []byte(name), from); err == nil && from == nil {
					err = tx.DeleteBucket([]byte(name))
				}
				more = from != nil
				return err
			}); err != nil {
				return err
			}
		}
	}
	return nil
}

// moveFrom moves rows of another ring, starting at key from, up to one commit. It returns
// the key to continue with, nil at the end. The newer row of a slot wins.
func (g ring) moveFrom(tx *bolt.Tx, name, from []byte) ([]byte, error) {
	size := 0
	to := tx.Bucket(g.bucket)
	c := tx.Bucket(name).Cursor()
	for k, v := c.Seek(from); k != nil; k, v = c.Next() {
		if size > maxCommit {
			return append([]byte(nil), k...), nil
		}
		r, ok := readRow(v)
		if !ok || r.res != g.res {
			continue
		}
		if there, ok := readRow(to.Get(g.key(r.at))); ok && there.at >= r.at {
			continue
		}
		size += len(v)
		if err := to.Put(g.key(r.at), append([]byte(nil), v...)); err != nil {
			return nil, err
		}
	}
	return nil, nil
}
