package shared

import (
	"context"
	"errors"
	"fmt"
	"time"

	"swapkeep/priceapi/pricetable"

	"github.com/redis/go-redis/v9"
)

// tableTTL is how long a table is kept without being renewed.
const tableTTL = time.Hour

func (r *Redis) tableKey() string { return r.prefix + "board" }

// numbered formats a table's number so that strings compare like the numbers.
func numbered(seq uint64) string { return fmt.Sprintf("%016x", seq) }

// putTable stores and announces a table unless there is a newer one.
var putTable = redis.NewScript(`
local there = redis.call('HGET', KEYS[1], 'seq')
if there and #there == 16 and there > ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'seq', ARGV[1], 'data', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
redis.call('PUBLISH', KEYS[1], ARGV[1])
return 1
`)

// ErrNewerTable means that there is a newer table already.
var ErrNewerTable = errors.New("redis has a newer price table already")

// PutTable stores and announces an encoded table. It may be repeated. Errors:
// ErrNewerTable; Redis' own.
func (r *Redis) PutTable(ctx context.Context, seq uint64, data []byte) error {
	var kept int
	err := r.do(ctx, tableTimeout, func(ctx context.Context) (err error) {
		kept, err = putTable.Run(ctx, r.client, []string{r.tableKey()}, numbered(seq), sealed(r.seals.table, "board", data), tableTTL.Milliseconds()).Int()
		return err
	})
	if err == nil && kept == 0 {
		return ErrNewerTable
	}
	return err
}

// Table returns the newest table if it is newer than the known number, otherwise nil.
// Errors: ErrTable for a table that is damaged or not the service's; Redis' own.
func (r *Redis) Table(ctx context.Context, known uint64) (*pricetable.Table, error) {
	var seq, value string
	err := r.do(ctx, tableTimeout, func(ctx context.Context) (err error) {
		if seq, err = r.client.HGet(ctx, r.tableKey(), "seq").Result(); err != nil || seq <= numbered(known) {
			return err
		}
		if n, err := r.client.HStrLen(ctx, r.tableKey(), "data").Result(); err != nil || n > sealSize+MaxTable {
			return errors.Join(err, ErrTable)
		}
		value, err = r.client.HGet(ctx, r.tableKey(), "data").Result()
		return err
	})
	switch {
	case errors.Is(err, redis.Nil):
		return nil, nil
	case err != nil:
		return nil, err
	case seq <= numbered(known):
		return nil, nil
	}
	data, ok := unsealed(r.seals.table, "board", []byte(value))
	if !ok {
		return nil, ErrTable
	}
	b, err := Decode(data)
	if err == nil && b.Seq <= known {
		return nil, ErrTable // its number does not match
	}
	return b, err
}

// Announced signals announced tables until ctx ends. Signals may be lost while Redis is
// down, and several may be merged into one.
func (r *Redis) Announced(ctx context.Context) <-chan struct{} {
	signal := make(chan struct{}, 1)
	go func() {
		listening := r.client.Subscribe(ctx, r.tableKey())
		defer func() { _ = listening.Close() }()
		messages := listening.Channel()
		for {
			select {
			case <-ctx.Done():
				return
			case _, ok := <-messages:
				if !ok {
					return
				}
			}
			select {
			case signal <- struct{}{}:
			default:
			}
		}
	}()
	return signal
}
