package bridge

import (
	"bytes"
	"math/big"
	"time"

	"swapkeep/chain"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

// Wrapping needs no bridge. It is done by the wrapped coin's own functions, one to one, and
// the API is not asked.

const wrapRouting, unwrapRouting = "WRAP", "UNWRAP"

// Functions of the wrapped coin (WETH9, on every chain alike).
var (
	wrapCall   = []byte{0xd0, 0xe3, 0x0d, 0xb0} // deposit()
	unwrapCall = []byte{0x2e, 0x1a, 0x7d, 0x4d} // withdraw(uint256)
)

// wraps reports whether one token is the other's wrapped form.
func (d deployment) wraps(src, dst uint64, in, out common.Address) bool {
	w := d.wrapped()
	return src == dst && (in == nativeCoin && out == w || in == w && out == nativeCoin)
}

// wrapLife is how long an offer to wrap is valid: its price does not change.
const wrapLife = 30 * time.Second

func wrapOffer(r swap.QuoteRequest, now time.Time) swap.Offer {
	o := swap.Offer{
		Provider: swap.Bridge, Request: r, Routing: wrapRouting, Route: "by the wrapped coin itself, one to one",
		AmountOut: r.AmountIn, MinOut: r.AmountIn, Expires: now.Add(wrapLife),
	}
	if r.TokenIn != nativeCoin {
		o.Routing = unwrapRouting
	}
	if n, ok := chain.NetworkByID(r.SrcChain); ok {
		o.Duration = n.BlockTime
	}
	return o
}

// wrapStep is the call that wraps or unwraps.
func (d deployment) wrapStep(t swap.Terms) swap.Step {
	c := chain.Call{ChainID: t.SrcChain, From: t.Account, To: d.wrapped(), Value: t.AmountIn, Data: bytes.Clone(wrapCall)}
	if t.TokenIn != nativeCoin {
		c.Value, c.Data = new(big.Int), append(bytes.Clone(unwrapCall), common.BigToHash(t.AmountIn).Bytes()...)
	}
	return swap.Step{Kind: swap.CallStep, Call: &c}
}

// decodeWrap requires a call to be exactly that of wrapStep.
func (d deployment) decodeWrap(t swap.Terms, c chain.Call) (swap.Effect, error) {
	if want := d.wrapStep(t).Call; c.To != want.To || !bytes.Equal(c.Data, want.Data) {
		return swap.Effect{}, refuse(swap.Undecodable, "data", "has a call that does not simply wrap or unwrap the input")
	}
	kind := swap.Wrap
	if t.TokenIn != nativeCoin {
		kind = swap.Unwrap
	}
	return swap.Effect{
		Kind: kind, Chain: t.SrcChain, Target: c.To, Spends: spends(t),
		Receives: []swap.Receive{{Token: t.TokenOut, To: t.Account, Min: new(big.Int).Set(t.AmountIn)}},
	}, nil
}
