package swap

import (
	"math/big"
	"slices"
	"strings"
	"time"
	"unicode"

	"swapkeep/chain"

	"github.com/ethereum/go-ethereum/common"
)

// MaxAllowanceLife bounds how long a signed allowance is valid; the DEX asks for 30 days.
const MaxAllowanceLife = 31 * 24 * time.Hour

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
	case a.Until.IsZero() || a.Until.After(t.Deadline.Add(MaxAllowanceLife)):
		return RefuseField(NotAsAccepted, "expiration", "the permit stays valid for over 31 days")
	case f.Deadline.IsZero():
		return RefuseField(NotAsAccepted, "sigDeadline", "the permit's signature never expires")
	}
	return nil
}

// checkSwap checks calls and signed orders that enforce the minimum received themselves.
func checkSwap(s checkContext, f Effect) error {
	t := s.t
	if err := checkCarriedPermit(f, s.before); err != nil {
		return err
	}
	if err := checkSpend(t, f); err != nil {
		return err
	}
	if err := checkReceive(t, f); err != nil {
		return err
	}
	if err := checkPays(t, f, s.pins); err != nil {
		return err
	}
	if f.Deadline.IsZero() || f.Deadline.After(t.Deadline) {
		return RefuseField(NotAsAccepted, "deadline", "the swap could still happen after the accepted deadline %s", t.Deadline.UTC().Format(time.RFC3339))
	}
	if t.SrcChain != t.DstChain {
		return RefuseField(NotAsAccepted, "dstChainId", "the swap stays on chain %d", t.SrcChain)
	}
	return nil
}

// checkSigned checks orders that a pinned contract settles for whoever delivers the
// output. They spend a token, never the native coin.
func checkSigned(s checkContext, f Effect) error {
	switch {
	case s.t.Input() == common.Address{}:
		return RefuseField(NotAsAccepted, "tokenIn", "a signed order cannot spend the coin; it has to be wrapped first")
	case !s.pins.Allows(f.Chain, Settlement, f.Settler):
		return RefuseField(NotPinned, "settler", "the order could be settled by %s, which is not a built-in settlement contract on chain %d", f.Settler, f.Chain)
	}
	return checkSwap(s, f)
}

// checkHandOver checks calls that give the input to others who settle, on any chain: they
// must spend exactly the input and do nothing else. The bytes cannot promise an output,
// so the effect names who is trusted for it.
func checkHandOver(s checkContext, f Effect) error {
	switch {
	case len(f.Approves) != 0:
		return RefuseField(NotAsAccepted, "approves", "the %s would also grant an allowance", f.Kind)
	case len(f.Receives) != 0:
		return RefuseField(Undecodable, "receives", "a %s enforces no output", f.Kind)
	case len(f.Pays) != 0:
		return RefuseField(Undecodable, "pays", "a %s enforces no fee", f.Kind)
	case f.Deadline.After(s.t.Deadline):
		return RefuseField(NotAsAccepted, "deadline", "the %s could still happen after the accepted deadline %s", f.Kind, s.t.Deadline.UTC().Format(time.RFC3339))
	}
	return checkSpend(s.t, f)
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

// checkWrap checks a wrap or unwrap of the native coin: one to one, for the account
// itself and without an allowance.
func checkWrap(s checkContext, f Effect) error {
	if len(s.before) != 0 {
		return RefuseField(NotAsAccepted, "approves", "a %s needs no step before it", f.Kind)
	}
	t := s.t
	in, out := t.TokenIn, t.TokenOut
	if f.Kind == Unwrap {
		in, out = out, in
	}
	switch {
	case in != (common.Address{}) || out != f.Target || t.SrcChain != t.DstChain:
		return RefuseField(NotAsAccepted, "to", "a %s of %s is not the accepted swap", f.Kind, f.Target)
	case t.Recipient != t.Account:
		return RefuseField(NotAsAccepted, "recipient", "a %s pays the account itself, not %s", f.Kind, t.Recipient)
	case len(f.Approves) != 0 || len(f.Pays) != 0:
		return RefuseField(NotAsAccepted, "pays", "a %s neither approves nor pays anybody", f.Kind)
	}
	if err := checkSpend(t, f); err != nil {
		return err
	}
	return checkReceive(t, f)
}

// checkSpend requires that exactly the input leaves.
func checkSpend(t Terms, f Effect) error {
	if len(f.Spends) != 1 || f.Spends[0].Token != t.Input() {
		return RefuseField(NotAsAccepted, "tokenIn", "the step does not spend %s alone", t.Input())
	}
	if a := f.Spends[0].Amount; a == nil || a.Cmp(t.AmountIn) != 0 {
		return RefuseField(NotAsAccepted, "amountIn", "the step does not spend exactly the amount").WithAmounts(OfInput, a, t.AmountIn)
	}
	return nil
}

// checkReceive requires that the effect enforces at least the minimum for the recipient,
// and pays nobody but the recipient and the account.
func checkReceive(t Terms, f Effect) error {
	for _, r := range f.Receives {
		if r.To != t.Recipient && r.To != t.Account {
			return RefuseField(NotAsAccepted, "recipient", "%s of the output goes to %s", r.Token, r.To)
		}
		if r.Min == nil || r.Min.Sign() < 0 {
			return RefuseField(Undecodable, "minimum", "an output without a minimum")
		}
	}
	if sum := t.enforced(f); sum.Cmp(t.MinOut) < 0 {
		return RefuseField(NotAsAccepted, "minOut", "what is enforced for the recipient is below the accepted floor").WithAmounts(OfOutput, sum, t.MinOut)
	}
	return nil
}

// enforced returns the least output that an effect enforces for the recipient.
func (t Terms) enforced(f Effect) *big.Int {
	sum := new(big.Int)
	for _, r := range f.Receives {
		if r.Token == t.TokenOut && r.To == t.Recipient && r.Min != nil {
			sum.Add(sum, r.Min)
		}
	}
	return sum
}

// checkPays requires exactly the wallet's own fee, and bounds the provider's.
func checkPays(t Terms, f Effect, pins Pins) error {
	native := t.TokenOut == (common.Address{})
	ours, theirs := 0, 0
	for _, p := range f.Pays {
		switch {
		case p.Token != t.TokenOut && !(native && pins.Allows(f.Chain, Wrapper, p.Token)): // a fee on native output is taken in the wrapped coin
			return RefuseField(NotAsAccepted, "fee", "a fee is taken in %s", p.Token)
		case p.Bps <= 0:
			return RefuseField(Undecodable, "fee", "a fee of %d bps", p.Bps)
		case t.FeeBps > 0 && p.To == t.FeeReceiver:
			ours += p.Bps
		default:
			theirs += p.Bps
		}
	}
	if ours != t.FeeBps {
		return RefuseField(NotAsAccepted, "feeBps", "the wallet's fee is %d bps, not %d", ours, t.FeeBps)
	}
	if theirs > t.MakerFeeBps {
		return RefuseField(NotAsAccepted, "makerFeeBps", "the provider takes %d bps, more than %d", theirs, t.MakerFeeBps)
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

// checkMovesNothing fails if an effect also spends, receives or pays; field goes into the error.
func checkMovesNothing(f Effect, field string) error {
	if len(f.Spends)+len(f.Receives)+len(f.Pays) != 0 {
		return RefuseField(NotAsAccepted, field, "the %s step would also move funds", f.Kind)
	}
	return nil
}

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
