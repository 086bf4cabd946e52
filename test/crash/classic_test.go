//go:build faults && linux

package crash

import (
	"math/big"
	"slices"
)

// sending names the points around a signature on its way to the node.
var sending = []string{"sign", "journal", "broadcast", "sent"}

var (
	filled   = []string{"accepted", "executing", "settling", "filled"}
	approved = []string{"accepted", "approving", "executing", "settling", "filled"}
)

// flows are all flows, those that end in a call of the account's own first. By default the
// first flow that passes a point is killed there, and later flows only at what they add,
// unless own says which part is theirs.
var flows = slices.Concat(classic, handedFlows, depositFlows)

// classic flows end in a call of the account's own.
var classic = []flow{
	{name: "swap", chain: mainnet, out: usdc, amount: ether, states: filled, mined: []string{"call"}},
	{name: "wrap", chain: base, out: weth, amount: ether, only: sending, states: filled, mined: []string{"call"}},
	{name: "unwrap", chain: base, in: weth, amount: ether, funds: funds{weth: times(2, ether)}, only: sending, states: filled, mined: []string{"call"}},
	{
		name: "erc20", chain: base, in: dollar, out: weth, amount: dollars, funds: funds{dollar: times(2, dollars)},
		states: approved, mined: []string{"approve", "swap"},
	},
	{
		name: "reset", chain: mainnet, in: usdt, out: usdc, amount: dollars, funds: funds{usdt: times(2, dollars)},
		before: allow(usdt, crumbs), own: until("sender.after_journal", 2),
		states: approved, mined: []string{"reset", "approve", "swap"},
	},
	{
		name: "adapt", chain: mainnet, in: usdt, out: usdc, amount: dollars, funds: funds{usdt: times(2, dollars)},
		after: allow(usdt, crumbs), only: []string{"adapt"},
		states: approved, mined: []string{"reset", "approve", "swap"},
	},
	{
		name: "regrant", chain: base, in: dollar, out: weth, amount: dollars, funds: funds{dollar: times(2, dollars)},
		after: (*passage).grantBeside, act: (*passage).ungrantBeside, only: []string{"skip", "rewind"}, locked: (*passage).lockedRegrant,
		states: approved, mined: []string{"approve", "swap"},
	},
	{
		name: "requote", chain: base, in: dollar, out: weth, amount: dollars, funds: funds{dollar: times(2, dollars)},
		stuck: true, hasty: true, act: (*passage).letQuoteEnd, only: []string{"refresh"},
		states: approved, mined: []string{"approve", "swap"},
	},
	{
		name: "consent", chain: base, in: weth, out: dollar, amount: ether, funds: funds{weth: times(2, ether)},
		before: (*passage).feedWhale, stuck: true, hasty: true, act: (*passage).acceptLess,
		own: since("journal.before_propose"), only: []string{"propose", "wish", "signature"}, locked: (*passage).lockedConsent,
		states: approved, mined: []string{"approve", "swap"},
	},
	{
		name: "speedup", chain: base, out: weth, amount: ether, stuck: true, act: (*passage).speedUp,
		own: since("journal.before_wish"), locked: (*passage).lockedSpeedup,
		states: filled, mined: []string{"call"}, offered: map[string]int{"call": 2},
	},
	{
		name: "cancel", chain: base, out: weth, amount: ether, stuck: true, act: (*passage).cancel,
		own: since("journal.before_ask"), locked: (*passage).lockedCancel,
		states: []string{"accepted", "executing", "cancelled"}, by: "cancel", mined: []string{"cancel"}, offered: map[string]int{"call": 1, "cancel": 1},
	},
	{
		name: "withdraw", chain: base, in: dollar, out: weth, amount: dollars, funds: funds{dollar: times(2, dollars)},
		stuck: true, act: (*passage).withdraw, own: since("journal.before_ask"), locked: (*passage).lockedWithdraw,
		states: []string{"accepted", "approving", "executing", "cancelled"}, by: "withdrawn", mined: []string{"approve"}, left: map[string]*big.Int{"erc20": dollars},
	},
	{
		name: "revert", chain: mainnet, out: usdc, amount: ether, before: (*passage).feedWhale, stuck: true, act: (*passage).outbid,
		only: []string{"failed"}, states: []string{"accepted", "executing", "failed"}, by: "revert", mined: []string{"reverted call"}, offered: map[string]int{"call": 1},
	},
	{
		name: "revoke", chain: base, in: dollar, amount: new(big.Int), funds: funds{dollar: dollars}, before: allow(dollar, crumbs),
		states: []string{"accepted", "approving", "settling", "filled"}, by: "revoke", mined: []string{"reset"},
	},
}
