package plan

import (
	"context"
	"slices"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	"github.com/google/uuid"
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

// A cachedOffer is an offer with those that its provider ranked after it.
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
		if s.TypedData != nil {
			n += len(swap.MustJSON(s.TypedData))
		}
	}
	return n
}

// keepOffers gives a provider's offers their ids and keeps them. An offer that was posted
// before keeps its id. If all offers were dropped since the request, it returns
// QuoteUnknown, which wraps errDropped.
func (q *Quoter) keepOffers(a answer, offers []swap.Offer) ([]swap.Offer, error) {
	for i := range offers {
		o := &offers[i]
		if o.ID = a.idByRaw[string(o.Raw)]; o.ID == "" || len(o.Raw) == 0 {
			o.ID = uuid.NewString()
		}
		a.idByRaw[string(o.Raw)] = o.ID
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.dropped != a.droppedBefore {
		return nil, &swap.Refusal{Code: swap.QuoteUnknown, Reason: "the wallet was locked or switched meanwhile; get a new quote", Err: errDropped}
	}
	for i, o := range offers {
		q.offers.put(o.ID, cachedOffer{o, offers[i+1:]})
	}
	return offers, nil
}

// Prepare makes the plan of a kept offer (see planOffer) and keeps it for consent. It fails
// with QuoteUnknown if the offer is not kept, also if it was dropped meanwhile.
func (q *Quoter) Prepare(ctx context.Context, offerID string) (swap.Review, error) {
	offer, err := q.offer(offerID)
	if err != nil {
		return swap.Review{}, err
	}
	r, err := q.planOffer(ctx, offer)
	if err != nil {
		return swap.Review{}, err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if _, ok := q.offers.get(offerID); !ok { // dropped meanwhile: locked, or account or network changed
		return swap.Review{}, swap.Refuse(swap.QuoteUnknown, "the wallet was locked or switched meanwhile; get a new quote")
	}
	q.plans.put(r.Digest.Hex(), r)
	return r, nil
}

// offer returns a kept offer that may still be prepared.
func (q *Quoter) offer(id string) (cachedOffer, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	offer, ok := q.offers.get(id)
	switch {
	case !ok:
		return offer, swap.Refuse(swap.QuoteUnknown, "no such offer; get a new quote")
	case q.planner.Now().After(offer.Expires):
		return offer, swap.Refuse(swap.QuoteExpired, "the quote has expired; get a new one")
	case offer.Unusable != "":
		return offer, swap.Refuse(swap.UnsupportedRoute, "this offer cannot be executed: %s", offer.Unusable)
	}
	return offer, nil
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
