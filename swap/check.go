package swap

import (
	"slices"
	"strings"
	"time"
	"unicode"

	"swapkeep/chain"

	"github.com/ethereum/go-ethereum/common"
)

// MaxPermitLife bounds how long after the terms' deadline a signed allowance is valid; the DEX
// asks for 30 days.
const MaxPermitLife = 31 * 24 * time.Hour

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
		return Refuse(NotAsAccepted, "the plan has no steps")
	}
	if err := checkStepOrder(t, effects); err != nil {
		return err
	}
	if err := t.checkIsolatedPlan(effects); err != nil {
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
			return RefuseField(NotAsAccepted, "chainId", "step %d is on chain %d; expected chain %d", i+1, f.Chain, t.SrcChain)
		}
		rule, ok := t.ruleOf(f)
		if !ok {
			return Refuse(Undecodable, "step %d has the unknown kind %q", i+1, f.Kind)
		}
		if rule.last != (i == len(effects)-1) || !t.inPlace(f, effects[:i]) {
			return Refuse(NotAsAccepted, "step %d (%s) is out of order", i+1, f.Kind)
		}
	}
	if t.Wrap != (common.Address{}) && !slices.ContainsFunc(effects, t.WrapsFirst) {
		return RefuseField(NotAsAccepted, "wrap", "the native coin must be wrapped first, but no step wraps it")
	}
	return nil
}

// The positions of steps, in order. Only the last one spends the input.
const (
	stepFundCoin = iota
	stepFundToken
	stepReset
	stepApprove
	stepWrap
	stepPermit
	stepSpend
)

func (t Terms) place(f Effect) int {
	switch {
	case f.Kind == Fund && fundedToken(f) != chain.Native:
		return stepFundToken
	case f.Kind == Fund:
		return stepFundCoin
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

// inPlace reports whether f may follow before: each position is used at most once and in
// order, except that an approval may follow the wrap, if the allowance was used up since.
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
	ref     bool // it may have a DepositID
	nonce   bool // it may have a Nonce
	check   func(s checkContext, f Effect) error
}

var effectRules = map[EffectKind]effectRule{
	Fund:    {input: true, check: checkFund},
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

// mayUse reports whether rule r allows f's target. A call is made as the account, so the
// target must be pinned: an arbitrary contract could be a Safe that the account owns. An
// isolated account owns nothing.
func (s checkContext) mayUse(r effectRule, f Effect) bool {
	if s.t.IsIsolated() && f.Target != (common.Address{}) && (f.Kind == Opaque || f.Kind == Fund) {
		return true // checkFund says which
	}
	return s.pins.Allows(f.Chain, r.role, f.Target) || s.pins.Allows(f.Chain, r.or, f.Target) || r.input && f.Target == s.t.Input()
}

// maxName bounds the length of TrustedTo, in bytes.
const maxName = 100

// fields fails if an effect has a field that only other kinds have, or lacks TrustedTo
// where the rule requires it.
func (r effectRule) fields(f Effect) error {
	switch {
	case !r.settled && f.Settler != common.Address{}:
		return RefuseField(Undecodable, "settler", "a %s has no settlement contract", f.Kind)
	case r.trusted && f.TrustedTo == "":
		return RefuseField(Undecodable, "trustedTo", "the %s does not say who is trusted to settle it", f.Kind)
	case !r.trusted && f.TrustedTo != "":
		return RefuseField(Undecodable, "trustedTo", "a %s needs no trusted party", f.Kind)
	case len(f.TrustedTo) > maxName || strings.ContainsFunc(f.TrustedTo, func(c rune) bool { return !unicode.IsPrint(c) }):
		return RefuseField(Undecodable, "trustedTo", "the trusted party of the %s has an invalid name", f.Kind)
	case !r.ref && f.DepositID != common.Hash{}:
		return RefuseField(Undecodable, "depositId", "a %s has no identifier", f.Kind)
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
		return RefuseField(AmountTooSmall, "minOut", "the amount is too small: the minimum received would be zero")
	case t.SrcChain == t.DstChain && (t.TokenIn == t.TokenOut || t.Input() == t.TokenOut):
		return RefuseField(SameToken, "tokenOut", "token in and token out are the same")
	case t.Wrap != zero && t.TokenIn != zero:
		return RefuseField(BadRequest, "wrap", "only the native coin can be wrapped first")
	case t.Deadline.IsZero():
		return RefuseField(BadRequest, "deadline", "no deadline")
	case t.FeeBps < 0 || t.FeeBps > DefaultFees().MaxFeeBps || t.MakerFeeBps < 0:
		return RefuseField(BadRequest, "feeBps", "fee out of bounds")
	case (t.FeeBps > 0) != (t.FeeReceiver != zero):
		return RefuseField(BadRequest, "feeReceiver", "a fee needs a receiver, and a receiver needs a fee")
	case t.Refund != nil && (t.Refund.Amount == nil || t.Refund.Amount.Sign() <= 0):
		return RefuseField(BadRequest, "refund", "the refund must be above zero")
	case t.GasCeiling == nil || t.GasCeiling.Sign() <= 0:
		return RefuseField(BadRequest, "gasCeiling", "no network fee limit")
	}
	return t.checkIsolated()
}
