package main

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"swapkeep/cmd/internal/screen"
	"swapkeep/host/protocol"
)

// settleTime bounds the way of one order from consent to its end.
const settleTime = 45 * time.Second

// A plan is one swap of the story.
type plan struct {
	chain    uint64
	pays     string   // symbol; "" = the chain's own coin
	amount   *big.Int // base units
	receives string   // symbol
	bumps    int      // times that its transaction is sped up
	but      string   // what befalls it, for the title
	carry    func(*show, context.Context, *ledger, protocol.Review) (protocol.Order, error)
}

var (
	ether     = big.NewInt(1e18)
	halfEther = big.NewInt(5e17)
	someUSDC  = big.NewInt(2_000e6)
)

// demoSwaps is the story. The fourth pays with what the second brought.
var demoSwaps = []plan{
	{chain: 1, amount: ether, receives: "USDC", carry: (*show).carriedOut},
	{chain: 8453, amount: ether, receives: "USDC", but: "and the daemon killed in the middle", carry: (*show).killedInTheMiddle},
	{chain: 1, amount: halfEther, receives: "WETH", carry: (*show).carriedOut},
	{chain: 8453, pays: "USDC", amount: someUSDC, receives: "WETH", but: "and the daemon killed between approval and permit", carry: (*show).killedBeforeThePermit},
	{chain: 1, amount: halfEther, receives: "USDC", bumps: 1, but: "stuck in a crowd and sped up", carry: (*show).spedUp},
}

func chainsOf(plans []plan) (ids []uint64) {
	for _, p := range plans {
		if !slices.Contains(ids, p.chain) {
			ids = append(ids, p.chain)
		}
	}
	return ids
}

// An outcome is what became of one swap.
type outcome struct {
	plan    plan
	network string
	native  coin
	pays    coin
	gets    coin
	floor   *big.Int // as it was consented to
	order   protocol.Order
	audit   audit
	took    time.Duration
	killed  int   // daemons meanwhile
	err     error // nil only for a swap that is filled, as the chain shows too
}

// swap carries one plan through: quote, review, consent, proof.
func (s *show) swap(ctx context.Context, number int, p plan) outcome {
	l, err := s.openLedger(p)
	if err != nil {
		return outcome{plan: p, err: err}
	}
	s.out.Heading(l.title(number))
	r := outcome{plan: p, network: l.name, native: l.native, pays: l.pays, gets: l.gets}
	review, err := s.offered(ctx, l)
	if err == nil {
		err = l.open(ctx, review)
	}
	if err != nil {
		r.err = err
		return r
	}
	r.floor = l.floor
	began, killed := time.Now(), s.killed
	r.order, r.err = p.carry(s, ctx, l, review)
	r.took, r.killed = time.Since(began), s.killed-killed
	if r.err == nil {
		r.audit, r.err = s.settled(ctx, l, r.order)
	}
	return r
}

// offered gets an offer and the review of what it would do.
func (s *show) offered(ctx context.Context, l *ledger) (protocol.Review, error) {
	if err := s.network(ctx, l); err != nil {
		return protocol.Review{}, err
	}
	quote, err := ask[protocol.QuoteResult](ctx, s.port, "swap.quote", protocol.QuoteParams{
		Account: s.account, TokenIn: l.pays.token, AmountIn: protocol.AmountOf(l.plan.amount), TokenOut: l.gets.token,
		Providers: []string{"dex"},
	})
	if err != nil {
		return protocol.Review{}, err
	}
	if len(quote.Offers) == 0 {
		if failure := quote.Failures["dex"]; failure != nil {
			return protocol.Review{}, failure
		}
		return protocol.Review{}, errors.New("no offer, and no reason for that")
	}
	best := quote.Offers[0]
	s.out.Fact("offer", fmt.Sprintf("%s by %s; at least %s at a slippage of %s %%",
		l.gets.Text(best.AmountOut.Int()), best.Provider, l.gets.Text(best.MinAmountOut.Int()), best.Slippage))
	s.out.Fact("route", screen.Printable(strings.TrimSpace(best.Routing+" "+best.Route)))
	review, err := ask[protocol.Review](ctx, s.port, "swap.prepare", protocol.PrepareParams{Offer: best.ID})
	if err != nil {
		return review, err
	}
	return review, s.reviewed(l, review)
}

// network makes the plan's chain the active one.
func (s *show) network(ctx context.Context, l *ledger) error {
	list, err := ask[protocol.NetworksResult](ctx, s.port, "networks.list", protocol.None{})
	if err != nil {
		return err
	}
	if list.Active != l.plan.chain {
		if _, err := ask[protocol.SelectResult](ctx, s.port, "networks.select", protocol.SelectParams{ChainID: l.plan.chain}); err != nil {
			return err
		}
	}
	s.out.Fact("network", fmt.Sprintf("%s (%d) is the active one", l.name, l.plan.chain))
	return nil
}

// consent executes the review that was shown, findings that need a second act
// included.
func (s *show) consent(ctx context.Context, r protocol.Review) (protocol.Order, error) {
	var codes []string
	for _, f := range r.Findings {
		if f.Severity == "acknowledge" {
			codes = append(codes, f.Code)
		}
	}
	s.out.Fact("consent", "swap.execute with that digest"+secondAct(codes))
	return ask[protocol.Order](ctx, s.port, "swap.execute", protocol.ExecuteParams{
		Request: newRequest(), Digest: r.Digest, Acknowledge: codes,
	})
}

func secondAct(codes []string) string {
	if len(codes) == 0 {
		return ""
	}
	return "; second act for " + strings.Join(codes, ", ")
}

// carriedOut consents and lets it happen.
func (s *show) carriedOut(ctx context.Context, _ *ledger, r protocol.Review) (protocol.Order, error) {
	f := newFollower()
	o, err := s.consent(ctx, r)
	if err != nil {
		return o, err
	}
	return s.follow(ctx, f, o.ID, ended)
}

func ended(o protocol.Order) bool { return o.Final }

// sent reports whether a transaction of the present step is on its way.
func sent(o protocol.Order) bool { return o.Sending != "" || o.Final }

// sentInAPause consents while no block is made, so that the first transaction
// is on its way and stays there.
func (s *show) sentInAPause(ctx context.Context, l *ledger, f *follower, r protocol.Review) (protocol.Order, error) {
	l.chain.Pause()
	s.out.Fact("paused", "no block is made on "+l.name+" for now")
	o, err := s.consent(ctx, r)
	if err == nil {
		o, err = s.follow(ctx, f, o.ID, sent)
	}
	if err == nil && o.Final {
		err = fmt.Errorf("the order ended too soon as %s: %s", o.State, screen.Printable(o.Means+" "+o.Reason))
	}
	return o, err
}

// resume lets blocks be made again.
func (s *show) resume(l *ledger) {
	l.chain.Resume()
	s.out.Fact("resumed", "blocks are made again")
}
