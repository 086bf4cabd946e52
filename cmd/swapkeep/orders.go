package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"swapkeep/cmd/internal/amount"
	"swapkeep/cmd/internal/screen"
	"swapkeep/extension/messages"
	"swapkeep/host/protocol"
)

// ordersFlags select orders.
type ordersFlags struct {
	account string
	open    bool
	limit   int
}

func newOrders(t *terminal) *cobra.Command {
	cmd := &cobra.Command{
		Use: "orders", Short: "List, show, watch and cancel orders", Args: noArguments,
		Long: "List, show, watch and cancel orders (accepted swaps). The daemon continues an order after the terminal or browser is\n" +
			"closed, until the outcome is confirmed on the chain.",
	}
	var f ordersFlags
	list := t.withDaemon(func(ctx context.Context, l *daemonConn, _ []string) error { return l.listOrders(ctx, f) })
	cmd.RunE = list
	listing := &cobra.Command{Use: "list", Short: "List orders, newest first", Args: noArguments, RunE: list}
	for _, c := range []*cobra.Command{cmd, listing} {
		accountFlag(t, c, &f.account)
		c.Flags().BoolVar(&f.open, "open", false, "only orders that have not ended")
		c.Flags().IntVar(&f.limit, "limit", protocol.PageDefault, "`number` of orders")
	}
	cmd.AddCommand(listing,
		t.onOrder("show ORDER", "Show one order, its steps and its history", (*daemonConn).showOrder),
		t.onOrder("watch ORDER", "Follow an order until its outcome is confirmed, or only reported by the provider", (*daemonConn).watchOrder),
		newOrderCancel(t), newOrderClose(t), newOrderSpeedup(t), newOrderAccept(t))
	return cmd
}

// onOrder returns a command for one order.
func (t *terminal) onOrder(use, short string, do func(*daemonConn, context.Context, string) error) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: exactly("the id of one order", 1), ValidArgsFunction: t.complete(onlyFirst(completeOrders)),
		RunE: t.withDaemon(func(ctx context.Context, l *daemonConn, args []string) error { return do(l, ctx, args[0]) }),
	}
}

func (l *daemonConn) listOrders(ctx context.Context, f ordersFlags) error {
	if f.limit < 1 {
		return usageError{fmt.Errorf("--limit must be 1 or more, not %d", f.limit)}
	}
	params := protocol.OrdersParams{Open: f.open}
	if f.account != "" {
		a, err := l.account(ctx, f.account)
		if err != nil {
			return err
		}
		params.Account = a.Address
	}
	var all []protocol.Order
	err := pages(ctx, l, "swap.orders",
		func(cursor string) any {
			params.Cursor, params.Limit = cursor, min(f.limit-len(all), protocol.PageMax)
			return params
		},
		func(r protocol.OrdersResult) string {
			if len(all) >= f.limit {
				return ""
			}
			return r.Cursor
		},
		func(r protocol.OrdersResult) { all = append(all, r.Orders...) })
	if err != nil || l.t.json {
		return err
	}
	return l.ordersTable(ctx, all)
}

var orderColumns = []screen.Column{{Head: "order"}, {Head: "accepted"}, {Head: "state"}, {Head: "swap", Shrinks: true}, {Head: "waits for", Shrinks: true}}

func (l *daemonConn) ordersTable(ctx context.Context, orders []protocol.Order) error {
	if len(orders) == 0 {
		l.t.result.Line("no orders")
		return nil
	}
	rows := make([][]string, 0, len(orders))
	for _, o := range orders {
		what, err := l.orderText(ctx, o)
		if err != nil {
			return err
		}
		waits := messages.Condition(o.Condition)
		if o.Ended {
			waits = ""
		}
		rows = append(rows, []string{o.ID, moment(o.Created), stateText(o), what, waits})
	}
	columns := slices.Clone(orderColumns)
	columns[2].Style = func(row int) screen.Style { return screen.States[shownState(orders[row])] }
	l.t.result.Table(columns, rows)
	return nil
}

// walletOrders is the provider name of orders that the wallet carries out itself.
const walletOrders = "wallet"

// orderText summarizes an order.
func (l *daemonConn) orderText(ctx context.Context, o protocol.Order) (string, error) {
	if o.State == "unreadable" {
		return stateText(o), nil
	}
	t := o.Terms
	if err := l.loadNetworks(ctx); err != nil {
		return "", err
	}
	pays, err := l.coin(ctx, t.SrcChainID, t.TokenIn)
	if err != nil {
		return "", err
	}
	where := l.nameOf(t.SrcChainID)
	if t.Provider == walletOrders {
		return fmt.Sprintf("revoke approval of %s on %s", pays.Symbol, where), nil
	}
	gets, err := l.coin(ctx, t.DstChainID, t.TokenOut)
	if err != nil {
		return "", err
	}
	if t.DstChainID != t.SrcChainID {
		where += " to " + l.nameOf(t.DstChainID)
	}
	got := "≥ " + gets.Text(t.MinimumReceived.Int())
	if o.State == "filled" && o.Verdict != nil && o.Verdict.Received != nil {
		got = gets.Text(o.Verdict.Received.Amount.Int())
	}
	return fmt.Sprintf("%s for %s on %s", pays.Text(t.AmountIn.Int()), got, where), nil
}

func (l *daemonConn) showOrder(ctx context.Context, id string) error {
	return show(ctx, l, "swap.order", protocol.OrderParams{Order: id}, func(r protocol.OrderResult) error {
		return l.printOrder(ctx, r)
	})
}

// printOrder prints all details of an order.
func (l *daemonConn) printOrder(ctx context.Context, r protocol.OrderResult) error {
	out, o := l.t.result, r.Order
	what, err := l.orderText(ctx, o)
	if err != nil {
		return err
	}
	out.Title(what)
	if err := l.printResult(ctx, o); err != nil {
		return err
	}
	if err := l.printTerms(ctx, o); err != nil {
		return err
	}
	l.printSteps(o)
	out.Heading("History")
	if r.Omitted > 0 {
		out.Line(fmt.Sprintf("  (%d older lines omitted)", r.Omitted))
	}
	for _, e := range r.History {
		l.printEntry(ctx, out, o, e)
	}
	return nil
}

func (l *daemonConn) printTerms(ctx context.Context, o protocol.Order) error {
	t := o.Terms
	gets, err := l.coin(ctx, t.DstChainID, t.TokenOut)
	if err != nil {
		return err
	}
	n := l.networks[t.SrcChainID]
	facts := [][2]string{
		{"account", string(t.Account)},
		{"provider", messages.Brand(t.Provider)},
		{"requested by", o.Origin + ", " + moment(o.Created)},
		{"deadline", moment(t.Deadline)},
		{"fee limit", native(n).Text(t.GasCeiling.Int())},
		{"digest", string(o.Digest)},
	}
	if t.Provider != walletOrders {
		facts = append([][2]string{{"minimum", gets.Exact(t.MinimumReceived.Int())}, {"recipient", string(t.Recipient)}}, facts...)
	}
	handed, err := l.providerFacts(ctx, o)
	if err != nil {
		return err
	}
	facts = append(facts, handed...)
	l.t.result.Heading("Terms")
	l.t.result.Facts(facts)
	return nil
}

// providerFacts returns the provider's part of an order: the wrap before it, the refund,
// and how far submission and claims have come.
func (l *daemonConn) providerFacts(ctx context.Context, o protocol.Order) (facts [][2]string, err error) {
	add := func(label, text string) {
		if text != "" {
			facts = append(facts, [2]string{label, text})
		}
	}
	wraps, err := l.wrapText(ctx, o)
	if err != nil {
		return nil, err
	}
	add("wraps", wraps)
	refund, err := l.refundText(ctx, o)
	if err != nil {
		return nil, err
	}
	add("refund", refund)
	isolation, err := l.isolationFacts(ctx, o)
	if err != nil {
		return nil, err
	}
	facts = append(facts, isolation...)
	add("provider's id", o.ProviderOrderID)
	add("submitted", submissionText(o.Submission))
	if o.Claim != nil {
		add("claim", claimText(*o.Claim, o.Terms.Provider))
	}
	return facts, nil
}

// wrapText says that the wallet wraps the input first, in its own transaction.
func (l *daemonConn) wrapText(ctx context.Context, o protocol.Order) (string, error) {
	t := o.Terms
	if t.Wrap == "" {
		return "", nil
	}
	c, err := l.coin(ctx, t.SrcChainID, t.Wrap)
	if err != nil {
		return "", err
	}
	done := "not done"
	if o.Wrapped {
		done = "done"
	}
	return fmt.Sprintf("%s into %s (%s): %s", native(l.networks[t.SrcChainID]).Symbol, c.Symbol, t.Wrap, done), nil
}

// refundText says what is refunded, and to whom, if a provider keeps the input until it
// fills. For any other order it only names a refund recipient that is not the account.
func (l *daemonConn) refundText(ctx context.Context, o protocol.Order) (string, error) {
	t := o.Terms
	if t.Refund == nil && lastEffect(o.Steps).TrustedTo == "" {
		if t.Provider == walletOrders || t.RefundTo == t.Account {
			return "", nil
		}
		return "to " + string(t.RefundTo), nil
	}
	least, token, amount := "", t.TokenIn, t.AmountIn
	if t.Refund != nil {
		least, token, amount = "minimum ", t.Refund.Token, t.Refund.Amount
	}
	c, err := l.coin(ctx, t.SrcChainID, token)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s%s to %s, if not filled", least, c.Exact(amount.Int()), t.RefundTo), nil
}

// submissionText says how far submission to the provider has come.
func submissionText(s *protocol.Submitted) string {
	if s == nil {
		return ""
	}
	when := moment(s.First)
	if s.Tries > 1 {
		when = fmt.Sprintf("%d times, from %s to %s", s.Tries, when, moment(s.Last))
	}
	switch {
	case s.Accepted:
		return when + "; the provider has the order"
	case s.Refused:
		return when + "; the provider says that it rejected the order, but it may still be valid"
	}
	return when + "; unknown whether the provider has the order"
}

var stepColumns = []screen.Column{{Right: true}, {Head: "step"}, {Head: "by"}, {Head: "state"}, {Head: "transaction"}}

func (l *daemonConn) printSteps(o protocol.Order) {
	rows := make([][]string, 0, len(o.Steps))
	for i, s := range o.Steps {
		state, tx := "", s.Tx
		switch {
		case s.Done:
			state = "done"
		case i == o.Step && o.CurrentTx != "":
			state, tx = "sent", o.CurrentTx
		}
		link := ""
		if tx != "" {
			link = l.link(o.Terms.SrcChainID, tx)
		}
		rows = append(rows, []string{strconv.Itoa(i + 1), s.Effect.Kind, stepKinds[s.Kind], state, link})
	}
	l.t.result.Heading("Steps")
	l.t.result.Table(stepColumns, rows)
	if len(o.Attempts) < 2 {
		return
	}
	rows = rows[:0]
	for _, a := range o.Attempts {
		rows = append(rows, []string{attempts[a.Kind], clockTime(a.Signed), amount.Decimal(bigOf(a.MaxFee), gwei, gwei), l.link(o.Terms.SrcChainID, a.Tx)})
	}
	l.t.result.Heading("Signed with the same nonce; at most one is mined")
	l.t.result.Table(attemptColumns, rows)
}

// gwei is the number of decimals from wei to gwei.
const gwei = 9

// attempts describe the kinds of signed transactions.
var attempts = map[string]string{"call": "first", "bump": "sped up", "cancel": "to cancel it"}

var attemptColumns = []screen.Column{{Head: ""}, {Head: "signed"}, {Head: "gas price (gwei)", Right: true}, {Head: "transaction"}}

func (l *daemonConn) watchOrder(ctx context.Context, id string) error {
	if !l.t.json {
		r, err := ask[protocol.OrderResult](ctx, l, "swap.order", protocol.OrderParams{Order: id})
		if err != nil {
			return err
		}
		what, err := l.orderText(ctx, r.Order)
		if err != nil {
			return err
		}
		l.say(screen.Strong, what)
	}
	return l.follow(ctx, id, "filled", -1)
}
