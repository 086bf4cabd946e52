package engine

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"swapkeep/chain"
	"swapkeep/swap"
)

// receiptWait is how long a verdict waits for a host that serves its block's receipts. Hosts that
// withhold them can thus have a verdict that says so, but no other one.
const receiptWait = 24 * time.Hour

// proven records a verdict and moves o to its state, once the receipts that it rests on are
// checked.
func (e *Engine) proven(ctx context.Context, o *swap.Order, v swap.Verdict) (swap.Cause, error) {
	wait, err := e.checkReceipts(ctx, o, &v)
	switch {
	case err != nil:
		return swap.NoCause, err
	case wait.Reason != "":
		e.settlementWatch(o.ID).deposit = nil // read again: it may be what is forged
		o.SetCause(wait)
		return wait, nil
	case o.Condition == swap.AmountUnclear:
		o.SetCause(swap.NoCause)
	}
	dropReceiptCause(o)
	o.Verdict, o.Condition = &v, swap.NoCondition
	return swap.NewCause(swap.Proven, "state", string(v.State)), o.SetState(v.State)
}

// checkReceipts has the receipts behind v recomputed and notes in v what came of it. wait is why v
// is not believed, or not yet. An error is temporary.
func (e *Engine) checkReceipts(ctx context.Context, o *swap.Order, v *swap.Verdict) (wait swap.Cause, err error) {
	for _, r := range []struct {
		ev   *chain.Evidence
		logs bool // a recorded deposit has none; one by whose logs a payment is linked has some
	}{{v.Evidence, true}, {v.Deposit, v.Deposit != nil && len(v.Deposit.Logs) > 0}} {
		if r.ev == nil {
			continue
		}
		code, err := e.checkReceipt(ctx, o, *r.ev, r.logs)
		var forged *chain.ForgedError
		figures := []string{"block", strconv.FormatUint(r.ev.Block, 10), "chainId", strconv.FormatUint(r.ev.Chain, 10)}
		switch {
		case ctx.Err() != nil:
			return swap.NoCause, ctx.Err()
		case err != nil:
			e.Log(*o, err)
			if errors.As(err, &forged) {
				return swap.NewCause(swap.ReceiptForged, append(figures, "hosts", strings.Join(forged.Hosts, ", "))...), nil
			}
			return swap.NewCause(swap.ReceiptsAwaited, figures...), nil
		case slices.Index(swap.ReceiptCodes, code) > slices.Index(swap.ReceiptCodes, v.Receipt):
			v.Receipt = code
		}
	}
	return swap.NoCause, nil
}

// checkReceipt checks one receipt. An error says that it is forged, or that it must wait.
func (e *Engine) checkReceipt(ctx context.Context, o *swap.Order, ev chain.Evidence, logs bool) (swap.ReceiptCode, error) {
	err := e.Nodes.CheckReceipt(ctx, ev, logs)
	switch {
	case err == nil:
		return swap.Recomputed, nil
	case errors.Is(err, chain.ErrNotRecomputable):
		return swap.NotRecomputable, nil
	case errors.As(err, new(*chain.ForgedError)), ctx.Err() != nil:
		return "", err
	}
	now := e.Now().UTC()
	if since := o.ReceiptsAwaited; since.IsZero() || now.Before(since) { // or the clock was set back
		o.ReceiptsAwaited = now
	}
	if now.Sub(o.ReceiptsAwaited) < receiptWait {
		return "", err
	}
	return swap.NotRecomputed, nil
}

// dropReceiptCause removes what checkReceipts said, once it does not hold any more.
func dropReceiptCause(o *swap.Order) {
	o.ReceiptsAwaited = time.Time{}
	if c := o.Cause; c != nil && (c.Reason == swap.ReceiptsAwaited || c.Reason == swap.ReceiptForged) {
		o.SetCause(swap.NoCause)
	}
}
