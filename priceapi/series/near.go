package series

import (
	"context"
	"slices"
	"time"

	"swapkeep/priceapi/price"

	bolt "go.etcd.io/bbolt"
)

// Near implements [poll.History]. It compares the time when a price was valid, to the
// minute, not when it was fetched.
func (s *Store) Near(ctx context.Context, at time.Time, tolerance time.Duration) (near map[price.ID]price.Sample, err error) {
	err = s.view(ctx, func(tx *bolt.Tx) error {
		v := s.snapshot(tx, s.clock())
		near = v.byToken(v.near(at.Unix(), int64(tolerance/time.Second)))
		return nil
	})
	return near, err
}

// near takes seconds.
func (v snapshot) near(at, tolerance int64) []sample {
	g := v.rings[price.Minutes]
	from := max(floor(at-tolerance, 60)/60, g.oldest(v.now))
	to := min(floor(at+tolerance, 60)/60, v.now)
	best := make([]sample, len(v.tokens.ids))
	far := slices.Repeat([]int64{tolerance + 1}, len(best))
	g.each(v.tx, v.tokens, from, to, func(w row) bool {
		w.each(func(token int, entry []byte) {
			p := parseSample(entry, w.at)
			if off := max(60*p.at-at, at-60*p.at); off < far[token] {
				best[token], far[token] = p, off
			}
		})
		return true
	})
	return best
}

// Last implements [poll.History]: each token's sample from its newest row.
func (s *Store) Last(ctx context.Context) (last map[price.ID]price.Sample, err error) {
	err = s.view(ctx, func(tx *bolt.Tx) error {
		v := s.snapshot(tx, s.clock())
		last = v.byToken(v.last())
		return nil
	})
	return last, err
}

func (v snapshot) last() []sample {
	g := v.rings[price.Minutes]
	found := make([]sample, len(v.tokens.ids))
	missing := make([]int, len(found))
	for i := range missing {
		missing[i] = i
	}
	b := v.tx.Bucket(g.bucket)
	for at := v.now; at >= v.now-keepMinutes && len(missing) > 0; at-- {
		w, ok := g.getFrom(b, v.tokens, at)
		if !ok {
			continue
		}
		left := missing[:0]
		for _, token := range missing {
			if entry := w.entry(token); entry != nil {
				found[token] = parseSample(entry, at)
			} else {
				left = append(left, token)
			}
		}
		missing = left
	}
	return found
}

// byToken turns samples by index into samples by token.
func (v snapshot) byToken(samples []sample) map[price.ID]price.Sample {
	all := make(map[price.ID]price.Sample, len(samples))
	for i, p := range samples {
		if known, ok := p.unpack(); ok && v.tokens.ids[i].Chain != 0 {
			all[v.tokens.ids[i]] = known
		}
	}
	return all
}
