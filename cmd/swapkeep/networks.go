package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"swapkeep/cmd/internal/screen"
	"swapkeep/extension/messages"
	"swapkeep/host/protocol"
)

func newNetworks(t *terminal) *cobra.Command {
	cmd := &cobra.Command{
		Use: "networks", Short: "List the networks and choose the active one",
		Long: "List the networks and choose the active one. Swaps pay from the active network, which is shared by all windows.\n" +
			"The destination may be any network that the bridge or intent provider reaches.",
		Args: noArguments, RunE: listNetworks(t),
	}
	cmd.AddCommand(
		newNetworkList(t),
		&cobra.Command{
			Use: "select NETWORK", Short: "Select the active network, by name or chain id", Args: exactly("one network", 1),
			ValidArgsFunction: t.complete(onlyFirst(completeNetworks)), RunE: t.withDaemon(selectNetwork),
			Example: "  swapkeep networks select base\n  swapkeep networks select 42161",
		})
	return cmd
}

func listNetworks(t *terminal) func(*cobra.Command, []string) error {
	return shower(t, "networks.list", func(_ context.Context, l *daemonConn, v protocol.NetworksResult) error { return l.t.networksTable(v) })
}

func newNetworkList(t *terminal) *cobra.Command {
	var provider string
	all := listNetworks(t)
	cmd := &cobra.Command{
		Use: "list", Short: "List the networks (* is the active one), or the destinations of a provider", Args: noArguments,
		Example: "  swapkeep networks list --provider bridge",
		RunE: func(cmd *cobra.Command, args []string) error {
			if provider == "" {
				return all(cmd, args)
			}
			kind, err := providerKind(provider)
			if err != nil {
				return err
			}
			return t.withDaemon(func(ctx context.Context, l *daemonConn, _ []string) error { return l.listDestinations(ctx, kind) })(cmd, args)
		},
	}
	listingFlag(cmd, &provider, "list the destinations of this `provider` (bridge or intent)")
	return cmd
}

// listingFlag adds the flag for a provider that lists its destinations or tokens.
func listingFlag(cmd *cobra.Command, provider *string, what string) {
	cmd.Flags().StringVar(provider, "provider", "", what)
	_ = cmd.RegisterFlagCompletionFunc("provider", cobra.FixedCompletions(crossChainProviders, cobra.ShellCompDirectiveNoFileComp))
}

var destinationColumns = []screen.Column{{Head: "network"}, {Head: "chain id", Right: true}, {Head: "coin"}, {Head: "known here"}}

func (l *daemonConn) listDestinations(ctx context.Context, provider string) error {
	return show(ctx, l, "swap.destinations", protocol.DestinationsParams{Provider: provider}, func(r protocol.DestinationsResult) error {
		rows := make([][]string, 0, len(r.Destinations))
		for _, d := range r.Destinations {
			rows = append(rows, []string{d.Name, strconv.FormatUint(d.ChainID, 10), d.Symbol, yesNo(d.Known)})
		}
		if len(rows) == 0 {
			l.t.result.Line("the " + provider + " provider has no destinations now")
			return nil
		}
		l.t.result.Table(destinationColumns, rows)
		return nil
	})
}

var networkColumns = []screen.Column{
	{}, {Head: "network"}, {Head: "chain id", Right: true}, {Head: "coin"}, {Head: "confirmations", Right: true}, {Head: "fee limit", Right: true}, {Head: "RPC", Shrinks: true},
}

func (t *terminal) networksTable(v protocol.NetworksResult) error {
	rows := make([][]string, 0, len(v.Networks))
	for _, n := range v.Networks {
		mark := ""
		if n.ChainID == v.Active {
			mark = "*"
		}
		rows = append(rows, []string{
			mark, n.Name, strconv.FormatUint(n.ChainID, 10), n.Symbol, fmt.Sprintf("%d blocks", n.Depth),
			native(n).Text(n.GasCeiling.Int()), rpcText(n),
		})
	}
	t.result.Table(networkColumns, rows)
	for _, n := range v.Networks {
		t.noteEnd(n)
	}
	return nil
}

// noteEnd prints what holds for a network that was shut down.
func (t *terminal) noteEnd(n protocol.Network) {
	if !n.Ended.IsZero() {
		note, _ := messages.Text("network_ended_note", n.Name, endOf(n))
		t.result.Blank()
		t.result.Paragraph(screen.Plain, note)
	}
}

func endOf(n protocol.Network) string { return n.Ended.Format(time.DateOnly) }

// rpcText formats the network's end or else the first endpoint's host and state, and how
// many more there are.
func rpcText(n protocol.Network) string {
	all := n.RPC
	if !n.Ended.IsZero() {
		text, _ := messages.Text("network_ended", endOf(n))
		return text
	}
	if len(all) == 0 {
		return "none"
	}
	first, text := all[0], all[0].Host
	switch {
	case first.Failure != "":
		text += ": " + first.Failure
	case first.Behind:
		text += ": behind"
	}
	if len(all) > 1 {
		text += fmt.Sprintf(", %d more", len(all)-1)
	}
	return text
}

func selectNetwork(ctx context.Context, l *daemonConn, args []string) error {
	n, err := l.network(ctx, args[0])
	if err != nil {
		return err
	}
	return show(ctx, l, "networks.select", protocol.SelectParams{ChainID: n.ChainID}, func(protocol.SelectResult) error {
		l.t.result.Line(fmt.Sprintf("%s (%d) is the active network", n.Name, n.ChainID))
		l.t.noteEnd(n)
		return nil
	})
}
