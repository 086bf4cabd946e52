package engine

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"swapkeep/chain"
	"swapkeep/swap"
	"swapkeep/swap/proof"

	"github.com/ethereum/go-ethereum/common"
)

// watch follows a step's transaction, as just polled; receipts decide. Once its bytes may
// not be sent any more, or the user cancels, a cancelling transaction takes its nonce, and
// whichever is mined decides.
func (e *Engine) watch(ctx context.Context, o *swap.Order, tx chain.Tx, ev *chain.Evidence) (swap.Cause, error) {
	setAttempts(o, tx)
	if tx.State.Final() {
		return e.ended(ctx, o, tx, ev)
	}
	if late := e.Now().After(tx.Policy.Until); o.Cancel || late {
		o.Bump = nil
		return e.cancel(ctx, o, tx)
	}
	if o.Bump != nil {
		return e.speedUp(ctx, o, tx)
	}
	o.Condition = swap.NoCondition
	return swap.NewCause(swap.Pending), nil
}

// ended applies the final state of a step's transaction to its order. A mined record
// without evidence was reorganised away: nothing is known until it is mined again.
func (e *Engine) ended(ctx context.Context, o *swap.Order, tx chain.Tx, ev *chain.Evidence) (swap.Cause, error) {
	switch tx.State {
	case chain.TxReplaced:
		o.SetCause(swap.NewCause(swap.NonceUsed))
		return e.end(ctx, o, swap.ProvenByTxReplaced, nil, swap.NonceReplaced)
	case chain.TxRejected:
		return e.rejected(ctx, o, tx)
	case chain.TxUnknown:
		o.Condition = swap.WrittenByNewer
		return swap.WaitCause(swap.WrittenByNewer), nil
	}
	if ev == nil {
		return swap.NoCause, nil
	}
	if tx.State == chain.TxCancelled {
		o.SetCause(swap.NewCause(swap.CancelMined))
		return e.end(ctx, o, swap.ProvenByCancel, ev, "")
	}
	return e.mined(ctx, o, *ev)
}

// mined handles a step's own transaction that is mined at the required depth.
func (e *Engine) mined(ctx context.Context, o *swap.Order, ev chain.Evidence) (swap.Cause, error) {
	if !ev.Success {
		o.SetCause(swap.NewCause(swap.Reverted))
		return e.end(ctx, o, swap.ProvenByRevert, &ev, "")
	}
	return e.finish(o, swap.Result{Tx: ev.Tx, Evidence: &ev}, swap.NewCause(swap.StepMined, "step", strconv.Itoa(o.Step+1)))
}

// rejected handles a transaction that every node refused before queueing it. A node may
// have lied, so the order ends only once the bytes may not be sent any more.
func (e *Engine) rejected(ctx context.Context, o *swap.Order, tx chain.Tx) (swap.Cause, error) {
	hash := tx.Last().Hash
	ev, ok, err := e.Nodes.Evidence(ctx, tx.Call.ChainID, hash)
	twin := false
	if err == nil && ev.Block != 0 {
		twin, err = e.sentByAnother(*o, hash)
	}
	switch {
	case err != nil:
		return swap.NoCause, err
	case twin: // it counts for the other order
	case ok:
		return e.mined(ctx, o, ev)
	case ev.Block != 0:
		return swap.NoCause, nil // mined after all; wait for its depth
	}
	c := swap.NewCause(swap.NotBroadcast).Quoting(swap.AuthorNode, tx.Reason)
	o.SetCause(c)
	if !e.Now().After(tx.Policy.Until) {
		return c.WithText("rejected"), nil
	}
	end := swap.ProvenByNeverSent
	if o.Cancel {
		end = swap.ProvenByNeverSentCancelled
	}
	return e.end(ctx, o, end, nil, swap.NeverSent)
}

// sentByAnother reports whether a transaction is another order's. The nonce of a rejected
// one is free again, so the same call of another order at the same price has the same
// bytes, and only one of the two orders sent it.
func (e *Engine) sentByAnother(o swap.Order, hash common.Hash) (bool, error) {
	for cursor := ""; ; {
		page, next, err := e.Journal.List(o.Terms.Account, false, cursor, 100)
		if err != nil {
			return false, err
		}
		for _, other := range page {
			if other.State == swap.Unreadable {
				return false, errors.New(other.Reason)
			}
			if other.ID == o.ID || other.Terms.SrcChain != o.Terms.SrcChain {
				continue
			}
			tx, err := e.Sender.Lookup(stepKey(other, other.Step))
			if err != nil {
				return false, err
			}
			sent := tx != nil && tx.State != chain.TxRejected && slices.ContainsFunc(tx.Attempts, func(a chain.Attempt) bool { return a.Hash == hash })
			if sent || slices.ContainsFunc(other.Results, func(r swap.Result) bool { return r.Tx == hash }) {
				return true, nil
			}
		}
		if cursor = next; next == "" {
			return false, nil
		}
	}
}

// cancel takes the nonce of a transaction that may have been sent. Errors of nodes are
// only logged: the order stays watched.
func (e *Engine) cancel(ctx context.Context, o *swap.Order, tx chain.Tx) (swap.Cause, error) {
	last := tx.Last()
	onItsWay := last.Kind == chain.AttemptCancel && !e.Now().After(last.Until)
	switch {
	case e.Unlocked():
	case onItsWay: // already signed
		o.Condition = swap.Cancelling
		return swap.NewCause(swap.ReasonCancelling), nil
	case o.Tampered():
		return swap.NoCause, nil
	default:
		o.Condition = swap.WaitingForUnlock
		return swap.NewCause(swap.KeysLocked), nil
	}
	if err := e.checkEndable(*o, e.Now().After(tx.Policy.Until)); err != nil {
		if onItsWay && !errors.As(err, new(*swap.Refusal)) { // keys are unlocked, but not this account's
			o.Condition = swap.Cancelling
			return swap.NewCause(swap.ReasonCancelling), nil
		}
		return swap.NoCause, err
	}
	done, err := e.Sender.Cancel(ctx, tx.Key, chain.Policy{Ceiling: o.GasLeft(), Until: e.Now().Add(swap.CancelTime)})
	switch {
	case errors.Is(err, chain.ErrNonceUsed):
		return swap.NoCause, nil // the nonce was used: the next poll says by what
	case errors.Is(err, chain.ErrCeiling):
		return swap.NoCause, swap.RefuseFor(swap.InsufficientGas, swap.CancelAboveCeiling, err)
	case err != nil:
		return swap.NoCause, err
	}
	setAttempts(o, *done)
	o.Condition = swap.Cancelling
	o.SetCause(swap.NoCause)
	return swap.NewCause(swap.ReasonCancelling), nil
}

// end records a proven end; by is its row in the table of proofs. With a receipt, its hosts
// are the source.
func (e *Engine) end(ctx context.Context, o *swap.Order, by string, ev *chain.Evidence, source swap.SourceCode) (swap.Cause, error) {
	if ev != nil {
		source = proof.Sources(ev.Hosts)
	}
	v := swap.VerdictBy(by)
	v.Sources, v.Evidence = source, ev
	o.Bump = nil
	return e.proven(ctx, o, v)
}
