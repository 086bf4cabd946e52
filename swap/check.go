package swap

import (
	"math/big"
	"time"

	"github.com/ethereum/go-ethereum/common"
)

// maxAllowanceLife bounds how long a signed allowance may stay valid: what the
// DEX asks for is 30 days.
const maxAllowanceLife = 31 * 24 * time.Hour

// Check compares what a plan would do with what the user accepts and refuses
// every difference. It is pure: same input, same answer, no clock, no network.
// It is run on the decoded effects of the real bytes, at review and again
// before each signature.
func Check(t Terms, effects []Effect, pins Pins) error {
	if t.Provider == Wallet {
		return checkRevoke(t, effects, pins)
	}
	if err := t.check(); err != nil {
		return err
	}
	if len(effects) == 0 {
		return Refuse(NotAsAccepted, "the plan has no step")
	}
	for i, f := range effects {
		if f.Chain != t.SrcChain {
			return refuseField(NotAsAccepted, "chainId", "step %d acts on chain %d, not on %d", i+1, f.Chain, t.SrcChain)
		}
		rule, ok := effectRules[f.Kind]
		if !ok {
			return Refuse(NotUnderstood, "step %d is of unknown kind %q", i+1, f.Kind)
		}
		if rule.last != (i == len(effects)-1) || i > 0 && place(f) <= place(effects[i-1]) {
			return Refuse(NotAsAccepted, "step %d (%s) stands in the wrong place", i+1, f.Kind)
		}
		if !pins.Allows(f.Chain, rule.role, f.Target) && !(rule.token && f.Target == t.TokenIn) {
			return refuseField(NotPinned, "to", "step %d uses contract %s, which is not a built-in %s on chain %d", i+1, f.Target, rule.role, f.Chain)
		}
		if err := rule.check(t, f, effects[:i], pins); err != nil {
			return err
		}
	}
	return nil
}

// place orders the steps: a reset, an approval, a permit, and what spends the
// input, each at most once.
func place(f Effect) int {
	switch {
	case f.Kind == Approve && !grants(f):
		return 0
	case f.Kind == Approve:
		return 1
	case f.Kind == Permit:
		return 2
	}
	return 3
}

// An effectRule says what one kind of effect must satisfy, given those before
// it. The last step, and only the last, spends the input.
type effectRule struct {
	role  Role
	token bool // the target may be the input token itself
	last  bool
	check func(t Terms, f Effect, before []Effect, pins Pins) error
}

// effectRules has no row for opaque effects: a provider that needs them brings
// the bound with it; until then they are refused.
var effectRules = map[EffectKind]effectRule{
	Approve: {token: true, check: checkApprove},
	Permit:  {role: Verifier, check: checkPermit},
	Swap:    {role: Router, last: true, check: checkSwap},
	Wrap:    {role: Wrapper, last: true, check: checkWrap},
	Unwrap:  {role: Wrapper, last: true, check: checkWrap},
	Signed:  {role: Verifier, last: true, check: checkSwap},
}

// check refuses terms that no plan can satisfy.
func (t Terms) check() error {
	switch zero := (common.Address{}); {
	case t.Account == zero:
		return refuseField(BadRequest, "account", "no account")
	case t.Recipient == zero:
		return refuseField(BadRequest, "recipient", "no recipient")
	case t.RefundTo == zero:
		return refuseField(BadRequest, "refundTo", "no refund address")
	case t.AmountIn == nil || t.AmountIn.Sign() <= 0:
		return refuseField(AmountZero, "amountIn", "the amount must be above zero")
	case t.FloorOut == nil || t.FloorOut.Sign() <= 0:
		return refuseField(AmountTooSmall, "floorOut", "the amount is so small that nothing would arrive")
	case t.SrcChain == t.DstChain && t.TokenIn == t.TokenOut:
		return refuseField(SameToken, "tokenOut", "token in and token out are the same")
	case t.Deadline.IsZero():
		return refuseField(BadRequest, "deadline", "no deadline")
	case t.FeeBps < 0 || t.FeeBps > DefaultFees().MaxFeeBps || t.MakerFeeBps < 0:
		return refuseField(BadRequest, "feeBps", "fee out of bounds")
	case (t.FeeBps > 0) != (t.FeeReceiver != zero):
		return refuseField(BadRequest, "feeReceiver", "a fee needs a receiver, and a receiver a fee")
	case t.GasCeiling == nil || t.GasCeiling.Sign() <= 0:
		return refuseField(BadRequest, "gasCeiling", "no gas ceiling")
	}
	return nil
}

// checkApprove wants exactly the input and the shares of other orders allowed,
// or nothing at all.
func checkApprove(t Terms, f Effect, _ []Effect, pins Pins) error {
	if err := only(f, "approves"); err != nil {
		return err
	}
	a, err := oneApproval(t, f)
	if err != nil {
		return err
	}
	if f.Target != t.TokenIn {
		return refuseField(NotAsAccepted, "to", "the approval goes to %s, not to the input token", f.Target)
	}
	if !pins.Allows(f.Chain, Spender, a.Spender) {
		return refuseField(NotPinned, "spender", "%s may not be approved: it is not a built-in spender on chain %d", a.Spender, f.Chain)
	}
	if !a.Until.IsZero() || !f.Deadline.IsZero() {
		return refuseField(NotUnderstood, "until", "an approval has no end")
	}
	shares := a.Shares
	if shares == nil || a.Amount.Sign() == 0 {
		shares = new(big.Int)
	}
	if want := new(big.Int).Add(t.AmountIn, shares); shares.Sign() < 0 || want.BitLen() > 256 || a.Amount.Sign() != 0 && a.Amount.Cmp(want) != 0 {
		return refuseField(NotAsAccepted, "amount", "the approval is for %s, not for exactly %s and the open orders' share of %s", a.Amount, t.AmountIn, shares)
	}
	return nil
}

func checkPermit(t Terms, f Effect, _ []Effect, pins Pins) error {
	if err := only(f, "approves"); err != nil {
		return err
	}
	a, err := oneApproval(t, f)
	if err != nil {
		return err
	}
	switch {
	case a.Shares != nil:
		return refuseField(NotUnderstood, "shares", "a permit has no share of other orders")
	case !pins.Allows(f.Chain, Router, a.Spender):
		return refuseField(NotPinned, "spender", "the permit is for %s, which is not a built-in router on chain %d", a.Spender, f.Chain)
	case a.Amount.Cmp(t.AmountIn) != 0:
		return refuseField(NotAsAccepted, "amount", "the permit is for %s, not for exactly %s", a.Amount, t.AmountIn)
	case a.Until.IsZero() || a.Until.After(t.Deadline.Add(maxAllowanceLife)):
		return refuseField(NotAsAccepted, "expiration", "the permit stays valid for over 31 days")
	case f.Deadline.IsZero():
		return refuseField(NotAsAccepted, "sigDeadline", "the permit's signature never expires")
	}
	return nil
}

// checkSwap is for calls and signed orders that enforce a floor themselves.
func checkSwap(t Terms, f Effect, before []Effect, pins Pins) error {
	if err := checkCarried(f, before); err != nil {
		return err
	}
	if err := checkSpend(t, f); err != nil {
		return err
	}
	if err := checkReceive(t, f); err != nil {
		return err
	}
	if err := checkPays(t, f, pins); err != nil {
		return err
	}
	if f.Deadline.IsZero() || f.Deadline.After(t.Deadline) {
		return refuseField(NotAsAccepted, "deadline", "the swap could still happen after the accepted deadline %s", t.Deadline.UTC().Format(time.RFC3339))
	}
	if f.Kind == Swap && t.SrcChain != t.DstChain {
		return refuseField(NotAsAccepted, "dstChainId", "the swap stays on chain %d", t.SrcChain)
	}
	return nil
}

// checkCarried lets a swap's calldata grant exactly the permit that an earlier
// step of the plan signed, and nothing else.
func checkCarried(f Effect, before []Effect) error {
	if len(f.Approves) == 0 {
		return nil
	}
	refused := refuseField(NotAsAccepted, "approves", "the swap would also grant an allowance")
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

// checkWrap is for the wrapped native coin: one to one, to the caller itself. It
// needs nobody's allowance.
func checkWrap(t Terms, f Effect, before []Effect, _ Pins) error {
	if len(before) != 0 {
		return refuseField(NotAsAccepted, "approves", "a %s needs no step before it", f.Kind)
	}
	in, out := t.TokenIn, t.TokenOut
	if f.Kind == Unwrap {
		in, out = out, in
	}
	switch {
	case in != (common.Address{}) || out != f.Target || t.SrcChain != t.DstChain:
		return refuseField(NotAsAccepted, "to", "a %s of %s is not the accepted swap", f.Kind, f.Target)
	case t.Recipient != t.Account:
		return refuseField(NotAsAccepted, "recipient", "a %s pays the account itself, not %s", f.Kind, t.Recipient)
	case len(f.Approves) != 0 || len(f.Pays) != 0:
		return refuseField(NotAsAccepted, "pays", "a %s neither approves nor pays anybody", f.Kind)
	}
	if err := checkSpend(t, f); err != nil {
		return err
	}
	return checkReceive(t, f)
}

// checkSpend wants exactly the input to leave.
func checkSpend(t Terms, f Effect) error {
	if len(f.Spends) != 1 || f.Spends[0].Token != t.TokenIn {
		return refuseField(NotAsAccepted, "tokenIn", "the step does not spend %s alone", t.TokenIn)
	}
	if a := f.Spends[0].Amount; a == nil || a.Cmp(t.AmountIn) != 0 {
		return refuseField(NotAsAccepted, "amountIn", "the step spends %v, not exactly %s", a, t.AmountIn)
	}
	return nil
}

// checkReceive wants at least the floor to be enforced for the recipient, and
// nothing for anybody else.
func checkReceive(t Terms, f Effect) error {
	sum := new(big.Int)
	for _, r := range f.Receives {
		if r.To != t.Recipient && r.To != t.Account {
			return refuseField(NotAsAccepted, "recipient", "%s of the output goes to %s", r.Token, r.To)
		}
		if r.Min == nil || r.Min.Sign() < 0 {
			return refuseField(NotUnderstood, "minimum", "an output without a minimum")
		}
		if r.Token == t.TokenOut && r.To == t.Recipient {
			sum.Add(sum, r.Min)
		}
	}
	if sum.Cmp(t.FloorOut) < 0 {
		return refuseField(NotAsAccepted, "floorOut", "only %s is enforced for the recipient, below the accepted floor %s", sum, t.FloorOut)
	}
	return nil
}

// checkPays wants the wallet's own fee exactly, and bounds the provider's.
func checkPays(t Terms, f Effect, pins Pins) error {
	native := t.TokenOut == (common.Address{})
	ours, theirs := 0, 0
	for _, p := range f.Pays {
		switch {
		case p.Token != t.TokenOut && !(native && pins.Allows(f.Chain, Wrapper, p.Token)): // a fee on native output is taken in its wrapped form
			return refuseField(NotAsAccepted, "fee", "a fee is taken in %s", p.Token)
		case p.Bps <= 0:
			return refuseField(NotUnderstood, "fee", "a fee of %d bps", p.Bps)
		case t.FeeBps > 0 && p.To == t.FeeReceiver:
			ours += p.Bps
		default:
			theirs += p.Bps
		}
	}
	if ours != t.FeeBps {
		return refuseField(NotAsAccepted, "feeBps", "the wallet's fee is %d bps, not %d", ours, t.FeeBps)
	}
	if theirs > t.MakerFeeBps {
		return refuseField(NotAsAccepted, "makerFeeBps", "the provider takes %d bps, more than %d", theirs, t.MakerFeeBps)
	}
	return nil
}

func oneApproval(t Terms, f Effect) (Approval, error) {
	if len(f.Approves) != 1 || f.Approves[0].Amount == nil || f.Approves[0].Amount.Sign() < 0 {
		return Approval{}, refuseField(NotAsAccepted, "approves", "the step does not grant exactly one allowance")
	}
	if a := f.Approves[0]; a.Token != t.TokenIn || a.Token == (common.Address{}) {
		return Approval{}, refuseField(NotAsAccepted, "token", "the allowance is on %s, not on the input token", a.Token)
	}
	return f.Approves[0], nil
}

// only refuses an effect that does anything beside the named thing.
func only(f Effect, what string) error {
	if len(f.Spends)+len(f.Receives)+len(f.Pays) != 0 {
		return refuseField(NotAsAccepted, what, "the %s step would also move funds", f.Kind)
	}
	return nil
}
