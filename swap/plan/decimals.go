package plan

import (
	"strings"
	"swapkeep/swap"
)

// judgeDecimals warns of tokens whose decimals come only from a list, a provider or one
// host: the amounts shown in the review depend on them. The amounts signed are base
// units, which do not.
func (pl *Planner) judgeDecimals(t swap.Terms) []swap.Finding {
	if pl.Decimals == nil {
		return nil
	}
	var doubted []string
	if !pl.Decimals(t.SrcChain, t.TokenIn) {
		doubted = append(doubted, t.TokenIn.Hex())
	}
	if !pl.Decimals(t.DstChain, t.TokenOut) {
		doubted = append(doubted, t.TokenOut.Hex())
	}
	if len(doubted) == 0 {
		return nil
	}
	named := strings.Join(doubted, ", ")
	return []swap.Finding{{Code: "decimals_unconfirmed", Severity: swap.Warn,
		Text: "only a token list, a provider or one host told how many decimals " + named + " has: amounts of it may be shown too large or too small by powers of ten; what is signed is " +
			t.AmountIn.String() + " base units, for at least " + t.MinOut.String(),
		Data: map[string]string{"amountIn": t.AmountIn.String(), "minOut": t.MinOut.String(), "tokens": named}}}
}
