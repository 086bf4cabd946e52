package main

import (
	"context"
	"errors"
	"sync"
	"time"

	"swapkeep/priceapi/poll"
	"swapkeep/priceapi/postgres"
	"swapkeep/priceapi/price"
	"swapkeep/priceapi/pricetable"
	"swapkeep/priceapi/shared"

	"github.com/rs/zerolog"
)

// electionRetry is the pause after a failed election.
const electionRetry = time.Second

// lead polls whenever this process is elected leader, until ctx ends.
func (s *service) lead(ctx context.Context) {
	for ctx.Err() == nil {
		term, err := s.store.Lead(ctx)
		if ctx.Err() == nil {
			s.failures.record("election", err)
		}
		if err != nil {
			select {
			case <-ctx.Done():
			case <-time.After(electionRetry):
			}
			continue
		}
		s.log.Info().Int64("term", term.Number).Msg("polling")
		s.poll(term)
		why := context.Cause(term.Context())
		term.Resign()
		if ctx.Err() == nil {
			s.log.Warn().Err(why).Int64("term", term.Number).Msg("no longer polling")
		}
	}
}

// poll polls until the term ends.
func (s *service) poll(term *postgres.Term) {
	polled := pricetable.NewFeed()
	p := poll.New(poll.Options{
		Tokens:  func() []poll.Watched { return s.watched },
		Leading: s.sources.Leading, Further: s.sources.Further, Archives: s.sources.Archives, MetadataSources: s.sources.MetadataSources,
		History: term, Feed: polled, Log: s.notice,
	})
	var beside sync.WaitGroup
	defer beside.Wait()
	beside.Go(func() { s.publish(term, polled) })
	p.Resume(term.Context())
	p.Run(term.Context())
}

// publishRetry is the pause before a price table that could not be shared is shared again.
const publishRetry = 2 * time.Second

// publish numbers the polled price tables and publishes them until the term ends.
func (s *service) publish(term *postgres.Term, polled *pricetable.Feed) {
	ctx := term.Context()
	for n := uint64(1); ; n++ {
		b, next := polled.Next()
		var again <-chan time.Time
		if b.Seq > 0 { // skip the feed's empty initial table
			err := s.publishOne(ctx, term, shared.Numbered(b, term.Number, n))
			if err != nil {
				again = time.After(publishRetry)
			}
			if ctx.Err() == nil {
				s.failures.record("price table", err)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-next:
		case <-again:
		}
	}
}

// publishOne writes a price table to the database first, which refuses it from a leader
// whose term has ended. While Redis is down the others read it from there.
func (s *service) publishOne(ctx context.Context, term *postgres.Term, b *pricetable.Table) error {
	data, err := shared.Encode(b)
	if err == nil {
		err = term.PutTable(ctx, b.Seq, data)
	}
	if err != nil {
		return err
	}
	s.follower.Accept(b)
	if err := s.redis.PutTable(ctx, b.Seq, data); ctx.Err() == nil {
		s.failures.record("redis", err)
	}
	return nil
}

// notice logs the poller's notices: for sources when their state changes, for single
// prices at debug level.
func (s *service) notice(n poll.Notice) {
	if n.ID != (price.ID{}) {
		s.log.Debug().Err(n.Err).Str("from", n.From).Uint64("chain", n.ID.Chain).Stringer("token", n.ID.Address).Msg("price rejected")
		return
	}
	s.failures.record("source "+n.From, n.Err)
}

// failureLog logs when something begins to fail and when it works again, not each failure:
// what runs every second would fill the log.
type failureLog struct {
	log zerolog.Logger

	mu   sync.Mutex
	last map[string]loggedFailure
}

type loggedFailure struct {
	said string
	at   time.Time
}

// repeatEvery is the interval at which a continuing failure is logged again.
const repeatEvery = 10 * time.Minute

// record records the outcome of a repeated operation.
func (h *failureLog) record(what string, err error) {
	if errors.Is(err, shared.ErrDown) || errors.Is(err, context.Canceled) {
		return // not news
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	was, failing := h.last[what]
	switch {
	case err == nil && failing:
		delete(h.last, what)
		h.log.Info().Str("what", what).Msg("works again")
	case err != nil && (!failing || was.said != err.Error() && time.Since(was.at) > time.Minute || time.Since(was.at) > repeatEvery):
		if h.last == nil {
			h.last = map[string]loggedFailure{}
		}
		h.last[what] = loggedFailure{err.Error(), time.Now()}
		h.log.Warn().Err(err).Str("what", what).Msg("failing")
	}
}
