package engine

import (
	"context"
	"fmt"
	"math/big"

	"swapkeep/chain"
	"swapkeep/swap"
	"swapkeep/swap/proof"

	"github.com/ethereum/go-ethereum/common"
)

// proveOwnCall proves a plan whose last call enforces the minimum received: that call,
// with the checked bytes, succeeded at the chain's depth. ok is false while there is no
// evidence because the call's block was reorganised away since the step ended; the sender
// then broadcasts the bytes again.
func (e *Engine) proveOwnCall(ctx context.Context, o swap.Order) (v swap.Verdict, ok bool, err error) {
	if len(o.Results) != len(o.Plan.Steps) {
		return v, false, fmt.Errorf("order %s: %d results for %d steps", o.ID, len(o.Results), len(o.Plan.Steps))
	}
	last := len(o.Results) - 1
	ev, ok, err := e.Nodes.Evidence(ctx, o.Terms.SrcChain, o.Results[last].Tx)
	if err == nil && !ok {
		_, _, err = e.Sender.Poll(ctx, stepKey(o, last))
	}
	if err != nil || !ok {
		return v, false, err
	}
	return proof.Prove(o.Terms, o.Plan.Steps[last].Effect, ev), true, nil
}

// proveProvider searches for the chain evidence that a provider's order needs. A nil
// verdict means that nothing is proven yet; an error is temporary.
func (e *Engine) proveProvider(ctx context.Context, o swap.Order, p swap.Proof, l *settlementWatch) (v *swap.Verdict, f findings, err error) {
	if len(p.Fill) > 0 {
		return e.proveSigned(ctx, o, p, l)
	}
	d, last := proof.DepositEvidence(o)
	if d == nil {
		return nil, f, fmt.Errorf("order %s settles without a transaction of its own", o.ID)
	}
	var unclear common.Hash
	if p.Own {
		if v, unclear, err = e.proveOpaque(ctx, o, p, last); v != nil || err != nil {
			return v, f, err
		}
	}
	v, f, err = e.proveDeposit(ctx, o, p, *d, l)
	f.unclear = unclear
	return v, f, err
}

// proveOpaque proves a swap in one call that could not be decoded, whose success does not
// say what it delivered. Less than the minimum received ends the order only if no other
// Payment is awaited. unclear is the call's hash if nothing says what it delivered.
func (e *Engine) proveOpaque(ctx context.Context, o swap.Order, p swap.Proof, step int) (_ *swap.Verdict, unclear common.Hash, err error) {
	_, ev, err := e.Sender.Poll(ctx, stepKey(o, step))
	if err != nil || ev == nil {
		return nil, unclear, err
	}
	v := swap.VerdictBy(swap.ProvenByOpaqueCall)
	if !ev.Success {
		v = swap.VerdictBy(swap.ProvenByRevert)
	}
	v.Sources, v.Evidence = proof.Sources(ev.Hosts), ev
	if !ev.Success {
		return &v, unclear, nil
	}
	got, err := e.callOutput(ctx, o, *ev, &v)
	switch {
	case err != nil:
		return nil, unclear, err
	case got == nil:
		return nil, ev.Tx, nil
	}
	v.Received, v.BelowMinimum = &swap.Spend{Token: o.Terms.TokenOut, Amount: got}, got.Cmp(o.Terms.MinOut) < 0
	if v.BelowMinimum && (p.Arrival != nil || got.Sign() == 0 && p.Refund != nil) {
		return nil, unclear, nil
	}
	return &v, unclear, nil
}

// callOutput returns what our own call brought the recipient, in base units, and sets v.Logs
// to what shows it: the token's transfers or, for the native coin, the block's balance
// change, to which it adds what the account's own transactions took. It returns nil if
// another order of ours has, or may have, its end in the same call, or if the block may
// have changed that balance in another way that is not known to the wei.
func (e *Engine) callOutput(ctx context.Context, o swap.Order, ev chain.Evidence, v *swap.Verdict) (*big.Int, error) {
	t := o.Terms
	if proof.FillsRelayTo(ev.Logs, t.Recipient) {
		return nil, nil // it pays for another deposit
	}
	if t.TokenOut != chain.Native {
		if alone, err := e.settledAlone(o, ev); err != nil || !alone {
			return nil, err
		}
		v.Logs = proof.RefsOf(ev.Chain, ev.Tx, proof.TransfersTo(ev.Logs, t.TokenOut, t.Recipient)...)
		got := swap.NetOf(chain.Transfers(ev.Logs), t.Recipient)[t.TokenOut]
		if got == nil || got.Sign() < 0 {
			got = new(big.Int)
		}
		return got, nil
	}
	g, hosts, err := e.Nodes.BalanceDelta(ctx, ev.Chain, t.Recipient, ev.Block)
	if err != nil {
		return nil, err
	}
	v.Logs = []swap.LogRef{{Chain: ev.Chain, Tx: ev.Tx, Index: -1, BalanceIncrease: true, Block: ev.Block, Account: t.Recipient}}
	free, err := e.Journal.Unused(o.ID, v.Logs)
	if err != nil {
		return nil, err
	}
	took := new(big.Int)
	if t.Recipient == t.Account {
		if took, err = e.nativeOutflow(ctx, t.Account, ev, g); err != nil {
			return nil, err
		}
	} else if g.Sent > 0 {
		took = nil
	}
	if took == nil || len(free) == 0 {
		return nil, nil
	}
	if swept, err := e.maySweepInBlock(ctx, t.Recipient, ev); err != nil || swept {
		return nil, err
	}
	got := took.Add(took, g.Amount)
	v.Sources = proof.Sources(proof.FewerHosts(ev.Hosts, hosts))
	if got.Sign() < 0 {
		return new(big.Int), nil
	}
	if anothers, err := e.gainContested(o, ev, got); err != nil || anothers {
		return nil, err
	}
	return got, nil
}
