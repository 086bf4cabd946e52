package swap

import (
	"bytes"
	"context"
	"errors"
	"math/big"
	"slices"
	"time"

	"swapkeep/chain"

	"github.com/ethereum/go-ethereum/common"
)

// approveCall lets spender pull n of the input token, instead of whatever it
// was allowed before.
func approveCall(t Terms, spender common.Address, n *big.Int) chain.Call {
	data := slices.Concat(erc20Approve, pad(spender), common.BigToHash(n).Bytes())
	return chain.Call{ChainID: t.SrcChain, From: t.Account, To: t.Input(), Value: new(big.Int), Data: data}
}

// approveStep is an approval of n as a plan has it; shares is the part of n
// that other orders need.
func approveStep(t Terms, spender common.Address, n, shares *big.Int) Step {
	c := approveCall(t, spender, n)
	a := Approval{Token: c.To, Spender: spender, Amount: new(big.Int).Set(n)}
	if shares.Sign() > 0 {
		a.Shares = shares
	}
	return Step{Kind: CallStep, Call: &c, Effect: Effect{Kind: Approve, Chain: t.SrcChain, Target: c.To, Approves: []Approval{a}}}
}

func isApprove(c chain.Call) bool { return bytes.HasPrefix(c.Data, erc20Approve) }

// decodeApprove says what an approval's bytes do. Only the canonical encoding
// is understood, of a call on the input token that sends nothing. shares comes
// from our own record of the step: no bytes can say it.
func decodeApprove(t Terms, c chain.Call, shares *big.Int) (Effect, error) {
	w := words(c.Data[len(erc20Approve):])
	switch {
	case c.To != t.Input() || c.To == (common.Address{}):
		return Effect{}, refuseField(NotAsAccepted, "to", "the approval goes to %s, not to the input token", c.To)
	case len(w) != 2 || !isAddress(w[0]):
		return Effect{}, refuseField(NotUnderstood, "data", "the approval is not in its one canonical encoding")
	case c.Value == nil || c.Value.Sign() != 0:
		return Effect{}, refuseField(NotAsAccepted, "value", "the approval would also send the coin").Amounts(OfCoin, c.Value, nil)
	}
	return Effect{Kind: Approve, Chain: c.ChainID, Target: c.To, Approves: []Approval{{
		Token: c.To, Spender: common.BytesToAddress(w[0]), Amount: new(big.Int).SetBytes(w[1]), Shares: shares,
	}}}, nil
}

// decodeStep says what a step would do, from its bytes: an approval, or the wrap
// that goes first, by our own decoder, everything else by its provider's. A late
// step's bytes are a call's.
func decodeStep(p Provider, t Terms, s Step) (Effect, error) {
	if s.Call != nil {
		if err := checkCall(t, *s.Call); err != nil {
			return Effect{}, err
		}
	}
	if s.Kind == LateStep {
		s.Kind = CallStep
	}
	if t.Provider != Wallet && s.Kind == CallStep && isApprove(*s.Call) {
		var shares *big.Int
		if len(s.Effect.Approves) == 1 {
			shares = s.Effect.Approves[0].Shares
		}
		return decodeApprove(t, *s.Call, shares)
	}
	if s.Kind == CallStep && t.isWrapFirst(*s.Call) {
		return wrapEffect(*s.Call), nil
	}
	f, err := p.Decode(t, s)
	if err != nil {
		return f, err
	}
	if t.wrapsFirst(f) {
		return f, refuseField(NotAsAccepted, "to", "the coin is wrapped by the wallet's own call only")
	}
	if s.Call != nil {
		if err = checkIsCall(f, *s.Call); err == nil {
			err = checkValue(*s.Call, f)
		}
	}
	return f, err
}

// checkValue wants the coin that a call sends to be what its effect spends of
// it, no more and no less.
func checkValue(c chain.Call, f Effect) error {
	coins := new(big.Int)
	for _, s := range f.Spends {
		if s.Token == chain.Native && s.Amount != nil {
			coins.Add(coins, s.Amount)
		}
	}
	if c.Value.Cmp(coins) != 0 {
		return refuseField(NotAsAccepted, "value", "the transaction sends another amount of the coin than its effect spends").Amounts(OfCoin, c.Value, coins)
	}
	return nil
}

// grants reports whether an approval lets somebody pull more than nothing; one
// that does not is a reset.
func grants(f Effect) bool {
	return f.Kind == Approve && len(f.Approves) == 1 && f.Approves[0].Amount != nil && f.Approves[0].Amount.Sign() > 0
}

// An allowance is what a plan finds when it looks at the allowance it needs.
type allowance struct {
	present *big.Int // what the spender may pull now
	shares  *big.Int // what of it is for signed open orders
	pending *big.Int // what of it is for orders that stand before this one
}

// allowance reads what the spender of p may pull and what of it is for others than
// order.
func (e *Engine) allowance(ctx context.Context, t Terms, p Plan, order string) (a allowance, err error) {
	if a.present, err = e.present(ctx, t, p); err != nil {
		return a, err
	}
	uses, err := e.uses(AllowanceKey{Chain: t.SrcChain, Account: t.Account, Token: t.Input(), Spender: p.Spender})
	a.shares, a.pending = new(big.Int), new(big.Int)
	for _, u := range uses {
		switch {
		case u.Order == order:
		case u.Signed:
			a.shares.Add(a.shares, u.Amount)
		default:
			a.pending.Add(a.pending, u.Amount)
		}
	}
	return a, err
}

// uses are what open orders need of an allowance, by those records that are as their
// users accepted them: what the others say would raise an approval, or hide one. Each
// counts once and no longer than what is sealed of it holds, so that all of them are
// never more than the user accepted lately, whatever the record says became of it.
func (e *Engine) uses(k AllowanceKey) ([]Use, error) {
	lines, err := e.Journal.Uses(k)
	var uses []Use
	for _, line := range lines {
		o, unread := e.Journal.Get(line.Order)
		u, open := o.useOf(k)
		if unread != nil || !open || !o.mayPull(e.Now()) || distrusted(e.accepted(o)) {
			continue
		}
		uses = append(uses, u)
	}
	return uses, err
}

// pullSlack is how far this machine's clock may be ahead of a chain's on which it still
// signs: its own error, and what the clocks of two chains may differ by.
const pullSlack = time.Minute + clockSlack

// mayPull reports whether what was accepted of o can take its input at that moment: a
// signed order to its last second, and a call of its own that may be on its way as long
// as what would cancel it, too. Nothing that is not sealed makes that longer by more than
// what such a call is given.
func (o Order) mayPull(now time.Time) bool {
	until := o.holdsUntil().Add(pullSlack)
	if o.Step < len(o.Plan.Steps) && o.Sending != (common.Hash{}) {
		until = until.Add(cancelTime)
	}
	return !now.After(until)
}

// lapsed reports whether o is signed, can be filled no more, and has no end for all
// that: what it was allowed is its user's again.
func (o Order) lapsed(now time.Time) bool {
	return o.ordered() && !o.State.Final() && !o.mayPull(now)
}

// holdsUntil is the last moment at which what was accepted of o may take its input.
func (o Order) holdsUntil() time.Time {
	if last := o.Plan.last(); o.ordered() && !last.Deadline.IsZero() {
		return last.Deadline
	}
	return o.Terms.Deadline
}

// need is what the spender must be allowed for amount to be pulled and the
// shares to stay.
func (a allowance) need(amount *big.Int) *big.Int { return new(big.Int).Add(amount, a.shares) }

// later is what will be left once the orders that stand before are through.
func (a allowance) later() allowance {
	a.present = new(big.Int).Sub(a.present, a.pending)
	if a.present.Sign() < 0 {
		a.present.SetInt64(0)
	}
	return a
}

// fits reports whether p can go on with the allowance as it is. What a plan hands
// over by a call must be allowed exactly: a larger allowance would be at the mercy
// of the contract that is called.
func (a allowance) fits(p Plan, amount *big.Int) bool {
	c := a.present.Cmp(a.need(amount))
	return c == 0 || c > 0 && !handsOver(p.last().Kind)
}

// approvals are the steps that make the allowance exactly what the plan and the
// shares need: the approval, or a reset to zero before it where the token
// refuses to change an allowance that is not zero. After a reset that is done
// none is made again: a node that does not show it yet is behind.
func (e *Engine) approvals(ctx context.Context, t Terms, spender common.Address, a allowance, reset bool) ([]Step, error) {
	approve := approveStep(t, spender, a.need(t.AmountIn), a.shares)
	if a.present.Sign() == 0 || reset {
		return []Step{approve}, nil
	}
	_, err := e.Nodes.Simulate(ctx, []chain.Call{*approve.Call})
	switch {
	case err == nil:
		return []Step{approve}, nil
	case errors.Is(err, chain.ErrWouldRevert):
		return []Step{approveStep(t, spender, new(big.Int), new(big.Int)), approve}, nil
	}
	return nil, err
}

// arrange compares the allowance with what o's plan needs before its present
// step s, and adapts the plan's approvals: what is not needed any more is left
// out, what was left out and is needed after all is made up for, and the amount
// follows the shares. ready means that s may be signed; x says then what its
// simulation may show. o must hold the allowance.
func (e *Engine) arrange(ctx context.Context, o *Order, s Step) (x Expected, ready bool, note Cause, err error) {
	x.Spender = o.Plan.Spender
	a, err := e.allowance(ctx, o.Terms, o.Plan, o.ID)
	if err != nil {
		return x, false, untold, err
	}
	x.Allowed = a.present
	fits := a.fits(o.Plan, o.Terms.AmountIn)
	switch {
	case s.Effect.Kind == Approve && (fits || !grants(s.Effect) && a.present.Sign() == 0):
		note, err = e.finish(o, Result{Skipped: true}, because(ApprovalSkipped))
		return x, false, note, err
	case s.Effect.Kind == Approve:
		note, err = e.adapt(ctx, o, a)
		return x, err == nil && note.Word == "", note, err
	case fits:
		return x, true, untold, nil
	}
	for i, r := range o.Results[:min(o.own(), len(o.Results))] {
		switch {
		case !grants(o.Plan.Steps[i].Effect):
		case r.Skipped && !e.rested(o.ID): // of two nodes one is behind
			return x, false, untold, errors.New("the allowance is not what it was a moment ago")
		case r.Skipped:
			e.turns(o.ID)
			o.rewind(i)
			return x, false, because(ApprovalAgain), nil
		default: // a node is behind, or the approval's block is gone and its bytes are offered again
			_, _, err = e.Sender.Poll(ctx, stepKey(*o, i))
			note = because(ApprovalHidden)
			o.because(note)
			return x, false, note, err
		}
	}
	return x, false, untold, askConsent(ApprovalNeeded)
}

// adapt makes o's approvals, from the present step on, those that are needed
// now. The note is empty if they already are.
func (e *Engine) adapt(ctx context.Context, o *Order, a allowance) (Cause, error) {
	last := o.Step
	for last < len(o.Plan.Steps) && o.Plan.Steps[last].Effect.Kind == Approve {
		last++
	}
	fresh, err := e.approvals(ctx, o.Terms, o.Plan.Spender, a, hasApproval(o.Plan.Steps[:o.Step]))
	if err != nil {
		return untold, err
	}
	sameCall := func(a, b Step) bool { return bytes.Equal(a.Call.Data, b.Call.Data) }
	if slices.EqualFunc(fresh, o.Plan.Steps[o.Step:last], sameCall) {
		return untold, nil
	}
	plan := o.Plan
	plan.Steps = slices.Concat(o.Plan.Steps[:o.Step], fresh, o.Plan.Steps[last:])
	if Digest(o.Terms, plan.Effects()) != o.Digest {
		return untold, askConsent(ApprovalChanged)
	}
	return because(ApprovalsAdapted), e.rewrite(o, o.Offer, plan, o.SlippageBps)
}

// hasApproval reports whether steps that are done include a change of the
// allowance.
func hasApproval(done []Step) bool {
	return slices.ContainsFunc(done, func(s Step) bool { return s.Effect.Kind == Approve })
}

// Leftovers are the allowances that an ended order granted and that nothing of
// it used: they can be revoked. An order that filled, or whose own call was
// mined and took the input, left none; one that filled in part left what was not
// taken. It is pure.
func Leftovers(o Order) []Approval {
	if !o.State.Final() || o.State == Filled && !o.partly() || pulled(o) {
		return nil
	}
	unused := o.Terms.AmountIn
	if o.partly() {
		unused = new(big.Int).Sub(unused, o.Verdict.Spent.Amount)
	}
	granted := o.granted()
	if len(granted) == 0 {
		return nil
	}
	a := granted[len(granted)-1]
	a.Amount, a.Shares = unused, nil // the rest is other orders'
	return []Approval{a}
}

// granted are the approvals of o that were mined, oldest first.
func (o Order) granted() (all []Approval) {
	for i, r := range o.Results {
		if i < len(o.Plan.Steps) && r.Evidence != nil && r.Evidence.Success && grants(o.Plan.Steps[i].Effect) {
			all = append(all, o.Plan.Steps[i].Effect.Approves[0])
		}
	}
	return all
}

// pulled reports whether o is past the step that takes its input: its own call
// was mined. What a signed order's settlement took, only its end tells.
func pulled(o Order) bool {
	last := len(o.Plan.Steps) - 1
	return last >= 0 && len(o.Results) > last && o.Plan.Steps[last].Effect.Kind != Signed && o.Results[last].Evidence != nil && o.Results[last].Evidence.Success
}
