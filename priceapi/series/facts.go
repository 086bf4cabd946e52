package series

import (
	"context"
	"encoding/binary"
	"math/big"
	"time"

	"swapkeep/priceapi/price"

	bolt "go.etcd.io/bbolt"
)

// The facts of a token are one record: kind, flags, source, market cap (16 bytes, big
// endian, in units of 1e-18 dollars), and three numbers: the time of the market cap, the
// number of holders, and the time of that number. Times are in milliseconds since 1970, 0 =
// unknown.
const (
	factsKind   = 'F'
	factsSize   = 1 + 1 + 1 + 16 + 3*8 + sumSize
	flagDiluted = 1
)

var unit = big.NewInt(1e18)

func encodeFacts(key []byte, f price.Facts) []byte {
	b := make([]byte, 19, factsSize)
	b[0], b[2] = factsKind, byte(f.CapSource)
	if f.Diluted {
		b[1] = flagDiluted
	}
	f.MarketCap.Int().FillBytes(b[3:19])
	for _, n := range []uint64{millis(f.CapAt), f.Holders, millis(f.HoldersAt)} {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	return sealed(key, b)
}

func parseFacts(key, value []byte) (id price.ID, f price.Facts, ok bool) {
	b, ok := unsealed(key, value, factsKind, factsSize)
	if !ok {
		return id, f, false
	}
	id, ok = parseID(key)
	marketCap, err := price.FromRatio(new(big.Int).SetBytes(b[3:19]), unit)
	n := func(i int) uint64 { return binary.LittleEndian.Uint64(b[19+8*i:]) }
	return id, price.Facts{
		MarketCap: marketCap, Diluted: b[1]&flagDiluted != 0, CapSource: price.Source(b[2]),
		CapAt: fromMillis(n(0)), Holders: n(1), HoldersAt: fromMillis(n(2)),
	}, ok && err == nil
}

func millis(t time.Time) uint64 {
	if t.IsZero() || t.UnixMilli() < 0 {
		return 0
	}
	return uint64(t.UnixMilli())
}

func fromMillis(n uint64) time.Time {
	if n == 0 || n > 1<<50 {
		return time.Time{}
	}
	return time.UnixMilli(int64(n)).UTC()
}

// Facts implements [poll.History].
func (s *Store) Facts(ctx context.Context) (all map[price.ID]price.Facts, err error) {
	err = s.view(ctx, func(tx *bolt.Tx) error {
		all = map[price.ID]price.Facts{}
		return tx.Bucket(factsBucket).ForEach(func(k, v []byte) error {
			if id, f, ok := parseFacts(k, v); ok {
				all[id] = f
			}
			return nil
		})
	})
	return all, err
}

// SetFacts implements [poll.History], in one commit. Errors are those of Append, without
// ErrTime.
func (s *Store) SetFacts(ctx context.Context, facts map[price.ID]price.Facts) error {
	return s.update(ctx, func(e *edit) error {
		b := e.tx.Bucket(factsBucket)
		for id, f := range facts {
			e.changed = true
			key := idKey(id)
			if err := b.Put(key, encodeFacts(key, f)); err != nil {
				return err
			}
		}
		c, n := b.Cursor(), 0
		for k, _ := c.First(); k != nil; k, _ = c.Next() {
			n++
		}
		if n > maxTokens {
			return ErrTokens
		}
		return nil
	})
}
