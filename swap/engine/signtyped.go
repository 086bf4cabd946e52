package engine

import (
	"context"
	"errors"
	"fmt"
	"math/big"

	"swapkeep/chain"
	"swapkeep/internal/failpoint"
	"swapkeep/swap"
	"swapkeep/swap/journal"
	"swapkeep/swap/plan"

	"github.com/ethereum/go-ethereum/common"
)

// signTyped signs a typed message. The signature is journaled before it is submitted.
func (e *Engine) signTyped(ctx context.Context, p swap.Provider, o *swap.Order, s swap.Step) (swap.Cause, error) {
	if _, err := e.recheck(p, *o, s); err != nil {
		return swap.NoCause, err
	}
	if s.Effect.Kind == swap.Permit && !plan.AllowsNonce(o.Permit, s.Effect.Nonce) {
		return swap.NoCause, swap.AskConsent(swap.PermitChanged)
	}
	if s.Effect.Kind == swap.Permit && s.Effect.Nonce != nil {
		if current, err := e.permitNonceCurrent(ctx, *o, s.Effect); err != nil {
			return swap.NoCause, err
		} else if !current {
			return e.refresh(ctx, p, o)
		}
	}
	var leaves []common.Hash
	if s.Effect.Kind == swap.Signed {
		var alone bool
		var err error
		if leaves, alone, err = e.checkSignedOrder(ctx, *o); err != nil {
			return swap.NoCause, err
		}
		if !alone {
			o.Condition = swap.WaitingForSimilar
			e.enqueue(o.ID)
			return swap.WaitCause(swap.WaitingForSimilar), nil
		}
	}
	if o.Condition == swap.NeedsConsent {
		return termsMetAgain(o)
	}
	failpoint.Point("engine.before_typed")
	if e.Now().After(o.Terms.Deadline) || e.stale(*o, s) {
		return swap.NoCause, nil // it expired during the checks: the next move ends o or refreshes the quote
	}
	if err := e.checkAccepted(*o); err != nil {
		return swap.NoCause, err
	}
	sig, err := e.Signer.SignTypedData(ctx, o.Terms.Account, *s.TypedData)
	if err != nil {
		return swap.NoCause, err
	}
	failpoint.Point("engine.after_typed")
	if s.Effect.Kind == swap.Permit {
		o.Permit = &swap.SignedPermit{Nonce: s.Effect.Nonce}
	}
	o.FillTraces = leaves
	return e.finish(o, swap.Result{Signature: sig}, swap.NewCause(swap.SignedMessage))
}

// checkSignedOrder checks what a simulation does not show of a signed order: that the account
// can pay it, and that its end can be proven. It returns the names of what its fill
// leaves on the chain (see Journal.checkDistinguishable); alone is false if another open order has one
// of them.
func (e *Engine) checkSignedOrder(ctx context.Context, o swap.Order) (leaves []common.Hash, alone bool, err error) {
	if err := e.Planner.CheckFunded(ctx, o.Terms, o.Wrapped, false); err != nil {
		return nil, false, err
	}
	if leaves, err = e.fillTraces(o); err != nil {
		return nil, false, err
	}
	err = e.Journal.CheckDistinguishable(o.ID, leaves)
	if errors.Is(err, journal.ErrIndistinguishable) {
		return nil, false, nil
	}
	return leaves, err == nil, err
}

// permitNonceCurrent reports whether a permit has the nonce that the contract expects now. A lower
// nonce was used since the quote, so a fresh quote is needed; a higher one means that a
// node is behind, and is an error.
func (e *Engine) permitNonceCurrent(ctx context.Context, o swap.Order, f swap.Effect) (bool, error) {
	a := f.Approves[0]
	kept, err := e.Nodes.PermitAllowances(ctx, f.Chain, f.Target, o.Terms.Account, []chain.Grantee{{Token: a.Token, Spender: a.Spender}})
	if err != nil {
		return false, err
	}
	now := new(big.Int).SetUint64(kept[0].Nonce)
	if f.Nonce.Cmp(now) > 0 {
		return false, fmt.Errorf("the permit has nonce %s, and the node expects %s: one of them is behind", f.Nonce, now)
	}
	return f.Nonce.Cmp(now) == 0, nil
}
