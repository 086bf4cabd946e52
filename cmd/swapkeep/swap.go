package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"swapkeep/cmd/internal/screen"
	"swapkeep/host/client"
	"swapkeep/host/protocol"
)

// swapFlags are the flags of swap, in addition to those of quote.
type swapFlags struct {
	tradeFlags
	reviewOnly  bool
	accept      string
	acknowledge []string
	amountAgain string
	detach      bool
}

func newSwap(t *terminal) *cobra.Command {
	var f swapFlags
	cmd := &cobra.Command{
		Use: "swap " + tradeArguments, Short: "Swap tokens: quote, review, confirm and follow to the outcome",
		Long: "Swap tokens. At a terminal it shows the offers, then a review of the chosen one, decoded from what would be signed: every\n" +
			"step, approvals first, fees and warnings. Nothing is signed before you confirm each approval and the swap. Then it\n" +
			"shows the progress until the outcome is confirmed on the chain; Ctrl-C leaves, and the order continues. If an outcome\n" +
			"is only reported by the provider, it exits with status 13, and the daemon keeps checking.\n\n" +
			tradeHelp + "\n\n" +
			"A script swaps in two steps. --review-only prints a review with its digest and signs nothing. --accept with that digest,\n" +
			"and the password on a file descriptor, accepts exactly this review, once, until it expires. Warnings that must be\n" +
			"acknowledged are given with --acknowledge. If a token of the swap has no known price, the amount must be entered again\n" +
			"once such swaps exceed limits.unpriced_day; a script gives it with --amount-again.",
		Example: "  swapkeep swap 1.5 ETH USDC\n" +
			"  swapkeep swap 1.5 ETH USDC --review-only --json > review.json\n" +
			"  swapkeep swap --accept \"$(jq -r .digest review.json)\" --password-fd 3 3< password",
		ValidArgsFunction: t.complete(completeTrade),
		Args: func(cmd *cobra.Command, args []string) error {
			if f.accept != "" {
				return f.onlyAccepts(cmd, args)
			}
			return tradeArgs(cmd, args)
		},
	}
	f.add(t, cmd)
	flags := cmd.Flags()
	flags.BoolVar(&f.reviewOnly, "review-only", false, "show the review of the best offer and stop; nothing is signed")
	flags.StringVar(&f.accept, "accept", "", "accept the review with this `digest`, printed by --review-only")
	flags.StringSliceVar(&f.acknowledge, "acknowledge", nil, "`codes` of warnings that you accept, with --accept")
	amountFlag(flags, &f.amountAgain)
	flags.BoolVar(&f.detach, "detach", false, "return when the order is accepted, without waiting for the outcome")
	cmd.RunE = t.withDaemon(func(ctx context.Context, l *daemonConn, args []string) error {
		switch {
		case f.accept != "":
			return l.acceptDigest(ctx, &f)
		case f.amountAgain != "":
			return usageError{errors.New("--amount-again needs --accept; at a terminal you are asked")}
		case len(f.acknowledge) > 0:
			return usageError{errors.New("--acknowledge needs --accept; at a terminal you are asked")}
		}
		r, err := l.tradeOf(ctx, args, &f.tradeFlags)
		switch {
		case err != nil:
			return err
		case !f.reviewOnly && !t.interactive():
			return usageError{errors.New("no terminal to confirm the swap at; in a script use --review-only, then --accept: see swapkeep swap --help")}
		}
		do := l.swapInteractively
		if f.reviewOnly {
			do = l.reviewOnly
		}
		return t.inCoins(do(ctx, r, &f), r.coins())
	})
	return cmd
}

// onlyAccepts refuses flags and arguments that --accept would ignore, because it takes
// the review as it was shown.
func (f *swapFlags) onlyAccepts(cmd *cobra.Command, args []string) error {
	beside := args
	for _, name := range []string{"account", "to", "slippage", "provider", "recipient", "refund-to", "review-only"} {
		if cmd.Flags().Changed(name) {
			beside = append(beside, "--"+name)
		}
	}
	if len(beside) > 0 {
		return usageError{fmt.Errorf("--accept takes the review as shown and cannot be combined with %s", strings.Join(beside, " "))}
	}
	return nil
}

// reviewOnly prints the review of the best offer.
func (l *daemonConn) reviewOnly(ctx context.Context, r trade, f *swapFlags) error {
	return l.withPassword(ctx, r, &f.tradeFlags, func(p protocol.QuoteParams) error {
		offers, err := ask[protocol.QuoteResult](ctx, l, "swap.quote", p)
		if err == nil && len(offers.Offers) == 0 {
			err = noOffer(offers.Failures)
		}
		if err != nil {
			return err
		}
		return show(ctx, l, "swap.prepare", protocol.PrepareParams{Offer: offers.Offers[0].ID}, func(v protocol.Review) error {
			if err := l.printReview(ctx, l.t.result, v); err != nil {
				return err
			}
			return l.blocking(ctx, v)
		})
	})
}

// acceptDigest executes a review that was shown before.
func (l *daemonConn) acceptDigest(ctx context.Context, f *swapFlags) error {
	digest, err := digestOf("--accept", f.accept)
	if err != nil {
		return err
	}
	return l.withSession(ctx, f.password, func() error {
		order, err := l.execute(ctx, digest, f.acknowledge, f.amountAgain)
		if err != nil {
			return err
		}
		return l.followUnlessDetached(ctx, order, f.detach)
	})
}

func digestOf(what, text string) (digest protocol.Hash, err error) {
	if err := digest.UnmarshalJSON([]byte(`"` + text + `"`)); err != nil {
		return "", usageError{fmt.Errorf("%s: the digest %w", what, err)}
	}
	return digest, nil
}

// maxReviews limits how often a new quote is made because the last one expired.
const maxReviews = 10

// swapInteractively takes the user from the offers to the order's end. It asks for the password first,
// so that a quote, which is short-lived, does not expire while it is typed.
func (l *daemonConn) swapInteractively(ctx context.Context, r trade, f *swapFlags) error {
	l.t.talk.Title(r.title())
	return l.unlock(ctx, f.password, func(secret protocol.Secret) error {
		p := r.params
		if r.hasOtherRecipient() {
			p.Password = secret
		}
		for range maxReviews {
			review, err := l.reviewed(ctx, r, p)
			if err != nil {
				return err
			}
			acknowledged, err := l.consent(ctx, review)
			if err != nil {
				return err
			}
			order, err := l.execute(ctx, review.Digest, acknowledged, "")
			if !quoteExpired(err) {
				if err != nil {
					return err
				}
				return l.followUnlessDetached(ctx, order, f.detach)
			}
			p.Providers = []string{review.Terms.Provider}
			l.t.talk.Blank()
			l.t.talk.Paragraph(screen.Warn, "The quote expired, so nothing was accepted. Review this new quote from the same provider.")
		}
		return protocol.New("quote_expired", "")
	})
}

// quoteExpired reports whether a quote or plan had expired.
func quoteExpired(err error) bool {
	return slices.ContainsFunc([]string{"quote_expired", "quote_unknown", "plan_unknown"}, func(name string) bool {
		return errors.Is(err, protocol.New(name, ""))
	})
}

// reviewed gets an offer and prints its review.
func (l *daemonConn) reviewed(ctx context.Context, r trade, p protocol.QuoteParams) (protocol.Review, error) {
	offers, err := l.quoteQuietly(ctx, r, p)
	if err != nil {
		return protocol.Review{}, err
	}
	offer, err := l.chooseOffer(ctx, r, offers)
	if err != nil {
		return protocol.Review{}, err
	}
	l.t.progress(time.Now(), "building and simulating the swap")
	review, err := ask[protocol.Review](ctx, l, "swap.prepare", protocol.PrepareParams{Offer: offer.ID})
	l.t.talk.ClearProgress()
	if err != nil {
		return review, err
	}
	if err := l.printReview(ctx, l.t.talk, review); err != nil {
		return review, err
	}
	return review, l.blocking(ctx, review)
}

// quoteQuietly is quote without JSON output: with --json, only the order is printed.
func (l *daemonConn) quoteQuietly(ctx context.Context, r trade, p protocol.QuoteParams) (protocol.QuoteResult, error) {
	asJSON := l.t.json
	l.t.json = false
	defer func() { l.t.json = asJSON }()
	return l.quote(ctx, r, p)
}

// consent asks for each approval, for each finding that must be acknowledged, and for the
// swap. It returns the codes of the acknowledged findings.
func (l *daemonConn) consent(ctx context.Context, r protocol.Review) ([]string, error) {
	for i, step := range r.Steps {
		if step.Effect.Kind != "approve" {
			continue
		}
		if err := l.confirmApproval(ctx, r, i); err != nil {
			return nil, err
		}
	}
	var codes []string
	for _, f := range r.Findings {
		if f.Severity != "acknowledge" {
			continue
		}
		l.t.talk.Blank()
		l.t.talk.Paragraph(screen.Bad, l.findingText(ctx, f, r.Terms))
		if err := l.t.typed(ctx, fmt.Sprintf("Type %s to accept this risk", f.Code), f.Code); err != nil {
			return nil, err
		}
		codes = append(codes, f.Code)
	}
	l.t.talk.Blank()
	return codes, l.t.confirm(ctx, "Swap as reviewed?")
}

// confirmApproval shows one approval and asks for a yes.
func (l *daemonConn) confirmApproval(ctx context.Context, r protocol.Review, step int) error {
	w := reviewer{l, ctx, l.t.talk, r.Terms.Account}
	e := r.Steps[step].Effect
	w.out.Heading(fmt.Sprintf("Approval, step %d of %d", step+1, len(r.Steps)))
	for _, a := range e.Approves {
		c, err := w.coin(ctx, e.ChainID, a.Token)
		if err != nil {
			return err
		}
		w.out.Fact("token", fmt.Sprintf("%s %s on %s", c.Symbol, a.Token, w.nameOf(e.ChainID)))
		if r.Terms.Isolated != "" {
			w.out.Fact("owner", "the throwaway account "+string(r.Terms.Isolated))
		}
		w.out.Fact("spender", contractText(a.Spender))
		if bigOf(a.Amount).Sign() == 0 {
			w.out.Fact("amount", "none: this token requires revoking the current approval first")
			continue
		}
		w.out.Fact("amount", amountText(c, a))
	}
	if cost, ok := costOf(r, step); ok {
		w.out.Fact("network fee", "about "+native(w.networks[e.ChainID]).Text(cost.Expected.Int())+", paid even if the swap does not follow")
	}
	return l.t.confirm(ctx, "Approve?")
}

// costOf returns the cost of a step's own transaction; only calls have one.
func costOf(r protocol.Review, step int) (protocol.Cost, bool) {
	calls := 0
	for _, s := range r.Steps[:step] {
		if s.Kind == "call" {
			calls++
		}
	}
	if r.Steps[step].Kind != "call" || calls >= len(r.Gas.Costs) {
		return protocol.Cost{}, false
	}
	return r.Gas.Costs[calls], true
}

// errUncertain means that a request was sent and its answer did not arrive.
var errUncertain = errors.New("connection lost before the answer: the order may have been accepted; check with swapkeep orders")

// execute consents to a digest. again is the value of --amount-again.
func (l *daemonConn) execute(ctx context.Context, digest protocol.Hash, acknowledge []string, again string) (rawResult[protocol.Order], error) {
	p := protocol.ExecuteParams{Request: newRequest(), Digest: digest, Acknowledge: acknowledge}
	return l.withAmount(ctx, again, func(typed protocol.Amount) (rawResult[protocol.Order], error) {
		p.Amount = typed
		return askUncertain[protocol.Order](ctx, l, "swap.execute", p)
	})
}

func amountFlag(flags *pflag.FlagSet, to *string) {
	flags.StringVar(to, "amount-again", "", "the swapped `amount` again, if a token has no known price")
}

// withAmount calls do. If the daemon refuses because the amount must be repeated, it
// calls do again with the flag's amount or, at a terminal, with a typed one.
func (l *daemonConn) withAmount(ctx context.Context, script string, do func(protocol.Amount) (rawResult[protocol.Order], error)) (rawResult[protocol.Order], error) {
	got, err := do("")
	var refused *protocol.Error
	if !errors.As(err, &refused) || refused.Name != "amount_again" || script == "" && !l.t.interactive() {
		return got, err
	}
	chainID, bad := strconv.ParseUint(refused.Data["chainId"], 10, 64)
	if bad != nil {
		return got, err
	}
	coin, failed := l.coin(ctx, chainID, protocol.Address(refused.Data["token"]))
	if failed != nil {
		return got, failed
	}
	if script == "" {
		l.t.talk.Paragraph(screen.Warn, "A token of this swap has no known price, so its value is unknown.")
		if script, err = l.t.question(ctx, "Type the amount in "+coin.Symbol+" again"); err != nil {
			return got, err
		}
	}
	typed, bad := coin.Parse(script)
	if bad != nil {
		return got, usageError{fmt.Errorf("repeated amount: %w", bad)}
	}
	return do(protocol.AmountOf(typed))
}

// askUncertain is ask for requests that may take effect; without an answer: errUncertain.
func askUncertain[T any](ctx context.Context, l *daemonConn, method string, params any) (rawResult[T], error) {
	got, err := ask[rawResult[T]](ctx, l, method, params)
	if errors.Is(err, client.ErrClosed) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		err = fmt.Errorf("%w (%w)", errUncertain, err)
	}
	return got, err
}
