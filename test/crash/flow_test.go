//go:build faults && linux

package crash

import (
	"errors"
	"fmt"
	"math/big"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"swapkeep/host/protocol"
	"swapkeep/sandbox"
)

var (
	native  = common.Address{}
	usdc    = common.HexToAddress("0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48") // on mainnet
	usdt    = common.HexToAddress("0xdAC17F958D2ee523a2206206994597C13D831ec7") // on mainnet
	weth    = common.HexToAddress("0x4200000000000000000000000000000000000006") // on base
	dollar  = common.HexToAddress("0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913") // USDC on base
	permit2 = common.HexToAddress("0x000000000022D473030F116dDEE9F6B43aC78BA3")

	milli    = big.NewInt(1e15)
	ether    = big.NewInt(1e18)
	gasMoney = times(5, ether)
	dollars  = big.NewInt(2_000e6)
	crumbs   = big.NewInt(7e6) // dollars that an earlier allowance was for
)

func times(n int64, unit *big.Int) *big.Int { return new(big.Int).Mul(big.NewInt(n), unit) }

// A flow is one thing that a user does. The matrix is made of what the daemon
// passes on its way through it. All is done by one goroutine of the daemon, but
// for acts, which are the user's.
type flow struct {
	name    string
	chain   uint64
	in, out common.Address // of a revoke, in alone: the token
	amount  *big.Int
	funds   map[common.Address]*big.Int
	before  func(*passage) error // the world as it is when the user looks
	after   func(*passage) error // and what happens to it before consent, once
	stuck   bool                 // no block is made from the look on, until act has some made
	hasty   bool                 // quotes end soon
	act     func(*passage) error // what follows consent; it may be repeated
	own     func(trace []string) (from, to int)
	only    []string // what the flow is for, where another has the rest; with -every, all
	locked  func(*passage, kill) error
	states  []string
	mined   []string            // what is mined, in order
	offered map[string]int      // different transactions by what they do, where not each once
	left    map[string]*big.Int // allowances that stay, by keeper
}

// sending is what stands around a signature on its way to the node.
var sending = []string{"sign", "journal", "broadcast", "sent"}

var (
	filled   = []string{"accepted", "executing", "settling", "filled"}
	approved = []string{"accepted", "approving", "executing", "settling", "filled"}
)

var flows = []flow{
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
		states: []string{"accepted", "executing", "cancelled"}, mined: []string{"cancel"}, offered: map[string]int{"call": 1, "cancel": 1},
	},
	{
		name: "withdraw", chain: base, in: dollar, out: weth, amount: dollars, funds: funds{dollar: times(2, dollars)},
		stuck: true, act: (*passage).withdraw, own: since("journal.before_ask"), locked: (*passage).lockedWithdraw,
		states: []string{"accepted", "approving", "executing", "cancelled"}, mined: []string{"approve"}, left: map[string]*big.Int{"erc20": dollars},
	},
	{
		name: "revert", chain: mainnet, out: usdc, amount: ether, before: (*passage).feedWhale, stuck: true, act: (*passage).outbid,
		only: []string{"failed"}, states: []string{"accepted", "executing", "failed"}, mined: []string{"reverted call"}, offered: map[string]int{"call": 1},
	},
	{
		name: "revoke", chain: base, in: dollar, amount: new(big.Int), funds: funds{dollar: dollars}, before: allow(dollar, crumbs),
		states: []string{"accepted", "approving", "settling", "filled"}, mined: []string{"reset"},
	},
}

type funds = map[common.Address]*big.Int

// flowNamed is one of the table.
func flowNamed(name string) flow {
	return flows[slices.IndexFunc(flows, func(f flow) bool { return f.name == name })]
}

// ends is the state that the flow's order ends in.
func (f flow) ends() string { return f.states[len(f.states)-1] }

// since is the part of a trace from a point on; until, up to the nth time that a
// point is passed.
func since(point string) func([]string) (int, int) {
	return func(trace []string) (int, int) { return max(slices.Index(trace, point), 0), len(trace) }
}

func until(point string, nth int) func([]string) (int, int) {
	return func(trace []string) (int, int) {
		for i, p := range trace {
			if p == point {
				nth--
			}
			if nth == 0 {
				return 0, i + 1
			}
		}
		return 0, len(trace)
	}
}

// A passage is one user's way through a flow, which a death interrupts.
type passage struct {
	*desk
	flow    flow
	since   uint64 // block before it began
	nonce   uint64 // the account's first that is the daemon's
	beside  map[common.Hash]bool
	request protocol.UUID
	digest  protocol.Hash // consented to
	review  *protocol.Review
	id      string // the order's, once execute has answered
	second  protocol.UUID
	agreed  protocol.Hash // what second accepted
	done    map[string]bool
	mark    int // lines of the trace before consent
	traced  string
}

// begin makes wallet and funds; the daemon runs.
func begin(d *desk, f flow, traced string) *passage {
	d.t.Helper()
	d.wallet(f.chain)
	p := &passage{desk: d, flow: f, request: newUUID(), second: newUUID(), traced: traced, beside: map[common.Hash]bool{}, done: map[string]bool{}}
	p.fund(native, gasMoney)
	for token, amount := range f.funds {
		p.fund(token, amount)
	}
	p.since = p.chain().Head().Number.Uint64()
	if f.before != nil {
		if err := f.before(p); err != nil {
			d.t.Fatal(err)
		}
	}
	if f.stuck {
		p.chain().Pause()
	}
	return p
}

func (p *passage) fund(token common.Address, amount *big.Int) {
	p.t.Helper()
	if err := p.chain().Fund(p.t.Context(), p.account, token, amount); err != nil {
		p.t.Fatal(err)
	}
}

// once does what must not be done again after a death.
func (p *passage) once(name string, do func() error) error {
	if p.done[name] {
		return nil
	}
	p.done[name] = true
	return do()
}

// errNeverAccepted: the daemon knows nothing of the consent.
var errNeverAccepted = errors.New("never accepted")

// drive does what the user does, from wherever the last attempt ended: every
// act repeats its uuid. It ends with the order.
func (p *passage) drive() error {
	if p.digest == "" {
		if err := p.look(); err != nil {
			return err
		}
	}
	if p.flow.after != nil {
		if err := p.once("after", func() error { return p.flow.after(p) }); err != nil {
			return err
		}
	}
	p.markHere()
	var o protocol.Order
	err := p.ask(p.flow.method(), protocol.ExecuteParams{Request: p.request, Digest: p.digest}, &o)
	switch {
	case named(err, "plan_unknown"):
		return errNeverAccepted
	case err != nil:
		return err
	case p.id != "" && p.id != o.ID:
		return fmt.Errorf("the same uuid made two orders: %s and %s", p.id, o.ID)
	}
	p.id = o.ID
	if p.flow.act != nil {
		if err := p.flow.act(p); err != nil {
			return err
		}
	}
	_, err = p.awaitOrder(p.id, final)
	return err
}

// method is the one that consents.
func (f flow) method() string {
	if f.revokes() {
		return "approvals.revoke"
	}
	return "swap.execute"
}

func (f flow) revokes() bool { return f.amount.Sign() == 0 }

// look gets as far as what the user consents to.
func (p *passage) look() error {
	if p.flow.revokes() {
		a, err := p.allowed(p.flow.in)
		if err != nil {
			return err
		}
		p.digest = a.Digest
		return nil
	}
	review, err := p.reviewOf(p.flow.in, p.flow.out, p.flow.amount)
	if err == nil {
		p.review, p.digest = review, review.Digest
	}
	return err
}

// allowed is what the daemon lists of Permit2's right to pull a token.
func (p *passage) allowed(token common.Address) (a protocol.Allowance, err error) {
	var list protocol.ApprovalsResult
	if err := p.ask("approvals.list", protocol.ApprovalsParams{Account: protocol.Address(p.account.Hex())}, &list); err != nil {
		return a, err
	}
	for _, a := range list.Allowances {
		if evmAddress(a.Token) == token && evmAddress(a.Spender) == permit2 && a.Kind == protocol.AllowanceERC20 {
			return a, nil
		}
	}
	return a, fmt.Errorf("no allowance of %s is listed", token)
}

func (d *desk) reviewOf(in, out common.Address, amount *big.Int) (*protocol.Review, error) {
	var offers protocol.QuoteResult
	err := d.ask("swap.quote", protocol.QuoteParams{
		Account: protocol.Address(d.account.Hex()), TokenIn: protocol.Address(in.Hex()), TokenOut: protocol.Address(out.Hex()),
		AmountIn: protocol.AmountOf(amount), Providers: []string{"dex"},
	}, &offers)
	if err != nil {
		return nil, err
	}
	if len(offers.Offers) == 0 {
		return nil, fmt.Errorf("no offer: %v", offers.Failures)
	}
	var r protocol.Review
	if err := d.ask("swap.prepare", protocol.PrepareParams{Offer: offers.Offers[0].ID}, &r); err != nil {
		return nil, err
	}
	if r.Blocked || len(r.Steps) == 0 {
		return nil, fmt.Errorf("review of %d steps, blocked %t: %+v", len(r.Steps), r.Blocked, r.Findings)
	}
	return &r, nil
}

// awaitOffered waits until the node was handed n different transactions.
func (p *passage) awaitOffered(n int) error {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if len(p.sight().distinct()) >= n {
			return nil
		}
		if p.doomed != nil && p.doomed.within(0) {
			return errLost
		}
	}
	return fmt.Errorf("the node was not handed %d transactions", n)
}

// sight is what the world saw of the daemon; what the test signed beside it is
// left out.
func (p *passage) sight() sighting {
	return p.lane.see(p.t, p.flow.chain, p.since, p.account).without(p.beside)
}

// markHere notes how long the trace is at consent.
func (p *passage) markHere() {
	if p.traced != "" && p.mark == 0 {
		p.mark = len(readTrace(p.t, p.traced))
	}
}

func readTrace(t *testing.T, path string) []string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return strings.Fields(string(b))
}

// chain is the flow's.
func (p *passage) chain() *sandbox.Chain { return p.lane.Chain(p.flow.chain) }
