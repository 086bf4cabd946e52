package engine

import (
	"cmp"
	"context"
	"errors"
	"time"

	"swapkeep/swap"
	"swapkeep/swap/journal"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
)

// A CancelRequest asks for an order to end.
type CancelRequest struct {
	Caller
	Request string // uuid
	Order   string
	Digest  common.Hash // of the order, as shown
}

// Cancel records the user's wish to end an order; the engine carries it out. It fails
// with OrderFinal if the order has ended and with CannotCancel if it cannot be ended. It
// may be repeated.
func (s *Service) Cancel(ctx context.Context, r CancelRequest) (swap.Order, error) {
	if err := normalizeRequestID(&r.Request); err != nil {
		return swap.Order{}, err
	}
	o, err := s.o.Journal.Get(r.Order)
	if err != nil {
		return o, err
	}
	if r.Digest != o.Digest {
		return o, swap.RefuseField(swap.BadRequest, "digest", "is not the digest of that order")
	}
	content := crypto.Keccak256Hash([]byte("cancel"), []byte(r.Order))
	_, repeated, err := s.o.Journal.OrderOfRequest(r.Request, content)
	if err != nil {
		return o, err
	}
	m := s.gas(ctx, o.Terms.SrcChain, o.Terms.GasCeiling)
	if !repeated {
		if ending, err := s.beingCancelled(o); ending || err != nil {
			return o, err
		}
		if err := s.bounded(r.Caller, m, nil); err != nil {
			return o, err
		}
	}
	if err := s.o.Confirmer.Confirm(ctx, Act{Kind: "cancel", Order: r.Order, Digest: o.Digest, Origin: r.Origin, Session: r.Session}); err != nil {
		return o, err
	}
	// A repeat goes on: the first may have crashed between recording the uuid and the
	// wish.
	err = s.commitAct(r.Caller, func() (err error) {
		repeated, err = s.o.Journal.RecordRequest(r.Request, content, r.Order, s.reserving(r.Caller, m))
		return err
	})
	if err != nil || repeated && o.State.Final() {
		return o, err
	}
	for range 10 {
		if ending, err := s.beingCancelled(o); ending || err != nil {
			return o, err
		}
		if err := s.markCancelled(&o); err != nil {
			return o, err
		}
		if err = s.o.Journal.Update(&o, swap.NewCause(swap.UserCancelled)); !errors.Is(err, journal.ErrStale) {
			break
		}
		if o, err = s.o.Journal.Get(r.Order); err != nil {
			return o, err
		}
	}
	if err == nil {
		s.goOn(o)
	}
	return o, err
}

// beingCancelled reports whether o is already being cancelled, and fails if it cannot be.
func (s *Service) beingCancelled(o swap.Order) (already bool, err error) {
	switch {
	case o.State.Final():
		return false, swap.Refuse(swap.OrderFinal, "the order is already %s", o.State)
	case o.Cancel && !o.Tampered():
		return true, nil
	}
	return false, s.cancellable(o)
}

// cancellable fails with CannotCancel if no signature of the wallet can end the order.
func (s *Service) cancellable(o swap.Order) error {
	if o.State != swap.Submitting && o.State != swap.Settling || o.Plan.Settlement != swap.ByProvider || o.Cancel {
		return nil
	}
	f := o.Plan.LastEffect()
	_, can := s.o.Providers[o.Terms.Provider].(swap.Canceller)
	until := f.Deadline.UTC().Format(time.RFC3339)
	switch {
	case swap.HandsOver(f.Kind):
		return swap.Refuse(swap.CannotCancel, "the input is handed over; the provider settles it or gives it back, and no transaction of yours can change that")
	case f.Kind != swap.Signed || o.Submission == nil:
		return nil
	case lapsed(o, s.o.Now()):
		return &swap.Refusal{Code: swap.CannotCancel, Reason: "the order could be filled until " + until + ", and can no longer be made void in time; what became of it is looked for", Data: map[string]string{"until": until}}
	case !can:
		return &swap.Refusal{Code: swap.CannotCancel, Reason: "the order is signed and handed over, and cannot be taken back; it ends by itself at " + until, Data: map[string]string{"until": until}}
	case s.o.Now().Add(minInvalidationLife).After(f.Deadline):
		return &swap.Refusal{Code: swap.CannotCancel, Reason: "the order ends by itself at " + until + ", before it could be made void", Data: map[string]string{"until": until}}
	}
	return nil
}

// markCancelled sets o.Cancel and seals the wish. If no wallet here has o's account, the wish
// needs no seal, provided nothing is pending that only a signature could end.
func (s *Service) markCancelled(o *swap.Order) error {
	now := s.o.Now().UTC()
	if sealMismatch(s.engine.checkAccepted(*o)) {
		s.engine.capGas(o)
	}
	seal, err := s.engine.seal(endingOf(*o), "cancel", now)
	switch {
	case err == nil:
		o.EndSeal = seal
	case s.o.IsLocked(err):
		return err
	default:
		if out, failed := s.engine.signed(*o); failed != nil || out {
			return cmp.Or(failed, error(&swap.Refusal{Code: swap.CannotCancel, Reason: "what is on its way is ended by a signature of its account, which no wallet here has; take it in again first", Err: err}))
		}
	}
	o.Cancel, o.Updated = true, now
	return nil
}
