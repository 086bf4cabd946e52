package intent_test

import (
	"swapkeep/providers/providertest"
)

// asked is the order as its name, which is the last part of the path.
const asked = orderID + ":"

// harmless are the leaves of replies that decide nothing.
var harmless = []providertest.Harmless{
	{Path: "quotes:routes[*].type", Why: "never read"},
	{Path: "quotes:routes[*].icon", Why: "never read, nor fetched"},
	{Path: "quotes:routes[*].exactOutMethod", Why: "never read: only exact input is asked for"},
	{Path: "quotes:routes[*].quote.tags[*]", Why: "never read: what the deposit needs is read off the plan and the chain"},
	{Path: "quotes:routes[*].quote.estimatedGas", Why: "never read: gas is estimated on our own nodes"},
	{Path: "quotes:routes[*].quote.slippageTolerance", Why: "never read: its unit is nowhere stated; the minimum is held against what was asked for"},
	{
		Path: "quotes:routes[*].quote.amountOut", MayChange: []string{"offer.amountOut", "offer.minOut"},
		Why: "a promise, shown beside the price of our own source; what is accepted is the minimum, which may only be above what the slippage leaves of it",
	},
	{
		Path: "quotes:routes[*].quote.minAmountOut", MayChange: []string{"offer.minOut", "offer.route"},
		Why: "a higher one is a better one; what is not stated is worked out, and marked in the route",
	},
	{Path: "quotes:routes[*].quote.expectedDurationSeconds", Why: "orders routes of the same output; what it says is shown, up to a week", MayChange: []string{"offer.duration"}},
	{Path: "quotes:routes[*].quote.quoteExpiresAt", Why: "a price may hold longer than the others, ten minutes at most", MayChange: []string{"offer.expires"}},
	{Path: "quotes:routes[*].quote.validBefore", Why: "likewise", MayChange: []string{"offer.expires"}},

	{Path: "build:approvals[*].waitForReceipt", Why: "never read: an approval is mined before the next step"},
	{Path: "build:approvals[*].request.params[*].gas", Why: "never read: gas is estimated on our own nodes"},

	{Path: asked + "status", Why: "a claim; the chain decides", MayChange: []string{"claim.state", "claim.word", "claim.reason", "claim.tx", "claim.chain"}},
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
	{Path: asked + "stepsCompleted[*]", Why: "never read: the status is a claim as it is"},
	{Path: asked + "fromTokenMeta.**", Why: "never read: tokens are known by their addresses"},
	{Path: asked + "toTokenMeta.**", Why: "never read: tokens are known by their addresses"},
	{Path: asked + "fillerAddress", Why: "never read: who pays is seen on the chain"},
	{Path: asked + "externalOrderId", Why: "never read"},
}
