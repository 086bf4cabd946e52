package main

import (
	"context"
	"fmt"
	"math/big"
	"strings"
	"time"

	"swapkeep/cmd/internal/amount"
	"swapkeep/cmd/internal/screen"
	"swapkeep/extension/messages"
	"swapkeep/host/protocol"
)

// A reviewer prints reviews to a screen.
type reviewer struct {
	*daemonConn
	ctx context.Context
	out *screen.Screen
	own protocol.Address
}

// printReview prints what consent to a review would mean.
func (l *daemonConn) printReview(ctx context.Context, out *screen.Screen, r protocol.Review) error {
	w := reviewer{l, ctx, out, r.Terms.Account}
	if err := l.loadNetworks(ctx); err != nil {
		return err
	}
	for _, part := range []func(protocol.Review) error{w.terms, w.steps, w.gas, w.findings, w.lines} {
		if err := part(r); err != nil {
			return err
		}
	}
	return nil
}

func (w reviewer) coinText(chain uint64, token protocol.Address, n protocol.Amount, exactly bool) (string, error) {
	c, err := w.coin(w.ctx, chain, token)
	if exactly {
		return c.Exact(n.Int()), err
	}
	return c.Text(n.Int()), err
}

func (w reviewer) terms(r protocol.Review) error {
	t, o := r.Terms, r.Offer
	pays, err := w.coinText(t.SrcChainID, t.TokenIn, t.AmountIn, true)
	if err != nil {
		return err
	}
	gets, err := w.coin(w.ctx, t.DstChainID, t.TokenOut)
	if err != nil {
		return err
	}
	w.out.Heading("Review")
	w.out.Fact("you pay", fmt.Sprintf("%s on %s, from %s; %s", pays, w.nameOf(t.SrcChainID), t.Account, worthText(o.USD.AmountIn)))
	w.out.Fact("you get", fmt.Sprintf("about %s on %s; %s", gets.Text(o.AmountOut.Int()), w.nameOf(t.DstChainID), worthText(o.USD.AmountOut)))
	if change, known := ownImpact(o.USD); known {
		w.out.Fact("price impact", change+" vs. market")
	} else {
		w.out.Fact("price impact", "unknown: "+change)
	}
	w.out.Fact("minimum", fmt.Sprintf("%s received, at a slippage of %s %%; %s", gets.Exact(t.MinimumReceived.Int()), o.Slippage, floorText(r)))
	if r.StatedMinimum != "" {
		w.out.Fact("quoted", quotedText(gets.Exact(r.StatedMinimum.Int())))
	}
	w.receivers(t)
	for _, id := range []tokenID{{t.SrcChainID, t.TokenIn}, {t.DstChainID, t.TokenOut}} {
		if err := w.unverified(id); err != nil {
			return err
		}
	}
	if t.Isolated != "" {
		w.out.Fact("made from", "the throwaway account "+string(t.Isolated)+", which owns nothing else")
	}
	w.out.Fact("route", fmt.Sprintf("%s, %s", t.Provider, routeText(o)))
	if t.Wrap != "" {
		coin, err := w.coin(w.ctx, t.SrcChainID, t.Wrap)
		if err != nil {
			return err
		}
		w.out.Fact("wraps", fmt.Sprintf("into %s (%s) first, because the provider accepts tokens only; if the swap is not filled, you hold that", coin.Symbol, t.Wrap))
	}
	if t.Refund != nil {
		text, err := w.coinText(t.SrcChainID, t.Refund.Token, t.Refund.Amount, true)
		if err != nil {
			return err
		}
		w.out.Fact("refund", "if not filled, at least "+text+" is refunded; less is reported as short")
	}
	w.out.Fact("fees", feesText(r, gets))
	w.out.Fact("expires", fmt.Sprintf("in %s unless accepted; after that at %s", duration(time.Until(r.Expires)), clockTime(t.Deadline)))
	return nil
}

// lastEffect returns the effect of the last step, which performs the swap.
func lastEffect(steps []protocol.Step) (e protocol.Effect) {
	if n := len(steps); n > 0 {
		e = steps[n-1].Effect
	}
	return e
}

// floorText says whether a contract enforces the minimum received, or who promises it.
func floorText(r protocol.Review) string {
	if e := lastEffect(r.Steps); e.TrustedTo != "" && len(e.Receives) == 0 {
		return "promised by " + messages.Trusted(e.TrustedTo) + ", not enforced by a contract; less is reported as short"
	}
	return "reverts below this"
}

// quotedText describes the quote's own minimum, which nothing enforces.
func quotedText(least string) string {
	return "the provider states a minimum of " + least + ", which no contract enforces"
}

// unverified warns of a token that may not be what its symbol says.
func (w reviewer) unverified(id tokenID) error {
	t, err := w.tokenByAddress(w.ctx, id.chain, id.address)
	if err != nil || t.Verified {
		return err
	}
	said := fmt.Sprintf("%s at %s is not verified: any token can use that symbol", t.Symbol, t.Address)
	if t.Imitates != "" {
		said += fmt.Sprintf(", and the verified one is %s", t.Imitates)
	}
	w.out.Styled(screen.Warn, "WARNING", said)
	return nil
}

// receivers prints recipient and refund address if they are not the account.
func (w reviewer) receivers(t protocol.Terms) {
	for _, a := range []struct {
		label string
		to    protocol.Address
	}{{"recipient", t.Recipient}, {"refund to", t.RefundTo}} {
		if a.to != "" && a.to != t.Account {
			w.out.Styled(screen.Warn, a.label, string(a.to)+", which is NOT the paying account")
		}
	}
}

// feeBases describe how the wallet's fee is known.
var feeBases = map[string]string{
	"decoded":  "decoded from what is signed",
	"reported": "as stated by the provider, not part of what is signed",
}

// feesText describes the fees of the wallet's vendor and of the provider.
func feesText(r protocol.Review, gets amount.Coin) string {
	said := []string{"no wallet fee"}
	if r.FeeBasis == "requested" {
		said[0] = fmt.Sprintf("wallet %s %% requested; unknown whether the provider charges it", protocol.Percent(r.Offer.FeeRequested))
	}
	if r.Terms.FeeReceiver != "" && r.Terms.FeeBps > 0 {
		said[0] = fmt.Sprintf("wallet %s %% to %s, %s", protocol.Percent(r.Terms.FeeBps), r.Terms.FeeReceiver, feeBases[r.FeeBasis])
	}
	if r.Terms.MakerFeeBps > 0 {
		said = append(said, fmt.Sprintf("provider fee at most %s %%", protocol.Percent(r.Terms.MakerFeeBps)))
	}
	return strings.Join(said, "; ") + "; already deducted from the amounts of " + gets.Symbol
}

// stepKinds describe how a step is carried out.
var stepKinds = map[string]string{"call": "transaction", "typed": "signature", "deferred": "transaction, built after the previous step"}

func (w reviewer) steps(r protocol.Review) error {
	w.out.Heading("Steps")
	for i, step := range r.Steps {
		said, err := w.effect(step.Effect)
		if step.Effect.Kind == fundEffect {
			said, err = w.fundText(r.Terms, step.Effect)
		}
		if err != nil {
			return err
		}
		w.out.Fact(fmt.Sprintf("%d %s", i+1, step.Effect.Kind), stepKinds[step.Kind]+": "+isolatedText(r.Terms, step.Effect, said))
	}
	if r.Settlement == "provider" {
		w.out.Fact("then", settlementText(r))
	}
	return nil
}

// settlementText says who settles after the last step, and who has the input meanwhile.
func settlementText(r protocol.Review) string {
	where := "your tokens stay in the account until then"
	if e := lastEffect(r.Steps); e.TrustedTo != "" {
		where = "your tokens are held by " + messages.Trusted(e.TrustedTo) + " until then"
	}
	return fmt.Sprintf("the %s provider or its solver settles the swap; %s, and the outcome counts only when confirmed on the chain", r.Terms.Provider, where)
}

// opaqueEffect is the kind of a call that cannot be decoded.
const opaqueEffect = "opaque"

// effect describes what a step would do, as the daemon decoded it.
func (w reviewer) effect(e protocol.Effect) (string, error) {
	var said []string
	for _, s := range e.Spends {
		text, err := w.coinText(e.ChainID, s.Token, s.Amount, true)
		if err != nil {
			return "", err
		}
		said = append(said, "pays "+text)
	}
	for _, g := range e.Receives {
		text, err := w.coinText(e.ChainID, g.Token, g.Min, true)
		if err != nil {
			return "", err
		}
		said = append(said, fmt.Sprintf("sends at least %s to %s", text, w.whose(g.To)))
	}
	switch {
	case e.Kind == opaqueEffect:
		said = append(said, "unverifiable data, settlement relies on "+messages.Trusted(e.TrustedTo))
	case e.TrustedTo != "":
		said = append(said, "deposit, settlement relies on "+messages.Trusted(e.TrustedTo))
	case e.Settler != "":
		said = append(said, fmt.Sprintf("may be settled by %s only, until %s", contractText(e.Settler), moment(e.Deadline)))
	}
	if len(said) > 0 {
		said = append(said, "via "+contractText(e.Target))
	}
	for _, a := range e.Approves {
		text, err := w.approval(e, a)
		if err != nil {
			return "", err
		}
		said = append(said, text)
	}
	return strings.Join(said, ", "), nil
}

func (w reviewer) approval(e protocol.Effect, a protocol.Approval) (string, error) {
	text, err := w.coinText(e.ChainID, a.Token, a.Amount, true)
	if err != nil {
		return "", err
	}
	if bigOf(a.Amount).Sign() == 0 {
		c, err := w.coin(w.ctx, e.ChainID, a.Token)
		return fmt.Sprintf("revokes the approval of %s for %s", contractText(a.Spender), c.Symbol), err
	}
	said := fmt.Sprintf("allows %s to spend exactly %s", contractText(a.Spender), text)
	if bigOf(a.OtherOrders).Sign() > 0 {
		others, err := w.coinText(e.ChainID, a.Token, a.OtherOrders, true)
		if err != nil {
			return "", err
		}
		said += fmt.Sprintf(" (%s of it for other open orders)", others)
	}
	if !a.Until.IsZero() {
		said += " until " + moment(a.Until)
	}
	return said, nil
}

// amountText says which part of an approved amount is for this swap and which for other
// open orders, because a new allowance replaces the one that those rely on.
func amountText(c amount.Coin, a protocol.Approval) string {
	others := bigOf(a.OtherOrders)
	if others.Sign() == 0 {
		return c.Exact(a.Amount.Int()) + ", exactly the amount of this swap"
	}
	pays := new(big.Int).Sub(bigOf(a.Amount), others)
	return fmt.Sprintf("%s: %s for this swap and %s for other open orders", c.Exact(a.Amount.Int()), c.Exact(pays), c.Exact(others))
}

// moment formats a date and time.
func moment(at time.Time) string { return at.Local().Format("2006-01-02 15:04") }

// contracts are contracts with the same address on every chain.
var contracts = map[protocol.Address]string{"0x000000000022D473030F116dDEE9F6B43aC78BA3": "Permit2"}

// contractText formats a contract's address, with its name if known.
func contractText(a protocol.Address) string {
	if name, ok := contracts[a]; ok {
		return name + " (" + string(a) + ")"
	}
	return string(a)
}

func (w reviewer) whose(a protocol.Address) string {
	if a == w.own {
		return "the account"
	}
	return string(a)
}

func (w reviewer) gas(r protocol.Review) error {
	n := w.networks[r.Terms.SrcChainID]
	coin, g := native(n), r.Gas
	w.out.Heading("Network fee")
	if len(g.Costs) == 0 {
		w.out.Fact("none", "the account sends no transaction")
		return nil
	}
	share := ""
	if g.Share != nil {
		share = ", " + shareText(*g.Share) + " of the swap's value"
	}
	w.out.Fact("about", coin.Text(g.Expected.Int())+share+"; "+worthText(g.USD.Expected))
	w.out.Fact("max", fmt.Sprintf("%s at current gas prices; nothing above the fee limit of %s is signed for this swap", coin.Text(g.Max.Int()), coin.Text(r.Terms.GasCeiling.Int())))
	if g.Missing != "" {
		w.out.Styled(screen.Bad, "missing", fmt.Sprintf("%s: the account has %s", coin.Text(g.Missing.Int()), coin.Text(g.Balance.Int())))
	}
	return nil
}

// shareText formats a fraction of one as a percentage.
func shareText(share float64) string {
	switch percent := share * 100; {
	case percent < 0.01:
		return "under 0.01 %"
	case percent < 10:
		return fmt.Sprintf("%.2f %%", percent)
	default:
		return fmt.Sprintf("%.0f %%", percent)
	}
}

// severities are the labels and styles of findings.
var severities = map[string]struct {
	label string
	how   screen.Style
}{
	"note": {"note", screen.Plain}, "warn": {"WARNING", screen.Warn}, "acknowledge": {"WARNING", screen.Bad}, "block": {"REFUSED", screen.Bad},
}

func (w reviewer) findings(r protocol.Review) error {
	w.out.Heading("Warnings")
	if len(r.Findings) == 0 {
		w.out.Fact("none", checkedText(r))
	}
	w.listFindings(w.ctx, w.out, r.Findings, r.Terms)
	w.out.Fact("digest", string(r.Digest))
	return nil
}

func (l *daemonConn) listFindings(ctx context.Context, out *screen.Screen, found []protocol.Finding, t protocol.Terms) {
	for _, f := range found {
		s := severities[f.Severity]
		out.Styled(s.how, s.label, fmt.Sprintf("%s (%s)", l.findingText(ctx, f, t), f.Code))
	}
}

// lines prints what consent confirms, in the lines that every screen shows.
func (w reviewer) lines(r protocol.Review) error {
	if len(r.Lines) == 0 { // an older daemon
		return nil
	}
	w.out.Heading("You confirm")
	printLines(w.out, r.Lines)
	return nil
}

// checkedText says what was checked if there are no findings. A signature, or a
// transaction that is built later, cannot be simulated now; a wrap needs no price.
func checkedText(r protocol.Review) string {
	said, kind := "decoded and within these terms", lastEffect(r.Steps).Kind
	if last := len(r.Steps) - 1; last >= 0 && r.Steps[last].Kind == "call" {
		said += ", simulated"
	}
	if kind == "wrap" || kind == "unwrap" {
		return said + ", and one to one"
	}
	return said + ", and compared with the market price"
}

// blocking returns errBlocked for a review that cannot be accepted.
func (l *daemonConn) blocking(ctx context.Context, r protocol.Review) error {
	for _, f := range r.Findings {
		if f.Severity == "block" {
			return fmt.Errorf("%w: %s (%s)", errBlocked, strings.TrimSuffix(l.findingText(ctx, f, r.Terms), "."), f.Code)
		}
	}
	if r.Blocked {
		return errBlocked
	}
	return nil
}
