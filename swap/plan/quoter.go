package plan

import (
	"sync"

	"swapkeep/swap"
)

// A Quoter asks providers for offers, ranks them, and prepares the plans of those that are
// chosen. It keeps offers and plans in memory until they are dropped. It is safe for
// concurrent use.
type Quoter struct {
	planner *Planner

	mu     sync.Mutex
	offers *boundedCache[cachedOffer]
	plans  *boundedCache[swap.Review]
	// revokes are kept apart, so that a list of allowances does not push out the review
	// that somebody is looking at.
	revokes  *boundedCache[swap.Review]
	dropped  uint64 // how often all of them were dropped
	watches  map[quoteKey]*sharedQuote
	limiters map[swap.Kind]providerLimiters
}

// NewQuoter returns a Quoter that plans with p and keeps nothing yet.
func NewQuoter(p *Planner) *Quoter {
	q := &Quoter{planner: p, watches: map[quoteKey]*sharedQuote{}, limiters: newProviderLimiters()}
	q.Drop()
	return q
}
