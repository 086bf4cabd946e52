package postgres

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"swapkeep/priceapi/price"

	"github.com/jackc/pgx/v5"
)

// A blockPos locates a block.
type blockPos struct{ at, block int32 }

// A blockSet is a set of blocks of one resolution, to be changed and saved. Blocks that were
// not loaded count as empty.
type blockSet struct {
	layout
	res    price.Resolution
	blocks map[blockPos][]byte
	dirty  map[blockPos]bool
	filled map[int32]placeSet // by time: places that were given an entry
}

func newBlockSet(r price.Resolution) *blockSet {
	return &blockSet{layouts[r], r, map[blockPos][]byte{}, map[blockPos]bool{}, map[int32]placeSet{}}
}

// blocksOf returns the numbers of the blocks that contain some places.
func (l layout) blocksOf(places []int32) []int32 {
	set := map[int32]bool{}
	for _, p := range places {
		set[p/l.per] = true
	}
	return slices.Sorted(maps.Keys(set))
}

// load reads the blocks of some times and places. It skips blocks of the wrong length.
func (s *blockSet) load(ctx context.Context, q querier, ats, places []int32) error {
	rows, err := q.Query(ctx, "SELECT block, at, data FROM "+s.table+" WHERE block = ANY($1) AND at = ANY($2)", s.blocksOf(places), ats)
	if err != nil {
		return err
	}
	var to blockPos
	var data []byte
	_, err = pgx.ForEachRow(rows, []any{&to.block, &to.at, &data}, func() error {
		if len(data) == int(s.per)*s.size {
			s.blocks[to] = data
		}
		return nil
	})
	return err
}

// get returns a token's entry at a time, nil if there is none.
func (s *blockSet) get(at, place int32) []byte {
	number, from := s.block(place)
	return s.entry(s.blocks[blockPos{at, number}], from)
}

// put returns the buffer for a token's entry.
func (s *blockSet) put(at, place int32) []byte {
	number, from := s.block(place)
	to := blockPos{at, number}
	if s.blocks[to] == nil {
		s.blocks[to] = s.blank()
	}
	s.dirty[to] = true
	s.filled[at] = s.filled[at].with(place)
	return s.blocks[to][from : from+s.size]
}

// times returns the times with changed entries, in order.
func (s *blockSet) times() []int32 { return slices.Sorted(maps.Keys(s.filled)) }

func (s *blockSet) save(ctx context.Context, tx pgx.Tx) error {
	if len(s.dirty) == 0 {
		return nil
	}
	var blocks, ats []int32
	var data [][]byte
	for d := range s.dirty {
		blocks, ats, data = append(blocks, d.block), append(ats, d.at), append(data, s.blocks[d])
	}
	_, err := tx.Exec(ctx, "INSERT INTO "+s.table+" (block, at, data) SELECT * FROM unnest($1::integer[], $2::integer[], $3::bytea[])"+
		" ON CONFLICT (block, at) DO UPDATE SET data = excluded.data", blocks, ats, data)
	if err != nil {
		return fmt.Errorf("%s: %w", s.table, err)
	}
	return s.mark(ctx, tx)
}

// mark updates the table times with the changed entries.
func (s *blockSet) mark(ctx context.Context, tx pgx.Tx) error {
	ats := s.times()
	rows, err := tx.Query(ctx, "SELECT at, has FROM times WHERE resolution = $1 AND at = ANY($2)", s.res, ats)
	if err != nil {
		return err
	}
	var at int32
	var has []byte
	if _, err = pgx.ForEachRow(rows, []any{&at, &has}, func() error {
		s.filled[at] = s.filled[at].union(has)
		return nil
	}); err != nil {
		return err
	}
	sets := make([][]byte, len(ats))
	for i, at := range ats {
		sets[i] = s.filled[at]
	}
	_, err = tx.Exec(ctx, "INSERT INTO times (resolution, at, has) SELECT $1, * FROM unnest($2::integer[], $3::bytea[])"+
		" ON CONFLICT (resolution, at) DO UPDATE SET has = excluded.has", s.res, ats, sets)
	return err
}

// A timesRow is a row of the table times.
type timesRow struct {
	at  int32
	has placeSet
}

// timesOf returns the times of a resolution in a range, with the end excluded.
func timesOf(ctx context.Context, q querier, r price.Resolution, from, to int32) (all []timesRow, err error) {
	rows, err := q.Query(ctx, "SELECT at, has FROM times WHERE resolution = $1 AND at >= $2 AND at < $3 ORDER BY at", r, from, to)
	if err != nil {
		return nil, err
	}
	var row timesRow
	_, err = pgx.ForEachRow(rows, []any{&row.at, (*[]byte)(&row.has)}, func() error {
		all = append(all, row)
		return nil
	})
	return all, err
}
