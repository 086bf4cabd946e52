package dex

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"math/big"
	"net/http"
	"strings"
	"testing"

	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

// TestSpread checks that an auction is compared with what the pools give in the same round,
// else with our own price, and else is refused, and that a refused auction leaves the
// pools' offer.
func TestSpread(t *testing.T) {
	const end, pools = 368_277_292_504_977_636, 369_790_256_343_338_260
	sinks := func(to int64) func(*dutchOrder) {
		return func(o *dutchOrder) {
			o.outputs[0].end = big.NewInt(to)
			o.outputs[1].end = big.NewInt(max(1, to*40/9960))
		}
	}
	const minOut = pools / 10_000 * 9_950
	priced := func(n int64) OwnPrice {
		return func(context.Context, uint64, common.Address, common.Address, *big.Int) (*big.Int, error) {
			return big.NewInt(n), nil
		}
	}
	unknown := func(context.Context, uint64, common.Address, common.Address, *big.Int) (*big.Int, error) {
		return nil, errors.New("unknown")
	}
	for name, c := range map[string]struct {
		lie   func(*dutchOrder)
		pools bool
		own   OwnPrice
		want  string    // routings, best first
		code  swap.Code // where there is no offer
	}{
		"as recorded":                           {nil, true, unknown, "DUTCH_V3 CLASSIC", ""},
		"begins far above the pools":            {func(o *dutchOrder) { o.rise(2) }, true, unknown, "DUTCH_V3 CLASSIC", ""},
		"ends at what slippage leaves":          {sinks(pools*9_950/10_000 + 1), true, unknown, "DUTCH_V3 CLASSIC", ""},
		"ends below what slippage leaves":       {sinks(minOut - 1_000_000), true, unknown, "CLASSIC", ""},
		"ends at one base unit":                 {sinks(1), true, priced(1), "CLASSIC", ""},
		"an order of another swapper":           {func(o *dutchOrder) { o.swapper = testAttacker }, true, unknown, "CLASSIC", ""},
		"alone, at our price":                   {nil, false, priced(end), "DUTCH_V3", ""},
		"alone, far below our price":            {nil, false, priced(2 * end), "", swap.NotAsAccepted},
		"alone, ends at one":                    {sinks(1), false, priced(end), "", swap.NotAsAccepted},
		"alone, where we have no price":         {nil, false, unknown, "", swap.NoRoute},
		"alone, where our price is nothing":     {nil, false, priced(0), "", swap.NoRoute},
		"with pools, and too late to be signed": {nil, true, unknown, "", swap.NoRoute},
		"alone, and not an order to be read":    {func(o *dutchOrder) { o.reactor = testAttacker }, false, priced(end), "", swap.NotPinned},
	} {
		reply := tree(t, "base-auction.quote.json")
		if c.lie != nil {
			o := recordedOrder(t, "base-auction.quote.json").clone()
			c.lie(&o)
			consistent(t, reply, o)
		}
		auction, pools := written(t, reply), tree(t, "base-auction.pools.json")
		if strings.Contains(name, "too late") {
			pools["permitData"].(map[string]any)["values"].(map[string]any)["sigDeadline"] = "1"
		}
		p := serve(t, func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			var asked struct{ Protocols []string }
			if err := json.Unmarshal(body, &asked); err != nil {
				t.Error(err)
			}
			switch {
			case strings.Contains(strings.Join(asked.Protocols, " "), "UNISWAPX"):
				_, _ = w.Write(auction)
			case c.pools:
				_, _ = w.Write(written(t, pools))
			default:
				w.WriteHeader(http.StatusNotFound)
				_, _ = w.Write([]byte(`{"errorCode":"NoRouteFoundError"}`))
			}
		})
		p.ownPrice = c.own
		var left error
		offers, err := p.Quote(swap.OnPartRefused(t.Context(), func(err error) { left = err }), usdcRequest())
		part := map[string]swap.Code{"an order of another swapper": swap.NotAsAccepted, "with pools, and too late to be signed": swap.QuoteExpired}[name]
		if !c.pools {
			part = swap.NoRoute
		}
		if codeOf(left) != part {
			t.Errorf("%s: told that %v was left out", name, left)
		}
		var got []string
		for _, o := range offers {
			got = append(got, o.Routing)
			if o.Routing == "DUTCH_V3" && o.AmountOut.Cmp(o.MinOut) != 0 {
				t.Errorf("%s: what is shown is not its minimum", name)
			}
		}
		if strings.Join(got, " ") != c.want || codeOf(err) != c.code {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

// ownPrice is slightly below what the recorded auctions end at, with all fees and half a
// percent of slippage added.
func ownPrice(_ context.Context, chainID uint64, _, _ common.Address, _ *big.Int) (*big.Int, error) {
	if own, ok := map[uint64]int64{1: 249_400_000_000_000_000, 8453: 370_700_000_000_000_000}[chainID]; ok {
		return big.NewInt(own), nil
	}
	return nil, errors.New("unknown")
}
