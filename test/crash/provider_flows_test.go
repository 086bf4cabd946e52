//go:build faults && linux

package crash

import (
	"fmt"
	"math/big"
	"slices"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"swapkeep/sandbox/bridgesim"
	"swapkeep/sandbox/dexsim"
	"swapkeep/sandbox/inject"
	"swapkeep/sandbox/intentsim"
)

// signedOrderPoints names the points that a signed order adds, which somebody else settles.
var (
	signedOrderPoints = []string{"typed", "signature", "attempt", "submit", "closed"}

	// depositPoints names the points that a deposit adds.
	depositPoints = []string{"search", "step", "submitting", "attempt", "submit", "index", "closed", "settling", "status", "claim", "filled"}
)

var (
	approvedFirst = []string{"accepted", "approving", "executing", "submitting", "settling", "filled"}

	noApproval = []string{"accepted", "executing", "submitting", "settling", "filled"}
	// Of a deposit whose payment nothing links to it; see likelyPaid.
	approvedUnlinked, unlinked = approvedFirst[:5], noApproval[:4]
	givenBack                  = []string{"accepted", "approving", "executing", "submitting", "settling", "refunded"}

	balanceManager = common.HexToAddress("0xC5a350853E4e36b73EB0C24aaA4b8816C9A3579a") // spender of JAM orders
	depository     = common.HexToAddress("0x4cd00e387622c35bddb9b4c962c136462338bc31") // the bridge's
	intentDeposit  = common.HexToAddress("0x1A7c327d0f402AEf2eD3D20D1141bD71BA1C317B") // on base
	approvalProxy  = common.HexToAddress("0x5567954cD026CEbFE486062cb75848e0f1c12E58") // the bridge's newest spender
	rfqSettlement  = common.HexToAddress("0xbbbbbBB520d69a9775E85b458C58c648259FAD5F")
)

// signedOrderFlows end in a settlement by somebody else. Their approvals and calls run like
// those of the classic flows and are killed there. The first flow of each kind of
// settlement is killed from the point on where the chains' blocks are recorded, which is
// before its signature or deposit; the others only at the points they are for.
var signedOrderFlows = []flow{
	{
		name: "jam", kind: gasless, route: "JAM", chain: mainnet, in: usdc, out: usdt, amount: dollars, funds: funds{usdc: times(2, dollars)},
		spender: balanceManager, ownPart: since("journal.before_search"),
		states: approvedFirst, by: "fill", mined: []string{"approve"},
	},
	{
		name: "rfq", kind: gasless, route: "RFQ", chain: base, in: weth, out: dollar, amount: ether, funds: funds{weth: times(2, ether)},
		spender: rfqSettlement, onlyPoints: signedOrderPoints,
		states: approvedFirst, by: "fill", mined: []string{"approve"},
	},
	{
		name: "jam_wrap", kind: gasless, route: "JAM", chain: base, out: dollar, amount: ether,
		spender: balanceManager, ownPart: sinceLast("sender.before_sign"), onlyPoints: []string{"journal", "sent", "step"},
		states: approvedFirst, by: "fill", mined: []string{"approve", "call"},
	},
	{
		name: "dutch_v2", route: "DUTCH_V2", chain: mainnet, in: usdc, out: usdt, amount: dollars, funds: funds{usdc: times(2, dollars)},
		before: auctions(dexsim.Settings{}), onlyPoints: signedOrderPoints,
		states: approvedFirst, by: "fill", mined: []string{"approve"},
	},
	{
		name: "dutch_v3", route: "DUTCH_V3", chain: base, in: dollar, out: weth, amount: dollars, funds: funds{dollar: times(2, dollars)},
		before: auctions(dexsim.Settings{}), onlyPoints: signedOrderPoints,
		states: approvedFirst, by: "fill", mined: []string{"approve"},
	},
	{
		name: "invalidate", route: "DUTCH_V2", chain: mainnet, in: usdc, out: usdt, amount: dollars, funds: funds{usdc: times(2, dollars)},
		before: auctions(dexsim.Settings{Outcome: never}), movesClock: true, act: (*flowRun).invalidate,
		ownPart: since("journal.before_request"), onlyPoints: []string{"request", "invalidate", "journal", "cancelled"}, locked: (*flowRun).lockedInvalidation,
		states: []string{"accepted", "approving", "executing", "submitting", "settling", "cancelled"}, by: "invalidated",
		mined: []string{"approve", "invalidate"}, remaining: map[string]*big.Int{"erc20": dollars},
	},
	{
		name: "unfilled", route: "DUTCH_V2", chain: mainnet, in: usdc, out: usdt, amount: dollars, funds: funds{usdc: times(2, dollars)},
		before: auctions(dexsim.Settings{Outcome: never, DeadlineSeconds: 60}), movesClock: true, act: (*flowRun).letExpire,
		onlyPoints: []string{"submit", "expired"},
		states:     []string{"accepted", "approving", "executing", "submitting", "settling", "expired"}, by: "absence",
		mined: []string{"approve"}, remaining: map[string]*big.Int{"erc20": dollars},
	},
	{
		name: "dutch_lost", route: "DUTCH_V2", chain: mainnet, in: usdc, out: usdt, amount: dollars, funds: funds{usdc: times(2, dollars)},
		before: together(auctions(dexsim.Settings{}), lose(dex, "/order", 1)), onlyPoints: []string{"submit", "status", "closed"},
		states: approvedFirst, by: "fill", mined: []string{"approve"},
	},
	{
		name: "jam_lost", kind: gasless, route: "JAM", chain: mainnet, in: usdc, out: usdt, amount: dollars, funds: funds{usdc: times(2, dollars)},
		before: lose(gasless, "jam/order", 1), spender: balanceManager, onlyPoints: []string{"status", "closed"},
		states: approvedFirst, by: "fill", mined: []string{"approve"},
	},
}

// depositFlows hand the input over in a call, and tell the provider once it is mined.
var depositFlows = []flow{
	{
		name: "bridge", kind: bridge, chain: base, to: mainnet, in: dollar, out: usdc, amount: dollars, funds: funds{dollar: times(2, dollars)},
		spender: depository, ownPart: since("journal.before_search"), onlyPoints: depositPoints,
		states: approvedFirst, by: "arrival", mined: []string{"approve", "call"},
	},
	{
		name: "bridge_native", kind: bridge, chain: base, to: mainnet, amount: ether, onlyPoints: []string{"submit", "index"},
		states: noApproval, by: "arrival", mined: []string{"call"},
	},
	{
		name: "bridge_refund", kind: bridge, chain: base, to: mainnet, in: dollar, out: usdc, amount: dollars, funds: funds{dollar: times(2, dollars)},
		before: bridged(bridgesim.Refund), spender: depository, onlyPoints: []string{"submit", "refunded"},
		states: givenBack, by: "refund", mined: []string{"approve", "call"},
	},
	{
		name: "bridge_router", kind: bridge, chain: base, in: weth, out: dollar, amount: ether, funds: funds{weth: times(2, ether)},
		spender: approvalProxy, onlyPoints: []string{"search", "step", "sent", "attempt", "submit", "filled"},
		states: approvedFirst, by: "opaque_call", mined: []string{"approve", "call"},
	},
	{
		name: "bridge_router_across", kind: bridge, chain: base, to: mainnet, in: weth, out: usdc, amount: ether, funds: funds{weth: times(2, ether)},
		spender: approvalProxy, onlyPoints: []string{"search", "step", "attempt", "submit", "index", "closed"},
		states: approvedFirst, by: "arrival", mined: []string{"approve", "call"},
	},
	{
		name: "intent_refund", kind: intent, chain: base, to: mainnet, in: dollar, out: usdc, amount: dollars, funds: funds{dollar: times(2, dollars)},
		before: intended(intentsim.Settings{Outcome: intentsim.Outcome{Ending: "refund", Reserve: true}}), spender: intentDeposit, onlyPoints: []string{"submit", "refunded"},
		states: givenBack, by: "refund", mined: []string{"approve", "call"},
	},
	{
		name: "intent", kind: intent, chain: base, to: mainnet, in: dollar, out: usdc, amount: dollars, funds: funds{dollar: times(2, dollars)},
		before: intended(intentsim.Settings{}), spender: intentDeposit, onlyPoints: []string{"search", "attempt", "submit", "closed", "claim"},
		states: approvedUnlinked, by: likelyPaid, mined: []string{"approve", "call"},
	},
	{
		name: "intent_native", kind: intent, chain: base, to: mainnet, amount: ether,
		before: intended(intentsim.Settings{}), onlyPoints: []string{"journal", "submit"},
		states: unlinked, by: likelyPaid, mined: []string{"call"},
	},
	{
		name: "intent_lost", kind: intent, chain: base, to: mainnet, amount: ether,
		before: together(intended(intentsim.Settings{}), lose(intent, "/v1/deposit/submit", tries)), onlyPoints: []string{"submit", "status", "closed"},
		submissions: tries,
		states:      unlinked, by: likelyPaid, mined: []string{"call"},
	},
	{
		name: "intent_forgotten", kind: intent, chain: base, to: mainnet, amount: ether,
		before: intended(intentsim.Settings{LoseQuotes: 1, Indexing: true}), onlyPoints: []string{"submit", "status", "closed"},
		states: unlinked, by: likelyPaid, mined: []string{"call"},
	},
	{
		name: "intent_closed", kind: intent, chain: base, to: mainnet, amount: ether, movesClock: true, act: (*flowRun).closeOrder,
		before: intended(intentsim.Settings{Outcome: intentsim.Outcome{Ending: "claim"}}), ownPart: since("journal.before_change"), onlyPoints: []string{"change"}, locked: (*flowRun).lockedClose,
		states: append(slices.Clone(unlinked), "closed"), by: closedByUser, mined: []string{"call"},
	},
	{
		name: "intent_speedup", kind: intent, chain: base, to: mainnet, amount: ether, pausesChain: true, act: (*flowRun).speedUp,
		before: intended(intentsim.Settings{}), ownPart: since("journal.before_change"), onlyPoints: []string{"bump_journal", "step", "submit"}, locked: (*flowRun).lockedSpeedup,
		states: unlinked, by: likelyPaid, mined: []string{"call"}, sentTxs: map[string]int{"call": 2},
	},
}

// alignClocks puts the destination's time a little ahead of the source's, which advances
// with each single-transaction block: a payment dated before its deposit would not count.
func (p *flowRun) alignClocks() {
	p.t.Helper()
	source, target := p.chain(), p.lane.Chain(p.flow.target())
	if source == target {
		return
	}
	if err := target.ShiftTo(source.Time().Add(15 * time.Second)); err != nil {
		p.t.Fatal(err)
	}
}

// bridged sets how the bridge ends its deposits.
func bridged(kind bridgesim.Kind) func(*flowRun) error {
	return func(p *flowRun) error {
		s := bridgesim.DefaultSettings
		s.APIKey = p.lane.Bridge().APIKey
		s.Outcome.Kind = kind
		return p.lane.Bridge().Set(s)
	}
}

// intended makes intents take no longer than the chains do.
func intended(change intentsim.Settings) func(*flowRun) error {
	return func(p *flowRun) error {
		s := intentsim.DefaultSettings()
		s.PacePercent, s.LoseQuotes, s.Indexing, s.Outcome = 0, change.LoseQuotes, change.Indexing, change.Outcome
		return p.lane.Intent().Set(s)
	}
}

// never is the outcome of an auction that nobody fills.
var never = dexsim.Outcome{Fill: "never"}

// poolsOnly makes the DEX offer only its own pools.
func (p *flowRun) poolsOnly() {
	p.t.Helper()
	s := dexsim.DefaultSettings
	s.Auctions = dexsim.AuctionsNever
	if err := p.lane.DEX().Set(s); err != nil {
		p.t.Fatal(err)
	}
}

// auctions makes the DEX offer only auctions.
func auctions(s dexsim.Settings) func(*flowRun) error {
	s.MakerRecipient, s.Auctions = dexsim.DefaultSettings.MakerRecipient, dexsim.AuctionsAlways
	return func(p *flowRun) error { return p.lane.DEX().Set(s) }
}

// tries is how often the daemon sends a repeatable request by itself.
const tries = 3

// lose drops a provider's first answers at an endpoint, after it has done what was asked.
func lose(kind, endpoint string, times int) func(*flowRun) error {
	return func(p *flowRun) error {
		_, err := p.lane.Faults(kind).Add(inject.Rule{Target: endpoint, Kind: inject.Drop, Times: times})
		return err
	}
}

func together(first, second func(*flowRun) error) func(*flowRun) error {
	return func(p *flowRun) error {
		if err := first(p); err != nil {
			return fmt.Errorf("first: %w", err)
		}
		return second(p)
	}
}
