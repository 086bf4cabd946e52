package engine

import (
	"context"
	"errors"
	"math/big"

	"swapkeep/chain"
	"swapkeep/swap"
	"swapkeep/swap/journal"
	"swapkeep/swap/plan"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
)

// A SpeedUpRequest asks for an order's pending transaction to be sent again, unchanged
// but for a higher fee.
type SpeedUpRequest struct {
	Caller
	Request    string // uuid; repeating it does not bump again
	Order      string
	Digest     common.Hash // of the order, as shown
	Tier       chain.Tier  // normal or fast; "" = fast
	GasCeiling *big.Int    // wei, consents to a ceiling above the accepted one; nil = as accepted
}

// setAttempts copies into o what was signed for the current step.
func setAttempts(o *swap.Order, tx chain.Tx) {
	if len(tx.Attempts) == 0 {
		return // those of a newer version's record cannot be read
	}
	o.CurrentTx, o.Attempts = tx.Last().Hash, make([]swap.Attempt, len(tx.Attempts))
	for i, a := range tx.Attempts {
		o.Attempts[i] = swap.Attempt{Kind: a.Kind, Tx: a.Hash, FeeCap: a.FeeCap.ToInt(), TipCap: a.TipCap.ToInt(), Signed: a.Signed}
	}
}

// SpeedUp records that the user wants an order's pending transaction sped up and, with a
// gas ceiling, that it may cost more than was accepted; the engine does the rest. It
// replaces an earlier request that is not carried out yet. Of an order that is being
// cancelled it only raises the ceiling, since the cancelling transaction is bumped
// without a request. A repeat returns the order. It refuses with NothingPending if no
// transaction is in flight, and with GasCeiling if even the smallest bump would cost more
// than is accepted.
func (s *Service) SpeedUp(ctx context.Context, r SpeedUpRequest) (swap.Order, error) {
	if err := normalizeRequestID(&r.Request); err != nil {
		return swap.Order{}, err
	}
	if r.Tier == "" {
		r.Tier = chain.Fast
	}
	if r.Tier != chain.Normal && r.Tier != chain.Fast {
		return swap.Order{}, swap.RefuseField(swap.BadRequest, "tier", "must be normal or fast")
	}
	content := crypto.Keccak256Hash([]byte("speedup"), []byte(r.Order), r.Digest[:], []byte(r.Tier), []byte(swap.AmountText(r.GasCeiling)))
	if o, ok, err := s.o.Journal.OrderOfRequest(r.Request, content); ok || err != nil {
		return o, err
	}
	o, note, err := s.withSpeedUp(r, swap.UserAct{Action: "speedup"})
	if err != nil {
		return o, err
	}
	m := s.gas(ctx, o.Terms.SrcChain, r.GasCeiling) // within the accepted ceiling nothing more is spent
	if err := s.checkLimits(r.Caller, m, nil); err != nil {
		return o, err
	}
	confirmed, err := s.confirm(ctx, &r.Caller, s.orderAct("speedup", r.Caller, o))
	if err != nil {
		return o, err
	}
	ending := o.Bump == nil
	for range 10 {
		if o, note, err = s.withSpeedUp(r, confirmed); err != nil {
			return o, err
		}
		if ending != (o.Bump == nil) {
			return o, swap.Refuse(swap.CancelInProgress, "the order is being cancelled meanwhile; look at it again")
		}
		err = s.commitAct(r.Caller, func() error {
			if o.Bump != nil && !s.o.Now().Before(o.Terms.Deadline) {
				return swap.Refuse(swap.TooLate, "too late to send the transaction again; it is about to be cancelled")
			}
			o, err = s.o.Journal.UpdateByRequest(r.Request, content, o, note, s.recordSpend(r.Caller, m))
			return err
		})
		if !errors.Is(err, journal.ErrStale) {
			break
		}
	}
	if err == nil {
		s.goOn(o)
	}
	return o, err
}

// withSpeedUp returns the order as it would be with the request recorded, sealed as the user's
// act, and its history line.
func (s *Service) withSpeedUp(r SpeedUpRequest, act swap.UserAct) (swap.Order, swap.Cause, error) {
	o, err := s.o.Journal.Get(r.Order)
	switch {
	case err != nil:
		return o, swap.NoCause, err
	case r.Digest != o.Digest:
		return o, swap.NoCause, swap.RefuseField(swap.BadRequest, "digest", "does not match the order's digest")
	case o.State.Final():
		return o, swap.NoCause, swap.Refuse(swap.OrderFinal, "the order is already %s", o.State)
	}
	tx, err := s.pending(o)
	switch {
	case err != nil:
		return o, swap.NoCause, err
	}
	late := s.o.Now().After(tx.Policy.Until)
	ending := late || o.Cancel || tx.Last().Kind == chain.AttemptCancel
	switch {
	case ending && r.GasCeiling != nil: // raises what the cancelling transaction may cost; that needs no Bump
	case late:
		return o, swap.NoCause, swap.Refuse(swap.TooLate, "too late to send the transaction again; it is about to be cancelled")
	case ending:
		return o, swap.NoCause, swap.Refuse(swap.CancelInProgress, "the order is being cancelled; the fee of its cancelling transaction is raised automatically, up to the fee limit")
	}
	accepted, cancelled := s.engine.checkAccepted(o), s.engine.checkSeal(o.CancelSeal, cancelRequestOf(o))
	if accepted != nil && !(o.Cancel && cancelled == nil) {
		return o, swap.NoCause, accepted
	}
	note := swap.NewCause(swap.UserSpedUp, "tier", string(r.Tier))
	if r.GasCeiling != nil {
		was := o.Terms.GasCeiling
		net, err := s.o.Nodes.Network(o.Terms.SrcChain)
		if err == nil {
			err = raiseCeiling(&o, net, r.GasCeiling)
		}
		if err == nil {
			err = s.sealRaised(&o, act, accepted == nil, cancelled == nil)
		}
		if err != nil {
			return o, swap.NoCause, err
		}
		note = swap.NewCause(swap.UserRaisedCeiling, "tier", string(r.Tier), "previous", was.String(), "ceiling", r.GasCeiling.String())
		note = note.WithText(note.Text() + " from " + plan.Units(was, net.Decimals, net.Symbol) + " to " + plan.Units(r.GasCeiling, net.Decimals, net.Symbol))
	}
	if ending {
		o.Bump, o.Updated = nil, s.o.Now().UTC()
		return o, note, nil
	}
	if least, left := minBumpCost(tx), o.GasLeft(); least.Cmp(left) > 0 {
		return o, swap.NoCause, &swap.Refusal{Code: swap.GasCeiling, Reason: "speeding it up would cost more than the accepted fee limit; try again with a higher gasCeiling",
			Data: map[string]string{"needed": new(big.Int).Add(least, new(big.Int).Sub(o.Terms.GasCeiling, left)).String(), "ceiling": o.Terms.GasCeiling.String()}}
	}
	o.Bump, o.Updated = &swap.Bump{Tier: r.Tier, Replaces: tx.Last().Hash}, s.o.Now().UTC()
	o.Bump.Seal, err = s.engine.seal(bumpOf(o), act)
	return o, note, err
}

// sealRaised renews the seals that cover the gas ceiling, if they were valid before.
func (s *Service) sealRaised(o *swap.Order, act swap.UserAct, accepted, cancelled bool) (err error) {
	if accepted {
		if o.Seal, err = s.engine.seal(consentOf(*o), act); err != nil {
			return err
		}
	}
	if cancelled {
		o.CancelSeal, err = s.engine.seal(cancelRequestOf(*o), act)
	}
	return err
}

// pending returns the transaction in flight, of the current step or of the call that
// invalidates a signed order; else NothingPending.
func (s *Service) pending(o swap.Order) (chain.Tx, error) {
	none := swap.Refuse(swap.NothingPending, "the order has no pending transaction to speed up")
	key := stepKey(o, o.Step)
	switch {
	case o.State == swap.Settling && needsInvalidation(o):
		key = invalidateKey(o)
	case o.State != swap.Approving && o.State != swap.Executing || o.Step >= len(o.Plan.Steps) || o.Plan.Steps[o.Step].Kind == swap.TypedStep:
		return chain.Tx{}, none
	}
	tx, err := s.o.Sender.Lookup(key)
	if err != nil {
		return chain.Tx{}, err
	}
	if tx == nil || tx.State.Final() {
		return chain.Tx{}, none
	}
	return *tx, nil
}

// raiseCeiling changes what the user accepts: the terms' gas ceiling and the digest.
func raiseCeiling(o *swap.Order, net chain.Network, ceiling *big.Int) error {
	most := plan.MaxGasCeiling(net)
	switch {
	case ceiling.Cmp(o.Terms.GasCeiling) <= 0:
		return swap.RefuseField(swap.BadRequest, "gasCeiling", "must be above the accepted fee limit of %s; omit it to keep that limit", plan.Units(o.Terms.GasCeiling, net.Decimals, net.Symbol))
	case ceiling.Cmp(most) > 0:
		return swap.RefuseField(swap.BadRequest, "gasCeiling", "must be at most %s", plan.Units(most, net.Decimals, net.Symbol))
	}
	o.Terms.GasCeiling = ceiling
	o.Digest = swap.Digest(o.Terms, o.Plan.Effects())
	return nil
}

// minBumpCost returns the least that any replacement of tx's last attempt may cost, in wei:
// it must pay an eighth more per unit of gas.
func minBumpCost(tx chain.Tx) *big.Int {
	var t types.Transaction
	last := tx.Last()
	if t.UnmarshalBinary(last.Raw) != nil {
		return new(big.Int) // the sender will report it
	}
	price := new(big.Int).Mul(last.FeeCap.ToInt(), big.NewInt(9))
	price.Add(price, big.NewInt(7)).Rsh(price, 3)
	return price.Mul(price, new(big.Int).SetUint64(t.Gas()))
}

// speedUp carries out o's bump on the pending transaction tx. If the sender makes no
// replacement yet, since the last one is only seconds old, the bump stays requested.
func (e *Engine) speedUp(ctx context.Context, o *swap.Order, tx chain.Tx) (swap.Cause, error) {
	switch {
	case tx.Last().Hash != o.Bump.Replaces: // done before a crash, or another attempt was signed
		o.Bump = nil
		return swap.NewCause(swap.SpedUp), nil
	case !e.Unlocked():
		o.Condition = swap.WaitingForUnlock
		return swap.NewCause(swap.KeysLocked), nil
	}
	if err := e.bumpable(*o); err != nil {
		return swap.NoCause, err
	}
	done, err := e.Sender.Bump(ctx, tx.Key, chain.Policy{Ceiling: o.GasLeft(), Until: tx.Policy.Until, Tier: o.Bump.Tier})
	for _, n := range droppedBumpErrors {
		if errors.Is(err, n.err) {
			c := swap.NewCause(n.word)
			o.Bump, o.Condition = nil, swap.NoCondition
			o.SetCause(c)
			return c.WithText("not sped up: " + c.Text()), nil
		}
	}
	if err != nil {
		return swap.NoCause, err
	}
	o.Condition = swap.NoCondition
	o.SetCause(swap.NoCause)
	if done.Last().Hash == o.Bump.Replaces {
		return swap.NewCause(swap.SpeedupPending), nil
	}
	setAttempts(o, *done)
	o.Bump = nil
	return swap.NewCause(swap.SpedUp), nil
}

// bumpable returns an error unless the user accepted o and asked for its bump. For the
// transaction that invalidates a signed order the request to cancel the order is enough.
func (e *Engine) bumpable(o swap.Order) error {
	if needsInvalidation(o) {
		return e.checkSeal(o.CancelSeal, cancelRequestOf(o))
	}
	if err := e.checkAccepted(o); err != nil {
		return err
	}
	return e.checkSeal(o.Bump.Seal, bumpOf(o))
}

// droppedBumpErrors has the sender's errors for which a bump is dropped. What was sent before
// stays in flight.
var droppedBumpErrors = []struct {
	err  error
	word swap.ReasonCode
}{
	{chain.ErrCeiling, swap.SpeedupAboveCeiling},
	{chain.ErrWouldRevert, swap.SpeedupWouldFail},
	{chain.ErrFunds, swap.SpeedupInsufficientFunds},
	{chain.ErrAttempts, swap.SpeedupLimit},
	{chain.ErrExpired, swap.SpeedupTooLate},
	{chain.ErrNonceUsed, swap.SpeedupEnded},
	{chain.ErrEnded, swap.SpeedupEnded},
	{chain.ErrCancelling, swap.SpeedupCancelling},
}
