package intent

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"swapkeep/swap"
)

// TestStatedFee: a stated fee is taken over at the route's rate. A rate above the requested
// one, or another receiver, is refused. A route that states nothing gives FeeRequested only.
func TestStatedFee(t *testing.T) {
	ours, theirs := fmt.Sprintf(`,"referrer":%q`, exampleFee), fmt.Sprintf(`,"referrer":%q`, exampleAccount)
	for _, c := range []struct {
		more  string // further members of the route's quote
		asks  int    // bps, in the request
		taken int    // bps, in the offer's fees
		asked int    // bps, in the offer's FeeRequested
		code  swap.Code
		field string
	}{
		{more: "", asks: 40, asked: 40},
		{more: "", asks: 0},
		{more: ours, asks: 40, asked: 40},
		{more: `,"referrerFeeBps":null`, asks: 40, asked: 40},
		{more: `,"referrerFeeBps":40`, asks: 40, taken: 40},
		{more: ours + `,"referrerFeeBps":"40"`, asks: 40, taken: 40},
		{more: ours + `,"referrerFeeBps":25`, asks: 40, taken: 25},
		{more: `,"referrerFeeBps":0`, asks: 40},
		{more: theirs + `,"referrerFeeBps":0`, asks: 40},
		{more: `,"referrerFeeBps":0`, asks: 0},
		{more: `,"referrerFeeBps":41`, asks: 40, code: swap.NotAsAccepted, field: "feeBps"},
		{more: `,"referrerFeeBps":1`, asks: 0, code: swap.NotAsAccepted, field: "feeBps"},
		{more: theirs + `,"referrerFeeBps":40`, asks: 40, code: swap.NotAsAccepted, field: "feeReceiver"},
		{more: `,"referrerFeeBps":"0.4 %"`, asks: 40, code: swap.ProviderInvalidResponse},
		{more: `,"referrerFeeBps":-1`, asks: 40, code: swap.ProviderInvalidResponse},
		{more: `,"referrer":"us","referrerFeeBps":40`, asks: 40, code: swap.ProviderInvalidResponse},
	} {
		r := exampleRequest()
		if r.FeeBps = c.asks; c.asks == 0 {
			r.FeeReceiver = [20]byte{}
		}
		p := at(t, says(200, answer([]line{{id: "A", out: 900, ends: 600, more: c.more}}, exampleNow)))
		offers, err := p.Quote(t.Context(), r)
		if c.code != "" {
			if refused := (*swap.Refusal)(nil); !errors.As(err, &refused) || refused.Code != c.code || c.field != "" && refused.Field != c.field {
				t.Errorf("%s: want %s of %q, got %v", c.more, c.code, c.field, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.more, err)
			continue
		}
		var want []swap.Payment
		if c.taken > 0 {
			want = []swap.Payment{{Token: r.TokenOut, To: r.FeeReceiver, Bps: c.taken}}
		}
		if o := offers[0]; !slices.Equal(o.Fees, want) || o.FeeRequested != c.asked {
			t.Errorf("%s: fees %+v, %d bps asked for, want %+v and %d", c.more, o.Fees, o.FeeRequested, want, c.asked)
		}
	}
}
