package shared

import (
	"context"
	"errors"
	"sync"
	"time"

	"swapkeep/priceapi/price"
	"swapkeep/priceapi/pricetable"
)

// Intervals of following.
const (
	pollEvery = 5 * time.Second
	overdue   = 90 * time.Second // age of the newest table after which there should be another
)

// A Database stores the newest table too (see package postgres).
type Database interface {
	Table(ctx context.Context, known uint64) (seq uint64, data []byte, err error)
}

// A Follower keeps a feed at the newest table of any process of the service: from Redis as
// soon as it is announced, or from the database if Redis does not have it. If both fail the
// last table stays, and its prices become stale when they are too old.
type Follower struct {
	Feed     *pricetable.Feed
	Redis    *Redis
	Database Database
	Now      func() time.Time
	// Log receives for each look why no table could be read, or nil; nil = not logged.
	Log func(error)

	mu             sync.Mutex
	newest         *pricetable.Table // as it was shared; nil = none yet
	flaggedMinutes uint64            // minutes after the fetch for which the feed's flags were computed
	stale          int               // number of stale prices in the feed
}

// Run follows until ctx ends.
func (f *Follower) Run(ctx context.Context) {
	announced := f.Redis.Announced(ctx)
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for ctx.Err() == nil {
		f.Poll(ctx)
		select {
		case <-ctx.Done():
		case <-announced:
		case <-tick.C:
		}
	}
}

// Poll looks once for a newer table.
func (f *Follower) Poll(ctx context.Context) {
	f.republishStale() // first, because a process that was suspended may wait long for an answer now
	b, err := f.Redis.Table(ctx, f.seq())
	if b == nil && (err != nil || f.age() > overdue) {
		b, err = f.fromDatabase(ctx, err)
	}
	if f.Log != nil && ctx.Err() == nil {
		f.Log(err)
	}
	if b != nil {
		f.Accept(b)
	}
	f.republishStale()
}

// fromDatabase returns a newer table from the database. Redis' error is reported only if the
// database has no newer table either.
func (f *Follower) fromDatabase(ctx context.Context, why error) (*pricetable.Table, error) {
	seq, data, err := f.Database.Table(ctx, f.seq())
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

// age is the time since the last fetch.
func (f *Follower) age() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.newest == nil {
		return overdue + 1
	}
	return f.Now().Sub(f.newest.Fetched)
}

// Accept publishes a table if it is newer than the last one.
func (f *Follower) Accept(b *pricetable.Table) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.newest != nil && b.Seq <= f.newest.Seq {
		return
	}
	f.newest, f.flaggedMinutes, f.stale = b, 0, 0
	for _, r := range b.Rows {
		if r.Stale {
			f.stale++
		}
	}
	f.Feed.Publish(b)
}

// republishStale republishes the last table if more of its prices are stale by now. Staleness is
// computed for whole minutes after the fetch, and the minutes are part of the table's
// number. So every process derives the same table, and a number still identifies one
// content.
func (f *Follower) republishStale() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.newest == nil || f.newest.Fetched.IsZero() {
		return
	}
	past := minutesPast(f.Now().Sub(f.newest.Fetched))
	if past == f.flaggedMinutes {
		return
	}
	f.flaggedMinutes = past
	at := f.newest.Fetched.Add(time.Duration(past) * time.Minute)
	rows, stale := make([]pricetable.Row, len(f.newest.Rows)), 0
	for i, r := range f.newest.Rows {
		if r.Stale = r.StaleAt(at) || r.Now.Known() && past >= allStale; r.Stale {
			r.DayAgo = price.Sample{}
			stale++
		}
		rows[i] = r
	}
	if stale != f.stale {
		f.stale = stale
		f.Feed.Publish(pricetable.New(f.newest.Seq|past, f.newest.Fetched, rows))
	}
}

// allStale is the number of minutes after a fetch when no price is current any more.
const allStale = uint64(pricetable.StaleAfter/time.Minute) + 1

// minutesPast returns whole minutes up to allStale, which is also the result if the clock
// was set back.
func minutesPast(age time.Duration) uint64 {
	if age < -pricetable.Ahead {
		return allStale
	}
	return min(allStale, uint64(max(0, age)/time.Minute))
}

// A table's number consists of the term in the upper half, the table's index in the term,
// and the minutes for which its flags were computed.
const (
	placeBits = 24
	pastBits  = 8
)

// Numbered returns b with a number that no other process assigns: the nth of a term.
func Numbered(b *pricetable.Table, term int64, n uint64) *pricetable.Table {
	numbered := *b
	numbered.Seq = uint64(term)<<(placeBits+pastBits) | n&(1<<placeBits-1)<<pastBits
	return &numbered
}
