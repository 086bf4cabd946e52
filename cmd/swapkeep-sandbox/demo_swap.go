package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
	"time"

	"swapkeep/cmd/internal/screen"
	"swapkeep/host/protocol"
)

// settleTime limits the time of one order from consent to its end.
const settleTime = 60 * time.Second

// An outcome is the result of one swap.
type outcome struct {
	plan     plan
	ledger   *ledger // nil: the swap could not start
	floor    *big.Int
	order    protocol.Order
	audit    audit
	duration time.Duration
	killed   int   // daemons killed during the swap
	err      error // nil only if the swap ended as planned and the chain confirms it

	interrupted bool // by the user, before its end
}

// swap runs one plan: quote, review, consent, proof.
func (s *demoRun) swap(ctx context.Context, number int, p plan) (r outcome) {
	r.plan = p
	l, err := s.openLedger(p)
	if err != nil {
		r.err = err
		return r
	}
	r.ledger = l
	s.out.Heading(l.title(number))
	back, err := s.withSettings(ctx, p.provider, p.settings)
	if err != nil {
		r.err = err
		return r
	}
	defer func() { r.err = errors.Join(r.err, back(context.WithoutCancel(ctx))) }()
	review, err := s.offered(ctx, l)
	if err == nil {
		err = l.open(ctx, s, review)
	}
	if err != nil {
		r.err = err
		return r
	}
	r.floor = l.minReceived
	began, killed := time.Now(), s.killed
	r.order, r.err = s.carriedOut(ctx, l)
	r.duration, r.killed = time.Since(began), s.killed-killed
	if r.err == nil {
		r.audit, r.err = s.checkSettled(ctx, l, r.order)
	}
	return r
}

// offered gets quotes, takes the plan's offer and prints its review.
func (s *demoRun) offered(ctx context.Context, l *ledger) (protocol.Review, error) {
	quote, err := s.quote(ctx, l)
	if err != nil {
		return protocol.Review{}, err
	}
	s.offers(l, quote)
	i := slices.IndexFunc(quote.Offers, func(o protocol.Offer) bool {
		return o.Provider == l.plan.provider && strings.HasPrefix(o.Routing, l.plan.routing)
	})
	if i < 0 {
		if failure := quote.Failures[l.plan.provider]; failure != nil {
			return protocol.Review{}, failure
		}
		return protocol.Review{}, fmt.Errorf("no offer for %s, and no reason for that", l.plan.way)
	}
	o := quote.Offers[i]
	s.out.Fact("taken", fmt.Sprintf("offer %d, which this swap is about; at least %s at a slippage of %s %%",
		i+1, l.gets.Text(o.MinAmountOut.Int()), o.Slippage))
	review, err := ask[protocol.Review](ctx, s.port, "swap.prepare", protocol.PrepareParams{Offer: o.ID})
	if err != nil {
		return review, err
	}
	return review, s.reviewed(l, review)
}

// quote makes the plan's chain the active network and quotes all providers at once.
func (s *demoRun) quote(ctx context.Context, l *ledger) (protocol.QuoteResult, error) {
	if err := s.network(ctx, l); err != nil {
		return protocol.QuoteResult{}, err
	}
	return ask[protocol.QuoteResult](ctx, s.port, "swap.quote", protocol.QuoteParams{
		Account: s.account, TokenIn: l.pays.token, AmountIn: protocol.AmountOf(l.plan.amount),
		DstChainID: l.plan.destination(), TokenOut: l.gets.token,
	})
}

// offers prints the offers in their ranking, with the reasons, and why other providers
// have none.
func (s *demoRun) offers(l *ledger, q protocol.QuoteResult) {
	for i, o := range q.Offers {
		s.out.Fact(fmt.Sprintf("offer %d", i+1), fmt.Sprintf("%s by %s, %s", l.gets.Text(o.AmountOut.Int()), o.Provider, screen.Printable(strings.TrimSpace(o.Routing+" "+o.Route))))
		s.out.Fact("", screen.Printable(o.Rank))
	}
	for _, kind := range slices.Sorted(maps.Keys(q.Failures)) {
		s.out.Fact("no offer", screen.Printable(kind+": "+q.Failures[kind].Message))
	}
}

// network makes the plan's chain the active network.
func (s *demoRun) network(ctx context.Context, l *ledger) error {
	list, err := ask[protocol.NetworksResult](ctx, s.port, "networks.list", protocol.None{})
	if err != nil {
		return err
	}
	if list.Active != l.plan.chain {
		if _, err := ask[protocol.SelectResult](ctx, s.port, "networks.select", protocol.SelectParams{ChainID: l.plan.chain}); err != nil {
			return err
		}
	}
	s.out.Fact("network", fmt.Sprintf("%s (%d) is the active one", l.chain.Network.Name, l.plan.chain))
	return nil
}

// consent executes the review that was shown, acknowledges its findings, and gives the
// password if the review requires it.
func (s *demoRun) consent(ctx context.Context, r protocol.Review) (protocol.Order, error) {
	var codes []string
	for _, f := range r.Findings {
		if f.Severity == "acknowledge" {
			codes = append(codes, f.Code)
		}
	}
	p := protocol.ExecuteParams{Request: newRequest(), Digest: r.Digest, Acknowledge: codes}
	with := ""
	if len(r.PasswordFor) > 0 {
		p.Password, with = s.password, " and the password, for "+strings.Join(r.PasswordFor, ", ")
	}
	s.out.Fact("consent", "swap.execute with that digest"+with+secondAct(codes))
	return ask[protocol.Order](ctx, s.port, "swap.execute", p)
}

func secondAct(codes []string) string {
	if len(codes) == 0 {
		return ""
	}
	return "; second act for " + strings.Join(codes, ", ")
}

// carriedOut consents and waits for the end, including the plan's kill.
func (s *demoRun) carriedOut(ctx context.Context, l *ledger) (protocol.Order, error) {
	f := newFollower()
	if l.plan.kill != nil {
		return s.executeWithKill(ctx, l, f)
	}
	o, err := s.consent(ctx, l.review)
	if err != nil {
		return o, err
	}
	return s.follow(ctx, f, o.ID, ended)
}

func ended(o protocol.Order) bool { return o.Final }
