package swap

import (
	"context"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
)

// A priceBand is the severity of an offer whose implied price differs from our own by at
// least off.
type priceBand struct {
	off      *big.Rat
	severity Severity
}

// priceBands are ordered widest first.
var priceBands = []priceBand{
	{big.NewRat(50, 100), Block},
	{big.NewRat(10, 100), Acknowledge},
	{big.NewRat(5, 100), Warn},
	{big.NewRat(3, 100), Note},
}

// judgePrice compares the offered output with what our own source says the input is
// worth, both in base units of the output token. Both directions count: an offer that is
// far too good is as suspicious as one that is far too bad.
func judgePrice(offered, own *big.Int) []Finding {
	if own == nil || own.Sign() <= 0 {
		return []Finding{{"price_unknown", Acknowledge, "price unavailable: no source of our own has a current price of this pair, so the offer cannot be compared", nil}}
	}
	off := new(big.Rat).SetFrac(new(big.Int).Sub(offered, own), own)
	sign := "above"
	if off.Sign() < 0 {
		off.Neg(off)
		sign = "below"
	}
	for _, b := range priceBands {
		if off.Cmp(b.off) < 0 {
			continue
		}
		f, _ := off.Float64()
		return []Finding{{"price_off", b.severity, fmt.Sprintf("the offer is %.1f %% %s the price of our own source", f*100, sign),
			map[string]string{"offered": offered.String(), "own": own.String()}}}
	}
	return nil
}

// A slippageBand is the finding for an unusual slippage, in bps.
type slippageBand struct {
	applies func(bps int) bool
	finding Finding
}

// Slippage bounds in bps; the spec has them in percent, 0 < s <= 50.
const (
	MinSlippageBps     = 1
	MaxSlippageBps     = 5000
	DefaultSlippageBps = 50
)

var slippageBands = []slippageBand{
	{func(b int) bool { return b < 10 }, Finding{"slippage_low", Warn, "slippage below 0.1 %: the swap is likely to fail", nil}},
	{func(b int) bool { return b > 500 }, Finding{"slippage_high", Warn, "slippage above 5 %: you may receive much less than quoted", nil}},
}

func judgeSlippage(bps int) (found []Finding) {
	for _, b := range slippageBands {
		if b.applies(bps) {
			found = append(found, b.finding)
		}
	}
	return found
}

// valueInNative returns what the input is worth by our own sources, in wei of the source
// chain's coin; nil if unknown.
func valueInNative(ctx context.Context, n Nodes, p Pricer, t Terms) *big.Int {
	net, err := n.Network(t.SrcChain)
	if err != nil {
		return nil
	}
	if t.TokenIn == (common.Address{}) || t.TokenIn == net.WrappedNative {
		return t.AmountIn
	}
	worth, err := p.Out(ctx, t.SrcChain, t.TokenIn, t.SrcChain, common.Address{}, t.AmountIn)
	if err != nil {
		return nil
	}
	return worth
}

// isWrap reports whether r only wraps or unwraps the native coin, one to one.
func isWrap(r QuoteRequest, wrapped common.Address) bool {
	native := common.Address{}
	return r.SrcChain == r.DstChain && wrapped != native &&
		(r.TokenIn == native && r.TokenOut == wrapped || r.TokenIn == wrapped && r.TokenOut == native)
}
