package plan

import (
	"bytes"
	"context"
	"errors"
	"math/big"
	"slices"
	"swapkeep/chain"
	"swapkeep/swap"
	"swapkeep/swap/journal"

	"github.com/ethereum/go-ethereum/common"
)

// approveCall returns the call that sets spender's allowance on the input token to n.
func approveCall(t swap.Terms, spender common.Address, n *big.Int) chain.Call {
	data := slices.Concat(erc20Approve, pad(spender), common.BigToHash(n).Bytes())
	return chain.Call{ChainID: t.SrcChain, From: t.From(), To: t.Input(), Value: new(big.Int), Data: data}
}

// approveStep returns the plan step that approves n; shares is the part of n that other
// orders need.
func approveStep(t swap.Terms, spender common.Address, n, shares *big.Int) swap.Step {
	c := approveCall(t, spender, n)
	a := swap.Approval{Token: c.To, Spender: spender, Amount: new(big.Int).Set(n)}
	if shares.Sign() > 0 {
		a.Shares = shares
	}
	return swap.Step{Kind: swap.CallStep, Call: &c, Effect: swap.Effect{Kind: swap.Approve, Chain: t.SrcChain, Target: c.To, Approves: []swap.Approval{a}}}
}

// IsApprove reports whether c, by its selector, approves a spender of an ERC-20.
func IsApprove(c chain.Call) bool { return bytes.HasPrefix(c.Data, erc20Approve) }

// decodeApprove decodes the calldata of an approval. It accepts only the canonical
// encoding, on the input token and without value. shares comes from our own record of the
// step, since the calldata does not contain it.
func decodeApprove(t swap.Terms, c chain.Call, shares *big.Int) (swap.Effect, error) {
	w := words(c.Data[len(erc20Approve):])
	switch {
	case c.To != t.Input() || c.To == (common.Address{}):
		return swap.Effect{}, swap.RefuseField(swap.NotAsAccepted, "to", "the approval calls %s, which is not the input token", c.To)
	case len(w) != 2 || !isAddress(w[0]):
		return swap.Effect{}, swap.RefuseField(swap.Undecodable, "data", "the approval is not in its one canonical encoding")
	case c.Value == nil || c.Value.Sign() != 0:
		return swap.Effect{}, swap.RefuseField(swap.NotAsAccepted, "value", "the approval would also send the coin").WithAmounts(swap.OfCoin, c.Value, nil)
	}
	return swap.Effect{Kind: swap.Approve, Chain: c.ChainID, Target: c.To, Approves: []swap.Approval{{
		Token: c.To, Spender: common.BytesToAddress(w[0]), Amount: new(big.Int).SetBytes(w[1]), Shares: shares,
	}}}, nil
}

// DecodeStep returns what a step would do, from its bytes: our own decoder reads transfers
// to the isolated account, approvals and the wrap that goes first, the provider's reads
// everything else. A late step is decoded as a call. A step that is not understood, or not
// within the terms, is refused. It does no I/O.
func DecodeStep(p swap.Provider, t swap.Terms, s swap.Step) (swap.Effect, error) {
	if t.IsIsolated() && s.Kind == swap.CallStep && s.Call != nil && s.Call.From == t.Account && s.Call.ChainID == t.SrcChain {
		return swap.DecodeFund(t, *s.Call)
	}
	if s.Call != nil {
		if err := CheckCall(t, *s.Call); err != nil {
			return swap.Effect{}, err
		}
	}
	if s.Kind == swap.DeferredStep {
		s.Kind = swap.CallStep
	}
	if t.Provider != swap.Wallet && s.Kind == swap.CallStep && IsApprove(*s.Call) {
		var shares *big.Int
		if len(s.Effect.Approves) == 1 {
			shares = s.Effect.Approves[0].Shares
		}
		return decodeApprove(t, *s.Call, shares)
	}
	if s.Kind == swap.CallStep && t.IsWrapFirst(*s.Call) {
		return swap.WrapEffect(*s.Call), nil
	}
	f, err := p.Decode(t, s)
	if err != nil {
		return f, err
	}
	if t.WrapsFirst(f) {
		return f, swap.RefuseField(swap.NotAsAccepted, "to", "the coin is wrapped by the wallet's own call only")
	}
	if s.Call != nil {
		if err = checkIsCall(f, *s.Call); err == nil {
			err = checkValue(*s.Call, f)
		}
	}
	return f, err
}

// checkValue fails unless a call's value equals the native coin that its effect spends.
func checkValue(c chain.Call, f swap.Effect) error {
	coins := new(big.Int)
	for _, s := range f.Spends {
		if s.Token == chain.Native && s.Amount != nil {
			coins.Add(coins, s.Amount)
		}
	}
	if c.Value.Cmp(coins) != 0 {
		return swap.RefuseField(swap.NotAsAccepted, "value", "the transaction sends another amount of the coin than its effect spends").WithAmounts(swap.OfCoin, c.Value, coins)
	}
	return nil
}

// An Allowance is the present state of the allowance that a plan needs, in base units.
type Allowance struct {
	Present *big.Int // what the spender may pull now
	shares  *big.Int // the part of it needed by signed open orders
	pending *big.Int // the part of it needed by the other open orders
}

// Allowance reads the allowance of p's spender, and how much of it orders other than
// order need. It may be repeated. An error of the nodes or of the journal says nothing of it.
func (pl *Planner) Allowance(ctx context.Context, t swap.Terms, p swap.Plan, order string) (a Allowance, err error) {
	if a.Present, err = pl.currentAllowance(ctx, t, p); err != nil {
		return a, err
	}
	uses, err := pl.Orders.AcceptedUses(journal.AllowanceKey{Chain: t.SrcChain, Account: t.From(), Token: t.Input(), Spender: p.Spender})
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

// Need returns the allowance required to pull amount and leave the shares, in base units.
func (a Allowance) Need(amount *big.Int) *big.Int { return new(big.Int).Add(amount, a.shares) }

// afterPending returns the allowance as it will be once the pending orders have pulled theirs.
func (a Allowance) afterPending() Allowance {
	a.Present = new(big.Int).Sub(a.Present, a.pending)
	if a.Present.Sign() < 0 {
		a.Present.SetInt64(0)
	}
	return a
}

// Fits reports whether p can use the allowance as it is. A plan that hands its input over
// by a call needs exactly the amount, since the called contract could take the rest of a
// larger allowance.
func (a Allowance) Fits(p swap.Plan, amount *big.Int) bool {
	c := a.Present.Cmp(a.Need(amount))
	return c == 0 || c > 0 && !swap.HandsOver(p.LastEffect().Kind)
}

// Approvals returns the steps that set the allowance to exactly what the plan and the
// shares need: the approval, preceded by a reset to zero if the simulation shows that the
// token refuses to change a nonzero allowance. If an approval or reset is among the done
// steps, no other reset is made, since a node that does not show it yet is behind.
func (pl *Planner) Approvals(ctx context.Context, t swap.Terms, spender common.Address, a Allowance, done []swap.Step) ([]swap.Step, error) {
	approve := approveStep(t, spender, a.Need(t.AmountIn), a.shares)
	if a.Present.Sign() == 0 || hasApproval(done) {
		return []swap.Step{approve}, nil
	}
	_, err := pl.Nodes.Simulate(ctx, []chain.Call{*approve.Call})
	switch {
	case err == nil:
		return []swap.Step{approve}, nil
	case errors.Is(err, chain.ErrWouldRevert):
		return []swap.Step{approveStep(t, spender, new(big.Int), new(big.Int)), approve}, nil
	}
	return nil, err
}

// hasApproval reports whether the finished steps include an approval or reset.
func hasApproval(done []swap.Step) bool {
	return slices.ContainsFunc(done, func(s swap.Step) bool { return s.Effect.Kind == swap.Approve })
}
