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

// A keyed history is in bbolt as one would write it at first: a key for each token and
// time. It is a peer of package series, keeps what that keeps, and is on disk when a
// commit returns, too. The candles of the present are held in memory.
type keyed struct {
	path    string
	db      *bolt.DB
	count   int
	present [price.Hours + 1][]candle // of each token
}

// A candle has packed prices. Those of one token compare as numbers: bench makes them
// of one size.
type candle struct{ open, high, low, close price.Packed }

const (
	keySize   = 8
	entrySize = 10 // a packed price, its source and its age, as package series has them
)

// kept is how long each resolution stays, and what it is called here.
var kept = [...]struct {
	name string
	span time.Duration
}{price.Minutes: {"minutes", 25 * time.Hour}, price.Quarters: {"quarters", 8 * 24 * time.Hour}, price.Hours: {"hours", 32 * 24 * time.Hour}}

// keyOf sorts by token, then time: a chart reads what lies together.
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

// fill writes all that is kept by then, a token at a time.
func (k *keyed) fill(ctx context.Context, now time.Time) error {
	k.db.NoSync = true
	defer func() { k.db.NoSync = false }()
	const together = 50 // tokens of a transaction
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

// decoded is the candle of an entry; a minute's has one price.
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

// minute commits a fetch; with the last of a quarter or an hour its candles; once an hour
// what is too old goes.
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

// chart makes a chart's candles, but for the one that now is in.
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

// beginOf is the minute in which the first candle of a chart begins.
func beginOf(p price.Period, now time.Time) int64 {
	span, step := int64(p.Span/time.Minute), int64(p.Step/time.Minute)
	return minuteOf(now)/step*step - span + step
}

func (k *keyed) size() (float64, error) { return sizeOfFiles(k.path) }

func (k *keyed) close() error { return k.db.Close() }

// sizeOfFiles is of all of them; one that is not there has none.
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
