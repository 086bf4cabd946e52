package swap

import (
	"context"
	"fmt"

	"swapkeep/chain"

	"github.com/ethereum/go-ethereum/common"
)

// A Recognition is what the wallet's own lists say of a token. It is no price.
type Recognition struct {
	Listed   bool           // on a list that the wallet trusts; that somebody imported it is none
	Imitates common.Address // the token of the built-in list that it could be taken for; zero = none that is known
}

// judgeOutput says of what is bought that no list has it, or that it could be taken for
// another. Who makes a token chooses its name and can make the pool that prices it, so
// that each is accepted by an act of its own, for this plan alone.
func (e *Engine) judgeOutput(ctx context.Context, t Terms) (found []Finding) {
	net, err := e.Nodes.Network(t.DstChain)
	if t.TokenOut == chain.Native || err == nil && t.TokenOut == net.WrappedNative {
		return nil
	}
	var known Recognition // of nothing, where nobody can tell
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
