package poll

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"swapkeep/priceapi/price"
	"swapkeep/tokens"
)

// A round is what one fetch has brought so far.
type round struct {
	readings    map[price.ID][]price.Reading // in order of preference
	accepted    map[price.ID]verdict
	provisional map[price.ID]verdict // accepted unless a further source decides otherwise
	doubts      map[price.ID]error
	stable      map[price.ID]bool // stable coins
	open        map[price.ID]bool // of these, those that only a second hand can value
}

// inTurn returns the tokens that this fetch asks about: of the slow ones those whose turn it
// is, and none at the first fetches, which swaps may wait for.
func (p *Poller) inTurn(watched []Watched) []Watched {
	slow, early := 0, p.earlyFetch() != nil
	some := slices.DeleteFunc(slices.Clone(watched), func(w Watched) bool {
		if !w.Slow {
			return false
		}
		slow++
		return early || slow%slowEvery != p.fetchCount%slowEvery
	})
	return some
}

// ask asks the leading sources about all tokens, and the further ones about those still
// undecided; of the slow ones only about those without any price.
func (p *Poller) ask(ctx context.Context, watched []Watched, now time.Time) round {
	r := round{map[price.ID][]price.Reading{}, map[price.ID]verdict{}, map[price.ID]verdict{}, map[price.ID]error{}, map[price.ID]bool{}, map[price.ID]bool{}}
	private, slow := map[price.ID]bool{}, map[price.ID]bool{}
	for _, w := range watched {
		private[price.IDOf(w.Token)], slow[price.IDOf(w.Token)] = w.Private, w.Slow
		r.stable[price.IDOf(w.Token)] = w.Par > 0
	}
	for _, readings := range p.askLeading(ctx, watched, now) {
		r.add(readings)
	}
	undecided := p.decide(&r, askable(watched, true), now)
	r.settle(slow)
	undecided = slices.DeleteFunc(undecided, func(t tokens.Token) bool { return r.accepted[price.IDOf(t)].sample.Known() })
	if p.fetchCount == 0 { // swaps wait for the first prices
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, firstFurther)
		defer cancel()
	}
	for _, s := range p.o.Further {
		if len(undecided) == 0 || ctx.Err() != nil {
			break
		}
		queried := undecided
		if !s.Trusted {
			queried = slices.DeleteFunc(slices.Clone(undecided), func(t tokens.Token) bool { return private[price.IDOf(t)] })
		}
		queried = part(p.skipUnknown(s.Name(), queried, now), p.fetchCount, furtherAtOnce)
		answers, ok := p.askOne(ctx, s, queried, now)
		r.add(answers)
		if ok {
			p.noteUnknown(s.Name(), queried, answers, now)
		}
		undecided = p.decide(&r, undecided, now)
	}
	p.acceptProvisional(&r, undecided, now)
	p.fetchCount++
	return r
}

// settle accepts the provisional prices of these tokens that nothing contradicts.
func (r *round) settle(these map[price.ID]bool) {
	for id, v := range r.provisional {
		if these[id] && !v.contested && !r.open[id] {
			r.accepted[id] = v
			delete(r.provisional, id)
		}
	}
}

// part returns at most n of the tokens; successive rounds get successive parts of the list.
func part(ts []tokens.Token, round, n int) []tokens.Token {
	if len(ts) <= n {
		return ts
	}
	begin := round * n % len(ts)
	return slices.Concat(ts[begin:], ts[:begin])[:n]
}

// acceptProvisional accepts the provisional prices, then decides the tokens priced by another
// chain's token, and logs those left without a price.
func (p *Poller) acceptProvisional(r *round, undecided []tokens.Token, now time.Time) {
	for _, t := range undecided {
		id := price.IDOf(t)
		if _, redeemable := price.CanonicalOf(id); redeemable {
			continue
		}
		if v, ok := r.provisional[id]; ok {
			r.accepted[id] = v
		}
	}
	for _, t := range undecided {
		id := price.IDOf(t)
		if _, ok := r.accepted[id]; ok || p.decideOne(r, id, p.canonicalPrice(r, id), now) {
			continue
		}
		if v, ok := r.provisional[id]; ok {
			r.accepted[id] = v
		} else if err := r.doubts[id]; err != nil {
			p.o.Log(Notice{From: "judge", ID: id, Err: err})
		}
	}
}

// canonicalPrice returns the price of the token that id is redeemable for, as a reading of
// id; nil if there is none.
func (p *Poller) canonicalPrice(r *round, id price.ID) []price.Reading {
	canonical, ok := price.CanonicalOf(id)
	if !ok {
		return nil
	}
	v, ok := r.accepted[canonical.Of]
	if !ok {
		return nil
	}
	return []price.Reading{{ID: id, Sample: price.Sample{Value: v.sample.Value, At: v.sample.At, Source: price.Canonical}, DayAgo: v.dayAgo}}
}

func (r *round) add(readings []price.Reading) {
	for _, x := range readings {
		r.readings[x.ID] = append(r.readings[x.ID], x)
	}
}

// samples returns the accepted prices.
func (r *round) samples() map[price.ID]price.Sample {
	all := make(map[price.ID]price.Sample, len(r.accepted))
	for id, v := range r.accepted {
		all[id] = v.sample
	}
	return all
}

// decide judges the undecided tokens and returns those still undecided. Those priced
// by another chain's token go last, because they need its price.
func (p *Poller) decide(r *round, ts []tokens.Token, now time.Time) []tokens.Token {
	var undecided, redeemable []tokens.Token
	for _, t := range ts {
		if _, ok := price.CanonicalOf(price.IDOf(t)); ok {
			redeemable = append(redeemable, t)
		} else if !p.decideOne(r, price.IDOf(t), nil, now) {
			undecided = append(undecided, t)
		}
	}
	for _, t := range redeemable {
		if id := price.IDOf(t); !p.decideOne(r, id, p.canonicalPrice(r, id), now) {
			undecided = append(undecided, t)
		}
	}
	return undecided
}

func (p *Poller) decideOne(r *round, id price.ID, first []price.Reading, now time.Time) bool {
	p.mu.Lock()
	last := p.lastAccepted[id]
	p.mu.Unlock()
	v := judge(last, slices.Concat(first, r.readings[id]), now)
	delete(r.provisional, id)
	r.open[id] = v.sample.Known() && r.wantsSecondHand(id, last, v, now)
	v.provisional = v.provisional || r.open[id]
	r.doubts[id] = v.doubt
	switch {
	case !v.sample.Known():
		return false
	case v.provisional:
		r.provisional[id] = v
		return false
	}
	r.accepted[id] = v
	return true
}

// askLeading asks the leading sources concurrently and returns their readings in the
// sources' order.
func (p *Poller) askLeading(ctx context.Context, watched []Watched, now time.Time) [][]price.Reading {
	readings := make([][]price.Reading, len(p.o.Leading))
	var wg sync.WaitGroup
	for i, s := range p.o.Leading {
		wg.Go(func() { readings[i], _ = p.askOne(ctx, s, askable(watched, s.Trusted), now) })
	}
	wg.Wait()
	return readings
}

// askOne asks a source unless it is paused or not due. ok: it answered completely.
func (p *Poller) askOne(ctx context.Context, s Paced, ts []tokens.Token, now time.Time) (readings []price.Reading, ok bool) {
	c := p.circuitOf(s.Name())
	if len(ts) == 0 || !c.allows(now) || !p.due(s, now) {
		return nil, false
	}
	readings, err := s.Now(ctx, ts)
	if errors.Is(context.Cause(ctx), context.Canceled) {
		return nil, false // not the source's failure
	}
	c.record(now, err, len(readings) > 0)
	if err != nil {
		p.o.Log(Notice{From: s.Name(), Err: err})
	}
	return readings, err == nil
}

func (p *Poller) circuitOf(name string) *circuitBreaker {
	p.mu.Lock()
	defer p.mu.Unlock()
	c, ok := p.circuits[name]
	if !ok {
		c = &circuitBreaker{}
		p.circuits[name] = c
	}
	return c
}

// due reports whether a paced source may be asked again, and if so counts the request.
func (p *Poller) due(s Paced, now time.Time) bool {
	if s.Every == 0 {
		return true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	last, ok := p.lastRequest[s.Name()]
	if past := now.Sub(last); ok && past >= 0 && past < s.Every {
		return false
	}
	p.lastRequest[s.Name()] = now
	return true
}

// skipUnknown drops the tokens that the source recently did not know.
func (p *Poller) skipUnknown(name string, ts []tokens.Token, now time.Time) []tokens.Token {
	p.mu.Lock()
	defer p.mu.Unlock()
	var known []tokens.Token
	for _, t := range ts {
		at, ignored := p.unknown[name][price.IDOf(t)]
		if past := now.Sub(at); !ignored || past >= unknownTTL || past < 0 {
			known = append(known, t)
		}
	}
	return known
}

// noteUnknown notes which tokens a source that answered does not know.
func (p *Poller) noteUnknown(name string, ts []tokens.Token, readings []price.Reading, now time.Time) {
	knows := make(map[price.ID]bool, len(readings))
	for _, r := range readings {
		knows[r.ID] = true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.unknown[name] == nil {
		p.unknown[name] = map[price.ID]time.Time{}
	}
	for _, t := range ts {
		if id := price.IDOf(t); knows[id] {
			delete(p.unknown[name], id)
		} else {
			p.unknown[name][id] = now
		}
	}
}
