package swap

import (
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/ethereum/go-ethereum/common"
)

// maxAllowanceLife bounds how long a signed allowance is valid; the DEX asks for 30 days.
const maxAllowanceLife = 31 * 24 * time.Hour

// Check compares what a plan would do with what the user accepts, and fails on every
// difference. It is pure: no clock, no network, the same input gives the same answer. It
// runs on the effects decoded from the real bytes, at review and again before each
// signature.
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
	if err := checkStepOrder(t, effects); err != nil {
		return err
	}
	for i, f := range effects {
		rule, _ := t.ruleOf(f)
		s := checkContext{t, effects[:i], effects[len(effects)-1], pins}
		if !s.mayUse(rule, f) {
			return RefuseField(NotPinned, "to", "step %d uses contract %s, which is not a built-in %s on chain %d; choose another route", i+1, f.Target, rule.role, f.Chain)
		}
		if err := rule.fields(f); err != nil {
			return err
		}
		if err := rule.check(s, f); err != nil {
			return err
		}
	}
	return nil
}

// checkStepOrder fails unless the steps are of known kinds, on the source chain, in order.
func checkStepOrder(t Terms, effects []Effect) error {
	for i, f := range effects {
		if f.Chain != t.SrcChain {
			return RefuseField(NotAsAccepted, "chainId", "step %d acts on chain %d, not on %d", i+1, f.Chain, t.SrcChain)
		}
		rule, ok := t.ruleOf(f)
		if !ok {
			return Refuse(Undecodable, "step %d is of unknown kind %q", i+1, f.Kind)
		}
		if rule.last != (i == len(effects)-1) || !t.inPlace(f, effects[:i]) {
			return Refuse(NotAsAccepted, "step %d (%s) stands in the wrong place", i+1, f.Kind)
		}
	}
	if t.Wrap != (common.Address{}) && !slices.ContainsFunc(effects, t.WrapsFirst) {
		return RefuseField(NotAsAccepted, "wrap", "the coin would have to be wrapped first, and no step does it")
	}
	return nil
}

// The places of steps, in order. Only the last step spends the input.
const (
	stepReset = iota
	stepApprove
	stepWrap
	stepPermit
	stepSpend
)

func (t Terms) place(f Effect) int {
	switch {
	case f.Kind == Approve && !GrantsAllowance(f):
		return stepReset
	case f.Kind == Approve:
		return stepApprove
	case t.WrapsFirst(f):
		return stepWrap
	case f.Kind == Permit:
		return stepPermit
	}
	return stepSpend
}

// inPlace reports whether f may follow before: each place is used at most once and in
// order, except that an approval may follow the wrap, for an allowance used up since.
func (t Terms) inPlace(f Effect, before []Effect) bool {
	for _, b := range before {
		if was, is := t.place(b), t.place(f); was == is || was > is && was != stepWrap {
			return false
		}
	}
	return true
}

// A checkContext is the context in which an effect is checked.
type checkContext struct {
	t      Terms
	before []Effect
	last   Effect // of the plan
	pins   Pins
}

// An effectRule says what one kind of effect must satisfy.
type effectRule struct {
	role    Role
	or      Role // another allowed role
	input   bool // the target may be the input token itself
	last    bool
	settled bool // it names a Settler
	trusted bool // it must have TrustedTo
	ref     bool // it may have a Ref
	nonce   bool // it may have a Nonce
	check   func(s checkContext, f Effect) error
}

var effectRules = map[EffectKind]effectRule{
	Approve: {input: true, check: checkApprove},
	Permit:  {role: Verifier, nonce: true, check: checkPermit},
	Swap:    {role: Router, last: true, check: checkSwap},
	Wrap:    {role: Wrapper, last: true, check: checkWrap},
	Unwrap:  {role: Wrapper, last: true, check: checkWrap},
	Signed:  {role: Verifier, last: true, settled: true, check: checkSigned},
	Deposit: {role: Depot, last: true, trusted: true, ref: true, check: checkHandOver},
	Opaque:  {role: Depot, or: Router, last: true, trusted: true, check: checkHandOver},
}

// ruleOf returns the rule for f. A wrap that goes first and a wrap that is the swap
// itself have different rules.
func (t Terms) ruleOf(f Effect) (effectRule, bool) {
	if t.WrapsFirst(f) {
		return effectRule{input: true, check: checkWrapFirst}, true
	}
	r, ok := effectRules[f.Kind]
	return r, ok
}

// mayUse reports whether rule r allows f's target. A call acts as the account, so the
// target must be pinned: another contract may be a Safe of the account's, which obeys it.
func (s checkContext) mayUse(r effectRule, f Effect) bool {
	return s.pins.Allows(f.Chain, r.role, f.Target) || s.pins.Allows(f.Chain, r.or, f.Target) || r.input && f.Target == s.t.Input()
}

// maxName bounds the length of TrustedTo, in bytes.
const maxName = 100

// fields fails if an effect has a field that only other kinds have, or lacks TrustedTo
// where the rule requires it.
func (r effectRule) fields(f Effect) error {
	switch {
	case !r.settled && f.Settler != common.Address{}:
		return RefuseField(Undecodable, "settler", "a %s is settled by nobody else", f.Kind)
	case r.trusted && f.TrustedTo == "":
		return RefuseField(Undecodable, "trustedTo", "the %s names nobody who is trusted to settle it", f.Kind)
	case !r.trusted && f.TrustedTo != "":
		return RefuseField(Undecodable, "trustedTo", "a %s depends on nobody", f.Kind)
	case len(f.TrustedTo) > maxName || strings.ContainsFunc(f.TrustedTo, func(c rune) bool { return !unicode.IsPrint(c) }):
		return RefuseField(Undecodable, "trustedTo", "the %s is trusted to no sound name", f.Kind)
	case !r.ref && f.Ref != common.Hash{}:
		return RefuseField(Undecodable, "ref", "a %s carries no identifier", f.Kind)
	case !r.nonce && f.Nonce != nil:
		return RefuseField(Undecodable, "nonce", "a %s has no nonce", f.Kind)
	}
	return nil
}

// check fails if no plan could satisfy the terms.
func (t Terms) check() error {
	switch zero := (common.Address{}); {
	case t.Account == zero:
		return RefuseField(BadRequest, "account", "no account")
	case t.Recipient == zero:
		return RefuseField(BadRequest, "recipient", "no recipient")
	case t.RefundTo == zero:
		return RefuseField(BadRequest, "refundTo", "no refund address")
	case t.AmountIn == nil || t.AmountIn.Sign() <= 0:
		return RefuseField(AmountZero, "amountIn", "the amount must be above zero")
	case t.MinOut == nil || t.MinOut.Sign() <= 0:
		return RefuseField(AmountTooSmall, "minOut", "the amount is so small that nothing would arrive")
	case t.SrcChain == t.DstChain && (t.TokenIn == t.TokenOut || t.Input() == t.TokenOut):
		return RefuseField(SameToken, "tokenOut", "token in and token out are the same")
	case t.Wrap != zero && t.TokenIn != zero:
		return RefuseField(BadRequest, "wrap", "only the native coin is wrapped first")
	case t.Deadline.IsZero():
		return RefuseField(BadRequest, "deadline", "no deadline")
	case t.FeeBps < 0 || t.FeeBps > DefaultFees().MaxFeeBps || t.MakerFeeBps < 0:
		return RefuseField(BadRequest, "feeBps", "fee out of bounds")
	case (t.FeeBps > 0) != (t.FeeReceiver != zero):
		return RefuseField(BadRequest, "feeReceiver", "a fee needs a receiver, and a receiver a fee")
	case t.Refund != nil && (t.Refund.Amount == nil || t.Refund.Amount.Sign() <= 0):
		return RefuseField(BadRequest, "refund", "a refund of nothing")
	case t.GasCeiling == nil || t.GasCeiling.Sign() <= 0:
		return RefuseField(BadRequest, "gasCeiling", "no gas ceiling")
	}
	return nil
}
