//go:build faults && linux

package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"swapkeep/host/client"
	"swapkeep/host/protocol"
)

// A popup is the script: an open session, the frames of its connection, and more
// connections if it wants them. It counts the outcomes.
type popup struct {
	w       *world
	relay   *client.Process
	more    func() (*client.Process, error)
	account common.Address

	mu    sync.Mutex
	tally map[string]int
}

// ask calls on the connection with the session and counts refusals.
func (p *popup) ask(method string, params, result any) error {
	return p.askOn(p.relay, method, params, result)
}

func (p *popup) askOn(relay *client.Process, method string, params, result any) error {
	ctx, cancel := context.WithTimeout(p.w.ctx, callTimeout)
	defer cancel()
	err := relay.Call(ctx, method, params, result)
	if err != nil {
		p.count(nameOf(err))
		p.progress("%s: %v", method, err)
	}
	return err
}

// progress prints progress with -v.
func (p *popup) progress(format string, args ...any) {
	if p.w.verbose {
		fmt.Fprintf(os.Stderr, "  "+format+"\n", args...)
	}
}

// nameOf returns an error's name on the wire.
func nameOf(err error) string {
	var failure *protocol.Error
	if errors.As(err, &failure) {
		return failure.Name
	}
	return err.Error()
}

func (p *popup) count(what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tally[what]++
}

// happened lists the counted outcomes, the most frequent first.
func (p *popup) happened() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	names := slices.SortedFunc(maps.Keys(p.tally), func(a, b string) int {
		if d := p.tally[b] - p.tally[a]; d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	for i, name := range names {
		if n := p.tally[name]; n > 1 {
			names[i] = fmt.Sprintf("%s ×%d", name, n)
		}
	}
	return strings.Join(names, ", ")
}

// A trade is one swap that the script wants.
type trade struct {
	chain     uint64
	in, out   common.Address
	amount    *big.Int
	slippage  protocol.Percent
	providers []string // nil: all
	skew      bool     // the thief moves the pools meanwhile
}

// quote requests offers for a trade.
func (p *popup) quote(t trade) (protocol.QuoteResult, error) {
	var offers protocol.QuoteResult
	if err := p.ask("networks.select", protocol.SelectParams{ChainID: t.chain}, nil); err != nil {
		return offers, err
	}
	q := protocol.QuoteParams{
		Account: wire(p.account), TokenIn: wire(t.in), TokenOut: wire(t.out), AmountIn: protocol.AmountOf(t.amount), Providers: t.providers,
	}
	if t.slippage != 0 {
		q.Slippage = &t.slippage
	}
	return offers, p.ask("swap.quote", q, &offers)
}

// errNone says that no offer led to an executable plan.
var errNone = errors.New("no plan")

// plan returns the plan of the first offer that has an executable one.
func (p *popup) plan(t trade) (r protocol.Review, err error) {
	offers, err := p.quote(t)
	if err != nil {
		return r, err
	}
	for kind, why := range offers.Failures {
		p.count(kind + ": " + why.Name)
	}
	for _, o := range offers.Offers {
		if o.Unusable != "" {
			p.count(o.Provider + ": unusable")
			continue
		}
		if p.ask("swap.prepare", protocol.PrepareParams{Offer: o.ID}, &r) != nil {
			continue
		}
		if !r.Blocked {
			p.progress("plan: %s of %s for %s, slippage %s", r.Offer.AmountIn, r.Offer.Provider, r.Offer.AmountOut, r.Offer.Slippage)
			return r, nil
		}
		for _, f := range r.Findings {
			if f.Severity == "block" {
				p.count("blocked: " + f.Code)
				p.progress("%s: %s", f.Code, f.Text)
			}
		}
	}
	return r, errNone
}

// execute executes a plan and acknowledges all findings that ask for it.
func (p *popup) execute(r protocol.Review) (o protocol.Order, err error) {
	return o, p.ask("swap.execute", protocol.ExecuteParams{Request: newUUID(), Digest: r.Digest, Acknowledge: acknowledgements(r.Findings)}, &o)
}

// acknowledgements returns the findings that must be acknowledged.
func acknowledgements(found []protocol.Finding) (codes []string) {
	for _, f := range found {
		if f.Severity == "acknowledge" && !slices.Contains(codes, f.Code) {
			codes = append(codes, f.Code)
		}
	}
	return codes
}

// swap quotes, prepares and executes.
func (p *popup) swap(t trade) (protocol.Order, error) {
	r, err := p.plan(t)
	if err != nil {
		return protocol.Order{}, err
	}
	return p.execute(r)
}

// open lists the orders that have not ended.
func (p *popup) open() []protocol.Order {
	var all protocol.OrdersResult
	_ = p.ask("swap.orders", protocol.OrdersParams{Open: true, Limit: protocol.PageMax}, &all)
	return all.Orders
}

// settle waits until every order has ended, and accepts all proposals. Orders that do not
// end are cancelled.
func (p *popup) settle() {
	accepted := map[protocol.Hash]bool{}
	wait := func(patience time.Duration) []protocol.Order {
		for end := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
			open := p.open()
			if len(open) == 0 || time.Now().After(end) {
				return open
			}
			for _, o := range open {
				if o.Proposal != nil && !accepted[o.Proposal.Review.Digest] {
					accepted[o.Proposal.Review.Digest] = true
					p.accept(o)
				}
			}
		}
	}
	for _, o := range wait(waitTimeout) {
		p.count("withdrawn")
		p.progress("order %s is %s %s at step %d: %s", o.ID, o.State, o.Condition, o.Step, o.Reason)
		_ = p.ask("swap.cancel", protocol.CancelParams{Request: newUUID(), Order: o.ID, Digest: o.Digest}, nil)
	}
	for range wait(waitTimeout) {
		p.count("left open")
	}
}

// accept consents to an order's proposal.
func (p *popup) accept(o protocol.Order) {
	r := o.Proposal.Review
	if p.ask("swap.accept", protocol.AcceptParams{Request: newUUID(), Order: o.ID, Digest: r.Digest, Acknowledge: acknowledgements(r.Findings)}, nil) == nil {
		p.count("proposal accepted")
	}
}

// moved returns what was paid into swaps since a time, in US dollars: filled orders and
// those still open, whatever their result.
func (p *popup) moved(since time.Time) (sum float64) {
	var page protocol.OrdersResult
	for first := true; first || page.Cursor != ""; first = false {
		params := protocol.OrdersParams{Limit: protocol.PageMax, Cursor: page.Cursor}
		page = protocol.OrdersResult{}
		if p.ask("swap.orders", params, &page) != nil {
			return sum
		}
		for _, o := range page.Orders {
			if o.Created.Before(since) {
				return sum
			}
			if (o.State == "filled" || !o.Final) && o.Terms.Provider != "wallet" && !p.wraps(o.Terms) {
				sum += p.w.worthOf(o.Terms.SrcChainID, common.HexToAddress(string(o.Terms.TokenIn)), o.Terms.AmountIn.Int())
			}
		}
	}
	return sum
}

// wraps reports whether a swap only wraps or unwraps the coin, which moves nothing.
func (p *popup) wraps(t protocol.Terms) bool {
	wrapped := wire(p.w.Chain(t.SrcChainID).Network.Wrapped.Address)
	return t.TokenIn == protocol.Native && t.TokenOut == wrapped || t.TokenIn == wrapped && t.TokenOut == protocol.Native
}

// worthOf returns the worth of an amount of a holding in US dollars; 0 for other tokens.
func (w *world) worthOf(chain uint64, token common.Address, amount *big.Int) float64 {
	for _, h := range holdings {
		if address, t := w.token(h); h.chain == chain && address == token {
			return worth(t, amount)
		}
	}
	return 0
}

func wire(a common.Address) protocol.Address { return protocol.Checksummed(a.Hex()) }
