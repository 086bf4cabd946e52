package postgres

import (
	"context"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"swapkeep/priceapi/price"

	"github.com/ethereum/go-ethereum/common"
	"github.com/jackc/pgx/v5"
)

// Facts implements [poll.History].
func (s *Store) Facts(ctx context.Context) (map[price.ID]price.Facts, error) {
	all := map[price.ID]price.Facts{}
	err := s.read(ctx, func(ctx context.Context, tx pgx.Tx) error {
		rows, err := tx.Query(ctx, "SELECT chain, address, market_cap::text, diluted, cap_source, cap_at, holders::text, holders_at FROM facts")
		if err != nil {
			return err
		}
		var chain int64
		var address []byte
		var worth, holders string
		var source int16
		var capAt, holdersAt *time.Time
		var diluted bool
		_, err = pgx.ForEachRow(rows, []any{&chain, &address, &worth, &diluted, &source, &capAt, &holders, &holdersAt}, func() error {
			if id, f, ok := factsOf(chain, address, worth, source, holders); ok {
				f.Diluted, f.CapAt, f.HoldersAt = diluted, utc(capAt), utc(holdersAt)
				all[id] = f
			}
			return nil
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// factsOf decodes a row of facts; false if it is damaged.
func factsOf(chain int64, address []byte, worth string, source int16, holders string) (id price.ID, f price.Facts, ok bool) {
	if chain < 1 || len(address) != common.AddressLength || source < 0 || source > math.MaxUint8 {
		return id, f, false
	}
	id, f.CapSource = price.ID{Chain: uint64(chain), Address: common.BytesToAddress(address)}, price.Source(source)
	var bad [2]error
	f.MarketCap, bad[0] = price.Parse(worth)
	f.Holders, bad[1] = strconv.ParseUint(holders, 10, 64)
	return id, f, bad[0] == nil && bad[1] == nil
}

func utc(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.UTC()
}

// stamp truncates a time to milliseconds; nil = unknown.
func stamp(t time.Time) *time.Time {
	if t.IsZero() || t.UnixMilli() <= 0 {
		return nil
	}
	t = t.UTC().Truncate(time.Millisecond)
	return &t
}

// SetFacts implements [poll.History], in one transaction. Errors are those of Append,
// without ErrTime.
func (t *Term) SetFacts(ctx context.Context, facts map[price.ID]price.Facts) error {
	ids := slices.DeleteFunc(slices.Collect(maps.Keys(facts)), func(id price.ID) bool { return !storable(id) })
	if len(ids) == 0 {
		return nil
	}
	return t.update(ctx, func(ctx context.Context, e *edit) error {
		var b pgx.Batch
		for _, id := range ids {
			f := facts[id]
			b.Queue("INSERT INTO facts VALUES ($1, $2, $3::text::numeric, $4, $5, $6, $7::text::numeric, $8) ON CONFLICT (chain, address) DO UPDATE SET"+
				" market_cap = excluded.market_cap, diluted = excluded.diluted, cap_source = excluded.cap_source, cap_at = excluded.cap_at,"+
				" holders = excluded.holders, holders_at = excluded.holders_at",
				int64(id.Chain), id.Address.Bytes(), f.MarketCap.String(), f.Diluted, int16(f.CapSource), stamp(f.CapAt), strconv.FormatUint(f.Holders, 10), stamp(f.HoldersAt))
		}
		if err := e.tx.SendBatch(ctx, &b).Close(); err != nil {
			return err
		}
		var n int
		if err := e.tx.QueryRow(ctx, "SELECT count(*) FROM facts").Scan(&n); err != nil || n <= maxTokens {
			return err
		}
		return ErrTokens
	})
}
