package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"time"

	"swapkeep/priceapi/price"

	bolt "go.etcd.io/bbolt"
)

// keyed is a history in bbolt as one might write it at first: a key per token and time.
// It is a peer of package series, keeps the same data, and is on disk when a commit
// returns, too. The current candles are in memory.
type keyed struct {
	path    string
	db      *bolt.DB
	count   int
	present [price.Hours + 1][]candle // by token
}

// A candle has packed prices. Those of one token compare as numbers, since bench gives
// them the same number of digits.
type candle struct{ open, high, low, close price.Packed }

const (
	keySize   = 8
	entrySize = 10 // a packed price, its source and its age, as in package series
)

// kept is how long each resolution is kept, and its name here.
var kept = [...]struct {
	name string
	span time.Duration
}{price.Minutes: {"minutes", 25 * time.Hour}, price.Quarters: {"quarters", 8 * 24 * time.Hour}, price.Hours: {"hours", 32 * 24 * time.Hour}}

// keyOf sorts by token, then time, so that a chart reads adjacent entries.
func keyOf(n int, minute int64) []byte {
	key := binary.BigEndian.AppendUint32(make([]byte, 0, keySize), uint32(n))
	return binary.BigEndian.AppendUint32(key, uint32(minute))
}

func minuteOf(t time.Time) int64      { return t.Unix() / 60 }
func stepOf(r price.Resolution) int64 { return int64(r.Step() / time.Minute) }

func openKeyed(path string, count int) (*keyed, error) {
	db, err := bolt.Open(path, 0o600, &bolt.Options{Timeout: time.Second, FreelistType: bolt.FreelistMapType})
	if err != nil {
		return nil, err
	}
	k := &keyed{path: path, db: db, count: count}
	for r := range k.present {
		k.present[r] = make([]candle, count)
	}
	return k, db.Update(func(tx *bolt.Tx) error {
		for _, of := range kept {
			if _, err := tx.CreateBucketIfNotExists([]byte(of.name)); err != nil {
				return err
			}
		}
		return nil
	})
}

// fill writes the whole history up to now, one token after another.
func (k *keyed) fill(ctx context.Context, now time.Time) error {
	k.db.NoSync = true
	defer func() { k.db.NoSync = false }()
	const together = 50 // tokens per transaction
	for r, of := range kept {
		step := stepOf(price.Resolution(r))
		from := minuteOf(now.Add(-of.span))/step*step + step
		for first := 0; first < k.count; first += together {
			err := k.db.Update(func(tx *bolt.Tx) error {
				b := tx.Bucket([]byte(of.name))
				b.FillPercent = 0.9 // in order
				for n := first; n < min(first+together, k.count); n++ {
					for at := from; at <= minuteOf(now); at += step {
						v := packedAt(n, at)
						if err := b.Put(keyOf(n, at), encoded(price.Resolution(r), candle{v, v, v, v})); err != nil {
							return err
						}
					}
				}
				return ctx.Err()
			})
			if err != nil {
				return err
			}
		}
	}
	return k.db.Sync()
}

func encoded(r price.Resolution, c candle) []byte {
	if r == price.Minutes {
		return append(binary.LittleEndian.AppendUint64(make([]byte, 0, entrySize), uint64(c.close)), byte(price.DefiLlama), 0)
	}
	b := make([]byte, 0, 4*8)
	for _, v := range []price.Packed{c.open, c.high, c.low, c.close} {
		b = binary.LittleEndian.AppendUint64(b, uint64(v))
	}
	return b
}

// decoded returns the candle of an entry; a minute has a single price.
func decoded(b []byte) candle {
	v := func(i int) price.Packed { return price.Packed(binary.LittleEndian.Uint64(b[8*i:])) }
	if len(b) == entrySize {
		return candle{v(0), v(0), v(0), v(0)}
	}
	return candle{v(0), v(1), v(2), v(3)}
}

func (c candle) join(other candle) candle {
	if c.open == 0 {
		return other
	}
	return candle{c.open, max(c.high, other.high), min(c.low, other.low), other.close}
}

// minute commits a fetch, and at the end of a quarter or hour its candles. Once an hour
// it deletes what is too old.
func (k *keyed) minute(prices []price.Packed, at int64) error {
	return k.db.Update(func(tx *bolt.Tx) error {
		for r, of := range kept {
			b, step := tx.Bucket([]byte(of.name)), stepOf(price.Resolution(r))
			for n, v := range prices {
				c := k.present[r][n].join(candle{v, v, v, v})
				if (at+1)%step != 0 {
					k.present[r][n] = c
					continue
				}
				k.present[r][n] = candle{}
				if err := b.Put(keyOf(n, at+1-step), encoded(price.Resolution(r), c)); err != nil {
					return err
				}
			}
			if (at+1)%stepOf(price.Hours) == 0 {
				if err := k.expire(b, at-int64(of.span/time.Minute)); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// expire deletes every token's entries before a time.
func (k *keyed) expire(b *bolt.Bucket, before int64) error {
	c := b.Cursor()
	for n := range k.count {
		for key, _ := c.Seek(keyOf(n, 0)); isOf(key, n) && timeIn(key) < before; key, _ = c.Seek(keyOf(n, 0)) {
			if err := c.Delete(); err != nil {
				return err
			}
		}
	}
	return nil
}

func isOf(key []byte, n int) bool {
	return len(key) == keySize && binary.BigEndian.Uint32(key) == uint32(n)
}

func timeIn(key []byte) int64 { return int64(binary.BigEndian.Uint32(key[4:])) }

// chart returns a chart's candles, without the current one.
func (k *keyed) chart(n int, p price.Period, now time.Time) (candles []price.Candle, err error) {
	err = k.db.View(func(tx *bolt.Tx) error {
		c, from, step := tx.Bucket([]byte(kept[p.Raw].name)).Cursor(), beginOf(p, now), int64(p.Step/time.Minute)
		var slots []int64
		var joined []candle
		for key, entry := c.Seek(keyOf(n, from)); isOf(key, n); key, entry = c.Next() {
			slot := timeIn(key) / step
			if slot == minuteOf(now)/step {
				break
			}
			if len(slots) == 0 || slots[len(slots)-1] != slot {
				slots, joined = append(slots, slot), append(joined, candle{})
			}
			joined[len(joined)-1] = joined[len(joined)-1].join(decoded(entry))
		}
		for i, j := range joined {
			made := price.Candle{At: time.Unix(slots[i]*step*60, 0)}
			for _, of := range []struct {
				to   *price.Value
				from price.Packed
			}{{&made.Open, j.open}, {&made.High, j.high}, {&made.Low, j.low}, {&made.Close, j.close}} {
				var ok bool
				if *of.to, ok = of.from.Unpack(); !ok {
					return fmt.Errorf("no price: %x", of.from)
				}
			}
			candles = append(candles, made)
		}
		return nil
	})
	return candles, err
}

// beginOf returns the minute in which a chart's first candle begins.
func beginOf(p price.Period, now time.Time) int64 {
	span, step := int64(p.Span/time.Minute), int64(p.Step/time.Minute)
	return minuteOf(now)/step*step - span + step
}

func (k *keyed) size() (float64, error) { return sizeOfFiles(k.path) }

func (k *keyed) close() error { return k.db.Close() }

// sizeOfFiles returns the sum of the files' sizes; missing files count as 0.
func sizeOfFiles(paths ...string) (size float64, err error) {
	for _, path := range paths {
		switch info, err := os.Stat(path); {
		case err == nil:
			size += float64(info.Size())
		case !os.IsNotExist(err):
			return 0, err
		}
	}
	return size, nil
}
