package intent_test

import (
	"slices"

	"swapkeep/providers/providertest"
)

// list is the key of the account's order list: the last part of its path.
var list = account.Hex() + ":"

// ofLines are the harmless leaves of a streamed quote.
var ofLines = ofQuotes("quotes:", "base-usdc-arbitrum-in-lines")

// ofList are those of the order list. Its second entry is the order in question.
var ofList = []providertest.Harmless{
	{Path: list + "data[0].**", Why: "another order of the account's, by its deposit"},
	{Path: list + "data[*].id", Why: "the provider's own name for the order, of a bounded form; its quote, route and deposit say which it is", MayChange: []string{"providerOrderId"}},
	{Path: list + "cursor", Why: "never read: the transaction that is searched for is in one"},
	{Path: list + "data", Why: "what is no order, or there twice, takes nothing from it", Lies: []string{"doubled", "filled"}},
}

// ofTokens are those of the token list.
var ofTokens = []providertest.Harmless{
	{Path: "tokens:data[0].**", Why: ofItself, MayChange: []string{"token0", "other"}},
	{Path: "tokens:data[1].**", Why: ofItself, MayChange: []string{"token1", "other"}},
	{Path: "tokens:data[2].**", Why: ofItself, MayChange: []string{"other"}},
	{Path: "tokens:data", Why: "a list that lists less, or what is no token", Lies: []string{"emptied", "an array", "doubled", "filled"}, MayChange: []string{"token0", "token1"}},
	{Path: "tokens:data[0].address", Why: "of one address the first row counts", Lies: []string{"the zero address"}, MayChange: []string{"token0", "token1"}},
	{Path: "tokens:cursor", Why: "never read: the first are enough"},
}

const ofItself = "for people to choose from, under the provider's name, and chosen by its address; it alters what is said of no other"

const (
	anotherRoute = "another route than the one that is taken; it may only fall out, or be the better one and refused under these terms"
	mayMiss      = "the API may leave it out; the order's name, route, account and deposit say which it is"
)

// harmless are the leaves of replies that decide nothing.
var harmless = slices.Concat(ofQuotes("quotes:routes", "base-usdc-arbitrum"), ofFees, ofAnswers, ofLines, ofPlans, ofOrder(orderID+":"), ofList, ofOrder(list+"data[1]."), ofTokens)

// ofQuotes are those of a list of routes. One flow has a route before and one after the
// route that is taken.
func ofQuotes(routes, threeRoutes string) []providertest.Harmless {
	return []providertest.Harmless{
		{Path: routes + "[*].type", Why: "never read"},
		{Path: routes + "[*].icon", Why: "never read, nor fetched"},
		{Path: routes + "[*].exactOutMethod", Why: "never read: only exact input is asked for"},
		{Path: routes + "[*].quote.tags.**", Why: "never read: what the deposit needs is read off the plan and the chain"},
		{Path: routes + "[*].quote.estimatedGas", Why: "never read: gas is estimated on our own nodes"},
		{Path: routes + "[*].quote.slippageTolerance", Why: "never read: its unit is nowhere stated; the minimum is held against what was asked for"},
		{
			Path: routes + "[*].quote.amountOut", MayChange: []string{"offer.amountOut", "offer.minOut"},
			Why: "a promise, shown beside the price of our own source; what is accepted is the minimum, which may only be above what the slippage leaves of it",
		},
		{
			Path: routes + "[*].quote.minAmountOut", MayChange: []string{"offer.minOut", "offer.route"},
			Why: "a higher one is a better one; what is not stated is worked out, and marked in the route",
		},
		{Path: routes + "[*].quote.expectedDurationSeconds", Why: "orders routes of the same output; what it says is shown, up to a week", MayChange: []string{"offer.duration"}},
		{Path: routes + "[*].quote.quoteExpiresAt", Why: "a price may hold longer than the others, ten minutes at most", MayChange: []string{"offer.expires"}},
		{Path: routes + "[*].quote.validBefore", Why: "likewise", MayChange: []string{"offer.expires"}},
		{Path: routes + "[*].depositMethods", Why: "what is not said is decided by the plan, which is read as a contract call or refused", Lies: []string{"removed", "null", "emptied", "doubled", "filled"}},
		{Path: routes + "[*].depositMethods[*]", Why: "likewise", Lies: []string{"removed"}},
		{Path: routes + "[0].**", Flows: []string{threeRoutes}, Why: anotherRoute},
		{Path: routes + "[2].**", Flows: []string{threeRoutes}, Why: anotherRoute},
	}
}

// ofFees are those of a route that states the wallet's fee.
var ofFees = []providertest.Harmless{
	{Path: "quotes:routes[*].quote.referrer", Why: "whose the fee is was in the request; another's is refused", Lies: providertest.Absent},
}

// ofAnswers are those of a whole quote reply.
var ofAnswers = []providertest.Harmless{
	{Path: "quotes:routes", Why: "a route that is said twice, or that is none, takes nothing from the others", Lies: []string{"doubled", "filled"}},
	{Path: "quotes:routes[0].depositMethods[0]", Flows: []string{"optimism-usdc-polygon"}, Why: "a method that is not used, beside the one that is"},
}

// ofPlans are those of the plan and of the reply to its submission.
var ofPlans = []providertest.Harmless{
	{Path: "build:approvals[*]", Why: "a switch of networks and an approval are not needed: package swap sees to both", Lies: []string{"removed"}},
	{Path: "build:approvals[*].deposit", Why: "what is not said to be the deposit is not it", Lies: providertest.Absent},
	{Path: "build:approvals[*].request.params[*].chainId", Why: "transactions are made for the source network, whatever is not said", Lies: providertest.Absent},
	{Path: "build:approvals[*].request.params[*].value", Why: "nothing said is nothing sent", Lies: providertest.Absent},
	{Path: "build:approvals[*].waitForReceipt", Why: "never read: an approval is mined before the next step"},
	{Path: "build:approvals[*].request.params[*].gas", Why: "never read: gas is estimated on our own nodes"},

	{Path: "submit:txHash", Why: "left out; the order is asked after by its own", Lies: []string{"removed", "null", "emptied"}},
}

// ofOrder are those of an order, wherever it appears.
func ofOrder(asked string) []providertest.Harmless {
	return []providertest.Harmless{
		{Path: asked + "fromToken", Why: mayMiss, Lies: providertest.Absent},
		{Path: asked + "toToken", Why: mayMiss, Lies: providertest.Absent},
		{Path: asked + "recipient", Why: mayMiss, Lies: providertest.Absent},
		{Path: asked + "refundTo", Why: mayMiss, Lies: providertest.Absent},
		{Path: asked + "status", Why: "a claim; the chain decides", MayChange: []string{"claim.state", "claim.providerStatus", "claim.reason", "claim.tx", "claim.chain"}},
		{Path: asked + "transactions", Why: "only says where to look first", MayChange: []string{"claim.tx", "claim.chain"}},
		{Path: asked + "transactions.fill", Why: "only says where to look first", MayChange: []string{"claim.tx", "claim.chain"}},
		{Path: asked + "transactions.fill.txHash", Why: "only says where to look first", MayChange: []string{"claim.tx", "claim.chain"}},
		{Path: asked + "transactions.fill.chainId", Why: "only says where to look first", MayChange: []string{"claim.chain"}},
		{Path: asked + "transactions.refund", Why: "only says where to look first", MayChange: []string{"claim.tx", "claim.chain"}},
		{Path: asked + "transactions.refund.txHash", Why: "only says where to look first", MayChange: []string{"claim.tx", "claim.chain"}},
		{Path: asked + "transactions.refund.chainId", Why: "only says where to look first", MayChange: []string{"claim.chain"}},
		{Path: asked + "transactions.fill.timestamp", Why: "never read: blocks have their own time"},
		{Path: asked + "transactions.fill.amount", Why: "never read: what arrived is on the chain"},
		{Path: asked + "transactions.refund.timestamp", Why: "never read: blocks have their own time"},
		{Path: asked + "transactions.refund.amount", Why: "never read: what came back is on the chain"},
		{Path: asked + "transactions.deposit.**", Why: "never read: the deposit is our own"},
		{Path: asked + "type", Why: "never read"},
		{Path: asked + "tradeType", Why: "never read: only exact input is asked for"},
		{Path: asked + "srcAmount", Why: "never read: what left is on the chain"},
		{Path: asked + "destAmount", Why: "never read: what arrived is on the chain"},
		{Path: asked + "createdAt", Why: "never read"},
		{Path: asked + "updatedAt", Why: "never read"},
		{Path: asked + "timestamps.**", Why: "never read"},
		{Path: asked + "stepsCompleted.**", Why: "never read: the status is a claim as it is"},
		{Path: asked + "fromTokenMeta.**", Why: "never read: tokens are known by their addresses"},
		{Path: asked + "toTokenMeta.**", Why: "never read: tokens are known by their addresses"},
		{Path: asked + "fillerAddress", Why: "never read: who pays is seen on the chain"},
		{Path: asked + "externalOrderId", Why: "never read"},
	}
}
