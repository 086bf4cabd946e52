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
)

var (
	native = common.Address{}
	usdc   = common.HexToAddress("0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48") // on mainnet
	weth   = common.HexToAddress("0x4200000000000000000000000000000000000006") // on base
	milli  = big.NewInt(1e15)
	ether  = big.NewInt(1e18)
)

// A flow is one thing that a user does. The matrix is made of what the daemon
// passes on its way through it.
type flow struct {
	name    string
	chain   uint64
	in, out common.Address
	funds   map[common.Address]*big.Int
	cancels bool // the user asks for its end before it is mined
	states  []string
}

var filledStates = []string{"accepted", "executing", "settling", "filled"}

var flows = []flow{
	{"swap", mainnet, native, usdc, nil, false, filledStates},
	{"wrap", base, native, weth, nil, false, filledStates},
	{"unwrap", base, weth, native, map[common.Address]*big.Int{weth: times(2, ether)}, false, filledStates},
	{"cancel", base, native, weth, nil, true, []string{"accepted", "executing", "cancelled"}},
}

func times(n int64, unit *big.Int) *big.Int { return new(big.Int).Mul(big.NewInt(n), unit) }

var (
	gasMoney = times(5, ether)
	stake    = times(1, ether) // goes into every flow
)

// A passage is one user's way through a flow, which a death interrupts.
type passage struct {
	*desk
	flow     flow
	since    uint64 // block before it began
	request  protocol.UUID
	withdraw protocol.UUID // names the cancelling
	review   *protocol.Review
	id       string // the order's, once execute has answered
	mark     int    // lines of the trace before the part that is this flow's own
	traced   string
}

// begin makes wallet and funds; the daemon runs.
func begin(d *desk, f flow, traced string) *passage {
	d.t.Helper()
	d.wallet(f.chain)
	p := &passage{desk: d, flow: f, request: newUUID(), withdraw: newUUID(), traced: traced}
	p.fund(native, gasMoney)
	for token, amount := range f.funds {
		p.fund(token, amount)
	}
	p.since = d.lane.Chain(f.chain).Head().Number.Uint64()
	return p
}

func (p *passage) fund(token common.Address, amount *big.Int) {
	p.t.Helper()
	if err := p.lane.Chain(p.flow.chain).Fund(p.t.Context(), p.account, token, amount); err != nil {
		p.t.Fatal(err)
	}
}

// errNeverAccepted: the daemon knows nothing of the consent.
var errNeverAccepted = errors.New("never accepted")

// drive does what the user does, from wherever the last attempt ended: every
// act repeats its uuid. It ends with the order.
func (p *passage) drive() error {
	if p.review == nil {
		if err := p.prepare(); err != nil {
			return err
		}
	}
	p.markHere(!p.flow.cancels)
	var o protocol.Order
	err := p.ask("swap.execute", protocol.ExecuteParams{Request: p.request, Digest: p.review.Digest}, &o)
	switch {
	case named(err, "plan_unknown"):
		return errNeverAccepted
	case err != nil:
		return err
	case p.id != "" && p.id != o.ID:
		return fmt.Errorf("the same uuid made two orders: %s and %s", p.id, o.ID)
	}
	p.id = o.ID
	if p.flow.cancels {
		if err := p.cancel(); err != nil {
			return err
		}
	}
	_, err = p.awaitOrder(p.id, final)
	return err
}

// prepare gets as far as the review. Of a swap that is to be cancelled no
// block is made from here on.
func (p *passage) prepare() error {
	if p.flow.cancels {
		p.lane.Chain(p.flow.chain).Pause()
	}
	review, err := p.reviewOf(p.flow.in, p.flow.out, stake)
	p.review = review
	return err
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
	if r.Blocked || len(r.Steps) != 1 {
		return nil, fmt.Errorf("review of %d steps, blocked %t: %+v", len(r.Steps), r.Blocked, r.Findings)
	}
	return &r, nil
}

// cancel asks for the order's end once its call is on its way, and lets blocks
// be made again when the cancelling transaction is, too.
func (p *passage) cancel() error {
	if err := p.awaitOffered(1); err != nil {
		return err
	}
	p.markHere(p.flow.cancels)
	err := p.ask("swap.cancel", protocol.CancelParams{Request: p.withdraw, Order: p.id, Digest: p.review.Digest}, nil)
	if err != nil && !named(err, "order_final") {
		return err
	}
	return p.letCancelWin()
}

func (p *passage) letCancelWin() error {
	if err := p.awaitOffered(2); err != nil {
		return err
	}
	p.lane.Chain(p.flow.chain).Resume()
	return nil
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

func (p *passage) sight() sighting { return p.lane.see(p.t, p.flow.chain, p.since, p.account) }

// markHere notes how long the trace is, the first time that here is true.
func (p *passage) markHere(here bool) {
	if p.traced != "" && here && p.mark == 0 {
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

// A moment says what a daemon that dies there has promised already.
type moment string

const (
	unpromised moment = "unpromised" // nothing: consent is not on disk
	parked     moment = "parked"     // consent is; what is missing is a signature
	signed     moment = "signed"     // everything it takes is on disk
	idle       moment = "idle"       // the call is on its way; the wish to cancel is not on disk
)

// momentOf reads off a trace what is on disk when the process dies at line i.
func (f flow) momentOf(trace []string, i int) moment {
	if f.cancels {
		journaled := slices.Index(trace, "sender.before_cancel_journal")
		wish := journaled - 1 - slices.Index(reversed(trace[:journaled]), "journal.after_executing")
		switch {
		case i < wish:
			return idle
		case i <= journaled:
			return parked
		}
		return signed
	}
	switch {
	case i < slices.Index(trace, "journal.after_accepted"):
		return unpromised
	case i < slices.Index(trace, "sender.after_journal"):
		return parked
	}
	return signed
}

func reversed(s []string) []string {
	r := slices.Clone(s)
	slices.Reverse(r)
	return r
}
