package shared

import (
	"context"
	"errors"
	"fmt"
	"time"

	"swapkeep/priceapi/pricetable"

	"github.com/redis/go-redis/v9"
)

// boardTTL is how long a board is kept without being renewed.
const boardTTL = time.Hour

func (r *Redis) boardKey() string { return r.prefix + "board" }

// numbered formats a board's number so that strings compare like the numbers.
func numbered(seq uint64) string { return fmt.Sprintf("%016x", seq) }

// putBoard stores and announces a board unless there is a newer one.
var putBoard = redis.NewScript(`
local there = redis.call('HGET', KEYS[1], 'seq')
if there and #there == 16 and there > ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'seq', ARGV[1], 'data', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
redis.call('PUBLISH', KEYS[1], ARGV[1])
return 1
`)

// ErrNewerBoard means that there is a newer board already.
var ErrNewerBoard = errors.New("redis has a newer board already")

// PutBoard stores and announces an encoded board. It may be repeated. Errors:
// ErrNewerBoard; Redis' own.
func (r *Redis) PutBoard(ctx context.Context, seq uint64, data []byte) error {
	var kept int
	err := r.do(ctx, boardTimeout, func(ctx context.Context) (err error) {
		kept, err = putBoard.Run(ctx, r.client, []string{r.boardKey()}, numbered(seq), sealed(r.seals.board, "board", data), boardTTL.Milliseconds()).Int()
		return err
	})
	if err == nil && kept == 0 {
		return ErrNewerBoard
	}
	return err
}

// Board returns the newest board if it is newer than the known number, otherwise nil.
// Errors: ErrBoard for a board that is damaged or not the service's; Redis' own.
func (r *Redis) Board(ctx context.Context, known uint64) (*pricetable.Board, error) {
	var seq, value string
	err := r.do(ctx, boardTimeout, func(ctx context.Context) (err error) {
		if seq, err = r.client.HGet(ctx, r.boardKey(), "seq").Result(); err != nil || seq <= numbered(known) {
			return err
		}
		if n, err := r.client.HStrLen(ctx, r.boardKey(), "data").Result(); err != nil || n > sealSize+MaxBoard {
			return errors.Join(err, ErrBoard)
		}
		value, err = r.client.HGet(ctx, r.boardKey(), "data").Result()
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
	data, ok := unsealed(r.seals.board, "board", []byte(value))
	if !ok {
		return nil, ErrBoard
	}
	b, err := Decode(data)
	if err == nil && b.Seq <= known {
		return nil, ErrBoard // its number does not match
	}
	return b, err
}

// Announced signals announced boards until ctx ends. Signals may be lost while Redis is
// down, and several may be merged into one.
func (r *Redis) Announced(ctx context.Context) <-chan struct{} {
	signal := make(chan struct{}, 1)
	go func() {
		listening := r.client.Subscribe(ctx, r.boardKey())
		defer func() { _ = listening.Close() }()
		heard := listening.Channel()
		for {
			select {
			case <-ctx.Done():
				return
			case _, ok := <-heard:
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
