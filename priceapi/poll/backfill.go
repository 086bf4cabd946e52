package poll

import (
	"context"
	"time"

	"swapkeep/internal/clock"
	"swapkeep/priceapi/price"
	"swapkeep/tokens"
)

// A backfill requests a period in a step that archives have and stores it at a resolution.
type backfill struct {
	period string
	step   time.Duration
	into   price.Resolution
}

// backfills, shortest first: changes over 24 hours matter most.
var backfills = []backfill{
	{"24h", 15 * time.Minute, price.Minutes},
	{"week", time.Hour, price.Quarters},
	{"month", 4 * time.Hour, price.Hours},
}

const (
	pastEvery  = 10 * time.Minute // how often gaps are searched for
	pastRetry  = 6 * time.Hour    // before asking again about a token that stays incomplete
	pastBatch  = 25               // tokens per request
	pastTime   = 2 * time.Minute  // per request
	pastEnough = 0.8              // share of the points of a complete chart at the backfill's step
	minGap     = 10 * time.Minute // without prices; shorter gaps do not show in charts
)

// backfillLoop backfills the history at the start and after gaps, until ctx ends: of all tokens but
// the slow ones at first; of those, of which there are many, only from the second search on, so that
// a start does not ask much.
func (p *Poller) backfillLoop(ctx context.Context) {
	tried := map[string]map[price.ID]time.Time{}
	for first := true; ctx.Err() == nil; first = false {
		gap := p.takeGap()
		for _, b := range backfills {
			if tried[b.period] == nil || gap >= max(minGap, b.step) {
				tried[b.period] = map[price.ID]time.Time{}
			}
			p.fill(ctx, b, gap >= max(minGap, b.step), false, tried[b.period])
		}
		for _, b := range backfills {
			if !first {
				p.fill(ctx, b, false, true, tried[b.period])
			}
		}
		select {
		case <-ctx.Done():
		case <-p.gapSeen:
		case <-clock.After(pastEvery):
		}
	}
}

// noteGap tells backfillLoop that there were no prices from then until now. p.mu must be held.
func (p *Poller) noteGap(then, now time.Time) {
	if gap := now.Sub(then); !then.IsZero() && gap >= minGap {
		p.gap = max(p.gap, gap)
		select {
		case p.gapSeen <- struct{}{}:
		default:
		}
	}
}

func (p *Poller) takeGap() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	gap := p.gap
	p.gap = 0
	return gap
}

// fill asks the archives for one period, of the slow or the other tokens that lack it, or of all of
// those.
func (p *Poller) fill(ctx context.Context, b backfill, all, slow bool, tried map[price.ID]time.Time) {
	period, _ := price.PeriodNamed(b.period)
	now := p.o.Now()
	lacking := p.lacking(ctx, period, b.step, all, slow, tried, now)
	for start := 0; start < len(lacking) && ctx.Err() == nil; start += pastBatch {
		some := lacking[start:min(start+pastBatch, len(lacking))]
		filled, answered := p.fillSome(ctx, some, now.Add(-period.Span), b)
		if filled {
			p.publish(ctx)
		}
		if !answered {
			return // retried by the next search for gaps
		}
		for _, t := range some {
			tried[price.IDOf(t)] = now
		}
	}
}

// fillSome asks the archives one after another until all of the tokens are known.
func (p *Poller) fillSome(ctx context.Context, some []tokens.Token, since time.Time, b backfill) (filled, answered bool) {
	ctx, cancel := context.WithTimeout(ctx, pastTime)
	defer cancel()
	for _, a := range p.o.Archives {
		candles, err := fetchPast(ctx, a, some, since, b.step)
		if err != nil {
			p.o.Log(Notice{From: "past", Err: err})
		}
		answered = answered || err == nil
		if len(candles) == 0 {
			continue
		}
		if err := p.o.History.Fill(ctx, b.into, price.Derived, candles); err != nil {
			p.o.Log(Notice{From: "history", Err: err})
			return filled, false
		}
		filled = true
		var rest []tokens.Token
		for _, t := range some {
			if len(candles[price.IDOf(t)]) == 0 {
				rest = append(rest, t)
			}
		}
		if some = rest; len(some) == 0 {
			break
		}
	}
	return filled, answered
}

// fetchPast returns what an archive knows of some tokens. A token that follows another chain's
// and is unknown itself gets that token's past.
func fetchPast(ctx context.Context, a Archive, some []tokens.Token, since time.Time, step time.Duration) (map[price.ID][]price.Candle, error) {
	candles, err := a.Past(ctx, some, since, step)
	if err != nil {
		return candles, err
	}
	followers := map[price.ID][]price.ID{}
	var origins []tokens.Token
	for _, t := range some {
		id := price.IDOf(t)
		canonical, follows := price.CanonicalOf(id)
		if !follows || len(candles[id]) > 0 {
			continue
		}
		of := canonical.Of
		if followers[of] == nil {
			origins = append(origins, tokens.Token{Chain: of.Chain, Address: of.Address, Symbol: t.Symbol, Decimals: t.Decimals})
		}
		followers[of] = append(followers[of], id)
	}
	if len(origins) == 0 {
		return candles, nil
	}
	theirs, err := a.Past(ctx, origins, since, step)
	for of, ids := range followers {
		for _, id := range ids {
			if len(theirs[of]) > 0 {
				candles[id] = theirs[of]
			}
		}
	}
	return candles, err
}

// lacking returns the slow or the other watched tokens whose charts have too few points, or all
// of those, except those tried recently.
func (p *Poller) lacking(ctx context.Context, period price.Period, step time.Duration, all, slow bool, tried map[price.ID]time.Time, now time.Time) (ts []tokens.Token) {
	covered, err := p.o.History.Coverages(ctx, now)
	if err != nil {
		p.o.Log(Notice{From: "history", Err: err})
		return nil
	}
	points := map[price.ID]int{}
	for _, c := range covered {
		points[c.ID] = c.Points[period.Name]
	}
	enough := int(pastEnough * float64(period.Span/max(step, period.Step)))
	for _, w := range p.o.Tokens() {
		id := price.IDOf(w.Token)
		lacks := all || points[id] < enough
		if w.Slow == slow && !w.Private && lacks && isDue(tried[id], pastRetry, now) {
			ts = append(ts, w.Token)
		}
	}
	return ts
}
