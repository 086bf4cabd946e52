//go:build faults && linux

package crash

import (
	"cmp"
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
	"swapkeep/test/audit"
	"swapkeep/test/await"
	"swapkeep/test/requests"
)

var (
	native  = common.Address{}
	usdc    = common.HexToAddress("0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48") // on mainnet
	usdt    = common.HexToAddress("0xdAC17F958D2ee523a2206206994597C13D831ec7") // on mainnet
	weth    = common.HexToAddress("0x4200000000000000000000000000000000000006") // on base
	dollar  = common.HexToAddress("0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913") // USDC on base
	permit2 = common.HexToAddress("0x000000000022D473030F116dDEE9F6B43aC78BA3")

	milli        = big.NewInt(1e15)
	ether        = big.NewInt(1e18)
	gasMoney     = times(5, ether)
	dollars      = big.NewInt(2_000e6)
	oldAllowance = big.NewInt(7e6) // dollars of an earlier allowance
)

func times(n int64, unit *big.Int) *big.Int { return new(big.Int).Mul(big.NewInt(n), unit) }

// A flow is one thing that a user does. The matrix is made of the points that the daemon
// passes on the way. One goroutine of the daemon does it all, except for act, which is the
// user's.
type flow struct {
	name        string
	kind        string // of provider; "": dex
	route       string // the offer's; "": the best
	chain       uint64
	to          uint64         // where the output arrives; 0: on the same chain
	in, out     common.Address // a revoke has in alone: the token
	amount      *big.Int
	funds       map[common.Address]*big.Int
	before      func(*flowRun) error // prepares the world before the user looks
	after       func(*flowRun) error // changes it before consent, once
	pausesChain bool                 // no block is made from begin on, until act resumes mining
	shortQuotes bool                 // quotes expire soon
	movesClock  bool                 // the daemon's clock is moved meanwhile
	act         func(*flowRun) error // follows consent; it may be repeated
	ownPart     func(trace []string) (from, to int)
	onlyPoints  []string // names of the points it is for, where another flow has the rest; ignored with -every
	locked      func(*flowRun, kill) error
	acks        []string       // findings that must be acknowledged
	spender     common.Address // gets the allowance of the input; zero: Permit2
	states      []string
	by          string              // the proof of the end, or likelyPaid; "": own_call
	submissions int                 // how often the provider is told; 0: once
	mined       []string            // deeds that are mined, in order
	sentTxs     map[string]int      // how many different transactions of each deed are sent; nil: one of each in mined
	remaining   map[string]*big.Int // allowances that remain, by kind
}

type funds = map[common.Address]*big.Int

// flowNamed returns the flow of that name.
func flowNamed(name string) flow {
	return flows[slices.IndexFunc(flows, func(f flow) bool { return f.name == name })]
}

// ends returns the final state of the flow's order.
func (f flow) ends() string { return f.states[len(f.states)-1] }

// since selects a trace from a point's first hit on; until selects it up to the nth hit.
func since(point string) func([]string) (int, int) {
	return func(trace []string) (int, int) { return max(slices.Index(trace, point), 0), len(trace) }
}

// sinceLast selects a trace from the last hit of a point on.
func sinceLast(point string) func([]string) (int, int) {
	return func(trace []string) (from, to int) {
		for i, p := range trace {
			if p == point {
				from = i
			}
		}
		return from, len(trace)
	}
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

// A flowRun is one user's run through a flow, which a death interrupts.
type flowRun struct {
	*desk
	flow       flow
	since      uint64 // block before it began
	nonce      uint64 // the first nonce that the daemon uses
	foreignTxs map[common.Hash]bool
	evidence   *audit.Audit
	told       []audit.OrderResult // all orders, as last told
	consents   []audit.Consent     // to what is not the flow
	refusals   int                 // records of transactions that no node took
	request    protocol.UUID
	digest     protocol.Hash // consented to
	review     *protocol.Review
	id         string // of the order, once execute has answered
	second     protocol.UUID
	agreed     protocol.Hash // digest of the proposal that second accepted
	done       map[string]bool
	mark       int // lines of the trace before consent
	traced     string
	clockAhead time.Duration // how far a timed flow's clock was moved
}

// begin creates and funds the wallet of a running daemon and prepares the flow.
func begin(d *desk, f flow, traced string) *flowRun {
	d.t.Helper()
	d.wallet(f.chain)
	p := &flowRun{desk: d, flow: f, request: requests.NewUUID(), second: requests.NewUUID(), traced: traced, foreignTxs: map[common.Hash]bool{}, done: map[string]bool{}}
	p.fund(native, gasMoney)
	for token, amount := range f.funds {
		p.fund(token, amount)
	}
	p.alignClocks()
	p.since = p.chain().Head().Number.Uint64()
	p.record()
	p.poolsOnly()
	if f.before != nil {
		if err := f.before(p); err != nil {
			d.t.Fatal(err)
		}
	}
	if f.pausesChain {
		p.chain().Pause()
	}
	return p
}

func (p *flowRun) fund(token common.Address, amount *big.Int) {
	p.t.Helper()
	if err := p.chain().Fund(p.t.Context(), p.account, token, amount); err != nil {
		p.t.Fatal(err)
	}
}

// once does what must not be repeated after a death.
func (p *flowRun) once(name string, do func() error) error {
	if p.done[name] {
		return nil
	}
	p.done[name] = true
	return do()
}

// errNeverAccepted says that the daemon does not know of the consent.
var errNeverAccepted = errors.New("never accepted")

// drive does what the user does, continuing after a death: every act repeats its uuid. It
// returns when the order has ended.
func (p *flowRun) drive() error {
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
	acts := slices.Concat(p.flow.acks, priceAcks)
	if p.flow.revokes() {
		acts = nil // a revoke takes none
	}
	err := p.ask(p.flow.method(), protocol.ExecuteParams{Request: p.request, Digest: p.digest, Acknowledge: acts, Password: []byte(requests.Password)}, &o)
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
	_, err = p.awaitOrder(p.id, ended)
	return err
}

// method returns the method that consents.
func (f flow) method() string {
	if f.revokes() {
		return "approvals.revoke"
	}
	return "swap.execute"
}

func (f flow) revokes() bool { return f.amount.Sign() == 0 }

// priceAcks lists the findings to acknowledge because prices are off here.
var priceAcks = []string{"price_unknown", "value_unknown"}

// look gets as far as the digest that the user consents to.
func (p *flowRun) look() error {
	if p.flow.revokes() {
		a, err := p.allowed(p.flow.in, p.spender())
		if err != nil {
			return err
		}
		p.digest = a.Digest
		return nil
	}
	review, err := p.reviewOf(p.flow.quote(), p.flow.route)
	if err == nil {
		p.review, p.digest = review, review.Digest
	}
	return err
}

// quote returns the flow's quote request.
func (f flow) quote() protocol.QuoteParams {
	return protocol.QuoteParams{
		TokenIn: protocol.Address(f.in.Hex()), TokenOut: protocol.Address(f.out.Hex()), AmountIn: protocol.AmountOf(f.amount),
		DstChainID: f.to, Providers: []string{f.provider()},
	}
}

// allowed returns the allowance that the daemon lists for a token and spender.
func (p *flowRun) allowed(token, spender common.Address) (protocol.Allowance, error) {
	all, err := p.allowances()
	for _, a := range all {
		if evmAddress(a.Token) == token && evmAddress(a.Spender) == spender && a.Kind == protocol.AllowanceERC20 {
			return a, nil
		}
	}
	return protocol.Allowance{}, cmp.Or(err, fmt.Errorf("no allowance of %s is listed", token))
}

// allowances returns all that the daemon lists.
func (p *flowRun) allowances() (all []protocol.Allowance, err error) {
	params := protocol.ApprovalsParams{Account: protocol.Address(p.account.Hex())}
	for more := true; more; more = params.Cursor != "" {
		var list protocol.ApprovalsResult
		if err := p.ask("approvals.list", params, &list); err != nil {
			return nil, err
		}
		all, params.Cursor = append(all, list.Allowances...), list.Cursor
	}
	return all, nil
}

// reviewOf prepares an offer of a route, or the best offer if route is "".
func (d *desk) reviewOf(q protocol.QuoteParams, route string) (*protocol.Review, error) {
	q.Account = protocol.Address(d.account.Hex())
	var offers protocol.QuoteResult
	if err := d.ask("swap.quote", q, &offers); err != nil {
		return nil, err
	}
	i := slices.IndexFunc(offers.Offers, func(o protocol.Offer) bool { return route == "" || o.Routing == route })
	if i < 0 {
		return nil, fmt.Errorf("no offer of route %q among %d: %v", route, len(offers.Offers), offers.Failures)
	}
	var r protocol.Review
	if err := d.ask("swap.prepare", protocol.PrepareParams{Offer: offers.Offers[i].ID}, &r); err != nil {
		return nil, err
	}
	if r.Blocked || len(r.Steps) == 0 {
		return nil, fmt.Errorf("review of %d steps, blocked %t: %+v", len(r.Steps), r.Blocked, r.Findings)
	}
	return &r, nil
}

// awaitOffered waits until the node was sent n different transactions.
func (p *flowRun) awaitOffered(n int) error {
	enough, lost := false, false
	await.Holds(longTimeout, func() bool {
		enough = len(p.observe().distinct()) >= n
		lost = !enough && p.dying != nil && p.dying.within(0)
		return enough || lost
	})
	switch {
	case enough:
		return nil
	case lost:
		return errLost
	}
	return fmt.Errorf("the node was not handed %d transactions", n)
}

// observe returns what the world saw of the daemon, without what the test itself signed.
func (p *flowRun) observe() observation {
	return p.lane.observe(p.t, p.flow.chain, p.since, p.account).without(p.foreignTxs)
}

// markHere records how long the trace is at consent.
func (p *flowRun) markHere() {
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

// chain returns the flow's source chain.
func (p *flowRun) chain() *sandbox.Chain { return p.lane.Chain(p.flow.chain) }
