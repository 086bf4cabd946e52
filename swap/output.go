package swap

import (
	"context"
	"fmt"

	"swapkeep/chain"

	"github.com/ethereum/go-ethereum/common"
)

// A Recognition is what the wallet's own lists say of a token, not of its price.
type Recognition struct {
	Listed   bool           // on a list that the wallet trusts; an imported token alone is not
	Imitates common.Address // token of the built-in list that it could be mistaken for; zero = none known
}

// judgeOutput reports that the output token is on no list, or could be mistaken for
// another. Whoever makes a token chooses its name and can make the pool that prices it,
// so each finding needs an acknowledgement of its own, for this plan alone.
func (e *Engine) judgeOutput(ctx context.Context, t Terms) (found []Finding) {
	net, err := e.Nodes.Network(t.DstChain)
	if t.TokenOut == chain.Native || err == nil && t.TokenOut == net.WrappedNative {
		return nil
	}
	var known Recognition // zero if no list can be asked
	if e.Recognize != nil {
		known = e.Recognize(ctx, t.DstChain, t.TokenOut)
	}
	if !known.Listed {
		found = append(found, Finding{"output_unverified", Acknowledge,
			fmt.Sprintf("the token that you would receive, %s, is on no list that this wallet trusts: anybody can make a token, give it any name and make the market that prices it", t.TokenOut),
			map[string]string{"token": t.TokenOut.Hex()}})
	}
	if known.Imitates != (common.Address{}) {
		found = append(found, Finding{"output_imitates", Acknowledge,
			fmt.Sprintf("the token that you would receive, %s, bears the symbol or name of %s and is another one: this is what a fraud looks like", t.TokenOut, known.Imitates),
			map[string]string{"token": t.TokenOut.Hex(), "imitates": known.Imitates.Hex()}})
	}
	return found
}
