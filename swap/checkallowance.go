package swap

import (
	"math/big"

	"swapkeep/chain"

	"github.com/ethereum/go-ethereum/common"
)

// checkApprove requires an approval of exactly the input plus the shares of other orders,
// or of zero, for a pinned spender or for the contract that the input is handed to.
func checkApprove(s checkContext, f Effect) error {
	if err := checkMovesNothing(f, "approves"); err != nil {
		return err
	}
	t := s.t
	a, err := oneApproval(t, f)
	if err != nil {
		return err
	}
	if f.Target != t.Input() {
		return RefuseField(NotAsAccepted, "to", "the approval goes to %s, not to the input token", f.Target)
	}
	if err := s.checkMayPull(a.Spender); err != nil {
		return err
	}
	if !a.Until.IsZero() || !f.Deadline.IsZero() {
		return RefuseField(Undecodable, "until", "an approval has no end")
	}
	shares := a.Shares
	if shares == nil || a.Amount.Sign() == 0 {
		shares = new(big.Int)
	}
	if want := new(big.Int).Add(t.AmountIn, shares); shares.Sign() < 0 || want.BitLen() > 256 || a.Amount.Sign() != 0 && a.Amount.Cmp(want) != 0 {
		return RefuseField(NotAsAccepted, "allowance", "the approval is not for exactly the amount and the open orders' share").WithAmounts(OfInput, a.Amount, want)
	}
	return nil
}

func checkPermit(s checkContext, f Effect) error {
	if err := checkMovesNothing(f, "approves"); err != nil {
		return err
	}
	t := s.t
	a, err := oneApproval(t, f)
	if err != nil {
		return err
	}
	switch {
	case HandsOver(s.last.Kind):
		return RefuseField(NotAsAccepted, "approves", "a %s needs no permit", s.last.Kind)
	case a.Shares != nil:
		return RefuseField(Undecodable, "shares", "a permit has no share of other orders")
	case !s.pins.Allows(f.Chain, Router, a.Spender):
		return RefuseField(NotPinned, "spender", "the permit is for %s, which is not a built-in router on chain %d", a.Spender, f.Chain)
	case a.Amount.Cmp(t.AmountIn) != 0:
		return RefuseField(NotAsAccepted, "allowance", "the permit is not for exactly the amount").WithAmounts(OfInput, a.Amount, t.AmountIn)
	case a.Until.IsZero() || a.Until.After(t.Deadline.Add(maxAllowanceLife)):
		return RefuseField(NotAsAccepted, "expiration", "the permit stays valid for over 31 days")
	case f.Deadline.IsZero():
		return RefuseField(NotAsAccepted, "sigDeadline", "the permit's signature never expires")
	}
	return nil
}

// checkCarriedPermit lets a swap's calldata grant only the permit signed by the step before.
func checkCarriedPermit(f Effect, before []Effect) error {
	if len(f.Approves) == 0 {
		return nil
	}
	refused := RefuseField(NotAsAccepted, "approves", "the swap would also grant an allowance")
	if f.Kind != Swap || len(f.Approves) != 1 || len(before) == 0 || before[len(before)-1].Kind != Permit {
		return refused
	}
	got, signed := f.Approves[0], before[len(before)-1].Approves[0]
	same := got.Token == signed.Token && got.Spender == signed.Spender && got.Amount != nil && got.Amount.Cmp(signed.Amount) == 0 && got.Shares == nil
	if !same || got.Spender != f.Target || got.Until.IsZero() || got.Until.After(signed.Until) {
		return refused
	}
	return nil
}

func oneApproval(t Terms, f Effect) (Approval, error) {
	if len(f.Approves) != 1 || f.Approves[0].Amount == nil || f.Approves[0].Amount.Sign() < 0 {
		return Approval{}, RefuseField(NotAsAccepted, "approves", "the step does not grant exactly one allowance")
	}
	if a := f.Approves[0]; a.Token != t.Input() || a.Token == (common.Address{}) {
		return Approval{}, RefuseField(NotAsAccepted, "token", "the allowance is on %s, not on the input token", a.Token)
	}
	return f.Approves[0], nil
}

// checkMayPull fails unless spender is pinned or is the contract that the input is handed to.
func (s checkContext) checkMayPull(spender common.Address) error {
	switch {
	case HandsOver(s.last.Kind) && spender != s.last.Target:
		return RefuseField(NotAsAccepted, "spender", "%s would be approved, and the input is handed to %s", spender, s.last.Target)
	case HandsOver(s.last.Kind), s.pins.Allows(s.t.SrcChain, Spender, spender):
		return nil
	}
	return RefuseField(NotPinned, "spender", "%s may not be approved: it is not a built-in spender on chain %d", spender, s.t.SrcChain)
}

// HandsOver reports whether an effect gives the input to the contract that it calls,
// which could also take the rest of a larger allowance.
func HandsOver(k EffectKind) bool { return k == Deposit || k == Opaque }

// CheckSpender fails unless the plan names who pulls the input: a pinned spender or, if a
// call hands the input over, the called contract.
func CheckSpender(t Terms, plan Plan, pins Pins) error {
	last := plan.LastEffect()
	s := checkContext{t: t, last: last, pins: pins}
	native := t.Input() == chain.Native
	switch {
	case native && plan.Spender != (common.Address{}):
		return RefuseField(NotAsAccepted, "spender", "%s would have to be approved, and the input is no token", plan.Spender)
	case plan.Spender != (common.Address{}):
		return s.checkMayPull(plan.Spender)
	case !native && (last.Kind == Signed || HandsOver(last.Kind)):
		return RefuseField(Undecodable, "spender", "nobody is named who pulls the input of the %s", last.Kind)
	}
	return nil
}
