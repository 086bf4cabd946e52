package main

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"swapkeep/host/protocol"
	"swapkeep/sandbox"
)

// An outcome is the result of one swap.
type outcome struct {
	plan     plan
	ledger   *ledger // nil: the swap could not start
	floor    *big.Int
	order    protocol.Order
	audit    observed
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
	review, err := s.reviewed(ctx, l)
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

// What is shown of quotes, of a review and of an order's end.
var (
	ofQuotes = matching(`^ +\d+  |^ +provider +you get|no offer:`)
	ofEnd    = except(`^  (proven by|proof|deposit|counts|sources) `) // checkSettled prints these
	ofReview = matching(`^  (you get|price impact|minimum|route|fees|\d+ [a-z]+|note|warning|blocks|acknowledge|digest) `)
)

// reviewed gets quotes and a review, and checks the review that will be accepted.
func (s *demoRun) reviewed(ctx context.Context, l *ledger) (review protocol.Review, err error) {
	only := l.tradeLine("swap") + " --provider " + l.plan.provider + " --review-only"
	_, err = s.typed(ctx,
		step{line: "swapkeep networks select " + networkWord(l.chain), want: "is the active network"},
		step{line: l.tradeLine("quote"), want: `(?m)^ +\d+  ` + l.plan.provider + ` `, show: ofQuotes},
		step{line: only, want: `(?m)^ +digest +0x`, show: ofReview},
		step{line: only + " --json > review.json", into: &review, show: nothing})
	if err != nil {
		return review, err
	}
	s.digest, l.review = review.Digest, review
	return review, s.checkReview(l, review)
}

// checkReview checks a review like a careful user: the planned offer, not blocked, and
// approvals only of what is paid, to a contract of the provider.
func (s *demoRun) checkReview(l *ledger, r protocol.Review) error {
	switch {
	case r.Blocked:
		return errors.New("the review blocks this swap")
	case r.Offer.Provider != l.plan.provider || !strings.HasPrefix(r.Offer.Routing, l.plan.routing):
		return fmt.Errorf("the best offer of %s is %s, expected %s", r.Offer.Provider, r.Offer.Routing, l.plan.routing)
	case r.Terms.Recipient != s.account:
		return fmt.Errorf("the review pays to %s", r.Terms.Recipient)
	}
	said := fmt.Sprintf("at least %s for this account", l.gets.Text(r.Terms.MinimumReceived.Int()))
	for _, step := range r.Steps {
		if step.Effect.Kind != "approve" {
			continue
		}
		for _, a := range step.Effect.Approves {
			n := a.Amount.Int()
			if n.Sign() != 0 && n.Cmp(l.plan.amount) != 0 || common.HexToAddress(string(a.Token)) != l.spent() || !l.knows(a.Spender) {
				return fmt.Errorf("the review approves %s of %s for %s, which is not part of this swap", n, a.Token, a.Spender)
			}
			said += fmt.Sprintf("; approval of exactly %s for %s", l.named(a.Token).Text(n), l.contract(a.Spender))
		}
	}
	s.out.Fact("checked", said)
	return nil
}

// tradeLine returns the command line that quotes or swaps the plan's trade.
func (l *ledger) tradeLine(command string) string {
	line := "swapkeep " + command + " " + strings.ReplaceAll(l.pays.Text(l.plan.amount), ",", "") + " " + l.gets.Symbol
	if l.destination != l.chain {
		line += " --to " + networkWord(l.destination)
	}
	return line
}

// networkWord returns a network's name if it can be typed without quotes, else its chain
// id.
func networkWord(c *sandbox.Chain) string {
	if name := strings.ToLower(c.Network.Name); !strings.Contains(name, " ") {
		return name
	}
	return strconv.FormatUint(c.ID, 10)
}

// orderID matches the id of an order.
var orderID = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// carriedOut accepts the review and waits for the end, including the plan's kill.
func (s *demoRun) carriedOut(ctx context.Context, l *ledger) (protocol.Order, error) {
	accept := func() (string, error) { return s.acceptWithKill(ctx, l) }
	if l.plan.kill == nil {
		st := step{line: acceptLine, follows: true, show: ofEnd, want: l.plan.endLine()}
		if l.plan.end == refunded {
			st.exit = exitSwap // the swap itself did not succeed
		}
		accept = func() (string, error) { return s.typed(ctx, st) }
	}
	out, err := accept()
	if err != nil {
		return protocol.Order{}, err
	}
	var found protocol.OrderResult
	_, err = s.typed(ctx, step{line: "swapkeep orders show " + orderID.FindString(out) + " --json", into: &found, show: nothing})
	if err == nil {
		err = s.money.record(found, s.digest)
	}
	return found.Order, err
}
