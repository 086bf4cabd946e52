package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/big"
	"strconv"
	"strings"

	"swapkeep/cmd/internal/amount"
	"swapkeep/cmd/internal/screen"
	"swapkeep/extension/messages"
	"swapkeep/host/protocol"
)

// reasonText returns why an order is in its state; "" if nothing is recorded.
func (l *daemonConn) reasonText(ctx context.Context, o protocol.Order) string {
	return l.causeText(ctx, o, o.Cause, o.Reason)
}

// causeText returns a cause in the words of the message table. The daemon's own text is for a
// cause that a newer daemon knows, and for one of which a value is missing or cannot be
// formatted. A third party's text is quoted.
func (l *daemonConn) causeText(ctx context.Context, o protocol.Order, c *protocol.Cause, daemonText string) string {
	if c == nil {
		return daemonText
	}
	text, ok := l.causeWords(ctx, o, *c, daemonText)
	if !ok {
		return daemonText
	}
	if c.QuotedText != "" {
		by := "provider"
		if c.QuotedFrom == "node" {
			by = c.QuotedFrom
		}
		text += quoted("order_said_"+by, c.QuotedText)
	}
	return text
}

// causeWords fills in the message of a cause. A refusal has the amounts that it is about, and
// quotes the daemon's text, which says more than the refusal's title. ok is false if a value
// is missing.
func (l *daemonConn) causeWords(ctx context.Context, o protocol.Order, c protocol.Cause, daemonText string) (text string, ok bool) {
	data := map[string]string{"chainId": strconv.FormatUint(o.Terms.SrcChainID, 10)}
	maps.Copy(data, c.Details)
	data["error"] = c.Error
	if text, ok = messages.Filled("cause_"+c.Reason, data, l.formatter(ctx, o.Terms)); !ok {
		return "", false
	}
	if got := l.unitsText(ctx, o.Terms, data["of"], data["got"]); got != "" {
		key, values := "err_got", []string{got}
		if wanted := l.unitsText(ctx, o.Terms, data["of"], data["wanted"]); wanted != "" {
			key, values = "err_got_wanted", []string{got, wanted}
		}
		figures, _ := messages.Text(key, values...)
		text += " " + figures
	}
	refusal := strings.HasPrefix(c.Reason, "refused") || c.Reason == "outside_terms"
	if refusal && c.QuotedText == "" && daemonText != "" {
		text += quoted("order_said_wallet", daemonText)
	}
	return text, true
}

// findingText returns a finding in the words of the message table; in the daemon's text if a
// newer daemon sent it, or if a value is missing or cannot be formatted.
func (l *daemonConn) findingText(ctx context.Context, f protocol.Finding, t protocol.Terms) string {
	if text, ok := messages.Filled("finding_"+f.Code, f.Data, l.formatter(ctx, t)); ok {
		return text
	}
	return f.Text
}

// formatter returns the format of the message table's values, for an order or a review with these
// terms. Values of an unknown form have no words: the daemon's text names the field better.
func (l *daemonConn) formatter(ctx context.Context, t protocol.Terms) func(form, value, with string) string {
	return func(form, value, with string) (text string) {
		switch form {
		case "text":
			return value
		case "tokenIn", "tokenOut", "coin":
			return l.unitsText(ctx, t, form, value)
		case "amount":
			return l.tokenText(ctx, t.SrcChainID, with, value)
		case "worth":
			if with == "" {
				return l.unitsText(ctx, t, "coin", value)
			}
			return worthText(protocol.USD(with))
		case "basisPoints":
			if bps, err := strconv.Atoi(value); err == nil {
				return fmt.Sprintf("%s %%", protocol.Percent(bps))
			}
		case "contract":
			return contractText(protocol.Address(value))
		case "network":
			if chain, err := strconv.ParseUint(value, 10, 64); err == nil {
				return l.nameOf(chain)
			}
		case "trusted":
			if value != "to" { // trusted_to is a label
				text, _ = messages.Text("trusted_" + value)
			}
		case "condition":
			text, _ = messages.Text("condition_" + value)
		case "claim":
			text, _ = messages.Text("order_claim_"+value, messages.Brand(t.Provider))
		case "error": // the first sentence of its title: the second is about signatures
			text, _ = messages.Text("err_" + value)
			text, _, _ = strings.Cut(strings.TrimSuffix(text, "."), ". ")
		}
		return text
	}
}

// quoted quotes a third party, whose own quotation marks cannot end the quotation.
func quoted(key, said string) string {
	who, _ := messages.Text(key)
	return " " + who + " “" + strings.NewReplacer("“", `"`, "”", `"`).Replace(said) + "”"
}

// unitsText formats base units of the terms' tokenIn, tokenOut or coin, as the popup does; "" if
// the figure is no amount, or the token cannot be looked up.
func (l *daemonConn) unitsText(ctx context.Context, t protocol.Terms, of, figure string) string {
	units, ok := new(big.Int).SetString(figure, 10)
	if !ok || units.Sign() < 0 {
		return ""
	}
	var c amount.Coin
	var err error
	switch of {
	case "tokenIn":
		c, err = l.coin(ctx, t.SrcChainID, cmp.Or(t.Wrap, t.TokenIn))
	case "tokenOut":
		c, err = l.coin(ctx, t.DstChainID, t.TokenOut)
	case "coin":
		c = native(l.networks[t.SrcChainID])
	}
	if err != nil || c.Symbol == "" {
		return ""
	}
	return c.Exact(units)
}

// tokenText formats base units of a token at an address; "" as for unitsText.
func (l *daemonConn) tokenText(ctx context.Context, chain uint64, token, figure string) string {
	address, err := protocol.ParseAddress(token)
	if err != nil {
		return ""
	}
	return l.unitsText(ctx, protocol.Terms{SrcChainID: chain, TokenIn: address}, "tokenIn", figure)
}

// stateText returns an order's state in the words of the message table; a condition that ended it
// says it better.
func stateText(o protocol.Order) string {
	if o.Condition == likelyPaid {
		return messages.Condition(likelyPaid)
	}
	return messages.State(shownState(o))
}

// shownState returns the code of an order's state, with the variants of a revoke and of an amount
// below the promised one.
func shownState(o protocol.Order) string {
	short := o.Verdict != nil && o.Verdict.BelowMinimum
	switch {
	case o.Terms.Provider == walletOrders && o.State == "approving":
		return "revoking"
	case o.Terms.Provider == walletOrders && o.State == "filled":
		return "revoked"
	case short && (o.State == "filled" || o.State == "refunded"):
		return o.State + "_short"
	}
	return o.State
}

// printEntry prints one entry of an order's history: the time, the state, what happened and the
// condition.
func (l *daemonConn) printEntry(ctx context.Context, out *screen.Screen, o protocol.Order, e protocol.Entry) {
	now := protocol.Order{State: e.State, Terms: o.Terms}
	out.Styled(screen.States[shownState(now)], clockTime(e.Time), strings.TrimSuffix(stateText(now)+": "+l.historyText(ctx, o, e), ": "))
}

// historyText returns what happened in an entry of an order's history, with the condition
// unless the words already are the condition's.
func (l *daemonConn) historyText(ctx context.Context, o protocol.Order, e protocol.Entry) string {
	text := l.causeText(ctx, o, e.Cause, e.Note)
	if e.Condition == "" || e.Cause != nil && e.Cause.Reason == "waiting" {
		return text
	}
	return strings.TrimSpace(text + " (" + messages.Condition(e.Condition) + ")")
}
