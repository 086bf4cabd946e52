package plan

import (
	"context"
	"slices"
	"swapkeep/chain"
	"swapkeep/swap"
	"testing"

	"github.com/ethereum/go-ethereum/common"
)

// TestOutputNeedsAcknowledgements checks that a token which no list has, or which bears another's
// name, needs an acknowledgement for each, also on networks that the wallet does not read
// and if nobody can be asked. A network's coin and its wrapped form need none.
func TestOutputNeedsAcknowledgements(t *testing.T) {
	none, listed, posing := swap.Recognition{}, swap.Recognition{Listed: true}, swap.Recognition{Listed: true, Imitates: usdc}
	for name, c := range map[string]struct {
		chain uint64
		out   common.Address
		known *swap.Recognition // nil = nobody to ask
		want  []string
	}{
		"on a list":                    {1, usdc, &listed, nil},
		"on no list":                   {1, usdc, &none, []string{"output_unverified"}},
		"on a list, of another's name": {1, usdc, &posing, []string{"output_lookalike"}},
		"neither":                      {1, usdt, &swap.Recognition{Imitates: usdc}, []string{"output_lookalike", "output_unverified"}},
		"of a far network":             {137, usdt, &none, []string{"output_unverified"}},
		"the coin of a far network":    {137, native, &none, nil},
		"the coin":                     {1, native, &none, nil},
		"the wrapped coin":             {1, weth, &none, nil},
		"the same address far away":    {137, weth, &none, []string{"output_unverified"}},
		"nobody to ask":                {1, usdc, nil, []string{"output_unverified"}},
	} {
		e := Planner{Nodes: networksAlone{}}
		if c.known != nil {
			e.Recognize = func(_ context.Context, id uint64, token common.Address) swap.Recognition {
				if id != c.chain || token != c.out {
					t.Errorf("%s: asked about %s on %d", name, token, id)
				}
				return *c.known
			}
		}
		if got := acknowledgements(e.judgeOutput(t.Context(), swap.Terms{DstChain: c.chain, TokenOut: c.out})); !slices.Equal(got, c.want) {
			t.Errorf("%s: acts are asked for %v, want %v", name, got, c.want)
		}
	}
}

// networksAlone knows the built-in networks and nothing else.
type networksAlone struct{ Nodes }

func (networksAlone) Network(id uint64) (chain.Network, error) {
	n, ok := chain.NetworkByID(id)
	if !ok {
		return n, chain.ErrNoNetwork
	}
	return n, nil
}
