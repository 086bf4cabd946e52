package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"swapkeep/cmd/internal/amount"
	"swapkeep/cmd/internal/screen"
	"swapkeep/extension/messages"
	"swapkeep/host/protocol"
	"swapkeep/internal/clock"
)

// consentFlags are the flags of a command that needs consent to something it shows.
type consentFlags struct {
	digest      string
	acknowledge []string
	amountAgain string
	detach      bool
	password    *secretFlag
}

func (f *consentFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.digest, "digest", "", "confirm with the `digest` shown before instead of a question")
	cmd.Flags().BoolVar(&f.detach, "detach", false, "return at once, without waiting for the outcome")
	f.password = passwordFlag(cmd.Flags())
}

// requireConsent returns nil if there is consent to what was just shown: the user's yes, or
// --digest with the digest that a script was shown before.
func (l *daemonConn) requireConsent(ctx context.Context, f *consentFlags, digest protocol.Hash, question string) error {
	switch {
	case f.digest == string(digest):
		return nil
	case f.digest != "":
		return usageError{fmt.Errorf("--digest does not match; the digest is %s", digest)}
	case !l.t.interactive():
		return usageError{errors.New("no terminal to confirm this at; give --digest with the digest shown before")}
	}
	return l.t.confirm(ctx, question)
}

func newOrderCancel(t *terminal) *cobra.Command {
	var f consentFlags
	cmd := t.onOrder("cancel ORDER", "Cancel an order or its pending transaction", func(l *daemonConn, ctx context.Context, id string) error {
		o, err := l.showOpenOrder(ctx, id)
		if err != nil {
			return err
		}
		l.say(screen.Plain, "Nothing more is signed for the order. A pending transaction is replaced by an empty one with the same nonce, which costs its network fee; whichever is mined counts. A signed order is cancelled by a transaction if its contract supports that; otherwise it expires.")
		return l.actOn(ctx, &f, o, "Cancel this order?", "cancelled", "swap.cancel",
			protocol.CancelParams{Request: newRequest(), Order: o.ID, Digest: o.Digest})
	})
	f.add(cmd)
	return cmd
}

func newOrderClose(t *terminal) *cobra.Command {
	var f consentFlags
	cmd := t.onOrder("close ORDER", "Stop waiting for an order whose end nothing proves", func(l *daemonConn, ctx context.Context, id string) error {
		o, err := l.showOpenOrder(ctx, id)
		if err != nil {
			return err
		}
		switch {
		case o.CanCloseFrom.IsZero():
			return protocol.New("cannot_close", "the order still ends by itself, or can be cancelled")
		case clock.Now().Before(o.CanCloseFrom):
			return protocol.Newf("cannot_close", "the order can be closed from %s", clockTime(o.CanCloseFrom))
		}
		text, _ := messages.Text("order_stop_text", l.settledBy(o))
		if !handedOver(o) {
			text, _ = messages.Text("order_stop_ended_text", l.nameOf(o.Terms.SrcChainID))
		}
		l.say(screen.Plain, text)
		return l.actOn(ctx, &f, o, "Stop waiting for this order?", "closed", "swap.close",
			protocol.CloseParams{Request: newRequest(), Order: o.ID, Digest: o.Digest})
	})
	f.add(cmd)
	return cmd
}

func newOrderSpeedup(t *terminal) *cobra.Command {
	var f consentFlags
	var tier, ceiling string
	cmd := t.onOrder("speedup ORDER", "Speed up an order's pending transaction with a higher network fee", func(l *daemonConn, ctx context.Context, id string) error {
		o, err := l.showOpenOrder(ctx, id)
		if err != nil {
			return err
		}
		params := protocol.SpeedupParams{Request: newRequest(), Order: o.ID, Digest: o.Digest, Tier: tier}
		coin := native(l.networks[o.Terms.SrcChainID])
		most := o.Terms.GasCeiling.Int()
		if ceiling != "" {
			if most, err = coin.Parse(ceiling); err != nil {
				return usageError{fmt.Errorf("--gas-ceiling: %w", err)}
			}
			params.GasCeiling = protocol.AmountOf(most)
		}
		l.say(screen.Plain, fmt.Sprintf("The same transaction is sent with a higher network fee; only one of them can be mined. All transactions of the order together cost at most %s.", coin.Text(most)))
		return t.inCoins(l.actOn(ctx, &f, o, "Speed up?", "filled", "swap.speedup", params), map[string]amount.Coin{"coin": coin})
	})
	f.add(cmd)
	cmd.Flags().StringVar(&tier, "tier", protocol.TierFast, "network fee: normal or fast")
	cmd.Flags().StringVar(&ceiling, "gas-ceiling", "", "raise the fee limit to this `amount` of the native coin")
	return cmd
}

func newOrderAccept(t *terminal) *cobra.Command {
	var f consentFlags
	cmd := t.onOrder("accept ORDER", "Review and accept new terms of an order", func(l *daemonConn, ctx context.Context, id string) error {
		return l.acceptProposal(ctx, &f, id)
	})
	amountFlag(cmd.Flags(), &f.amountAgain)
	f.add(cmd)
	cmd.Flags().StringSliceVar(&f.acknowledge, "acknowledge", nil, "`codes` of warnings that you accept, with --digest")
	return cmd
}

// showOpenOrder prints the order to act on. It is an error if the order is final.
func (l *daemonConn) showOpenOrder(ctx context.Context, id string) (protocol.Order, error) {
	r, err := ask[protocol.OrderResult](ctx, l, "swap.order", protocol.OrderParams{Order: id})
	if err != nil {
		return r.Order, err
	}
	if r.Order.Ended {
		return r.Order, protocol.Newf("order_final", "the order has ended: %s", waitingText(r.Order))
	}
	what, err := l.orderText(ctx, r.Order)
	l.say(screen.Strong, what)
	l.say(screen.Plain, waitingText(r.Order))
	return r.Order, err
}

// say prints context for a question to the user.
func (l *daemonConn) say(how screen.Style, text string) {
	if !l.t.json {
		l.t.talk.Paragraph(how, text)
	}
}

// actOn asks for consent, unlocks a session, calls the method, and follows the order.
func (l *daemonConn) actOn(ctx context.Context, f *consentFlags, o protocol.Order, question, wanted, method string, params any) error {
	if err := l.requireConsent(ctx, f, o.Digest, question); err != nil {
		return err
	}
	return l.withSession(ctx, f.password, func() error {
		got, err := askUncertain[protocol.Order](ctx, l, method, params)
		if err != nil {
			return err
		}
		return l.followToState(ctx, got, f.detach, wanted)
	})
}

// errNoProposal means that there is nothing to accept.
var errNoProposal = errors.New("the order has no new terms to accept")

// acceptProposal shows the proposal of an order that needs consent, and accepts it.
func (l *daemonConn) acceptProposal(ctx context.Context, f *consentFlags, id string) error {
	o, err := l.showOpenOrder(ctx, id)
	if err != nil {
		return err
	}
	if o.Proposal == nil {
		return fmt.Errorf("%w: it is %s", errNoProposal, waitingText(o))
	}
	p := o.Proposal
	l.say(screen.Warn, l.causeText(ctx, o, p.Cause, p.Reason))
	if !l.t.json {
		if err := l.printReview(ctx, l.t.talk, p.Review); err != nil {
			return err
		}
	}
	if err := l.blocking(ctx, p.Review); err != nil {
		return err
	}
	codes := f.acknowledge
	if f.digest == "" && len(codes) > 0 {
		return usageError{errors.New("--acknowledge needs --digest; at a terminal you are asked")}
	}
	if f.digest == "" && l.t.interactive() {
		codes, err = l.consent(ctx, p.Review)
	} else {
		err = l.requireConsent(ctx, f, p.Review.Digest, "")
	}
	if err != nil {
		return err
	}
	return l.withSession(ctx, f.password, func() error {
		params := protocol.AcceptParams{Request: newRequest(), Order: o.ID, Digest: p.Review.Digest, Acknowledge: codes}
		got, err := l.withAmount(ctx, f.amountAgain, func(typed protocol.Amount) (rawResult[protocol.Order], error) {
			params.Amount = typed
			return askUncertain[protocol.Order](ctx, l, "swap.accept", params)
		})
		if err != nil {
			return err
		}
		return l.followUnlessDetached(ctx, got, f.detach)
	})
}
