package plan

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"swapkeep/chain"
	"swapkeep/swap"
	"swapkeep/swap/journal"
	"time"

	"github.com/ethereum/go-ethereum/common"
)

// maxWireTime is the last Unix second that RFC 3339, the format on the wire, can express.
const maxWireTime = 253402300799

// PermitExpiry returns when a Permit2 allowance expires; zero = never, or past
// what the wire can express.
func PermitExpiry(p chain.PermitAllowance) time.Time {
	if p.Expiration > maxWireTime {
		return time.Time{}
	}
	return time.Unix(int64(p.Expiration), 0).UTC() // uint48
}

// refuseDisagreement turns chain.ErrDisagree into NodesDisagree; other errors stay as they are.
func refuseDisagreement(err error) error {
	if !errors.Is(err, chain.ErrDisagree) {
		return err
	}
	return &swap.Refusal{Code: swap.NodesDisagree, Reason: err.Error() + "; nothing is signed on the word of one of them: wait, or configure endpoints that can be trusted", Err: err}
}

// CheckSimulated simulates calls and compares the movements with the terms. An opaque call is
// simulated on two hosts where two are configured, and each must show what was accepted.
func (pl *Planner) CheckSimulated(ctx context.Context, t swap.Terms, calls []chain.Call, x swap.Expected) error {
	if x.Last() != swap.Opaque {
		sim, err := pl.Nodes.Simulate(ctx, calls)
		if err != nil {
			return err
		}
		return swap.CheckSimulation(t, x, sim)
	}
	sims, err := pl.Nodes.Simulations(ctx, calls)
	if err != nil {
		return refuseDisagreement(err)
	}
	for _, sim := range sims {
		if err := swap.CheckSimulation(t, x, sim); err != nil {
			return err
		}
	}
	return nil
}

// currentAllowance returns what the spender of p may pull of the input now, in base units. For a
// hand-over it must be exactly the amount, so two hosts must agree where two are
// configured.
func (pl *Planner) currentAllowance(ctx context.Context, t swap.Terms, p swap.Plan) (*big.Int, error) {
	if !swap.HandsOver(p.LastEffect().Kind) {
		return pl.Nodes.Allowance(ctx, t.SrcChain, t.Input(), t.From(), p.Spender)
	}
	all, err := pl.Nodes.AgreedAllowances(ctx, t.SrcChain, t.From(), []chain.Grantee{{Token: t.Input(), Spender: p.Spender}})
	switch {
	case err != nil:
		return nil, refuseDisagreement(err)
	case all[0] == nil:
		return nil, fmt.Errorf("token %s does not say what %s may take of it", t.Input(), p.Spender)
	}
	return all[0], nil
}

// selectorLen is the length of a function selector in bytes.
const selectorLen = 4

// checkIsCall refuses a plain transfer in place of an opaque call.
func checkIsCall(f swap.Effect, c chain.Call) error {
	if f.Kind == swap.Opaque && len(c.Data) < selectorLen {
		return swap.RefuseField(swap.Undecodable, "data", "the %s says with %d bytes what it is for", f.Kind, len(c.Data))
	}
	return nil
}

// checkNoOtherAllowances refuses an opaque call to a contract that could take more from the account
// than the input: one with other allowances that we can know of. That a router is built
// in does not help here, since it does whatever it is told to.
func (pl *Planner) checkNoOtherAllowances(ctx context.Context, t swap.Terms, f swap.Effect) error {
	if f.Kind != swap.Opaque || t.IsIsolated() { // which granted nothing before
		return nil
	}
	tokens, err := pl.allowanceTokens(t)
	if err != nil {
		return err
	}
	held, err := pl.otherAllowances(ctx, t, f.Target, tokens)
	if err != nil {
		return refuseDisagreement(fmt.Errorf("what %s may take: %w", f.Target, err))
	}
	for _, a := range held {
		return &swap.Refusal{Code: swap.NotAsAccepted, Field: "allowance", Data: map[string]string{"token": a.Token.Hex(), "spender": a.Spender.Hex(), "amount": a.Amount.String()},
			Reason: fmt.Sprintf("%s may already take some of %s, and a call of unknown content could use that; take that allowance away first", a.Spender, a.Token)}
	}
	return nil
}

// allowanceTokens returns the tokens on which the account may have granted allowances: those of
// the swap, of earlier orders, and the wallet's own.
func (pl *Planner) allowanceTokens(t swap.Terms) ([]common.Address, error) {
	tokens := []common.Address{t.TokenIn, t.TokenOut, t.Input()}
	if net, err := pl.Nodes.Network(t.SrcChain); err == nil {
		tokens = append(tokens, net.WrappedNative)
	}
	past, err := pl.Orders.Grants(t.Account, t.SrcChain)
	if err != nil {
		return nil, err
	}
	for g := range past {
		tokens = append(tokens, g.Token)
	}
	if pl.Tokens != nil {
		tokens = append(tokens, pl.Tokens(t.SrcChain)...)
	}
	tokens = slices.DeleteFunc(tokens, func(a common.Address) bool { return a == chain.Native })
	slices.SortFunc(tokens, common.Address.Cmp)
	return slices.Compact(tokens), nil
}

// otherAllowances returns the allowances of a spender, except that of the input, which is checked
// separately, and what open orders are about to hand over through it themselves.
func (pl *Planner) otherAllowances(ctx context.Context, t swap.Terms, spender common.Address, tokens []common.Address) (held []swap.Approval, err error) {
	asked := make([]chain.Grantee, len(tokens))
	for i, token := range tokens {
		asked[i] = chain.Grantee{Token: token, Spender: spender}
	}
	amounts, err := pl.Nodes.AgreedAllowances(ctx, t.SrcChain, t.Account, asked)
	if err != nil {
		return nil, err
	}
	for i, n := range amounts {
		if n == nil || n.Sign() == 0 || tokens[i] == t.Input() {
			continue // nil: the contract does not answer as a token
		}
		due, err := pl.pendingPulls(journal.AllowanceKey{Chain: t.SrcChain, Account: t.Account, Token: tokens[i], Spender: spender})
		if err != nil {
			return nil, err
		}
		if n.Cmp(due) > 0 {
			held = append(held, swap.Approval{Token: tokens[i], Spender: spender, Amount: n})
		}
	}
	permits, err := pl.permit2Allowances(ctx, t, asked)
	return append(held, permits...), err
}

// pendingPulls returns what open orders are about to hand over through an allowance.
func (pl *Planner) pendingPulls(k journal.AllowanceKey) (*big.Int, error) {
	sum := new(big.Int)
	uses, err := pl.Orders.AcceptedUses(k)
	for _, u := range uses {
		if !u.Signed {
			sum.Add(sum, u.Amount)
		}
	}
	return sum, err
}

// permit2Allowances returns the unexpired allowances in Permit2, where it exists.
func (pl *Planner) permit2Allowances(ctx context.Context, t swap.Terms, asked []chain.Grantee) (held []swap.Approval, err error) {
	there, err := pl.Nodes.IsContract(ctx, t.SrcChain, swap.Permit2Contract)
	if err != nil || !there {
		return nil, err
	}
	kept, err := pl.Nodes.AgreedPermits(ctx, t.SrcChain, swap.Permit2Contract, t.Account, asked)
	for i, p := range kept {
		if end := PermitExpiry(p); p.Amount.Sign() > 0 && (end.IsZero() || !pl.Now().After(end)) {
			held = append(held, swap.Approval{Token: asked[i].Token, Spender: asked[i].Spender, Amount: p.Amount, Until: end})
		}
	}
	return held, err
}
