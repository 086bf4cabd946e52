package plan

import (
	"context"
	"fmt"
	"swapkeep/chain"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

// judgeOutput reports that the output token is on no list, or could be mistaken for
// another. Whoever makes a token chooses its name and can make the pool that prices it,
// so each finding needs an acknowledgement of its own, for this plan alone.
func (pl *Planner) judgeOutput(ctx context.Context, t swap.Terms) (found []swap.Finding) {
	net, err := pl.Nodes.Network(t.DstChain)
	if t.TokenOut == chain.Native || err == nil && t.TokenOut == net.WrappedNative {
		return nil
	}
	var known swap.Recognition // zero if no list can be asked
	if pl.Recognize != nil {
		known = pl.Recognize(ctx, t.DstChain, t.TokenOut)
	}
	if !known.Listed {
		found = append(found, swap.Finding{Code: "output_unverified", Severity: swap.Acknowledge,
			Text: fmt.Sprintf("the token that you would receive, %s, is on no list that this wallet trusts: anybody can make a token, give it any name and make the market that prices it", t.TokenOut),
			Data: map[string]string{"token": t.TokenOut.Hex()}})
	}
	if known.Imitates != (common.Address{}) {
		found = append(found, swap.Finding{Code: "output_lookalike", Severity: swap.Acknowledge,
			Text: fmt.Sprintf("the token that you would receive, %s, bears the symbol or name of %s and is another one: this is what a fraud looks like", t.TokenOut, known.Imitates),
			Data: map[string]string{"token": t.TokenOut.Hex(), "imitates": known.Imitates.Hex()}})
	}
	return found
}
