package postgres

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"swapkeep/priceapi/price"

	"github.com/ethereum/go-ethereum/common"
	"github.com/jackc/pgx/v5"
)

// places are the tokens' indices in the rows, in order of arrival. A place is never given
// to another token.
type places map[price.ID]int32

func placesOf(ctx context.Context, q querier) (places, error) {
	rows, err := q.Query(ctx, "SELECT place, chain, address FROM tokens")
	if err != nil {
		return nil, err
	}
	all := places{}
	var place int32
	var chain int64
	var address []byte
	_, err = pgx.ForEachRow(rows, []any{&place, &chain, &address}, func() error {
		if place >= 0 && place < maxTokens {
			all[price.ID{Chain: uint64(chain), Address: common.BytesToAddress(address)}] = place
		}
		return nil
	})
	return all, err
}

// all returns the assigned places.
func (p places) all() []int32 { return slices.Collect(maps.Values(p)) }

// byPlace returns the tokens by place; chain 0 = no token.
func (p places) byPlace() []price.ID {
	size := int32(0)
	for _, place := range p {
		size = max(size, place+1)
	}
	ids := make([]price.ID, size)
	for id, place := range p {
		ids[place] = id
	}
	return ids
}

// storable reports whether an ID can be stored.
func storable(id price.ID) bool { return id.Chain != 0 && id.Chain <= math.MaxInt64 }

// addTokens assigns places to new tokens. The caller must have locked head. Errors: ErrTokens,
// the server's.
func (p places) addTokens(ctx context.Context, tx pgx.Tx, ids []price.ID) error {
	ids = slices.DeleteFunc(ids, func(id price.ID) bool { _, has := p[id]; return has })
	if len(ids) == 0 {
		return nil
	}
	slices.SortFunc(ids, func(a, b price.ID) int {
		return cmp.Or(cmp.Compare(a.Chain, b.Chain), bytes.Compare(a.Address[:], b.Address[:]))
	})
	ids = slices.Compact(ids)
	next := len(p.byPlace())
	if next+len(ids) > maxTokens {
		return fmt.Errorf("%w, and %d more came", ErrTokens, len(ids))
	}
	var numbers []int32
	var chains []int64
	var addresses [][]byte
	for i, id := range ids {
		p[id] = int32(next + i)
		numbers, chains, addresses = append(numbers, p[id]), append(chains, int64(id.Chain)), append(addresses, id.Address.Bytes())
	}
	_, err := tx.Exec(ctx, "INSERT INTO tokens (place, chain, address) SELECT * FROM unnest($1::integer[], $2::bigint[], $3::bytea[])", numbers, chains, addresses)
	return err
}
