package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"swapkeep/cmd/internal/screen"
	"swapkeep/host/protocol"
)

func newProviders(t *terminal) *cobra.Command {
	cmd := &cobra.Command{
		Use: "providers", Short: "Show the swap providers, their networks and fees", Args: noArguments,
		RunE: shower(t, "swap.providers", func(ctx context.Context, l *daemonConn, v protocol.ProvidersResult) error {
			return l.providersTable(ctx, v)
		}),
	}
	cmd.AddCommand(newSetKey(t))
	return cmd
}

func (l *daemonConn) providersTable(ctx context.Context, v protocol.ProvidersResult) error {
	if err := l.loadNetworks(ctx); err != nil {
		return err
	}
	fees, err := ask[protocol.FeesResult](ctx, l, "swap.fees", protocol.None{})
	if err != nil {
		return err
	}
	l.printProviders(v, fees)
	return nil
}

// printProviders prints what each provider supports on each network. Text that is too long
// for a cell becomes a remark below the table, which is at most eighty columns wide.
func (l *daemonConn) printProviders(v protocol.ProvidersResult, fees protocol.FeesResult) {
	columns, chains := []screen.Column{{Head: "network"}}, map[uint64]bool{}
	for _, p := range v.Providers {
		columns = append(columns, screen.Column{Head: p.Kind})
		for id := range p.Support {
			if chain, err := strconv.ParseUint(id, 10, 64); err == nil {
				chains[chain] = true
			}
		}
	}
	var said remarks
	row := func(name string, of func(protocol.Provider) cell) []string {
		texts := []string{name}
		for _, p := range v.Providers {
			texts = append(texts, said.in(of(p)))
		}
		return texts
	}
	rows := [][]string{row("(set up)", readiness)}
	for _, chain := range slices.Sorted(maps.Keys(chains)) {
		rows = append(rows, row(l.nameOf(chain), func(p protocol.Provider) cell { return supportText(p.Support[strconv.FormatUint(chain, 10)]) }))
	}
	for _, f := range features {
		rows = append(rows, row(f.name, f.of))
	}
	out := l.t.result
	out.Table(columns, rows)
	out.Blank()
	for i, remark := range said {
		out.Fact(fmt.Sprintf("(%d)", i+1), remark)
	}
	out.Line("  " + walletFee(fees))
	for _, p := range v.Providers {
		l.printProvider(p)
	}
}

// A cell is a short text for the table and an optional remark.
type cell struct{ text, remark string }

// cellWidth is the maximum width of a cell in columns.
const cellWidth = 15

// cellOf splits a text that is too long for a cell at its first comma or parenthesis and
// makes the rest a remark.
func cellOf(text string) cell {
	if len(text) <= cellWidth {
		return cell{text: text}
	}
	if i := strings.IndexAny(text, ",("); i >= 0 && i <= cellWidth {
		return cell{strings.TrimSpace(text[:i]), strings.TrimSuffix(strings.TrimLeft(text[i:], ",( "), ")")}
	}
	return cell{"in part", text}
}

// remarks are the distinct remarks of a table, in the order of their numbers.
type remarks []string

// in returns a cell's text with its remark's number.
func (r *remarks) in(c cell) string {
	if c.remark == "" {
		return c.text
	}
	i := slices.Index(*r, c.remark)
	if i < 0 {
		i, *r = len(*r), append(*r, c.remark)
	}
	return fmt.Sprintf("%s (%d)", c.text, i+1)
}

// features are the rows of the table after the networks.
var features = []struct {
	name string
	of   func(protocol.Provider) cell
}{
	{"same chain", func(p protocol.Provider) cell { return cellOf(p.Can.SameChain) }},
	{"cross-chain", func(p protocol.Provider) cell { return cellOf(p.Can.CrossChain) }},
	{"intent routing", func(p protocol.Provider) cell { return cellOf(p.Can.Intents) }},
	{"gasless", func(p protocol.Provider) cell { return cellOf(p.Can.Gasless) }},
	{"order tracking", func(p protocol.Provider) cell { return cellOf(p.Can.Tracking) }},
	{"wallet fee", func(p protocol.Provider) cell { return cell{text: percentOf(p.Fee.FeeBps)} }},
	{"maker fee", func(p protocol.Provider) cell {
		if p.Fee.MakerBps == 0 {
			return cell{text: "none"}
		}
		return cell{text: "at most " + percentOf(p.Fee.MakerBps)}
	}},
}

// printProvider prints a provider's host and its entries for networks, if it has any.
func (l *daemonConn) printProvider(p protocol.Provider) {
	if p.Host == "" && p.FrontendURL == "" && len(p.Networks) == 0 {
		return
	}
	out := l.t.result
	out.Heading("The " + p.Kind + " provider")
	out.Facts([][2]string{{"API host", p.Host}, {"popup API", p.FrontendURL}})
	rows := make([][]string, 0, len(p.Networks))
	byNumber := func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) }
	for _, chain := range slices.SortedFunc(maps.Keys(p.Networks), byNumber) {
		n := p.Networks[chain]
		rows = append(rows, []string{chain, strconv.FormatUint(n.HyperstreamChainID, 10), n.DisplayName, yesNo(n.Enabled), yesNo(n.CrossChainEnabled)})
	}
	out.Blank()
	out.Table(entryColumns, rows)
}

var entryColumns = []screen.Column{{Head: "chain", Right: true}, {Head: "provider's id", Right: true}, {Head: "provider's name"}, {Head: "enabled"}, {Head: "cross-chain"}}

func yesNo(is bool) string {
	if is {
		return "yes"
	}
	return "no"
}

// percentOf formats basis points as a percentage.
func percentOf(bps int) string { return protocol.Percent(bps).String() + " %" }

func readiness(p protocol.Provider) cell {
	if p.Ready {
		return cell{text: "ready"}
	}
	return cell{"no", p.Reason}
}

// supportText describes a provider's support on a network: the pools of the classic
// route, and the auction.
func supportText(s protocol.Support) cell {
	if s.Support == "" || s.Support == "not_supported" {
		return cell{text: "-"}
	}
	does := slices.Clone(s.Pools)
	if s.Auction {
		does = append(does, "auction")
	}
	if s.CrossChain {
		does = append(does, "cross-chain")
	}
	if s.Support != "active" || len(does) == 0 {
		does = append([]string{s.Support}, does...)
	}
	return cell{strings.Join(does, ", "), s.Note}
}

func walletFee(f protocol.FeesResult) string {
	if f.PartnerInfo.ReceiverAddress == "" {
		return "no wallet fee: no receiver is configured"
	}
	return fmt.Sprintf("the wallet's fee goes to %s (%s)", f.PartnerInfo.ReceiverAddress, f.PartnerInfo.Name)
}

func newSetKey(t *terminal) *cobra.Command {
	var forget bool
	cmd := &cobra.Command{
		Use: "set-key PROVIDER", Short: "Save or delete a provider's API key in the keychain",
		Long: "Save or delete a provider's API key in the keychain. For dex this is the token of your key proxy; coingecko and hosted\n" +
			"are sources of prices. The key is typed at the terminal without echo, or read from a file descriptor. No command\n" +
			"shows it.\n\n" +
			"bridge requires a key. gasless works without one, with worse quotes: RFQ quotes are then valid for 10 seconds\n" +
			"(30 on Ethereum), with a key for a minute or more.",
		Args: exactly("one provider", 1), ValidArgs: []string{"dex", "bridge", "intent", "gasless", "coingecko", "hosted"},
	}
	cmd.Flags().BoolVar(&forget, "forget", false, "delete the key")
	key, password := secretFlagOf(cmd.Flags(), "key-fd", "the key"), passwordFlag(cmd.Flags())
	cmd.RunE = t.withDaemon(func(ctx context.Context, l *daemonConn, args []string) error {
		owner, err := keyOwner(args[0])
		if err != nil {
			return err
		}
		params := protocol.SetKeyParams{Provider: owner, Key: protocol.Secret{}}
		if forget && key.fd != noDescriptor {
			return usageError{errors.New("give --forget or --key-fd, not both")}
		}
		if !forget {
			if params.Key, err = t.secret(ctx, key, "API key"); err != nil {
				return err
			}
			defer params.Key.Zero()
			if len(params.Key) == 0 {
				return usageError{errors.New("the key is empty; use --forget to delete the saved one")}
			}
		}
		return t.withPassword(ctx, password, func(secret protocol.Secret) error {
			params.Password = secret
			return show(ctx, l, "providers.set_key", params, func(r protocol.SetKeyResult) error {
				said := "saved the API key of " + r.Provider + " in the keychain"
				if !r.Set {
					said = "deleted the API key of " + r.Provider
				}
				t.result.Line(said)
				return nil
			})
		})
	})
	return cmd
}
