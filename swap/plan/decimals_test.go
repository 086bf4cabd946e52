package plan

import (
	"slices"
	"swapkeep/swap"
	"testing"

	"github.com/ethereum/go-ethereum/common"
)

// TestReviewNamesUnconfirmedDecimals checks that a review names the tokens whose decimals were
// reported only by a list, a provider or one host, and the signed amounts in base units.
func TestReviewNamesUnconfirmedDecimals(t *testing.T) {
	terms := testTerms()
	terms.TokenIn, terms.TokenOut = usdc, weth
	for name, c := range map[string]struct {
		confirmed []common.Address
		want      string
	}{
		"both known": {[]common.Address{usdc, weth}, ""},
		"in":         {[]common.Address{weth}, usdc.Hex()},
		"out":        {[]common.Address{usdc}, weth.Hex()},
		"neither":    {nil, usdc.Hex() + ", " + weth.Hex()},
	} {
		e := &Planner{Decimals: func(chain uint64, token common.Address) bool {
			return chain == terms.SrcChain && slices.Contains(c.confirmed, token)
		}}
		found := e.judgeDecimals(terms)
		if c.want == "" {
			if len(found) != 0 {
				t.Errorf("%s: %+v", name, found)
			}
			continue
		}
		if len(found) != 1 || found[0].Code != "decimals_unconfirmed" || found[0].Severity != swap.Warn || found[0].Data["tokens"] != c.want ||
			found[0].Data["amountIn"] != terms.AmountIn.String() || found[0].Data["minOut"] != terms.MinOut.String() {
			t.Errorf("%s: %+v", name, found)
		}
	}
}
