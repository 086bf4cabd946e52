package main

import (
	"context"
	"fmt"
	"math/big"
	"slices"

	"swapkeep/extension/messages"
	"swapkeep/host/protocol"
)

// fundEffect is the kind of a transfer to the throwaway account.
const fundEffect = "fund"

// fundText says what a step moves to the throwaway account. A transfer of the coin is for
// network fees, as far as the coin is not what is swapped.
func (w reviewer) fundText(t protocol.Terms, e protocol.Effect) (string, error) {
	said := ""
	for _, s := range e.Spends {
		text, err := w.coinText(e.ChainID, s.Token, s.Amount, true)
		if err != nil {
			return "", err
		}
		switch gas := new(big.Int).Sub(bigOf(s.Amount), bigOf(t.AmountIn)); {
		case s.Token != protocol.Native:
		case t.TokenIn != protocol.Native:
			text += " for network fees"
		default:
			text += ", of it " + native(w.networks[e.ChainID]).Exact(gas) + " for network fees,"
		}
		said += text
	}
	return fmt.Sprintf("%s to the throwaway account %s", said, t.Isolated), nil
}

// isolatedText says what a step that the throwaway account makes does.
func isolatedText(t protocol.Terms, e protocol.Effect, said string) string {
	if t.Isolated == "" || e.Kind == fundEffect {
		return said
	}
	return "by the throwaway account: " + said
}

// isolationFacts says which throwaway account makes an order's calls, what came back from it
// and what stays there.
func (l *daemonConn) isolationFacts(ctx context.Context, o protocol.Order) (facts [][2]string, err error) {
	t := o.Terms
	if t.Isolated == "" {
		return nil, nil
	}
	text, _ := messages.Text("order_isolated_what")
	if o.Isolation == nil {
		waits, _ := messages.Text("order_isolated_waits")
		text += " " + waits
	}
	facts = append(facts, [2]string{"throwaway account", string(t.Isolated) + ". " + text})
	if o.Isolation == nil {
		return facts, nil
	}
	for _, r := range o.Isolation.Returned {
		c, err := l.coin(ctx, t.SrcChainID, r.Token)
		if err != nil {
			return nil, err
		}
		facts = append(facts, [2]string{"came back", fmt.Sprintf("%s, transaction %s", c.Exact(r.Amount.Int()), l.link(t.SrcChainID, r.Tx))})
	}
	for _, s := range o.Isolation.Left {
		c, err := l.coin(ctx, t.SrcChainID, s.Token)
		if err != nil {
			return nil, err
		}
		text, _ := messages.Text("order_isolated_left", c.Exact(s.Amount.Int()))
		facts = append(facts, [2]string{"stays", text})
	}
	return facts, nil
}

// isolatedInput says where the input of an order is that was moved to its throwaway account
// and not spent: the message's key and, if it came back, how much of it; "" if it was never
// moved there.
func isolatedInput(o protocol.Order) (key string, back *big.Int) {
	t := o.Terms
	ofInput := func(s protocol.Spend) bool { return s.Token == t.TokenIn }
	moved := slices.ContainsFunc(o.Steps, func(s protocol.Step) bool {
		return s.Effect.Kind == fundEffect && s.Done && slices.ContainsFunc(s.Effect.Spends, ofInput)
	})
	if !moved {
		return "", nil
	}
	if o.Isolation != nil {
		for _, r := range o.Isolation.Returned {
			if r.Token == t.TokenIn {
				return "order_funds_returned", r.Amount.Int()
			}
		}
		if slices.ContainsFunc(o.Isolation.Left, ofInput) {
			return "order_funds_isolated_left", nil
		}
		// Tokens go back before the coin does.
		if len(o.Isolation.Left) > 0 || slices.ContainsFunc(o.Isolation.Returned, func(r protocol.Returned) bool { return r.Token == protocol.Native }) {
			return "order_funds_isolated_taken", nil
		}
	}
	return "order_funds_isolated", nil
}
