package main

import (
	"context"
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

// refusalCauses are the causes whose message contains the title of a refusal as $1.
var refusalCauses = map[string]bool{"refused": true, "refused_for_now": true, "refused_unsigned": true, "refused_by_provider": true}

// causeWords fills in the message of a cause. ok is false if it cannot.
func (l *daemonConn) causeWords(ctx context.Context, o protocol.Order, c protocol.Cause, daemonText string) (text string, ok bool) {
	if refusalCauses[c.Reason] || c.Reason == "outside_terms" {
		return l.refusalCause(ctx, o, c, daemonText)
	}
	values, ok := l.causeValues(ctx, o, c)
	if !ok {
		return "", false
	}
	return messages.Text("cause_"+c.Reason, values...)
}

// causeValues returns the values of a cause's message, $1 to $9 in order. Most causes have
// none.
func (l *daemonConn) causeValues(ctx context.Context, o protocol.Order, c protocol.Cause) (values []string, ok bool) {
	d, ok := c.Details, true
	add := func(value string) {
		values, ok = append(values, value), ok && value != ""
	}
	words := func(key string) {
		value, _ := messages.Text(key)
		add(value)
	}
	units := func(of, figure string) { add(l.unitsText(ctx, o, of, d[figure])) }
	spender := func() {
		if d["spender"] != "" {
			add(contractText(protocol.Address(d["spender"])))
		} else {
			add("")
		}
	}
	switch c.Reason {
	case "price_fell":
		units("tokenOut", "minOut")
		units("tokenOut", "offered")
	case "allowance_spent":
		spender()
		units("tokenIn", "spent")
		units("tokenIn", "allowed")
	case "allowance_unchecked":
		spender()
	case "check_transaction":
		chain, err := strconv.ParseUint(d["chainId"], 10, 64)
		if err != nil {
			chain = o.Terms.SrcChainID
		}
		add(d["tx"])
		add(l.nameOf(chain))
	case "waiting":
		words("condition_" + d["condition"])
	case "search_started":
		add(d["block"])
	case "step_sent", "step_mined":
		add(d["step"])
	case "provider_reported":
		value, _ := messages.Text("order_claim_"+d["state"], messages.Brand(o.Terms.Provider))
		add(value)
	case "user_raised_ceiling":
		units("coin", "previous")
		units("coin", "ceiling")
	}
	return values, ok
}

// refusalCause fills in the message of a refusal: the first sentence of its title, since the
// second is about signatures, which the order itself knows better; the amounts that it is
// about; and the daemon's text, which says more than the title.
func (l *daemonConn) refusalCause(ctx context.Context, o protocol.Order, c protocol.Cause, daemonText string) (text string, ok bool) {
	title := ""
	if c.Reason != "outside_terms" {
		if title, ok = messages.Text("err_" + c.Error); !ok {
			return "", false
		}
	}
	title, _, _ = strings.Cut(title, ". ")
	if text, ok = messages.Text("cause_"+c.Reason, strings.TrimSuffix(title, ".")); !ok {
		return "", false
	}
	if got := l.unitsText(ctx, o, c.Details["of"], c.Details["got"]); got != "" {
		key, values := "err_got", []string{got}
		if wanted := l.unitsText(ctx, o, c.Details["of"], c.Details["wanted"]); wanted != "" {
			key, values = "err_got_wanted", []string{got, wanted}
		}
		figures, _ := messages.Text(key, values...)
		text += " " + figures
	}
	if c.QuotedText == "" && daemonText != "" {
		text += quoted("order_said_wallet", daemonText)
	}
	return text, true
}

func quoted(key, said string) string {
	who, _ := messages.Text(key)
	return " " + who + " “" + said + "”"
}

// unitsText formats base units of an order's tokenIn, tokenOut or coin, as the popup does; ""
// if the figure is no amount, or the token cannot be looked up.
func (l *daemonConn) unitsText(ctx context.Context, o protocol.Order, of, figure string) string {
	units, ok := new(big.Int).SetString(figure, 10)
	if !ok || units.Sign() < 0 {
		return ""
	}
	var c amount.Coin
	var err error
	switch of {
	case "tokenIn":
		token := o.Terms.TokenIn
		if o.Terms.Wrap != "" {
			token = o.Terms.Wrap
		}
		c, err = l.coin(ctx, o.Terms.SrcChainID, token)
	case "tokenOut":
		c, err = l.coin(ctx, o.Terms.DstChainID, o.Terms.TokenOut)
	case "coin":
		c = native(l.networks[o.Terms.SrcChainID])
	}
	if err != nil || c.Symbol == "" {
		return ""
	}
	return c.Exact(units)
}

// stateText returns an order's state in the words of the message table.
func stateText(o protocol.Order) string {
	short := o.Verdict != nil && o.Verdict.BelowMinimum
	switch {
	case o.Terms.Provider == walletOrders && o.State == "approving":
		return messages.State("revoking")
	case o.Terms.Provider == walletOrders && o.State == "filled":
		return messages.State("revoked")
	case short && (o.State == "filled" || o.State == "refunded"):
		return messages.State(o.State + "_short")
	}
	return messages.State(o.State)
}

// printEntry prints one entry of an order's history: the time, the state, what happened and the
// condition.
func (l *daemonConn) printEntry(ctx context.Context, out *screen.Screen, o protocol.Order, e protocol.Entry) {
	state := stateText(protocol.Order{State: e.State, Terms: o.Terms})
	out.Styled(screen.States[state], clockTime(e.Time), strings.TrimSuffix(state+": "+l.historyText(ctx, o, e), ": "))
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
