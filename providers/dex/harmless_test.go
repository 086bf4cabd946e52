package dex_test

import (
	"slices"

	"swapkeep/providers/providertest"
)

// harmless lists the leaves of the API's replies that decide nothing.
var harmless = []providertest.Harmless{
	{Path: "quote:requestId", Why: "opaque, never read"},
	{Path: "quote:isTokenApprovalApplicable", Why: "never read: which input needs an approval is known, and what is allowed is on the chain"},
	{Path: "quote:quote.quoteId", Why: "opaque; goes back inside the quote"},
	{Path: "quote:quote.route.**", Why: "for show; the route taken is in the calldata, which is decoded"},
	{Path: "quote:quote.routeString", Why: "shown as the provider's words, cut to plain text", MayChange: []string{"offer.route"}},
	{Path: "quote:quote.gasUseEstimate", Why: "bounded; our own node estimates before anything is signed", MayChange: []string{"offer.gas"}},
	{Path: "quote:quote.gasFee", Why: "never read: we price our own transactions"},
	{Path: "quote:quote.gasFeeUSD", Why: "never read: the provider's dollars count nowhere"},
	{Path: "quote:quote.gasFeeQuote", Why: "never read: we price our own transactions"},
	{Path: "quote:quote.maxFeePerGas", Why: "never read: we price our own transactions"},
	{Path: "quote:quote.maxPriorityFeePerGas", Why: "never read: we price our own transactions"},
	{Path: "quote:quote.priceImpact", Why: "never read: prices are compared with our own source"},
	{Path: "quote:quote.blockNumber", Why: "never read: quotes age by our clock"},
	{Path: "quote:quote.txFailureReasons", Why: "never read: our own node simulates"},
	{Path: "quote:quote.aggregatedOutputs[*].fee", Why: "a label; who gets a fee is read from the recipient"},
	{Path: "swap:requestId", Why: "opaque, never read"},
	{Path: "swap:gasFee", Why: "never read: we price our own transactions"},
	{Path: "swap:swap.maxFeePerGas", Why: "never read: we price our own transactions"},
	{Path: "swap:swap.maxPriorityFeePerGas", Why: "never read: we price our own transactions"},
	{Path: "quote:quote.orderInfo.**", Why: "never read: what is signed stands in permitData, what is posted in encodedOrder, and both are compared with ours"},
	{Path: "quote:quote.deadlineBufferSecs", Why: "never read: the deadline is in the order"},
	{Path: "quote:quote.classicGasUseEstimateUSD", Why: "never read: the provider's dollars count nowhere"},
	{Path: "quote:quote.expectedAmountIn", Why: "never read: the amount is in the order"},
	{Path: "quote:quote.expectedAmountOut", Why: "never read: the amounts are in the order"},
	{Path: "order:requestId", Why: "opaque, never read"},
	{Path: "order:orderStatus", Why: "never read: the order is asked after"},
	{Path: "orders:requestId", Why: "opaque, never read"},
	{Path: "orders:orders[*].quoteId", Why: "opaque, never read"},
	{Path: "orders:orders[*].createdAt", Why: "never read: the order's own deadline counts"},
	{Path: "orders:orders[*].input.**", Why: "never read: the order is read from its encoding, and is the one that was signed"},
	{Path: "orders:orders[*].outputs.**", Why: "never read: the order is read from its encoding, and is the one that was signed"},
	{Path: "orders:orders[*].cosignerData.**", Why: "never read: it is read from the encoding, which has all of it"},
	{Path: "orders:orders[*].cosignature", Why: "never read: it is read from the encoding"},
	{Path: "orders:orders[*].settledAmounts.**", Why: "never read: what arrived is on the chain"},
	{Path: "orders:orders[*].txHash", Why: "says where to look first; the reactor's event is looked for, wherever it is", MayChange: []string{"claim.tx", "claim.chain"}},
	{Path: "swap:swap.gasLimit", Why: "bounded; the call is simulated with it, and its cost held against the ceiling", MayChange: []string{"step0.gas", "step1.gas"}},

	{Path: "quote:quote.aggregatedOutputs.**", Why: inTheOrder, Flows: auctions, MayChange: quotedMin},
	{Path: "quote:quote.output", Why: inTheOrder, Lies: emptied, Flows: auctions},
	{Path: "quote:quote.output.amount", Why: inTheOrder, Flows: auctions},
	{Path: "quote:quote.output.token", Why: inTheOrder, Lies: providertest.Absent, Flows: auctions},
	{Path: "quote:quote.output.recipient", Why: inTheOrder, Lies: providertest.Absent, Flows: auctions},
	{Path: "quote:quote.input", Why: inTheOrder, Lies: emptied, Flows: auctions},
	{Path: "quote:quote.input.amount", Why: inTheOrder, Lies: providertest.Absent, Flows: auctions},
	{Path: "quote:quote.input.token", Why: inTheOrder, Lies: providertest.Absent, Flows: auctions},
	{Path: "quote:quote.chainId", Why: inTheOrder, Lies: providertest.Absent, Flows: auctions},
	{Path: "quote:quote.swapper", Why: inTheOrder, Lies: providertest.Absent, Flows: auctions},
	{Path: "quote:quote.slippageTolerance", Why: "the amounts are in the order, and held against what was asked for", Lies: providertest.Absent, Flows: auctions},
	{Path: "quote:quote.tradeType", Why: "the amounts are in the order, and held against what was asked for", Lies: slices.Concat(providertest.Absent, []string{"emptied"}), Flows: auctions},
	{Path: "quote:quote.input.maximumAmount", Why: "the amount itself is there", Lies: providertest.Absent},
	{Path: "quote:quote.output.minimumAmount", Why: inTheBytes},
	{Path: "quote:quote.aggregatedOutputs[*].minAmount", Why: inTheBytes, MayChange: quotedMin},
	{Path: "quote:quote.aggregatedOutputs[*].token", Why: "a label for the coin in either form; what is paid is in the calldata", Lies: []string{"the zero address"}, Flows: []string{"base-usdc-weth"}},
	{Path: "quote:permitData", Why: "none, either way", Lies: []string{"removed"}, Flows: []string{"base-eth-usdc", "base-usdc-eth", "arbitrum-direct", "base-unwrap", "base-wrap", "ethereum-split"}},
	{Path: "quote:permitTransaction", Why: "none, either way", Lies: []string{"removed"}},
	{Path: "orders:orders[*].swapper", Why: "the order itself names it", Lies: providertest.Absent},
	{Path: "swap:swap.value", Why: "nothing in other words", Lies: []string{"doubled", "half a byte less", "one byte more"}, Flows: []string{"arbitrum-usdc-usdt", "base-usdc-eth", "ethereum-usdc-split", "base-usdc-weth", "base-unwrap"}},
}

// quotedMin is the quote's own minimum, which is shown where it differs from the minimum.
var quotedMin = []string{"offer.toldMin"}

const inTheBytes = "at most shown: the minimum is worked out, and the calldata or the order held against it"

const inTheOrder = "for show: it stands in the order that is signed, which is compared with ours"

var (
	emptied  = slices.Concat(providertest.Absent, []string{"emptied", "an object"})
	auctions = []string{"ethereum-auction", "base-auction", "base-auction-eth", "arbitrum-auction"}
)

// words returns entries for words of calldata that may have other values.
func words(why string, lies []string, at ...int) (list []providertest.Harmless) {
	for _, n := range at {
		list = append(list, providertest.Harmless{Path: providertest.Word(n), Why: why, Lies: lies})
	}
	return list
}

func leg(at ...int) []providertest.Harmless {
	return words("the minimum of one leg can only make the swap fail; the minimum is enforced by the final sweep", nil, at...)
}

func hop(at ...int) []providertest.Harmless {
	return words("a price bound of one hop can only make the swap fail", nil, at...)
}

func higherMin(at ...int) []providertest.Harmless {
	return words("a higher minimum than the accepted", []string{"a byte", "one more", "doubled", "the top bit", "the maximum", "the attacker", "padded behind"}, at...)
}

// above is the minimum in recorded calldata that is above the accepted minimum.
func above(at int) []providertest.Harmless {
	return words("still the accepted minimum", []string{"one less"}, at)
}

// swept is a minimum of which the router reads 160 bits.
func swept(at ...int) []providertest.Harmless {
	return words("a higher minimum than the accepted", []string{"a byte", "one more", "doubled", "the attacker"}, at...)
}

const freePath = "through which pools and tokens it goes; what comes out is enforced by the final sweep"

func pools(at ...int) []providertest.Harmless { return words(freePath, []string{"a byte"}, at...) }

// hops are words of a path in which the next token begins.
func hops(at ...int) []providertest.Harmless {
	return words(freePath, []string{"a byte", "one more", "one less"}, at...)
}

func tagged(at int) []providertest.Harmless {
	return words("the tag's id: nothing reads it", []string{"a byte"}, at)
}

func whole(at ...int) []providertest.Harmless {
	return words("all that the router has, which is as much", []string{"the top bit"}, at...)
}

func caller(at ...int) []providertest.Harmless {
	return words("the caller, who is the recipient", []string{"one"}, at...)
}

// inPermit is what the provider may choose in a permit; inLaterPermit is the same for one
// with a nonce above zero.
var (
	inPermit = []providertest.Harmless{
		{Path: "message.details.expiration", Why: freeExpiration, Lies: []string{"one more"}},
		{Path: "message.details.nonce", Why: freeNonce, Lies: []string{"one more"}},
		{Path: "message.sigDeadline", Why: freeUntil, Lies: []string{"one more", "one less", "zero"}},
	}
	inLaterPermit = []providertest.Harmless{
		{Path: "message.details.expiration", Why: freeExpiration, Lies: []string{"one more"}},
		{Path: "message.details.nonce", Why: freeNonce, Lies: []string{"one more", "one less", "doubled", "zero"}},
		{Path: "message.sigDeadline", Why: freeUntil, Lies: []string{"one more", "one less", "zero"}},
	}
)

const (
	freeExpiration = "31 days at most, of an exact amount that is gone with the swap"
	freeNonce      = "the contract takes the next one and no other"
	freeUntil      = "an hour at most; the swap comes at once or not at all"
	freeStart      = "where the auction begins, above the minimum"
	freeCourse     = "how it goes down to the minimum, and never below"
	freeFee        = "within what the accepted rate of the fee allows"
)

// inOrder is what the provider may choose in an order, by flow.
var inOrder = map[string][]providertest.Harmless{
	"ethereum-auction": {
		free("[0].startAmount", freeStart, "one more", "one less"),
		free("[0].endAmount", "a higher minimum than the accepted", "one more"),
		free("[1].startAmount", freeFee, "one more", "one less"), free("[1].endAmount", freeFee, "one more", "one less"),
	},
	"base-auction":     slices.Concat(inV3, feeOf("[1]"), curveOf("[0].curve.relativeAmounts[0]")),
	"base-auction-eth": slices.Concat(inV3, feeOf("[1]"), feeOf("[2]"), curveOf("[0].curve.relativeAmounts[0]")),
	"arbitrum-auction": slices.Concat(inV3[1:], curveOf("[0].curve.relativeAmounts[1]"), curveOf("[0].curve.relativeAmounts[2]"), []providertest.Harmless{
		free("[0].startAmount", freeStart, "one more", "one less", "doubled", "of 256 bits"),
		free("[0].curve.relativeBlocks", freeCourse, "one more", "one less", "doubled"),
	}),
}

// inV3 is what it may choose in every DUTCH_V3 order.
var inV3 = []providertest.Harmless{
	free("[0].startAmount", freeStart, "one more", "one less"),
	free("[0].minAmount", "a higher minimum than the accepted", "one more"),
	{Path: "message.witness.baseInput.curve.relativeBlocks", Why: "of an input that stays as it is", Lies: []string{"one more", "one less", "doubled"}},
	{Path: "message.witness.startingBaseFee", Why: "nothing goes by the base fee: no line has an adjustment", Lies: []string{"one more", "of 256 bits"}},
}

// free is a field of an output.
func free(field, why string, lies ...string) providertest.Harmless {
	return providertest.Harmless{Path: "message.witness.baseOutputs" + field, Why: why, Lies: lies}
}

func curveOf(field string) []providertest.Harmless {
	return []providertest.Harmless{free(field, freeCourse, "one more", "one less", "doubled", "negative", "zero")}
}

func feeOf(output string) []providertest.Harmless {
	return []providertest.Harmless{
		free(output+".startAmount", freeFee, "one more", "one less"), free(output+".minAmount", freeFee, "one more", "one less"),
		free(output+".curve.relativeAmounts[0]", freeCourse, "one more", "one less", "doubled"),
	}
}
