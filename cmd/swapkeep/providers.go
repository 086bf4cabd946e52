package main

import (
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
		Use: "providers", Short: "Show what each swap provider does where, and the wallet's fee", Args: noArguments,
		RunE: shower(t, "swap.providers", func(ctx context.Context, l *line, v protocol.ProvidersResult) error { return l.providersTable(ctx, v) }),
	}
	cmd.AddCommand(newSetKey(t))
	return cmd
}

func (l *line) providersTable(ctx context.Context, v protocol.ProvidersResult) error {
	if err := l.loadNetworks(ctx); err != nil {
		return err
	}
	fees, err := ask[protocol.FeesResult](ctx, l, "swap.fees", protocol.None{})
	if err != nil {
		return err
	}
	columns, chains := []screen.Column{{Head: "network"}}, map[uint64]bool{}
	for _, p := range v.Providers {
		columns = append(columns, screen.Column{Head: p.Kind, Gives: true})
		for id := range p.Support {
			if chain, err := strconv.ParseUint(id, 10, 64); err == nil {
				chains[chain] = true
			}
		}
	}
	rows := [][]string{{"(set up)"}}
	for _, p := range v.Providers {
		rows[0] = append(rows[0], readiness(p))
	}
	for _, chain := range slices.Sorted(maps.Keys(chains)) {
		row := []string{l.nameOf(chain)}
		for _, p := range v.Providers {
			row = append(row, supportText(p.Support[strconv.FormatUint(chain, 10)]))
		}
		rows = append(rows, row)
	}
	for _, f := range features {
		row := []string{f.name}
		for _, p := range v.Providers {
			row = append(row, f.of(p))
		}
		rows = append(rows, row)
	}
	l.t.result.Table(columns, rows)
	l.t.result.Line("")
	l.t.result.Line("  " + walletFee(fees))
	return nil
}

// features are what providers differ in, beside the networks.
var features = []struct {
	name string
	of   func(protocol.Provider) string
}{
	{"same chain", func(p protocol.Provider) string { return p.Can.SameChain }},
	{"cross-chain", func(p protocol.Provider) string { return p.Can.CrossChain }},
	{"gasless", func(p protocol.Provider) string { return before(p.Can.Gasless, " (") }},
	{"wallet fee", func(p protocol.Provider) string { return percentOf(p.Fee.FeeBps) }},
	{"maker fee", func(p protocol.Provider) string {
		if p.Fee.MakerBps == 0 {
			return "none"
		}
		return "at most " + percentOf(p.Fee.MakerBps)
	}},
}

// percentOf writes basis points in percent.
func percentOf(bps int) string { return protocol.Percent(bps).String() + " %" }

// before is what stands before a remark.
func before(text, remark string) string {
	text, _, _ = strings.Cut(text, remark)
	return text
}

func readiness(p protocol.Provider) string {
	if p.Ready {
		return "ready"
	}
	return p.Reason
}

func supportText(s protocol.Support) string {
	text := s.Support
	if text == "" || text == "not supported" {
		return "-"
	}
	if s.CrossChain {
		text += ", cross-chain"
	}
	if s.Note != "" {
		text += ", " + s.Note
	}
	return text
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
		Use: "set-key PROVIDER", Short: "Keep a provider's API key in the keychain, or forget it",
		Long: "Keep a provider's API key (for dex the key of your key proxy) in the keychain, or forget it. It is typed at the\n" +
			"terminal, which does not show it, or read from a descriptor. No command shows one.",
		Args: exactly("one provider", 1), ValidArgs: []string{"dex", "bridge", "intent", "gasless"},
	}
	cmd.Flags().BoolVar(&forget, "forget", false, "forget the key instead")
	key, password := secretFlagOf(cmd.Flags(), "key-fd", "the key"), passwordFlag(cmd.Flags())
	cmd.RunE = t.onLine(func(ctx context.Context, l *line, args []string) error {
		params := protocol.SetKeyParams{Provider: args[0], Key: protocol.Secret{}}
		if forget && key.fd != noDescriptor {
			return usageError{errors.New("give --forget or --key-fd, not both")}
		}
		var err error
		if !forget {
			if params.Key, err = t.secret(ctx, key, "API key"); err != nil {
				return err
			}
			defer params.Key.Zero()
			if len(params.Key) == 0 {
				return usageError{errors.New("the key is empty; --forget forgets the one there is")}
			}
		}
		if params.Password, err = t.secret(ctx, password, "Password"); err != nil {
			return err
		}
		defer params.Password.Zero()
		return show(ctx, l, "providers.set_key", params, func(r protocol.SetKeyResult) error {
			said := "the key of " + r.Provider + " is in the keychain"
			if !r.Set {
				said = "there is no key of " + r.Provider + " any more"
			}
			t.result.Line(said)
			return nil
		})
	})
	return cmd
}
