package swap

import (
	"context"
	"fmt"

	"swapkeep/chain"

	"github.com/ethereum/go-ethereum/common"
)

// proveOwnCall is the proof for plans whose last call enforces the floor
// itself: that call, with the bytes that were checked, succeeded at the chain's
// depth. ok is false while there is no evidence: its block is gone since the
// step ended, and the sender offers the bytes again.
func (e *Engine) proveOwnCall(ctx context.Context, o Order) (v Verdict, ok bool, err error) {
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
	return Prove(o.Terms, o.Plan.Steps[last].Effect, ev), true, nil
}

// Prove turns the evidence of our own mined call into a verdict. It is pure.
func Prove(t Terms, f Effect, e chain.Evidence) Verdict {
	v := Verdict{State: Failed, Sources: sources(e.Hosts), Evidence: &e}
	if !e.Success {
		return v
	}
	v.State = Filled
	if f.Kind == Wrap || f.Kind == Unwrap { // one to one or reverted; neither leaves a Transfer log
		v.Received = &Spend{t.TokenOut, t.AmountIn}
		return v
	}
	if got := netOf(chain.Transfers(e.Logs), t.Recipient)[t.TokenOut]; got != nil && got.Sign() > 0 && t.TokenOut != (common.Address{}) {
		v.Received = &Spend{t.TokenOut, got}
		v.Short = got.Cmp(t.FloorOut) < 0
	}
	return v
}

func sources(hosts []string) string {
	if len(hosts) < 2 {
		return "one source"
	}
	return fmt.Sprintf("%d sources agree", len(hosts))
}
