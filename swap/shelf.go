package swap

import (
	"slices"
)

// Bounds of what is kept between quote and execution: how many, and how many bytes
// of them together. Several windows watch quotes at once, and none may push another's
// out while somebody looks at it.
const (
	maxOffers = 2048
	maxPlans  = 512
	maxShelf  = 32 << 20
)

// A shelved offer is kept with those that its provider ranks after it.
type shelved struct {
	Offer
	rest []Offer
}

// A shelf keeps the newest values by key, up to a number of them and to maxShelf
// bytes.
type shelf[T any] struct {
	bound  int
	weight func(T) int // about how many bytes a value takes
	bytes  int
	order  []string
	byKey  map[string]T
}

func newShelf[T any](bound int, weight func(T) int) *shelf[T] {
	return &shelf[T]{bound: bound, weight: weight, byKey: map[string]T{}}
}

func (s *shelf[T]) put(key string, v T) {
	s.drop(key)
	s.order, s.byKey[key] = append(s.order, key), v
	s.bytes += s.weight(v)
	for len(s.order) > s.bound || s.bytes > maxShelf && len(s.order) > 1 {
		s.drop(s.order[0])
	}
}

func (s *shelf[T]) get(key string) (T, bool) { v, ok := s.byKey[key]; return v, ok }

// drop forgets a value, if it is there.
func (s *shelf[T]) drop(key string) {
	v, ok := s.byKey[key]
	if !ok {
		return
	}
	s.bytes -= s.weight(v)
	delete(s.byKey, key)
	i := slices.Index(s.order, key)
	s.order = slices.Delete(s.order, i, i+1)
}

// weight counts an offer's own words and, roughly, the rest.
func (o shelved) weight() int { return len(o.Raw) + 1<<10 }

// weight counts what is long in a review.
func (r Review) weight() int {
	n := len(r.Offer.Raw) + 4<<10
	for _, s := range r.Plan.Steps {
		if s.Call != nil {
			n += len(s.Call.Data)
		}
		if s.Typed != nil {
			n += len(mustJSON(s.Typed))
		}
	}
	return n
}

// DropPlans forgets offers and prepared plans. When it returns, no act that rests on one
// is journalled any more.
func (s *Service) DropPlans() {
	s.acting.Lock()
	defer s.acting.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.offers, s.plans, s.revokes = newShelf(maxOffers, shelved.weight), newShelf(maxPlans, Review.weight), newShelf(maxRevokes, Review.weight)
	s.dropped++
}

// generation changes whenever plans are forgotten.
func (s *Service) generation() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dropped
}

// spend forgets a plan that was accepted, which the journal has now, and its offer: its
// id goes to every window now, and another plan of it would be another consent, and may
// need another password.
func (s *Service) spend(r Review) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.offers.drop(r.Offer.ID)
	s.plans.drop(r.Digest.Hex())
	s.revokes.drop(r.Digest.Hex())
}
