package shared

import (
	"context"
	"errors"
	"sync"
	"time"

	"swapkeep/priceapi/board"
	"swapkeep/priceapi/price"
)

// Bounds of following.
const (
	lookEvery = 5 * time.Second
	late      = 90 * time.Second // a board after which there should be another
	// StaleAfter is the age of the last fetch after which no price is current.
	StaleAfter = 15 * time.Minute
)

// A Database has the newest board too (see package postgres).
type Database interface {
	Board(ctx context.Context, known uint64) (seq uint64, data []byte, err error)
}

// A Follower keeps a feed at the newest board that any process of the service has
// made: from Redis as soon as it is announced, and from the database where Redis does
// not have it. Without both the last one stays, and its prices are flagged when they
// are too old to be called current.
type Follower struct {
	Feed     *board.Feed
	Redis    *Redis
	Database Database
	Now      func() time.Time
	// Log hears why a board could not be read; nil = nobody.
	Log func(error)

	mu     sync.Mutex
	newest *board.Board // as it was shared; nil = none yet
	stale  bool         // the feed has it with every price flagged
}

// Run follows until ctx ends.
func (f *Follower) Run(ctx context.Context) {
	announced := f.Redis.Announced(ctx)
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for ctx.Err() == nil {
		f.Look(ctx)
		select {
		case <-ctx.Done():
		case <-announced:
		case <-tick.C:
		}
	}
}

// Look asks once for a newer board.
func (f *Follower) Look(ctx context.Context) {
	b, err := f.Redis.Board(ctx, f.seq())
	if b == nil && (err != nil || f.age() > late) {
		b, err = f.stored(ctx, err)
	}
	if err != nil && f.Log != nil && ctx.Err() == nil {
		f.Log(err)
	}
	if b != nil {
		f.Take(b)
	}
	f.flag()
}

// stored is a newer board out of the database. Why Redis failed counts only where the
// database does too.
func (f *Follower) stored(ctx context.Context, why error) (*board.Board, error) {
	seq, data, err := f.Database.Board(ctx, f.seq())
	if err != nil {
		return nil, errors.Join(why, err)
	}
	if data == nil || seq <= f.seq() {
		return nil, why
	}
	return Decode(data)
}

func (f *Follower) seq() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.newest == nil {
		return 0
	}
	return f.newest.Seq
}

// age is that of the last fetch.
func (f *Follower) age() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.newest == nil {
		return late + 1
	}
	return f.Now().Sub(f.newest.Fetched)
}

// Take publishes a board if it is newer than the last one.
func (f *Follower) Take(b *board.Board) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.newest != nil && b.Seq <= f.newest.Seq {
		return
	}
	f.newest, f.stale = b, false
	f.Feed.Publish(b)
}

// staleSeq marks the number of a board that has every price flagged. Every process
// makes the same of it, so that the number still names one content.
const staleSeq = 1 << 31

// flag calls nothing current any more when the last fetch is too long ago.
func (f *Follower) flag() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.newest == nil || f.stale || f.newest.Fetched.IsZero() || f.Now().Sub(f.newest.Fetched) <= StaleAfter {
		return
	}
	rows := make([]board.Row, len(f.newest.Rows))
	for i, r := range f.newest.Rows {
		r.Stale, r.Ago = r.Now.Known(), price.Sample{}
		rows[i] = r
	}
	f.stale = true
	f.Feed.Publish(board.New(f.newest.Seq|staleSeq, f.newest.Fetched, rows))
}

// Numbered is a board with a number that no other process gives: the nth of a term.
func Numbered(b *board.Board, term int64, n uint64) *board.Board {
	numbered := *b
	numbered.Seq = uint64(term)<<32 | n&(staleSeq-1)
	return &numbered
}
