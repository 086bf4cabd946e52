package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"swapkeep/cmd/internal/amount"
	"swapkeep/cmd/internal/screen"
	"swapkeep/host/protocol"
)

func newTokens(t *terminal) *cobra.Command {
	cmd := &cobra.Command{
		Use: "tokens", Short: "List, find and import tokens, and read balances", Args: noArguments,
		Long: "List, find and import tokens, and read balances. A token is identified by its address: any token can use any\n" +
			"symbol. Tokens that are not on the built-in list are marked unverified.",
	}
	var network string
	cmd.PersistentFlags().StringVar(&network, "network", "", "`network` by name or chain id (default the active one)")
	_ = cmd.RegisterFlagCompletionFunc("network", t.complete(completeNetworks))
	cmd.RunE = t.withDaemon(func(ctx context.Context, l *daemonConn, _ []string) error { return l.listTokens(ctx, network, "") })
	cmd.AddCommand(
		newTokenList(t, &network),
		&cobra.Command{
			Use: "search TEXT", Short: "Find tokens by symbol, name or address", Args: exactly("one text", 1),
			RunE: t.withDaemon(func(ctx context.Context, l *daemonConn, args []string) error {
				return l.searchTokens(ctx, network, args[0])
			}),
		},
		newTokenImport(t, &network),
		&cobra.Command{
			Use: "remove TOKEN", Short: "Remove an imported token", Args: exactly("one token", 1), ValidArgsFunction: t.complete(onlyFirst(completeTokens)),
			RunE: t.withDaemon(func(ctx context.Context, l *daemonConn, args []string) error {
				return l.removeToken(ctx, network, args[0])
			}),
		},
		newBalances(t, &network),
		newIncoming(t, &network))
	return cmd
}

var tokenColumns = []screen.Column{{Head: "symbol"}, {Head: "address"}, {Head: "decimals", Right: true}, {Head: "list"}, {Head: "name", Shrinks: true}}

func tokenRow(t protocol.Token) []string {
	return []string{t.Symbol, addressText(t.Address), strconv.Itoa(t.Decimals), verification(t), t.Name}
}

// addressText returns a text for the address that stands for the native coin.
func addressText(a protocol.Address) string {
	if a == protocol.Native {
		return "native coin"
	}
	return string(a)
}

// verification describes how far a token can be trusted to be what its symbol says.
func verification(t protocol.Token) string {
	switch {
	case t.Imitates != "":
		return "UNVERIFIED, imitates a verified token"
	case t.Verified:
		return "verified"
	case t.List != "":
		return "unverified, on " + t.List
	}
	return "unverified"
}

func newTokenList(t *terminal, network *string) *cobra.Command {
	var provider string
	cmd := &cobra.Command{
		Use: "list", Short: "List the known tokens of a network, or the tokens that a provider trades there", Args: noArguments,
		RunE: t.withDaemon(func(ctx context.Context, l *daemonConn, _ []string) error {
			if provider != "" {
				kind, err := providerKind(provider)
				if err != nil {
					return err
				}
				provider = kind
			}
			return l.listTokens(ctx, *network, provider)
		}),
	}
	listingFlag(cmd, &provider, "list the tokens of this `provider` (bridge or intent), also on networks that only it reaches")
	return cmd
}

func (l *daemonConn) listTokens(ctx context.Context, network, provider string) error {
	n, err := l.network(ctx, network)
	if provider != "" {
		n, err = l.destination(ctx, network, []string{provider})
	}
	if err != nil {
		return err
	}
	var rows [][]string
	err = pages(ctx, l, "tokens.list",
		func(cursor string) any {
			return protocol.TokensParams{ChainID: n.ChainID, Provider: provider, Cursor: cursor, Limit: protocol.PageMax}
		},
		func(r protocol.TokensResult) string { return r.Cursor },
		func(r protocol.TokensResult) {
			for _, t := range r.Tokens {
				rows = append(rows, tokenRow(t))
			}
		})
	return l.tokensTable(rows, "no known tokens on "+n.Name, err)
}

func (l *daemonConn) searchTokens(ctx context.Context, network, query string) error {
	n, err := l.network(ctx, network)
	if err != nil {
		return err
	}
	var rows [][]string
	none := fmt.Sprintf("no token on %s matches %s", n.Name, query)
	err = pages(ctx, l, "tokens.search",
		func(cursor string) any {
			return protocol.SearchParams{Query: query, ChainID: n.ChainID, Cursor: cursor, Limit: protocol.PageMax}
		},
		func(r protocol.SearchResult) string { return r.Cursor },
		func(r protocol.SearchResult) {
			if r.Importable != "" {
				none = fmt.Sprintf("unknown token %s on %s; inspect and import it with: swapkeep tokens import %s", r.Importable, n.Name, r.Importable)
			}
			for _, t := range r.Tokens {
				rows = append(rows, tokenRow(t))
			}
		})
	return l.tokensTable(rows, none, err)
}

func (l *daemonConn) tokensTable(rows [][]string, none string, err error) error {
	switch {
	case err != nil || l.t.json:
		return err
	case len(rows) == 0:
		l.t.result.Line(none)
	default:
		l.t.result.Table(tokenColumns, rows)
	}
	return nil
}

func newTokenImport(t *terminal, network *string) *cobra.Command {
	var preview bool
	cmd := &cobra.Command{
		Use: "import ADDRESS", Short: "Import a token by its contract address", Args: exactly("one address", 1),
		RunE: t.withDaemon(func(ctx context.Context, l *daemonConn, args []string) error {
			return l.importToken(ctx, *network, args[0], preview)
		}),
	}
	cmd.Flags().BoolVar(&preview, "preview", false, "only show the token, do not import it")
	return cmd
}

func (l *daemonConn) importToken(ctx context.Context, network, text string, preview bool) error {
	address, err := protocol.ParseAddress(text)
	if err != nil {
		return usageError{fmt.Errorf("%q %w", text, err)}
	}
	n, err := l.network(ctx, network)
	if err != nil {
		return err
	}
	params := protocol.ImportTokenParams{ChainID: n.ChainID, Address: address, Preview: preview}
	return show(ctx, l, "tokens.import", params, func(r protocol.ImportTokenResult) error {
		l.t.result.Table(tokenColumns, [][]string{tokenRow(r.Token)})
		if r.Token.Imitates != "" {
			l.t.result.Styled(screen.Warn, "warning", fmt.Sprintf("it uses the symbol or name of the verified token %s, but is a different token", r.Token.Imitates))
		}
		switch {
		case r.Known:
			l.t.result.Line("already imported")
		case preview:
			l.t.result.Line("not imported (preview)")
		default:
			l.t.result.Line(fmt.Sprintf("imported on %s; unverified", n.Name))
		}
		return nil
	})
}

func (l *daemonConn) removeToken(ctx context.Context, network, wanted string) error {
	n, err := l.network(ctx, network)
	if err != nil {
		return err
	}
	token, err := l.token(ctx, n.ChainID, wanted)
	if err != nil {
		return err
	}
	return show(ctx, l, "tokens.remove", protocol.RemoveTokenParams{ChainID: n.ChainID, Address: token.Address}, func(r protocol.RemoveTokenResult) error {
		said := token.Symbol + " removed"
		if !r.Removed {
			said = token.Symbol + " was not imported: nothing to remove"
		}
		l.t.result.Line(said)
		return nil
	})
}

func newBalances(t *terminal, network *string) *cobra.Command {
	var account string
	var all bool
	cmd := &cobra.Command{
		Use: "balances [TOKEN...]", Short: "Read an account's balances from the chain",
		ValidArgsFunction: t.complete(completeTokens),
		RunE: t.withDaemon(func(ctx context.Context, l *daemonConn, args []string) error {
			return l.balances(ctx, *network, account, args, all)
		}),
	}
	accountFlag(t, cmd, &account)
	cmd.Flags().BoolVar(&all, "all", false, "also tokens with a zero balance")
	return cmd
}

func accountFlag(t *terminal, cmd *cobra.Command, account *string) {
	cmd.Flags().StringVar(account, "account", "", "own `account` by name or address (default the only one)")
	_ = cmd.RegisterFlagCompletionFunc("account", t.complete(completeAccounts))
}

func (l *daemonConn) balances(ctx context.Context, network, account string, names []string, all bool) error {
	a, err := l.account(ctx, account)
	if err != nil {
		return err
	}
	n, err := l.network(ctx, network)
	if err != nil {
		return err
	}
	params := protocol.BalancesParams{Account: a.Address, ChainID: n.ChainID, WithBalance: !all && len(names) == 0}
	for _, name := range names {
		token, err := l.token(ctx, n.ChainID, name)
		if err != nil {
			return err
		}
		params.Tokens = append(params.Tokens, token.Address)
	}
	return show(ctx, l, "tokens.balances", params, func(r protocol.BalancesResult) error {
		l.t.result.Line(fmt.Sprintf("%s (%s) on %s", a.Name, a.Address, n.Name))
		l.t.result.Table(balanceColumns, balanceRows(r.Balances))
		if r.Omitted > 0 {
			l.t.result.Line(fmt.Sprintf("%d more tokens omitted", r.Omitted))
		}
		l.t.noteEnd(n)
		return nil
	})
}

func newIncoming(t *terminal, network *string) *cobra.Command {
	var account string
	cmd := &cobra.Command{
		Use: "incoming", Short: "List unknown tokens that came in", Args: noArguments,
		Long: "List tokens that an account was sent and that are on no list, newest first, at most 50. Anybody can send anybody a token\n" +
			"with any name. The first look only notes where to begin; only blocks after it are searched.",
		RunE: t.withDaemon(func(ctx context.Context, l *daemonConn, _ []string) error {
			return l.incomingTokens(ctx, *network, account)
		}),
	}
	accountFlag(t, cmd, &account)
	return cmd
}

func (l *daemonConn) incomingTokens(ctx context.Context, network, account string) error {
	a, err := l.account(ctx, account)
	if err != nil {
		return err
	}
	n, err := l.network(ctx, network)
	if err != nil {
		return err
	}
	return show(ctx, l, "tokens.incoming", protocol.IncomingParams{Account: a.Address, ChainID: n.ChainID}, func(r protocol.IncomingResult) error {
		rows := make([][]string, 0, len(r.Tokens))
		for _, t := range r.Tokens {
			rows = append(rows, tokenRow(t))
		}
		return l.tokensTable(rows, "no unknown token has come in on "+n.Name+" since the first look", nil)
	})
}

var balanceColumns = []screen.Column{{Head: "token"}, {Head: "balance", Right: true}, {Head: "address"}, {Head: "list", Shrinks: true}}

func balanceRows(balances []protocol.Balance) (rows [][]string) {
	for _, b := range balances {
		token := protocol.Token{Address: b.Token, Symbol: "?"}
		if b.Known != nil {
			token = *b.Known
		}
		held := "unavailable"
		if n := b.Amount.Int(); n != nil {
			held = amount.Decimal(n, token.Decimals, token.Decimals)
		}
		rows = append(rows, []string{token.Symbol, held, addressText(b.Token), verification(token)})
	}
	return rows
}
