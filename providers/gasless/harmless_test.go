package gasless_test

import "swapkeep/providers/providertest"

// harmless are the leaves of a suite's replies that decide nothing: those that
// both protocols have, and further ones.
func harmless(flows []providertest.Flow, further ...providertest.Harmless) []providertest.Harmless {
	list := append([]providertest.Harmless{
		{Path: "quote:requestId", Why: "opaque, never read"},
		{Path: "quote:quoteId", Why: "the provider's own name for the quote, of a bounded form; what is signed is bound by its own fields", MayChange: []string{"ref"}},
		{Path: "quote:nativeToken", Why: "never read: tokens are known by their addresses"},
		{Path: "quote:slippage", Why: "never read: the order's own least amount is held against what was asked for"},
		{Path: "quote:gasFee.native", Why: "never read: it is in the price already"},
		{Path: "quote:gasFee.usd", Why: "never read: it is in the price already"},
		{Path: "quote:priceImpact", Why: "never read: prices are compared with our own source"},
		{Path: "quote:warnings", Why: "never read: the wallet has its own"},
		{Path: "order:status", Why: "a claim; the order is asked after, and proven by the chain"},
		{Path: "order-status:status", Why: "a claim; the chain decides", MayChange: []string{"claim.state", "claim.word", "claim.reason"}},
		{Path: "order-status:txHash", Why: "only says where to look first", MayChange: []string{"claim.tx", "claim.chain"}},
	}, further...)
	seen := map[string]bool{}
	for _, f := range flows {
		buy, sell := f.Request.TokenOut, f.Effects[0].Spends[0].Token
		if buy == native {
			buy = nativeWire
		}
		for of, names := range map[string][]string{
			"quote:buyTokens." + buy.Hex():   {"decimals", "symbol", "priceUsd", "price", "priceBeforeFee", "amountBeforeFee", "deltaFromExpected"},
			"quote:sellTokens." + sell.Hex(): {"decimals", "symbol", "priceUsd", "price", "priceBeforeFee"},
		} {
			for _, name := range names {
				if path := of + "." + name; !seen[path] {
					seen[path] = true
					list = append(list, providertest.Harmless{Path: path, Why: "for show and never read: tokens and prices are known from our own sources"})
				}
			}
		}
		if f.Offer.Routing == "JAM" {
			list = append(list, providertest.Harmless{
				Path: "quote:buyTokens." + buy.Hex() + ".amount", MayChange: []string{"offer.amountOut"},
				Why: "an estimate, within what the signed minimum and the asked slippage allow",
			})
		}
	}
	return list
}

// chosen are the fields of an order that the provider may choose.
var chosen = []string{"step0.typed", "proof"}

var harmlessJAM = []providertest.Harmless{
	{Path: "quote:toSign.nonce", Why: freeNonce, MayChange: chosen},
	{Path: "quote:toSign.executor", Why: freeWho, MayChange: chosen},
	{Path: "quote:toSign.exclusivityDeadline", Why: "up to the expiry, " + freeWho, MayChange: chosen},
	{Path: "quote:solver", Why: "shown as the provider's words, cut to plain text", MayChange: []string{"offer.route"}},
	{Path: "order-status:surplus", Why: "never read: what arrived is on the chain"},
}

var harmlessRFQ = []providertest.Harmless{
	{Path: "quote:toSign.maker_nonce", Why: freeNonce, MayChange: chosen},
	{Path: "quote:toSign.maker_address", Why: "anybody but a party to the swap; the order is filled by that one's tokens or not at all", MayChange: chosen},
	{Path: "quote:makers[*]", Why: "shown as the provider's words, cut to plain text", MayChange: []string{"offer.route"}},
	{Path: "quote:makers", Why: "shown as the provider's words, cut to plain text", MayChange: []string{"offer.route"}},
	{Path: "quote:partialFillOffset", Why: "never read: it is about calldata, of which there is none"},
}
