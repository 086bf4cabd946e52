package poll

import (
	"context"
	"maps"
	"time"

	"swapkeep/internal/clock"
	"swapkeep/priceapi/price"
	"swapkeep/tokens"
)

// How often facts are requested.
const (
	capsEvery    = time.Hour
	holdersEvery = 6 * time.Hour
	factsRetry   = 5 * time.Minute // after a round in which a source failed
	slowFacts    = 50              // most slow tokens that a source is asked about in a round, of each kind of facts
	factsTime    = 10 * time.Minute
)

// A MetadataConfig is an MetadataSource and how its figures are marked.
type MetadataConfig struct {
	MetadataSource
	Source price.Source
	// Trusted is as in Paced.
	Trusted bool
	// Diluted: its market caps are price times total supply. They are used only if no other
	// MetadataSource has one.
	Diluted bool
}

func (p *Poller) factsLoop(ctx context.Context) {
	for ctx.Err() == nil {
		wait := factsRetry
		if p.fetchFacts(ctx) {
			wait = capsEvery
		}
		select {
		case <-ctx.Done():
		case <-clock.After(wait):
		}
	}
}

// fetchFacts asks one MetadataSource after another for what is due and stores it. It returns true
// if nothing failed.
func (p *Poller) fetchFacts(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, factsTime)
	defer cancel()
	ok := true
	p.factsRound++
	for _, v := range p.o.MetadataSources {
		if now := p.o.Now(); p.circuitOf(v.Name() + " facts").allows(now) {
			fresh := map[price.ID]price.Facts{}
			ok = p.fetchCaps(ctx, v, fresh, now) && ok
			ok = p.fetchHolders(ctx, v, fresh, now) && ok
			ok = p.saveFacts(ctx, fresh) && ok
		}
	}
	return ok
}

// saveFacts stores facts and publishes them.
func (p *Poller) saveFacts(ctx context.Context, fresh map[price.ID]price.Facts) bool {
	if len(fresh) == 0 {
		return true
	}
	err := p.o.History.SetFacts(ctx, fresh)
	if err != nil {
		p.o.Log(Notice{From: "history", Err: err})
	}
	p.mu.Lock()
	maps.Copy(p.facts, fresh)
	p.mu.Unlock()
	p.publish(ctx)
	return err == nil
}

func (p *Poller) fetchCaps(ctx context.Context, v MetadataConfig, fresh map[price.ID]price.Facts, now time.Time) bool {
	due := p.dueFacts(v, fresh, func(f price.Facts) bool {
		return isDue(f.CapAt, capsEvery, now) || f.Diluted && !v.Diluted
	})
	caps, ok := askMetadata(p, v, now, due, func(ts []tokens.Token) (map[price.ID]price.Value, error) { return v.MarketCaps(ctx, ts) })
	for id, c := range caps {
		f := p.factsOf(fresh, id)
		f.MarketCap, f.Diluted, f.CapSource, f.CapAt = c, v.Diluted, v.Source, now
		fresh[id] = f
	}
	return ok
}

func (p *Poller) fetchHolders(ctx context.Context, v MetadataConfig, fresh map[price.ID]price.Facts, now time.Time) bool {
	due := p.dueFacts(v, fresh, func(f price.Facts) bool { return isDue(f.HoldersAt, holdersEvery, now) })
	holders, ok := askMetadata(p, v, now, due, func(ts []tokens.Token) (map[price.ID]uint64, error) { return v.Holders(ctx, ts) })
	for id, n := range holders {
		f := p.factsOf(fresh, id)
		f.Holders, f.HoldersAt = n, now
		fresh[id] = f
	}
	return ok
}

// askMetadata asks an MetadataSource about some tokens. Results that came with an error are kept.
func askMetadata[T any](p *Poller, v MetadataConfig, now time.Time, ts []tokens.Token, ask func([]tokens.Token) (map[price.ID]T, error)) (map[price.ID]T, bool) {
	if len(ts) == 0 {
		return nil, true
	}
	got, err := ask(ts)
	p.circuitOf(v.Name()+" facts").record(now, err, len(got) > 0)
	if err != nil {
		p.o.Log(Notice{From: v.Name(), Err: err})
	}
	return got, err == nil
}

// isDue reports whether something of that time is due again. A clock that was set back makes
// everything due.
func isDue(at time.Time, every time.Duration, now time.Time) bool {
	past := now.Sub(at)
	return past >= every || past < 0
}

// dueFacts returns the tokens that an MetadataSource may be asked about and whose facts are
// due. Of the slow ones it takes some, successive rounds successive ones.
func (p *Poller) dueFacts(v MetadataConfig, fresh map[price.ID]price.Facts, due func(price.Facts) bool) (ts []tokens.Token) {
	var slow []tokens.Token
	for _, w := range p.o.Tokens() {
		switch {
		case w.Private && !v.Trusted:
		case w.Slow:
			slow = append(slow, w.Token)
		case due(p.factsOf(fresh, price.IDOf(w.Token))):
			ts = append(ts, w.Token)
		}
	}
	for _, t := range part(slow, p.factsRound, slowFacts) {
		if due(p.factsOf(fresh, price.IDOf(t))) {
			ts = append(ts, t)
		}
	}
	return ts
}

func (p *Poller) factsOf(fresh map[price.ID]price.Facts, id price.ID) price.Facts {
	if f, ok := fresh[id]; ok {
		return f
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.facts[id]
}
