package main

import (
	"context"
	"errors"
	"fmt"

	"swapkeep/cmd/internal/screen"
	"swapkeep/host/protocol"
)

// demoHostile makes a provider lie about a swap and checks that the answer is refused with a
// reason and that nothing is signed.
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
	refusal, err := s.refused(ctx, l)
	if err != nil {
		return err
	}
	s.out.Styled(screen.Good, "refused", fmt.Sprintf("%s (%s)", screen.Printable(refusal.Message), refusal.Name))
	return s.checkUntouched(ctx, l, before)
}

// refused quotes and prepares the hostile swap and returns the daemon's refusal. It is an
// error if the daemon accepts it.
func (s *demoRun) refused(ctx context.Context, l *ledger) (*protocol.Error, error) {
	quote, err := s.quote(ctx, l)
	if err != nil {
		return nil, err
	}
	if refusal := quote.Failures[l.plan.provider]; refusal != nil {
		return refusal, nil
	}
	for _, o := range quote.Offers {
		if o.Provider != l.plan.provider {
			continue
		}
		_, err := ask[protocol.Review](ctx, s.port, "swap.prepare", protocol.PrepareParams{Offer: o.ID})
		var refusal *protocol.Error
		if errors.As(err, &refusal) {
			return refusal, nil
		}
		return nil, errors.Join(errors.New("the lie was not refused: a review was made of it"), err)
	}
	return nil, errors.New("the provider has no offer, and there is no reason for that")
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
	if len(a.signed) > 0 || a.stray > 0 || len(a.providerOrders) > 0 || after != before || a.paid.Sign() != 0 || a.got.Sign() != 0 || len(a.outflows) > 0 {
		return fmt.Errorf("something was signed all the same: %s; %s", l.says(a), l.saysDeals(a))
	}
	s.out.Fact("on chain", l.says(a))
	s.out.Fact("books", l.saysDeals(a)+"; the daemon has no new one either: nothing was signed")
	return nil
}

// orders returns how many orders the daemon has.
func (s *demoRun) orders(ctx context.Context) (int, error) {
	list, err := ask[protocol.OrdersResult](ctx, s.port, "swap.orders", protocol.OrdersParams{Limit: protocol.PageMax})
	return len(list.Orders), err
}
