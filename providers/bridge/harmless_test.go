package bridge_test

import "swapkeep/providers/providertest"

// harmless are the leaves of the replies that decide nothing.
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
		{"what the provider says that it costs is shown, and is taken from what counts as a refund in full, up to a tenth", []string{"offer.route", "offer.refund"}, []string{
			"v2:fees", "v2:fees.relayer", "v2:fees.relayer.amount", "v2:fees.relayer.currency", "v2:fees.relayer.currency.chainId", "v2:fees.relayer.currency.address",
		}},
		{"an estimate, within what the minimum and the asked slippage allow", []string{"offer.amountOut"}, []string{"v2:details.currencyOut.amount"}},
		{"the floor that the user is shown and accepts; it follows from the amount and the asked slippage", []string{"offer.minOut"}, []string{"v2:details.currencyOut.minimumAmount"}},
		{"without it the refund is expected in the token paid, in full", []string{"offer.route", "offer.refund"}, []string{"v2:details.refundCurrency"}},
		{"within what the amount and the asked slippage allow", []string{"offer.route", "offer.refund"}, []string{"v2:details.refundCurrency.minimumAmount"}},
		{"an estimate for show", []string{"offer.duration"}, []string{"v2:details.timeEstimate"}},
		{"an estimate of gas, which may only raise what is reckoned before our own node can say; bounded by what a block takes", []string{"offer.gas"}, []string{"v2:steps[*].items[*].data.gas"}},
		{"the id of the request is taken from it, never the way to ask", nil, []string{"v2:steps[*].items[*].check.method"}},
		{"known from the settings of the protocol alone; where the deposit goes is pinned", nil, []string{"v2:protocol.v2.hubType", "v2:protocol.v2.paymentDetails.chainId"}},

		{"for show and never read", nil, []string{
			"chains:chains[*].name", "chains:chains[*].displayName", "chains:chains[*].httpRpcUrl", "chains:chains[*].wsRpcUrl", "chains:chains[*].explorerUrl",
			"chains:chains[*].explorerName", "chains:chains[*].explorerPaths", "chains:chains[*].explorerQueryParams", "chains:chains[*].iconUrl", "chains:chains[*].logoUrl",
			"chains:chains[*].brandColor", "chains:chains[*].statusMessage", "chains:chains[*].tags", "chains:chains[*].baseChainId",
			"chains:chains[*].currency.**", "chains:chains[*].featuredTokens[*].**", "chains:chains[*].erc20Currencies[*].**", "chains:chains[*].solverCurrencies[*].**",
		}},
		{"never read: a quote says whether the route is open, and at what price", nil, []string{
			"chains:chains[*].tokenSupport", "chains:chains[*].partialDisableLimit", "chains:chains[*].blockProductionLagging", "chains:chains[*].surgeEnabled",
			"chains:chains[*].withdrawalFee", "chains:chains[*].depositFee",
		}},
		{"never read: nothing calls these", nil, []string{
			"chains:chains[*].contracts.multicall3", "chains:chains[*].contracts.multicaller", "chains:chains[*].contracts.onlyOwnerMulticaller", "chains:chains[*].contracts.relayReceiver",
		}},
		{"never read: who counts as a filler is built in", nil, []string{"chains:chains[*].solverAddresses[*]"}},
		{"never read: chains are known by their ids", nil, []string{"chains:chains[*].protocol.v2.chainId"}},
		{"a router that no step calls; one that is called must be built in as well", nil, []string{
			"chains:chains[*].contracts.erc20Router", "chains:chains[*].contracts.approvalProxy", "chains:chains[*].contracts.v3.erc20Router", "chains:chains[*].contracts.v3.2.erc20Router",
		}},

		{"any words say that the transaction was noted; whether it was, the state shows", nil, []string{"index:message"}},
		{"a claim; the chain decides", []string{"claim.state", "claim.word", "claim.reason", "claim.tx", "claim.chain"}, []string{"v3:status"}},
		{"only says where to look first", []string{"claim.tx", "claim.chain"}, []string{"v3:txHashes", "v3:txHashes[*]"}},
		{"the provider's words, shown as plain text", []string{"claim.reason"}, []string{"v3:failReason"}},
		{"the provider's words, shown as plain text; that it cannot refund ends only the asking", []string{"claim.reason", "claim.state"}, []string{"v3:refundFailReason"}},
		{"when a failure ends the asking; the chain is watched all the same", []string{"claim.state"}, []string{"v3:updatedAt"}},
	} {
		for _, p := range g.paths {
			list = append(list, providertest.Harmless{Path: p, Why: g.why, MayChange: g.mayChange})
		}
	}
	return list
}()

// tokenWords are what replies say of a token beside its address.
func tokenWords(of ...string) (paths []string) {
	for _, p := range of {
		for _, word := range []string{"symbol", "name", "decimals", "metadata.**"} {
			paths = append(paths, p+".currency."+word)
		}
	}
	return paths
}
