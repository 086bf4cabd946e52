package engine

import (
	"slices"

	"swapkeep/swap"
)

// Bounds of what is kept between quote and execution: the number of entries, and the
// bytes of each shelf together. Several windows watch quotes at once, and none may push
// out another's while somebody looks at it.
const (
	maxOffers     = 2048
	maxPlans      = 512
	maxCacheBytes = 32 << 20
)

// A cachedOffer offer is kept with those that its provider ranked after it.
type cachedOffer struct {
	swap.Offer
	rest []swap.Offer
}

// A boundedCache is a cache of the newest values by key, up to bound of them and to maxCacheBytes
// bytes. It is not safe for concurrent use.
type boundedCache[T any] struct {
	bound  int
	weight func(T) int // approximate size of a value in bytes
	bytes  int
	order  []string
	byKey  map[string]T
}

func newBoundedCache[T any](bound int, weight func(T) int) *boundedCache[T] {
	return &boundedCache[T]{bound: bound, weight: weight, byKey: map[string]T{}}
}

func (s *boundedCache[T]) put(key string, v T) {
	s.drop(key)
	s.order, s.byKey[key] = append(s.order, key), v
	s.bytes += s.weight(v)
	for len(s.order) > s.bound || s.bytes > maxCacheBytes && len(s.order) > 1 {
		s.drop(s.order[0])
	}
}

func (s *boundedCache[T]) get(key string) (T, bool) { v, ok := s.byKey[key]; return v, ok }

// drop removes a value, if it is there.
func (s *boundedCache[T]) drop(key string) {
	v, ok := s.byKey[key]
	if !ok {
		return
	}
	s.bytes -= s.weight(v)
	delete(s.byKey, key)
	i := slices.Index(s.order, key)
	s.order = slices.Delete(s.order, i, i+1)
}

// weight returns the size of the provider's reply and, roughly, the rest.
func (o cachedOffer) weight() int { return len(o.Raw) + 1<<10 }

// weight returns the size of the long parts of a review.
func weight(r swap.Review) int {
	n := len(r.Offer.Raw) + 4<<10
	for _, s := range r.Plan.Steps {
		if s.Call != nil {
			n += len(s.Call.Data)
		}
		if s.Typed != nil {
			n += len(swap.MustJSON(s.Typed))
		}
	}
	return n
}

// DropPlans drops offers and prepared plans. Once it returns, no act that rests on one is
// journaled any more.
func (s *Service) DropPlans() {
	s.actMu.Lock()
	defer s.actMu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.offers, s.plans, s.revokes = newBoundedCache(maxOffers, cachedOffer.weight), newBoundedCache(maxPlans, weight), newBoundedCache(maxRevokes, weight)
	s.dropped++
}

// generation returns a number that changes whenever plans are dropped.
func (s *Service) generation() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dropped
}

// evictPlan removes an accepted plan, which is now in the journal, and its offer. The offer's
// id goes to every window now, and another plan made from it would be a new consent that
// may need the password again.
func (s *Service) evictPlan(r swap.Review) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.offers.drop(r.Offer.ID)
	s.plans.drop(r.Digest.Hex())
	s.revokes.drop(r.Digest.Hex())
}
