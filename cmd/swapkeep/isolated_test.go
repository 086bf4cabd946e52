//go:build linux || darwin

package main

import (
	"strings"
	"testing"

	"swapkeep/host/protocol"
)

const throwaway protocol.Address = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"

// isolatedOrder returns an order of USDC on Base, of which a throwaway account makes the call.
func isolatedOrder() protocol.Order {
	fund := func(token protocol.Address, amount protocol.Amount) protocol.Step {
		return protocol.Step{Kind: "call", Done: true, Effect: protocol.Effect{Kind: "fund", ChainID: 8453, Target: throwaway, Spends: []protocol.Spend{{Token: token, Amount: amount}}}}
	}
	approve := protocol.Step{Kind: "call", Effect: protocol.Effect{Kind: "approve", ChainID: 8453, Target: usdcBase, Approves: []protocol.Approval{{Token: usdcBase, Spender: thePayer, Amount: "25000000"}}}}
	opaque := protocol.Step{Kind: "call", Effect: protocol.Effect{Kind: "opaque", ChainID: 8453, Target: thePayer, TrustedTo: "intent_fillers", Spends: []protocol.Spend{{Token: usdcBase, Amount: "25000000"}}}}
	return protocol.Order{
		State: "failed", Final: true, Ended: true, Steps: []protocol.Step{fund(usdcBase, "25000000"), fund(protocol.Native, "1170000000000000"), approve, opaque},
		Terms: protocol.Terms{Provider: "intent", Account: "0xme", Isolated: throwaway, SrcChainID: 8453, TokenIn: usdcBase, AmountIn: "25000000", DstChainID: 42161, TokenOut: usdcOne, Recipient: "0xme", MinimumReceived: "24800000", RefundTo: "0xme", GasCeiling: "1"},
	}
}

// TestThrowawayAccountInReview: a review says what goes to the throwaway account, what of it is
// for network fees, and which steps that account makes.
func TestThrowawayAccountInReview(t *testing.T) {
	steps := func(o protocol.Order) string {
		l, _ := causeOrder()
		on, out := onPaper()
		l.t = on
		if err := (reviewer{l, t.Context(), on.result, o.Terms.Account}).steps(protocol.Review{Terms: o.Terms, Steps: o.Steps}); err != nil {
			t.Fatal(err)
		}
		return strings.Join(strings.Fields(out.String()), " ")
	}
	coin := isolatedOrder()
	coin.Terms.TokenIn, coin.Terms.AmountIn = protocol.Native, "1000000000000000"
	coin.Steps = coin.Steps[1:]
	for want, o := range map[string]protocol.Order{
		"1 fund transaction: 25 USDC to the throwaway account " + string(throwaway):                                                 isolatedOrder(),
		"2 fund transaction: 0.00117 ETH for network fees to the throwaway account " + string(throwaway):                            isolatedOrder(),
		"3 approve transaction: by the throwaway account: allows " + string(thePayer) + " to spend exactly 25 USDC":                 isolatedOrder(),
		"4 opaque transaction: by the throwaway account: pays 25 USDC":                                                              isolatedOrder(),
		"1 fund transaction: 0.00117 ETH, of it 0.00017 ETH for network fees, to the throwaway account " + string(throwaway) + " 2": coin,
	} {
		if got := steps(o); !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

// TestThrowawayAccountOfAnOrder: orders show says which throwaway account made the call, what
// came back, by which transaction, what stays and why, and where an input is that was not spent.
func TestThrowawayAccountOfAnOrder(t *testing.T) {
	back := func(token protocol.Address, amount protocol.Amount) *protocol.Isolation {
		return &protocol.Isolation{Returned: []protocol.Returned{{Token: token, Amount: amount, Tx: payment}}}
	}
	stays := &protocol.Isolation{Left: []protocol.Spend{{Token: usdcBase, Amount: "25000000"}}}
	for _, c := range []struct {
		isolation *protocol.Isolation
		want      []string
	}{
		{nil, []string{"throwaway account " + string(throwaway) + ". It makes the calls of this order and is used for nothing else. What is left there comes back by itself while the wallet is unlocked.",
			"funds Your 25 USDC is in the throwaway account on Base. It comes back to 0xme by itself while the wallet is unlocked."}},
		{back(usdcBase, "25000000"), []string{"came back 25 USDC, transaction https://basescan.org/tx/" + string(payment), "funds 25 USDC came back from the throwaway account to 0xme on Base."}},
		{back(thePayer, "1"), []string{"came back 0.000000000000000001 WETH, transaction ", "funds Your 25 USDC is in the throwaway account"}},
		{back(protocol.Native, "1"), []string{"funds Your 25 USDC is no longer in the throwaway account on Base: the contract that was allowed to take it has taken it."}},
		{stays, []string{"stays 25 USDC stays there: moving it costs more than it is worth", "funds Your 25 USDC is in the throwaway account on Base and stays there."}},
	} {
		o := isolatedOrder()
		o.Isolation = c.isolation
		text := shown(t, o)
		for _, want := range c.want {
			if !strings.Contains(text, want) {
				t.Errorf("no %q in\n%s", want, text)
			}
		}
	}
	unfunded := isolatedOrder()
	unfunded.Steps[0].Done = false
	if text := shown(t, unfunded); !strings.Contains(text, "funds Your 25 USDC is still in 0xme on Base.") {
		t.Errorf("of what was never moved: %s", text)
	}
}
