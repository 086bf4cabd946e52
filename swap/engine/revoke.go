package engine

import (
	"context"
	"math/big"

	"swapkeep/chain"
	"swapkeep/swap"
	"swapkeep/swap/proof"

	"github.com/ethereum/go-ethereum/common"
)

// recheckUnneeded checks again, right before a revoke is signed, that no order accepted
// meanwhile needs the allowance.
func (e *Engine) recheckUnneeded(o swap.Order) error {
	if o.Terms.Provider != swap.Wallet {
		return nil
	}
	return checkNotNeeded(e.Journal, o.Terms.Account, o.Terms.SrcChain, swap.GrantOf(o.Plan.Steps[0].Effect), o.ID, e.Now())
}

// proveRevoked proves a revoke by the receipt of our call, at the chain's depth, with the
// log that the allowance is now zero. Not every token writes that log, and some report
// failure without reverting, so without the log the allowance itself is read.
func (e *Engine) proveRevoked(ctx context.Context, o swap.Order) (swap.Verdict, bool, error) {
	v, ok, err := e.proveOwnCall(ctx, o)
	g := swap.GrantOf(o.Plan.Steps[0].Effect)
	if err != nil || !ok || v.State != swap.Filled {
		return v, ok, err
	}
	by := swap.ProvenByRevoke
	if !proof.RevokedIn(v.Evidence.Logs, o.Terms.Account, g) {
		left, err := allowanceOf(ctx, e.Nodes, o.Terms.SrcChain, o.Terms.Account, g)
		if err != nil {
			return v, false, err
		}
		if left.Sign() != 0 {
			by = swap.ProvenByKept
		}
	}
	revoked := swap.VerdictBy(by)
	revoked.Sources, revoked.Evidence = v.Sources, v.Evidence
	return revoked, true, nil
}

// allowanceOf reads from the chain what is left of g, in base units.
func allowanceOf(ctx context.Context, n Nodes, id uint64, owner common.Address, g swap.Grant) (*big.Int, error) {
	if g.Kind == swap.ByToken {
		return n.Allowance(ctx, id, g.Token, owner, g.Spender)
	}
	all, err := n.PermitAllowances(ctx, id, swap.Permit2Contract, owner, []chain.Grantee{{Token: g.Token, Spender: g.Spender}})
	if err != nil {
		return nil, err
	}
	return all[0].Amount, nil
}
