package plan

import (
	"context"
	"fmt"
	"math/big"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

// A priceBand is the severity of an offer whose implied price differs from our own by at
// least off.
type priceBand struct {
	off      *big.Rat
	severity swap.Severity
}

// priceBands are ordered widest first.
var priceBands = []priceBand{
	{big.NewRat(50, 100), swap.Block},
	{big.NewRat(10, 100), swap.Acknowledge},
	{big.NewRat(5, 100), swap.Warn},
	{big.NewRat(3, 100), swap.Note},
}

// judgePrice compares the offered output with what our own source says the input is
// worth, both in base units of the output token. Both directions count: an offer that is
// far too good is as suspicious as one that is far too bad.
func judgePrice(offered, own *big.Int) []swap.Finding {
	if own == nil || own.Sign() <= 0 {
		return []swap.Finding{{Code: "price_unknown", Severity: swap.Acknowledge, Text: "price unavailable: no source of our own has a current price of this pair, so the offer cannot be compared", Data: nil}}
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
		return []swap.Finding{{Code: "price_impact", Severity: b.severity, Text: fmt.Sprintf("the offer is %.1f %% %s the price of our own source", f*100, sign),
			Data: map[string]string{"offered": offered.String(), "own": own.String()}}}
	}
	return nil
}

// A slippageBand is the finding for an unusual slippage, in bps.
type slippageBand struct {
	applies func(bps int) bool
	finding swap.Finding
}

var slippageBands = []slippageBand{
	{func(b int) bool { return b < 10 }, swap.Finding{Code: "slippage_low", Severity: swap.Warn, Text: "slippage below 0.1 %: the swap is likely to fail", Data: nil}},
	{func(b int) bool { return b > 500 }, swap.Finding{Code: "slippage_high", Severity: swap.Warn, Text: "slippage above 5 %: you may receive much less than quoted", Data: nil}},
}

func judgeSlippage(bps int) (found []swap.Finding) {
	for _, b := range slippageBands {
		if b.applies(bps) {
			found = append(found, b.finding)
		}
	}
	return found
}

// valueInNative returns what the input is worth by our own sources, in wei of the source
// chain's coin; nil if unknown.
func valueInNative(ctx context.Context, n Nodes, p Pricer, t swap.Terms) *big.Int {
	net, err := n.Network(t.SrcChain)
	if err != nil {
		return nil
	}
	if t.TokenIn == (common.Address{}) || t.TokenIn == net.WrappedNative {
		return t.AmountIn
	}
	worth, err := p.Worth(ctx, t.SrcChain, t.TokenIn, t.AmountIn)
	if err != nil {
		return nil
	}
	return worth
}
