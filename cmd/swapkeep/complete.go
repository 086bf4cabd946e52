package main

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"swapkeep/cmd/internal/amount"
	"swapkeep/cmd/internal/screen"
	"swapkeep/host/protocol"
)

// completeTime limits how long the shell waits for a completion.
const completeTime = 400 * time.Millisecond

// A completer lists completions with descriptions. It only reads what the daemon already
// knows.
type completer func(ctx context.Context, l *daemonConn, args []string) []cobra.Completion

// complete converts a completer to a cobra completion. It never starts a daemon: without
// one there are no completions.
func (t *terminal) complete(list completer) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(context.Background(), completeTime)
		defer cancel()
		place, err := t.place()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		c, _, err := dialDaemon(ctx, place)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		defer func() { _ = c.Close() }()
		l := &daemonConn{Client: c, t: t, tokens: map[tokenID]protocol.Token{}, destinationNames: map[uint64]string{}}
		var fit []cobra.Completion
		for _, offered := range list(ctx, l, args) {
			if len(offered) >= len(typed) && strings.EqualFold(offered[:len(typed)], typed) {
				fit = append(fit, offered)
			}
		}
		return fit, cobra.ShellCompDirectiveNoFileComp
	}
}

// described returns a completion with a description.
func described(text, what string) cobra.Completion {
	return cobra.CompletionWithDesc(screen.Printable(text), screen.Printable(what))
}

// onlyFirst completes the first argument only.
func onlyFirst(list completer) completer {
	return func(ctx context.Context, l *daemonConn, args []string) []cobra.Completion {
		if len(args) > 0 {
			return nil
		}
		return list(ctx, l, args)
	}
}

func completeNetworks(ctx context.Context, l *daemonConn, _ []string) (out []cobra.Completion) {
	if l.loadNetworks(ctx) != nil {
		return nil
	}
	for _, id := range slices.Sorted(maps.Keys(l.networks)) {
		n := l.networks[id]
		word, _, _ := strings.Cut(strings.ToLower(n.Name), " ")
		out = append(out, described(word, n.Name), described(strconv.FormatUint(n.ChainID, 10), n.Name))
	}
	return out
}

func completeTokens(ctx context.Context, l *daemonConn, _ []string) (out []cobra.Completion) {
	r, err := ask[protocol.TokensResult](ctx, l, "tokens.list", protocol.TokensParams{Limit: protocol.PageMax})
	if err != nil {
		return nil
	}
	for _, t := range r.Tokens {
		out = append(out, completedToken(t))
	}
	return out
}

// completedToken completes a token's symbol, or its address if the symbol imitates
// another token or is not a plain word: anybody can choose a symbol, and a shell may
// execute parts of a completed line.
func completedToken(t protocol.Token) cobra.Completion {
	if t.Imitates == "" && isWord(t.Symbol) {
		return described(t.Symbol, t.Name)
	}
	return described(string(t.Address), t.Symbol+" "+t.Name)
}

// isWord reports whether a shell takes text as one literal word and no program takes it
// as a flag.
func isWord(text string) bool {
	odd := func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.Is(unicode.Sc, r) && !strings.ContainsRune("._-+/", r) || r == '$'
	}
	return text != "" && text[0] != '-' && !strings.ContainsFunc(text, odd)
}

// completeTrade completes tokens, but not where an amount is expected.
func completeTrade(ctx context.Context, l *daemonConn, args []string) []cobra.Completion {
	switch {
	case len(args) == 1 && !amount.IsNumber(args[0]), len(args) > 2:
		return nil
	}
	return completeTokens(ctx, l, args)
}

func completeAccounts(ctx context.Context, l *daemonConn, _ []string) (out []cobra.Completion) {
	r, err := ask[protocol.AccountsResult](ctx, l, "keys.accounts", protocol.None{})
	if err != nil {
		return nil
	}
	for _, a := range r.Accounts {
		out = append(out, described(string(a.Address), a.Name))
	}
	return out
}

func completeOrders(ctx context.Context, l *daemonConn, _ []string) (out []cobra.Completion) {
	r, err := ask[protocol.OrdersResult](ctx, l, "swap.orders", protocol.OrdersParams{Limit: 20})
	if err != nil {
		return nil
	}
	for _, o := range r.Orders {
		what, err := l.orderText(ctx, o)
		if err != nil {
			what = ""
		}
		out = append(out, described(o.ID, o.State+" "+what))
	}
	return out
}

func completeSettings(ctx context.Context, l *daemonConn, _ []string) (out []cobra.Completion) {
	r, err := ask[protocol.SettingsResult](ctx, l, "settings.get", protocol.SettingsParams{})
	if err != nil {
		return nil
	}
	for _, s := range r.Settings {
		out = append(out, described(s.Key, s.Description))
	}
	return out
}
