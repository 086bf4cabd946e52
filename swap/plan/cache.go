package plan

import (
	"slices"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

// Bounds of what is kept between quote and execution: the number of entries, and the
// bytes of each shelf together. Several windows watch quotes at once, and none may push
// out another's while somebody looks at it.
const (
	maxOffers     = 2048
	maxPlans      = 512
	maxRevokes    = 200 // of four pages of allowances
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

// Drop drops offers and prepared plans. What is being asked for now is not kept either.
func (q *Quoter) Drop() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.offers, q.plans, q.revokes = newBoundedCache(maxOffers, cachedOffer.weight), newBoundedCache(maxPlans, weight), newBoundedCache(maxRevokes, weight)
	q.dropped++
}

// Reviewed returns a kept review by its digest: one that was prepared or, with revoke, that
// of a revoke. ok is false if none is kept. It may be repeated.
func (q *Quoter) Reviewed(digest common.Hash, revoke bool) (r swap.Review, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if revoke {
		return q.revokes.get(digest.Hex())
	}
	return q.plans.get(digest.Hex())
}

// KeepReviews keeps reviews for consent, unless plans were dropped since Generation returned
// generation: then it keeps none and returns false.
func (q *Quoter) KeepReviews(generation uint64, reviews ...swap.Review) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.dropped != generation {
		return false
	}
	for _, r := range reviews {
		if r.Terms.Provider == swap.Wallet {
			q.revokes.put(r.Digest.Hex(), r)
		} else {
			q.plans.put(r.Digest.Hex(), r)
		}
	}
	return true
}

// Generation returns a number that changes whenever plans are dropped.
func (q *Quoter) Generation() uint64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.dropped
}

// EvictPlan removes an accepted plan, which is now in the journal, and its offer. The offer's
// id goes to every window now, and another plan made from it would be a new consent that
// may need the password again.
func (q *Quoter) EvictPlan(r swap.Review) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.offers.drop(r.Offer.ID)
	q.plans.drop(r.Digest.Hex())
	q.revokes.drop(r.Digest.Hex())
}
