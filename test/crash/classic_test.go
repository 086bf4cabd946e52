//go:build faults && linux

package crash

import (
	"math/big"
	"slices"
)

// sendPoints names the points around a signature on its way to the node.
var sendPoints = []string{"sign", "journal", "broadcast", "sent"}

var (
	filled   = []string{"accepted", "executing", "settling", "filled"}
	approved = []string{"accepted", "approving", "executing", "settling", "filled"}
)

// flows are all flows, those that end in a call of the account's own first. By default the
// first flow that passes a point is killed there, and later flows only at what they add,
// unless own says which part is theirs.
var flows = slices.Concat(ownCallFlows, signedOrderFlows, depositFlows)

// ownCallFlows flows end in a call of the account's own.
var ownCallFlows = []flow{
	{name: "swap", chain: mainnet, out: usdc, amount: ether, states: filled, mined: []string{"call"}},
	{name: "wrap", chain: base, out: weth, amount: ether, onlyPoints: sendPoints, states: filled, mined: []string{"call"}},
	{name: "unwrap", chain: base, in: weth, amount: ether, funds: funds{weth: times(2, ether)}, onlyPoints: sendPoints, states: filled, mined: []string{"call"}},
	{
		name: "erc20", chain: base, in: dollar, out: weth, amount: dollars, funds: funds{dollar: times(2, dollars)},
		states: approved, mined: []string{"approve", "swap"},
	},
	{
		name: "reset", chain: mainnet, in: usdt, out: usdc, amount: dollars, funds: funds{usdt: times(2, dollars)},
		before: approveForeign(usdt, oldAllowance), ownPart: until("sender.after_journal", 2),
		states: approved, mined: []string{"reset", "approve", "swap"},
	},
	{
		name: "adapt", chain: mainnet, in: usdt, out: usdc, amount: dollars, funds: funds{usdt: times(2, dollars)},
		after: approveForeign(usdt, oldAllowance), onlyPoints: []string{"adapt"},
		states: approved, mined: []string{"reset", "approve", "swap"},
	},
	{
		name: "regrant", chain: base, in: dollar, out: weth, amount: dollars, funds: funds{dollar: times(2, dollars)},
		after: (*flowRun).grantForeign, act: (*flowRun).revokeForeign, onlyPoints: []string{"skip", "rewind"}, locked: (*flowRun).lockedRegrant,
		states: approved, mined: []string{"approve", "swap"},
	},
	{
		name: "requote", chain: base, in: dollar, out: weth, amount: dollars, funds: funds{dollar: times(2, dollars)},
		pausesChain: true, shortQuotes: true, act: (*flowRun).letQuoteEnd, onlyPoints: []string{"refresh"},
		states: approved, mined: []string{"approve", "swap"},
	},
	{
		name: "consent", chain: base, in: weth, out: dollar, amount: ether, funds: funds{weth: times(2, ether)},
		before: (*flowRun).feedWhale, pausesChain: true, shortQuotes: true, act: (*flowRun).acceptProposal,
		ownPart: since("journal.before_propose"), onlyPoints: []string{"propose", "change", "signature"}, locked: (*flowRun).lockedConsent,
		states: approved, mined: []string{"approve", "swap"},
	},
	{
		name: "speedup", chain: base, out: weth, amount: ether, pausesChain: true, act: (*flowRun).speedUp,
		ownPart: since("journal.before_change"), locked: (*flowRun).lockedSpeedup,
		states: filled, mined: []string{"call"}, sentTxs: map[string]int{"call": 2},
	},
	{
		name: "cancel", chain: base, out: weth, amount: ether, pausesChain: true, act: (*flowRun).cancel,
		ownPart: since("journal.before_request"), locked: (*flowRun).lockedCancel,
		states: []string{"accepted", "executing", "cancelled"}, by: "cancel", mined: []string{"cancel"}, sentTxs: map[string]int{"call": 1, "cancel": 1},
	},
	{
		name: "withdraw", chain: base, in: dollar, out: weth, amount: dollars, funds: funds{dollar: times(2, dollars)},
		pausesChain: true, act: (*flowRun).withdraw, ownPart: since("journal.before_request"), locked: (*flowRun).lockedWithdraw,
		states: []string{"accepted", "approving", "executing", "cancelled"}, by: "withdrawn", mined: []string{"approve"}, remaining: map[string]*big.Int{"erc20": dollars},
	},
	{
		name: "revert", chain: mainnet, out: usdc, amount: ether, before: (*flowRun).feedWhale, pausesChain: true, act: (*flowRun).outbid,
		onlyPoints: []string{"failed"}, states: []string{"accepted", "executing", "failed"}, by: "revert", mined: []string{"reverted call"}, sentTxs: map[string]int{"call": 1},
	},
	{
		name: "revoke", chain: base, in: dollar, amount: new(big.Int), funds: funds{dollar: dollars}, before: approveForeign(dollar, oldAllowance),
		states: []string{"accepted", "approving", "settling", "filled"}, by: "revoke", mined: []string{"reset"},
	},
}
