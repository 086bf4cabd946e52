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

// A CancelRequest asks to cancel an order.
type CancelRequest struct {
	Caller
	Request string // uuid
	Order   string
	Digest  common.Hash // of the order, as shown
}

// Cancel records the user's request to cancel an order; the engine carries it out. It fails
// with OrderFinal if the order has ended and with CannotCancel if it cannot be cancelled. It
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
		return o, swap.RefuseField(swap.BadRequest, "digest", "does not match the order's digest")
	}
	content := crypto.Keccak256Hash([]byte("cancel"), []byte(r.Order))
	_, repeated, err := s.o.Journal.OrderOfRequest(r.Request, content)
	if err != nil {
		return o, err
	}
	m := s.gas(ctx, o.Terms.SrcChain, o.Terms.GasCeiling)
	if repeated && (o.State.Final() || o.Cancel && !o.Tampered()) {
		return o, nil
	}
	if !repeated {
		if ending, err := s.beingCancelled(o); ending || err != nil {
			return o, err
		}
		if err := s.checkLimits(r.Caller, m, nil); err != nil {
			return o, err
		}
	}
	confirmed, err := s.confirm(ctx, &r.Caller, s.orderAct("cancel", r.Caller, o))
	if err != nil {
		return o, err
	}
	// A repeat continues: the first may have crashed between recording the uuid and the
	// request to cancel.
	err = s.commitAct(r.Caller, func() (err error) {
		repeated, err = s.o.Journal.RecordRequest(r.Request, content, r.Order, s.recordSpend(r.Caller, m))
		return err
	})
	if err != nil || repeated && o.State.Final() {
		return o, err
	}
	for range 10 {
		if ending, err := s.beingCancelled(o); ending || err != nil {
			return o, err
		}
		if err := s.markCancelled(&o, confirmed); err != nil {
			return o, err
		}
		if err = s.o.Journal.Update(&o, swap.NewCause(swap.UserCancelled)); !errors.Is(err, journal.ErrStale) {
			break
		}
		if o, err = s.o.Journal.Get(r.Order); err != nil {
			return o, err
		}
		if r.Digest != o.Digest { // its fee limit was raised meanwhile: another one than was confirmed
			return o, swap.RefuseField(swap.BadRequest, "digest", "does not match the order's digest")
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
	case o.State.Final(), o.State == swap.Closed:
		return false, swap.Refuse(swap.OrderFinal, "the order is already %s", o.State)
	case o.Cancel && !o.Tampered():
		return true, nil
	}
	return false, s.cancellable(o)
}

// cancellable fails with CannotCancel if nothing that the wallet signs can cancel the order.
func (s *Service) cancellable(o swap.Order) error {
	if o.State != swap.Submitting && o.State != swap.Settling || o.Plan.Settlement != swap.ByProvider || o.Cancel {
		return nil
	}
	f := o.Plan.LastEffect()
	_, can := s.o.Providers[o.Terms.Provider].(swap.Canceller)
	until := f.Deadline.UTC().Format(time.RFC3339)
	switch {
	case swap.HandsOver(f.Kind):
		return swap.Refuse(swap.CannotCancel, "the deposit is with the provider, who pays out or refunds it; it cannot be cancelled on-chain")
	case f.Kind != swap.Signed || o.Submission == nil:
		return nil
	case lapsed(o, s.o.Now()):
		return &swap.Refusal{Code: swap.CannotCancel, Reason: "the order expired at " + until + " and cannot be cancelled any more; the daemon is checking whether it was filled", Data: map[string]string{"until": until}}
	case !can:
		return &swap.Refusal{Code: swap.CannotCancel, Reason: "the signed order was submitted and this provider's orders cannot be cancelled; it expires at " + until, Data: map[string]string{"until": until}}
	case s.o.Now().Add(minInvalidationLife).After(f.Deadline):
		return &swap.Refusal{Code: swap.CannotCancel, Reason: "the order expires at " + until + ", before a cancelling transaction could be mined", Data: map[string]string{"until": until}}
	}
	return nil
}

// markCancelled sets o.Cancel and seals the request. If no wallet here has o's account, it
// needs no seal, provided nothing is pending that only a signature could cancel.
func (s *Service) markCancelled(o *swap.Order, confirmed swap.UserAct) error {
	if sealMismatch(s.engine.checkAccepted(*o)) {
		s.engine.capGas(o)
	}
	seal, err := s.engine.seal(cancelRequestOf(*o), confirmed)
	switch {
	case err == nil:
		o.CancelSeal = seal
	case s.o.IsLocked(err):
		return err
	default:
		if out, failed := s.engine.signed(*o); failed != nil || out {
			return cmp.Or(failed, error(&swap.Refusal{Code: swap.CannotCancel, Reason: "cancelling needs a signature of the order's account, which no wallet here has; import it again first", Err: err}))
		}
	}
	o.Cancel, o.Updated = true, s.o.Now().UTC()
	return nil
}
