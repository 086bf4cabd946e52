package engine

import (
	"context"
	"errors"
	"time"

	"swapkeep/swap"
	"swapkeep/swap/journal"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
)

// A CloseRequest asks to close an order whose end nothing proves, or nothing can prove.
type CloseRequest struct {
	Caller
	Request string // uuid
	Order   string
	Digest  common.Hash // of the order, as shown
}

// Close records that the user waits for an order no longer. It signs nothing, and the engine
// still looks for a proof of a deposit's end. It fails with OrderFinal if the order has ended and with CannotClose
// if it will end by itself or is too young; then Data has from when it can be closed. It may be
// repeated.
func (s *Service) Close(_ context.Context, r CloseRequest) (swap.Order, error) {
	if err := normalizeRequestID(&r.Request); err != nil {
		return swap.Order{}, err
	}
	content := crypto.Keccak256Hash([]byte("close"), []byte(r.Order), r.Digest[:])
	if o, ok, err := s.o.Journal.OrderOfRequest(r.Request, content); ok || err != nil {
		return o, err
	}
	for range 10 {
		o, err := s.closed(r)
		if err != nil {
			return o, err
		}
		err = s.commitAct(r.Caller, func() error {
			o, err = s.o.Journal.UpdateByRequest(r.Request, content, o, swap.NewCause(swap.UserClosed))
			return err
		})
		if errors.Is(err, journal.ErrStale) {
			continue
		}
		if err == nil {
			s.goOn(o)
		}
		return o, err
	}
	return swap.Order{}, journal.ErrStale
}

// closed returns the order as it would be with the request recorded.
func (s *Service) closed(r CloseRequest) (swap.Order, error) {
	o, err := s.o.Journal.Get(r.Order)
	if err == nil {
		o = s.engine.withPresent(o)
	}
	switch {
	case err != nil:
		return o, err
	case r.Digest != o.Digest:
		return o, swap.RefuseField(swap.BadRequest, "digest", "does not match the order's digest")
	case o.Ended():
		return o, swap.Refuse(swap.OrderFinal, "the order has already ended")
	}
	from, ok := o.CloseTime()
	now := s.o.Now().UTC()
	switch {
	case !ok:
		return o, swap.Refuse(swap.CannotClose, "only an order whose input was handed over, and that nobody can cancel, can be closed, or one on a network that was shut down")
	case now.Before(from):
		at := from.UTC().Format(time.RFC3339)
		return o, &swap.Refusal{Code: swap.CannotClose, Reason: "the order can be closed from " + at + "; until then its end may still be proven", Data: map[string]string{"from": at}}
	}
	if !o.Tampered() && o.Condition != swap.WrittenByNewer { // these stay true
		o.Condition = swap.NoCondition
	}
	if err = s.dropTaken(&o); err != nil {
		return o, err
	}
	o.Updated = now
	o.SetCause(swap.NewCause(swap.UserClosed))
	return o, o.Close(swap.ClosedByPerson, now, s.engine.searched(o.ID))
}

// dropTaken forgets a payment that was seen for an order and by which another order has ended, or
// likely is paid, since.
func (s *Service) dropTaken(o *swap.Order) error {
	if o.Candidate == nil {
		return nil
	}
	free, err := s.o.Journal.Unused(o.ID, []swap.LogRef{o.Candidate.Log})
	if err != nil {
		return err
	}
	likely, err := s.o.Journal.LikelyUsed(o.ID, o.Candidate.Log)
	if len(free) == 0 || likely {
		o.Candidate = nil
	}
	return err
}

// How much an order is looked at, without a failure of a chain or the provider, before it is no
// longer watched for its age: the daemon may have been off until then, the clock may have
// leapt, and a payment that was just made is not deep enough at first.
const (
	lateLooksNeeded = 3
	lateLooksFor    = 10 * time.Minute // at least, from the first to the last
)

// lookedLate counts a look that ended with err, and reports whether there were enough.
func (e *Engine) lookedLate(id string, err error) bool {
	l, now := e.settlementWatch(id), e.Now()
	if err != nil || now.Before(l.quietUntil) {
		return false
	}
	if l.lateLooks++; l.lateLooks == 1 {
		l.lateSince = now
	}
	return l.lateLooks >= lateLooksNeeded && now.Sub(l.lateSince) >= lateLooksFor
}

// closeByAge closes an order of which nothing proved the end for so long that nothing will.
func (e *Engine) closeByAge(o *swap.Order) (swap.Cause, error) {
	c := swap.NewCause(swap.ClosedTooOld)
	o.SetCause(c)
	if err := o.Close(swap.ClosedByAge, e.Now().UTC(), e.searched(o.ID)); err != nil {
		return swap.NoCause, err
	}
	o.Closing.Unwatched = true
	return c, nil
}

// pollClosed looks for a proof of a closed order's end, until it is too old.
func (e *Engine) pollClosed(ctx context.Context, o *swap.Order) (swap.Cause, error) {
	note, err := e.settle(ctx, o)
	if o.State != swap.Closed {
		return note, err
	}
	if o.Unproven() && o.Condition != swap.LikelyPaid {
		o.Condition = swap.NoCondition
	}
	if at, ok := o.UnwatchTime(); ok && e.Now().After(at) && e.lookedLate(o.ID, err) {
		o.Closing.Unwatched = true
		return swap.NewCause(swap.ClosedTooOld), nil
	}
	return note, err
}

// recordReached records how far the searches for an order's end have come.
func (e *Engine) recordReached(id string, l *settlementWatch) {
	reached := make(map[uint64]uint64)
	for _, s := range l.searches {
		reached[s.chain] = max(reached[s.chain], s.through.Number, s.notedThrough)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.inProgress(id).reached = reached
}

// searched returns up to which block each chain was searched for the end of an order.
func (e *Engine) searched(id string) map[uint64]uint64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	if p := e.orders[id]; p != nil {
		return p.reached
	}
	return nil
}
