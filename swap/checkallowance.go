package swap

import (
	"math/big"

	"swapkeep/chain"

	"github.com/ethereum/go-ethereum/common"
)

// checkApprove requires an approval of exactly the input plus the shares of other orders,
// or of zero, for a pinned spender or for the contract that receives the input.
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
		return RefuseField(NotAsAccepted, "to", "the approval calls %s, which is not the input token", f.Target)
	}
	if err := s.checkMaySpend(a.Spender); err != nil {
		return err
	}
	if !a.Until.IsZero() || !f.Deadline.IsZero() {
		return RefuseField(Undecodable, "until", "an approval cannot expire")
	}
	shares := a.Shares
	if shares == nil || a.Amount.Sign() == 0 {
		shares = new(big.Int)
	}
	if want := new(big.Int).Add(t.AmountIn, shares); shares.Sign() < 0 || want.BitLen() > 256 || a.Amount.Sign() != 0 && a.Amount.Cmp(want) != 0 {
		return RefuseField(NotAsAccepted, "allowance", "the approval is not exactly the amount plus what open orders need").WithAmounts(OfInput, a.Amount, want)
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
		return RefuseField(Undecodable, "otherOrders", "a permit cannot include other orders' amounts")
	case !s.pins.Allows(f.Chain, Router, a.Spender):
		return RefuseField(NotPinned, "spender", "the permit's spender is %s, which is not a built-in router on chain %d", a.Spender, f.Chain)
	case a.Amount.Cmp(t.AmountIn) != 0:
		return RefuseField(NotAsAccepted, "allowance", "the permit is not for exactly the amount").WithAmounts(OfInput, a.Amount, t.AmountIn)
	case a.Until.IsZero() || a.Until.After(t.Deadline.Add(MaxPermitLife)):
		return RefuseField(NotAsAccepted, "expiration", "the permit is valid for more than 31 days")
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
		return Approval{}, RefuseField(NotAsAccepted, "approves", "the step must set exactly one allowance")
	}
	if a := f.Approves[0]; a.Token != t.Input() || a.Token == (common.Address{}) {
		return Approval{}, RefuseField(NotAsAccepted, "token", "the allowance is for the token %s, not for the input token", a.Token)
	}
	return f.Approves[0], nil
}

// checkMaySpend fails unless spender is pinned or is the contract that receives the input.
func (s checkContext) checkMaySpend(spender common.Address) error {
	switch {
	case HandsOver(s.last.Kind) && spender != s.last.Target:
		return RefuseField(NotAsAccepted, "spender", "the approved spender is %s, but the input goes to %s", spender, s.last.Target)
	case HandsOver(s.last.Kind), s.pins.Allows(s.t.SrcChain, Spender, spender):
		return nil
	}
	return RefuseField(NotPinned, "spender", "%s is not a built-in spender on chain %d and may not be approved", spender, s.t.SrcChain)
}

// HandsOver reports whether an effect transfers the input to the contract that it calls,
// which could then also take the rest of a larger allowance.
func HandsOver(k EffectKind) bool { return k == Deposit || k == Opaque }

// CheckSpender fails unless the plan names the spender of the input: a pinned contract or,
// if a call hands the input over, the called contract.
func CheckSpender(t Terms, plan Plan, pins Pins) error {
	last := plan.LastEffect()
	s := checkContext{t: t, last: last, pins: pins}
	native := t.Input() == chain.Native
	switch {
	case native && plan.Spender != (common.Address{}):
		return RefuseField(NotAsAccepted, "spender", "the plan needs an approval for %s, but the input is the native coin", plan.Spender)
	case plan.Spender != (common.Address{}):
		return s.checkMaySpend(plan.Spender)
	case !native && (last.Kind == Signed || HandsOver(last.Kind)):
		return RefuseField(Undecodable, "spender", "the %s does not name the spender of the input", last.Kind)
	}
	return nil
}
