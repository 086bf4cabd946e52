package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"swapkeep/cmd/internal/screen"
	"swapkeep/host/protocol"
)

// demoHostile makes a provider lie about a swap and checks that its answer is refused
// with a reason and that nothing is signed.
func (s *demoRun) demoHostile(ctx context.Context, hostile lie) error {
	l, err := s.openLedger(hostile.plan)
	if err != nil {
		return err
	}
	s.out.Heading(fmt.Sprintf("A hostile answer (%s): %s for %s %s", hostile.plan.way, l.pays.Text(l.plan.amount), l.gets.Symbol, l.where()))
	end, err := s.addFaults(ctx, l.plan.provider, hostile.rules...)
	if err != nil {
		return err
	}
	defer func() { _ = end(context.WithoutCancel(ctx)) }()
	s.out.Fact("provider", hostile.says+", "+short(thief))
	if err := l.open(ctx, s, protocol.Review{}); err != nil {
		return err
	}
	before, err := s.orders(ctx)
	if err != nil {
		return err
	}
	out, err := s.typed(ctx,
		step{line: "swapkeep networks select " + networkWord(l.chain), want: "is the active network"},
		step{line: l.tradeLine("swap") + " --provider " + l.plan.provider + " --review-only", exit: exitSwap, want: "not_as_accepted"})
	if err != nil && strings.Contains(out, "digest") {
		err = errors.Join(errors.New("the malicious quote was not refused: it got a review"), err)
	}
	if err != nil {
		return err
	}
	s.out.Styled(screen.Good, "refused", "no review, so nothing can be accepted")
	return s.checkUntouched(ctx, l, len(before))
}

// checkUntouched checks that nothing happened: no order in the daemon or at the provider, no
// transaction, no transfer.
func (s *demoRun) checkUntouched(ctx context.Context, l *ledger, before int) error {
	a, err := l.audited(ctx, s)
	if err != nil {
		return err
	}
	after, err := s.orders(ctx)
	if err != nil {
		return err
	}
	if len(a.signed) > 0 || a.stray > 0 || len(a.providerOrders) > 0 || len(after) != before || a.paid.Sign() != 0 || a.got.Sign() != 0 || len(a.outflows) > 0 {
		return fmt.Errorf("something was signed anyway: %s; %s", l.says(a), l.saysDeals(a))
	}
	s.out.Fact("on chain", l.says(a))
	s.out.Fact("provider", l.saysDeals(a)+"; the daemon has no new order: nothing was signed")
	return nil
}
