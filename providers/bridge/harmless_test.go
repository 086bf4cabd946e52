package bridge_test

import (
	"slices"

	"swapkeep/providers/providertest"
)

// harmless lists the leaves of the replies that decide nothing.
var harmless = func() (list []providertest.Harmless) {
	for _, g := range []struct {
		why       string
		mayChange []string
		paths     []string
	}{
		{"for show and never read", nil, []string{
			"v2:steps[*].action", "v2:steps[*].description",
			"v2:details.operation", "v2:details.rate", "v2:details.userBalance", "v2:details.isFixedRate", "v2:details.route.**",
			"v2:details.totalImpact.**", "v2:details.swapImpact.**", "v2:details.expandedPriceImpact.**",
			"v2:details.slippageTolerance.origin.**", "v2:details.slippageTolerance.destination.**",
			"v2:details.currencyIn.amountFormatted", "v2:details.currencyIn.amountUsd",
			"v2:details.currencyOut.amountFormatted", "v2:details.currencyOut.amountUsd",
			"v2:details.refundCurrency.amountFormatted", "v2:details.refundCurrency.amountUsd",
			"v3:details", "v3:quoteCreatedAt",
		}},
		{"never read: tokens are known by their addresses, from our own lists", nil, tokenWords("v2:details.currencyIn", "v2:details.currencyOut", "v2:details.refundCurrency", "v2:fees.app", "v2:fees.relayer")},
		{"never read: our own node says what gas costs", nil, []string{"v2:fees.gas.**", "v2:steps[*].items[*].data.maxFeePerGas", "v2:steps[*].items[*].data.maxPriorityFeePerGas"}},
		{"never read: it is in the price, which our own source judges", nil, []string{
			"v2:fees.relayerGas.**", "v2:fees.relayerService.**", "v2:fees.subsidized.**",
			"v2:fees.app.amountFormatted", "v2:fees.app.amountUsd", "v2:fees.app.minimumAmount",
			"v2:fees.relayer.amountFormatted", "v2:fees.relayer.amountUsd", "v2:fees.relayer.minimumAmount",
		}},
		{"in another currency the wallet's fee cannot be compared; the minimum that arrives holds all the same", nil, []string{"v2:fees.app.currency.chainId", "v2:fees.app.currency.address"}},
		{"what the provider says that it costs is taken from what counts as a refund in full, up to a tenth", []string{"offer.refund"}, []string{
			"v2:fees", "v2:fees.relayer", "v2:fees.relayer.amount", "v2:fees.relayer.currency", "v2:fees.relayer.currency.chainId", "v2:fees.relayer.currency.address",
		}},
		{"an estimate, within what the minimum and the asked slippage allow", []string{"offer.amountOut"}, []string{"v2:details.currencyOut.amount"}},
		{"the minimum that the user is shown and accepts; it follows from the amount and the asked slippage", []string{"offer.minOut"}, []string{"v2:details.currencyOut.minimumAmount"}},
		{"without it the refund is expected in the token paid, in full", []string{"offer.refund"}, []string{"v2:details.refundCurrency"}},
		{"within what the amount and the asked slippage allow", []string{"offer.refund"}, []string{"v2:details.refundCurrency.minimumAmount"}},
		{"an estimate for show", []string{"offer.duration"}, []string{"v2:details.timeEstimate"}},
		{"an estimate of gas, which may only raise what is reckoned before our own node can say; bounded by what a block takes", []string{"offer.gas"}, []string{"v2:steps[*].items[*].data.gas"}},
		{"the id of the request is taken from it, never the way to ask", nil, []string{"v2:steps[*].items[*].check.method"}},
		{"known from the settings of the protocol alone; where the deposit goes is pinned", nil, []string{"v2:protocol.v2.hubType", "v2:protocol.v2.paymentDetails.chainId"}},

		{"for show and never read", nil, []string{
			"chains:chains[*].name", "chains:chains[*].displayName", "chains:chains[*].httpRpcUrl", "chains:chains[*].wsRpcUrl", "chains:chains[*].explorerUrl",
			"chains:chains[*].explorerName", "chains:chains[*].explorerPaths", "chains:chains[*].explorerQueryParams", "chains:chains[*].iconUrl", "chains:chains[*].logoUrl",
			"chains:chains[*].brandColor", "chains:chains[*].statusMessage", "chains:chains[*].tags", "chains:chains[*].baseChainId",
			"chains:chains[*].currency.**", "chains:chains[*].featuredTokens.**", "chains:chains[*].erc20Currencies.**", "chains:chains[*].solverCurrencies.**",
		}},
		{"never read: a quote says whether the route is open, and at what price", nil, []string{
			"chains:chains[*].tokenSupport", "chains:chains[*].partialDisableLimit", "chains:chains[*].blockProductionLagging", "chains:chains[*].surgeEnabled",
			"chains:chains[*].withdrawalFee", "chains:chains[*].depositFee",
		}},
		{"never read: nothing calls these", nil, []string{
			"chains:chains[*].contracts.multicall3", "chains:chains[*].contracts.multicaller", "chains:chains[*].contracts.onlyOwnerMulticaller", "chains:chains[*].contracts.relayReceiver",
		}},
		{"never read: who counts as a filler is built in", nil, []string{"chains:chains[*].solverAddresses.**"}},
		{"never read: chains are known by their ids", nil, []string{"chains:chains[*].protocol.v2.chainId"}},
		{"a router that no step calls; one that is called must be built in as well", nil, []string{
			"chains:chains[*].contracts.erc20Router", "chains:chains[*].contracts.approvalProxy", "chains:chains[*].contracts.v3.erc20Router", "chains:chains[*].contracts.v3.2.erc20Router",
		}},

		{"any words say that the transaction was noted; whether it was, the state shows", nil, []string{"index:message"}},
		{"a claim; the chain decides", []string{"claim.state", "claim.providerStatus", "claim.reason", "claim.tx", "claim.chain"}, []string{"v3:status"}},
		{"only says where to look first", []string{"claim.tx", "claim.chain"}, []string{"v3:txHashes", "v3:txHashes[*]"}},
		{"the provider's words, shown as plain text", []string{"claim.reason"}, []string{"v3:failReason"}},
		{"the provider's words, shown as plain text; that it cannot refund ends only the asking", []string{"claim.reason", "claim.state"}, []string{"v3:refundFailReason"}},
		{"when a failure ends the asking; the chain is watched all the same", []string{"claim.state"}, []string{"v3:updatedAt"}},
	} {
		for _, p := range g.paths {
			list = append(list, providertest.Harmless{Path: p, Why: g.why, MayChange: g.mayChange})
		}
	}
	return append(list, inPart...)
}()

// Lies that remove a part or its contents.
var (
	missing = providertest.Absent
	emptied = slices.Concat(providertest.Absent, []string{"emptied", "an object"})
	noList  = slices.Concat(providertest.Absent, []string{"emptied"})
	numbers = slices.Concat(providertest.Absent, []string{"one more", "one less", "doubled", "zero", "of 256 bits"})
)

const (
	mayMiss  = "the API may leave it out; where it is there it is held against what was asked for"
	noRouter = "what is not listed is no router; the one that is called must be listed as it is built in"
)

// inPart are parts for which only some lies are harmless.
var inPart = []providertest.Harmless{
	{Path: "v2:requestId", Why: "the steps and what is to be asked name the request as well", Lies: missing},
	{Path: "v2:steps[*].requestId", Why: "the quote and what is to be asked name the request as well", Lies: missing},
	{Path: "v2:steps[*].items[*].check", Why: "the quote and its steps name the request as well", Lies: missing},
	{Path: "v2:steps[*].depositAddress", Why: "none, either way", Lies: missing},
	{Path: "v2:steps[0]", Why: approvalAlone, Lies: []string{"removed"}},
	{Path: "v2:steps[0].items", Why: approvalAlone, Lies: noList},
	{Path: "v2:steps[0].items[0]", Why: approvalAlone, Lies: []string{"removed"}},
	{Path: "v2:details.sender", Why: mayMiss, Lies: missing},
	{Path: "v2:details.slippageTolerance", Why: mayMiss, Lies: emptied},
	{Path: "v2:details.slippageTolerance.total", Why: mayMiss, Lies: missing},
	{Path: "v2:details.currencyIn.minimumAmount", Why: "never read: the amount itself is", Lies: numbers},
	{Path: "v2:details.refundCurrency.amount", Why: "an estimate; the least that comes back is the minimum", Lies: numbers, Flows: []string{"base-usdc-arbitrum", "base-eth-superseed", "ethereum-usdt-eth"}},
	{Path: "v2:fees.app", Why: "the wallet's fee, left out; the minimum that arrives holds all the same", Lies: emptied},
	{Path: "v2:fees.app.currency", Why: "of an unknown currency the wallet's fee cannot be compared; the minimum that arrives holds all the same", Lies: emptied},
	{Path: "v2:fees.app.amount", Why: "a lower fee is none of the user's loss; of none the terms have none", Lies: []string{"one less"}},
	{Path: "v2:protocol", Why: "known from the settings of the protocol alone; where the deposit goes is pinned", Lies: emptied, Flows: deposits},
	{Path: "v2:protocol.v2", Why: "likewise", Lies: emptied, Flows: deposits},
	{Path: "v2:protocol.v2.orderId", Why: mayMiss, Lies: missing},
	{Path: "v2:protocol.v2.orderData", Why: "the API may leave it out; then its solver is trusted with the payment without a word that it signed", Lies: missing},
	{Path: "v2:protocol.v2.orderData.fees", Why: "none, either way", Lies: missing, Flows: []string{"base-dai-arbitrum", "bnb-usdt-arbitrum"}},
	{Path: "v2:protocol.v2.orderData.output.calls", Why: "none, either way", Lies: missing},
	{Path: "v2:protocol.v2.paymentDetails", Why: mayMiss, Lies: missing, Flows: []string{"base-eth-superseed"}},
	{Path: "v2:protocol.v2.paymentDetails.depository", Why: mayMiss, Lies: missing},

	{Path: "chains:chains", Why: "a row that is none takes nothing from the others", Lies: []string{"filled"}},
	{Path: "chains:chains[2].**", Why: "a chain on neither side of the swap", Flows: []string{"base-usdc-arbitrum"}},
	{Path: "chains:chains[0].contracts", Why: noRouter, Lies: []string{"removed", "null", "an object"}, Flows: deposits},
	{Path: "chains:chains[0].contracts", Why: noRouter, Lies: []string{"emptied"}, Flows: []string{"base-usdc-arbitrum"}},
	{Path: "chains:chains[1].contracts", Why: "of the chain where the swap ends", Lies: []string{"removed", "null", "an object"}},
	{Path: "chains:chains[*].contracts.v2.1.erc20Router", Why: "the router for coins, and a token is swapped", Lies: []string{"removed", "null", "the attacker", "the zero address", "the caller constant", "the router constant"}},
	{Path: "chains:chains[*].contracts.v3.**", Why: "a pair of routers that no step calls", Flows: []string{"base-usdc-arbitrum", "base-dai-arbitrum"}},
	{Path: "chains:chains[*].contracts.v3.2.**", Why: "a pair of routers that no step calls", Flows: []string{"base-usdc-arbitrum", "ethereum-usdt-eth"}},

	{Path: "events:[0].data.**", Why: "never read: the connection's own name"},
	{Path: "events:[1].data.**", Why: "never read: each event says itself of which order it is"},
	{Path: "events:[2].**", Why: "an event about another order is no claim about this one"},
	{Path: "events:[3].data.status", Why: "a claim; the chain decides", MayChange: []string{"claim.state", "claim.providerStatus", "claim.reason", "claim.tx", "claim.chain"}},
	{Path: "events:[3].data.originChainId", Why: mayMiss, Lies: missing},
	{Path: "events:[3].data.destinationChainId", Why: mayMiss, Lies: missing},
	{Path: "events:[3].data.inTxHashes", Why: "the deposit's is among them, or none is told", Lies: []string{"removed", "null", "emptied", "doubled"}},
	{Path: "events:[3].data.inTxHashes[*]", Why: "the deposit's is among them, or none is told", Lies: []string{"removed"}},
	{Path: "events:[3].data.updatedAt", Why: "when a failure ends the asking; this is none", Lies: append([]string{"a number"}, numbers...)},
	{Path: "events:[3].publishedAt", Why: "never read"},
	{Path: "events:[3].data.txHashes", Why: "only says where to look first", MayChange: []string{"claim.tx", "claim.chain"}},
	{Path: "events:[3].data.txHashes[*]", Why: "only says where to look first", MayChange: []string{"claim.tx", "claim.chain"}},

	{Path: "v3:originChainId", Why: mayMiss, Lies: missing},
	{Path: "v3:destinationChainId", Why: mayMiss, Lies: missing},
	{Path: "v3:inTxHashes", Why: "the deposit's is among them, or none is told", Lies: []string{"removed", "null", "emptied", "doubled"}},
	{Path: "v3:inTxHashes[*]", Why: "the deposit's is among them, or none is told", Lies: []string{"removed"}},
}

const approvalAlone = "the approval is package swap's; whether the provider asks for one decides nothing"

// deposits are the flows that deposit without a router.
var deposits = []string{"base-usdc-arbitrum", "base-eth-superseed"}

// tokenWords are what replies say about a token besides its address.
func tokenWords(of ...string) (paths []string) {
	for _, p := range of {
		for _, word := range []string{"symbol", "name", "decimals", "metadata.**"} {
			paths = append(paths, p+".currency."+word)
		}
	}
	return paths
}
