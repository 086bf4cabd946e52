package gasless_test

import (
	"slices"

	"swapkeep/providers/providertest"
)

// harmless lists the leaves of a suite's replies that decide nothing: those of both
// protocols, and further ones.
func harmless(flows []providertest.Flow, noHash []string, further ...providertest.Harmless) []providertest.Harmless {
	list := append([]providertest.Harmless{
		{Path: "quote:requestId", Why: "opaque, never read"},
		{Path: "quote:quoteId", Why: "the provider's own name for the quote, of a bounded form; what is signed is bound by its own fields", MayChange: []string{"providerOrderId"}},
		{Path: "quote:nativeToken", Why: "never read: tokens are known by their addresses"},
		{Path: "quote:slippage", Why: "never read: the order's own least amount is held against what was asked for"},
		{Path: "quote:gasFee.**", Why: "never read: it is in the price already"},
		{Path: "quote:priceImpact", Why: "never read: prices are compared with our own source"},
		{Path: "quote:warnings", Why: "never read: the wallet has its own"},
		{Path: "order:status", Why: "a claim; the order is asked after, and proven by the chain"},
		{Path: "order:txHash", Why: "never read: the order is asked after", Lies: noHash},
		{Path: "order-status:status", Why: "a claim; the chain decides", MayChange: []string{"claim.state", "claim.providerStatus", "claim.reason"}},
		{Path: "order-status:txHash", Why: "only says where to look first", MayChange: []string{"claim.tx", "claim.chain"}},
		{Path: "order-status:amounts", Why: arrived, Lies: slices.Concat(providertest.Absent, []string{"emptied"})},
		{Path: "quote:requiredSignatures", Why: "none is required either way", Lies: providertest.Absent},
	}, further...)
	seen := map[string]bool{}
	add := func(h providertest.Harmless) {
		if !seen[h.Path] {
			seen[h.Path] = true
			list = append(list, h)
		}
	}
	for _, f := range flows {
		buy, sell := f.Request.TokenOut, f.Effects[0].Spends[0].Token
		if buy == native {
			buy = nativePlaceholder
		}
		for of, names := range map[string][]string{
			"quote:buyTokens." + buy.Hex():   {"decimals", "symbol", "priceUsd", "price", "priceBeforeFee", "amountBeforeFee", "deltaFromExpected"},
			"quote:sellTokens." + sell.Hex(): {"decimals", "symbol", "priceUsd", "price", "priceBeforeFee"},
		} {
			for _, name := range names {
				add(providertest.Harmless{Path: of + "." + name, Why: "for show and never read: tokens and prices are known from our own sources"})
			}
		}
		add(providertest.Harmless{Path: "order-status:amounts." + buy.Hex(), Why: arrived, Lies: []string{"removed", "null", "one more", "one less", "doubled", "zero", "of 256 bits"}})
		if f.Request.FeeBps > 0 && f.Offer.Routing == "JAM" {
			add(providertest.Harmless{Path: "quote:partnerFee." + buy.Hex(), Why: "what the fee comes to, within a unit; less is none of the user's", Lies: []string{"removed", "one more", "one less", "zero"}})
		}
		if f.Offer.Routing == "JAM" {
			add(providertest.Harmless{
				Path: "quote:buyTokens." + buy.Hex() + ".amount", MayChange: []string{"offer.amountOut"},
				Why: "an estimate, within what the signed minimum and the asked slippage allow",
			})
		} else {
			add(providertest.Harmless{Path: "quote:buyTokens." + buy.Hex() + ".minimumAmount", Why: "the price is firm: the signed amount is the least; shown where it is another", MayChange: []string{"offer.toldMin"}, Lies: []string{"removed", "null", "one less", "zero"}})
		}
	}
	return list
}

const arrived = "never read, but for its token: what arrived is on the chain"

// chosen are the results that the provider's choices may change.
var chosen = []string{"step0.typed", "proof"}

var harmlessJAM = []providertest.Harmless{
	{Path: "quote:toSign.nonce", Why: freeNonce, MayChange: chosen},
	{Path: "quote:toSign.executor", Why: freeWho, MayChange: chosen},
	{Path: "quote:toSign.exclusivityDeadline", Why: "up to the expiry, " + freeWho, MayChange: chosen},
	{Path: "quote:hooksHash", Why: "the one in what is signed counts", Lies: providertest.Absent},
	{Path: "quote:partnerFee", Why: "what the fee comes to, left out; its rate is in what is signed", Lies: slices.Concat(providertest.Absent, []string{"emptied"})},
	{Path: "quote:solver", Why: "shown as the provider's words, cut to plain text", MayChange: []string{"offer.route"}},
	{Path: "order-status:surplus", Why: "never read: what arrived is on the chain"},
}

var harmlessRFQ = []providertest.Harmless{
	{Path: "quote:toSign.maker_nonce", Why: freeNonce, MayChange: chosen},
	{Path: "quote:toSign.maker_address", Why: freeMaker, MayChange: chosen},
	{Path: "quote:onchainOrderType", Why: "left out; what is signed is of one maker and one token by its form", Lies: []string{"removed", "null", "emptied"}},
	{Path: "quote:makers[*]", Why: "shown as the provider's words, cut to plain text", MayChange: []string{"offer.route"}},
	{Path: "quote:makers", Why: "shown as the provider's words, cut to plain text", MayChange: []string{"offer.route"}},
	{Path: "quote:partialFillOffset", Why: "never read: it is about calldata, of which there is none"},
}
