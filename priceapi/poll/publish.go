package poll

import (
	"context"
	"slices"
	"time"

	"swapkeep/internal/clock"
	"swapkeep/priceapi/price"
	"swapkeep/priceapi/pricetable"
)

// publish makes a price table of the accepted prices and those of a day ago.
func (p *Poller) publish(ctx context.Context) {
	now := p.o.Now()
	ago, err := p.o.History.Near(ctx, now.Add(-day), agoTolerance)
	if err != nil {
		p.o.Log(Notice{From: "history", Err: err})
	}
	watched := p.o.Tokens()
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil {
		p.health.History = err
	}
	rows := make([]pricetable.Row, 0, len(watched))
	for _, w := range watched {
		id := price.IDOf(w.Token)
		b := p.lastAccepted[id]
		r := pricetable.Row{
			Token: w.Token, Public: w.Public, Now: b.sample, AcceptedAt: b.acceptedAt, Oracle: b.oracle, OracleAt: b.oracleAt, Market: b.market, MarketAt: b.marketAt, Facts: p.facts[id],
		}
		switch {
		case w.Ended:
			p.closeRow(&r)
		case b.sample.Known() && !within(b.acceptedAt, pricetable.StaleAfter, now):
			r.Stale = true
		default:
			r.DayAgo = ago[id]
		}
		rows = append(rows, r)
	}
	p.seq++
	p.o.Feed.Publish(pricetable.New(p.seq, p.taken, rows))
}

// closeRow makes r the row of a token on a chain that was shut down: stale whatever its age,
// and without an oracle's price. The caller holds the lock.
func (p *Poller) closeRow(r *pricetable.Row) {
	canonical, ok := price.CanonicalOf(r.ID())
	if now := p.lastAccepted[canonical.Of].sample; ok && !r.Now.Known() && now.Known() {
		r.Now = price.Sample{Value: now.Value, At: now.At, Source: price.Canonical}
	}
	r.Ended, r.Stale = true, r.Now.Known()
	r.AcceptedAt, r.Oracle, r.OracleAt = time.Time{}, price.Sample{}, time.Time{}
	r.Market, r.MarketAt = price.Sample{}, time.Time{}
}

// staleCheckEvery is how often prices are checked for their age: a fetch may take long, and
// prices are old when a machine wakes from sleep.
const staleCheckEvery = 15 * time.Second

// staleLoop publishes a new price table when prices become stale between fetches, until ctx ends.
func (p *Poller) staleLoop(ctx context.Context) {
	tick := clock.NewTicker(staleCheckEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			p.republishStale(ctx)
		}
	}
}

// republishStale publishes a new price table if a price shown as current has become stale.
func (p *Poller) republishStale(ctx context.Context) {
	now := p.o.Now()
	if slices.ContainsFunc(p.o.Feed.Now().Rows, func(r pricetable.Row) bool { return !r.Stale && r.StaleAt(now) }) {
		p.publish(ctx)
	}
}
