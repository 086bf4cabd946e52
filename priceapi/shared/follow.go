package shared

import (
	"context"
	"errors"
	"sync"
	"time"

	"swapkeep/priceapi/pricetable"
	"swapkeep/priceapi/price"
)

// Bounds of following.
const (
	lookEvery = 5 * time.Second
	late      = 90 * time.Second // a board after which there should be another
)

// A Database has the newest board too (see package postgres).
type Database interface {
	Board(ctx context.Context, known uint64) (seq uint64, data []byte, err error)
}

// A Follower keeps a feed at the newest board that any process of the service has
// made: from Redis as soon as it is announced, and from the database where Redis does
// not have it. Without both the last one stays, and each of its prices is flagged when
// it is too old to be called current.
type Follower struct {
	Feed     *pricetable.Feed
	Redis    *Redis
	Database Database
	Now      func() time.Time
	// Log hears of each look why no board could be read, or nil; nil = nobody does.
	Log func(error)

	mu     sync.Mutex
	newest *pricetable.Board // as it was shared; nil = none yet
	past   uint64       // the minutes since its fetch that the feed's flags are of
	stale  int          // how many they are
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
	f.flag() // first: a process that was stopped may wait long for an answer now
	b, err := f.Redis.Board(ctx, f.seq())
	if b == nil && (err != nil || f.age() > late) {
		b, err = f.stored(ctx, err)
	}
	if f.Log != nil && ctx.Err() == nil {
		f.Log(err)
	}
	if b != nil {
		f.Take(b)
	}
	f.flag()
}

// stored is a newer board out of the database. Why Redis failed counts only where the
// database does too.
func (f *Follower) stored(ctx context.Context, why error) (*pricetable.Board, error) {
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
func (f *Follower) Take(b *pricetable.Board) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.newest != nil && b.Seq <= f.newest.Seq {
		return
	}
	f.newest, f.past, f.stale = b, 0, 0
	for _, r := range b.Rows {
		if r.Stale {
			f.stale++
		}
	}
	f.Feed.Publish(b)
}

// flag republishes the last board when more of its prices are too old by now. Flags
// are of whole minutes after its fetch, and those are in its number: every process
// makes the same board of it, and a number still names one content.
func (f *Follower) flag() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.newest == nil || f.newest.Fetched.IsZero() {
		return
	}
	past := minutesPast(f.Now().Sub(f.newest.Fetched))
	if past == f.past {
		return
	}
	f.past = past
	at := f.newest.Fetched.Add(time.Duration(past) * time.Minute)
	rows, stale := make([]pricetable.Row, len(f.newest.Rows)), 0
	for i, r := range f.newest.Rows {
		if r.Stale = r.StaleAt(at) || r.Now.Known() && past >= allStale; r.Stale {
			r.Ago = price.Sample{}
			stale++
		}
		rows[i] = r
	}
	if stale != f.stale {
		f.stale = stale
		f.Feed.Publish(pricetable.New(f.newest.Seq|past, f.newest.Fetched, rows))
	}
}

// allStale are the minutes after a fetch when nothing of it is current.
const allStale = uint64(pricetable.StaleAfter/time.Minute) + 1

// minutesPast is at most allStale, as it is for a clock that was set back.
func minutesPast(age time.Duration) uint64 {
	if age < -pricetable.Ahead {
		return allStale
	}
	return min(allStale, uint64(max(0, age)/time.Minute))
}

// A number has the term in its upper half, then the place of the board in it, and the
// minutes that its flags are of.
const (
	placeBits = 24
	pastBits  = 8
)

// Numbered is a board with a number that no other process gives: the nth of a term.
func Numbered(b *pricetable.Board, term int64, n uint64) *pricetable.Board {
	numbered := *b
	numbered.Seq = uint64(term)<<(placeBits+pastBits) | n&(1<<placeBits-1)<<pastBits
	return &numbered
}
