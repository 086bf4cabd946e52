package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"swapkeep/cmd/internal/amount"
	"swapkeep/cmd/internal/screen"
	"swapkeep/host/protocol"
)

// accountFlags choose the account and the network.
type accountFlags struct{ account, network string }

func (f *accountFlags) add(t *terminal, cmd *cobra.Command) {
	accountFlag(t, cmd, &f.account)
	cmd.Flags().StringVar(&f.network, "network", "", "`network` by name or chain id (default the active one)")
	_ = cmd.RegisterFlagCompletionFunc("network", t.complete(completeNetworks))
}

func newApprovals(t *terminal) *cobra.Command {
	var f accountFlags
	list := t.withDaemon(func(ctx context.Context, l *daemonConn, _ []string) error { return l.listApprovals(ctx, f) })
	cmd := &cobra.Command{
		Use: "approvals", Short: "List and revoke token approvals of an account", Args: noArguments, RunE: list,
	}
	listing := &cobra.Command{Use: "list", Short: "List an account's approvals", Args: noArguments, RunE: list}
	for _, c := range []*cobra.Command{cmd, listing} {
		f.add(t, c)
	}
	cmd.AddCommand(listing, newRevoke(t))
	return cmd
}

// allowances lists all of an account's allowances on a network.
func (l *daemonConn) allowances(ctx context.Context, f accountFlags) (all []protocol.Allowance, a protocol.Account, n protocol.Network, err error) {
	if a, err = l.account(ctx, f.account); err != nil {
		return nil, a, n, err
	}
	if n, err = l.network(ctx, f.network); err != nil {
		return nil, a, n, err
	}
	err = pages(ctx, l, "approvals.list",
		func(cursor string) any {
			return protocol.ApprovalsParams{Account: a.Address, ChainID: n.ChainID, Cursor: cursor}
		},
		func(r protocol.ApprovalsResult) string { return r.Cursor },
		func(r protocol.ApprovalsResult) { all = append(all, r.Allowances...) })
	return all, a, n, err
}

var allowanceColumns = []screen.Column{{Head: "token"}, {Head: "approved", Right: true}, {Head: "spender"}, {Head: "until"}, {Head: "remark", Shrinks: true}}

func (l *daemonConn) listApprovals(ctx context.Context, f accountFlags) error {
	all, a, n, err := l.allowances(ctx, f)
	if err != nil || l.t.json {
		return err
	}
	l.t.result.Line(fmt.Sprintf("%s (%s) on %s", a.Name, a.Address, n.Name))
	if len(all) == 0 {
		l.t.result.Line("no known approvals")
		return nil
	}
	rows := make([][]string, 0, len(all))
	for _, w := range all {
		rows = append(rows, []string{tokenText(w), pullText(w), spenderText(w), untilText(w), remarkText(w)})
	}
	l.t.result.Table(allowanceColumns, rows)
	return nil
}

func tokenText(w protocol.Allowance) string {
	if w.Symbol == "" {
		return string(w.Token)
	}
	return w.Symbol
}

func pullText(w protocol.Allowance) string {
	switch {
	case w.Unlimited:
		return "everything"
	case w.Decimals == nil:
		return amount.Grouped(string(w.Amount)) + " base units"
	}
	return amount.Decimal(bigOf(w.Amount), *w.Decimals, *w.Decimals)
}

func spenderText(w protocol.Allowance) string {
	text := string(w.Spender)
	if w.Name != "" {
		text = w.Name + " " + text
	}
	if w.Kind == protocol.AllowancePermit2 {
		text += " through Permit2"
	}
	return text
}

func untilText(w protocol.Allowance) string {
	if w.Expires.IsZero() {
		return "no expiry"
	}
	return moment(w.Expires)
}

func remarkText(w protocol.Allowance) string {
	var said []string
	if bigOf(w.Reserved).Sign() > 0 {
		said = append(said, "used by an open order")
	}
	if w.Leftover != "" {
		said = append(said, "left over from order "+w.Leftover)
	}
	if w.Name == "" {
		said = append(said, "not a contract of a known provider")
	}
	return strings.Join(said, "; ")
}

func newRevoke(t *terminal) *cobra.Command {
	var f accountFlags
	var spender string
	var c consentFlags
	cmd := &cobra.Command{
		Use: "revoke TOKEN", Short: "Revoke a spender's approval of a token", Args: exactly("one token", 1),
		Long:              "Revoke a spender's approval of a token with a transaction on the active network that sets it to zero.",
		ValidArgsFunction: t.complete(onlyFirst(completeTokens)),
	}
	f.add(t, cmd)
	c.add(cmd)
	cmd.Flags().StringVar(&spender, "spender", "", "`address` of the spender (default the only one)")
	cmd.RunE = t.withDaemon(func(ctx context.Context, l *daemonConn, args []string) error {
		return l.revoke(ctx, args[0], spender, f, &c)
	})
	return cmd
}

func (l *daemonConn) revoke(ctx context.Context, token, spender string, f accountFlags, c *consentFlags) error {
	asJSON := l.t.json // the JSON output is the order's alone
	l.t.json = false
	all, _, n, err := l.allowances(ctx, f)
	l.t.json = asJSON
	if err != nil {
		return err
	}
	w, err := oneAllowance(all, token, spender)
	switch {
	case err != nil:
		return err
	case w.Digest == "" && n.ChainID != l.active:
		return protocol.Newf("network_not_active", "%s is not the active network", n.Name)
	case w.Digest == "":
		return protocol.New("would_revert", "the token's contract refuses to revoke this approval now")
	}
	if !l.t.json {
		l.printAllowance(ctx, n, w)
	}
	if err := l.blocking(ctx, protocol.Review{Findings: w.Findings, Terms: protocol.Terms{SrcChainID: n.ChainID}}); err != nil {
		return err
	}
	if err := l.requireConsent(ctx, c, w.Digest, "Revoke this approval?"); err != nil {
		return err
	}
	return l.withSession(ctx, c.password, func() error {
		got, err := askUncertain[protocol.Order](ctx, l, "approvals.revoke", protocol.RevokeParams{Request: newRequest(), Digest: w.Digest})
		if err != nil {
			return err
		}
		return l.followUnlessDetached(ctx, got, c.detach)
	})
}

// oneAllowance finds an allowance by token, and by spender if there are several.
func oneAllowance(all []protocol.Allowance, token, spender string) (protocol.Allowance, error) {
	var fit []protocol.Allowance
	for _, w := range all {
		if (strings.EqualFold(w.Symbol, token) || strings.EqualFold(string(w.Token), token)) &&
			(spender == "" || strings.EqualFold(string(w.Spender), spender)) {
			fit = append(fit, w)
		}
	}
	switch len(fit) {
	case 0:
		return protocol.Allowance{}, usageError{fmt.Errorf("no known approval of %s; see swapkeep approvals", token)}
	case 1:
		return fit[0], nil
	}
	return protocol.Allowance{}, usageError{errors.New("several spenders are approved; choose one with --spender, see swapkeep approvals")}
}

func (l *daemonConn) printAllowance(ctx context.Context, n protocol.Network, w protocol.Allowance) {
	out := l.t.talk
	out.Heading("Revoke")
	out.Fact("token", fmt.Sprintf("%s %s on %s", w.Symbol, w.Token, n.Name))
	out.Fact("spender", spenderText(w))
	out.Fact("approved", pullText(w)+", "+untilText(w)+"; nothing afterwards")
	if w.Gas != nil {
		coin := native(n)
		out.Fact("network fee", fmt.Sprintf("about %s, at most %s at current fees", coin.Text(w.Gas.Expected.Int()), coin.Text(w.Gas.Max.Int())))
	}
	l.listFindings(ctx, out, w.Findings, protocol.Terms{SrcChainID: n.ChainID})
	out.Fact("digest", string(w.Digest))
}
