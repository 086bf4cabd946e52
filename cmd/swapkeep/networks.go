package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"swapkeep/cmd/internal/screen"
	"swapkeep/host/protocol"
)

func newNetworks(t *terminal) *cobra.Command {
	list := shower(t, "networks.list", func(_ context.Context, l *line, v protocol.NetworksResult) error { return l.t.networksTable(v) })
	cmd := &cobra.Command{
		Use: "networks", Short: "List the networks and choose the active one",
		Long: "List the networks and choose the active one. A swap pays from the active network, which is the same for every window.",
		Args: noArguments, RunE: list,
	}
	cmd.AddCommand(
		&cobra.Command{Use: "list", Short: "List the networks; a star marks the active one", Args: noArguments, RunE: list},
		&cobra.Command{
			Use: "select NETWORK", Short: "Make a network the active one, by name or chain id", Args: exactly("one network", 1),
			ValidArgsFunction: t.complete(onlyFirst(completeNetworks)), RunE: t.onLine(selectNetwork),
			Example: "  swapkeep networks select base\n  swapkeep networks select 42161",
		})
	return cmd
}

var networkColumns = []screen.Column{
	{}, {Head: "network"}, {Head: "chain id", Right: true}, {Head: "coin"}, {Head: "final after", Right: true}, {Head: "gas ceiling", Right: true}, {Head: "RPC", Gives: true},
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
			native(n).Text(n.GasCeiling.Int()), rpcText(n.RPC),
		})
	}
	t.result.Table(networkColumns, rows)
	return nil
}

// rpcText is an endpoint's host and its state, of several the first and how
// many more.
func rpcText(all []protocol.RPC) string {
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

func selectNetwork(ctx context.Context, l *line, args []string) error {
	n, err := l.network(ctx, args[0])
	if err != nil {
		return err
	}
	return show(ctx, l, "networks.select", protocol.SelectParams{ChainID: n.ChainID}, func(protocol.SelectResult) error {
		l.t.result.Line(fmt.Sprintf("%s (%d) is the active network", n.Name, n.ChainID))
		return nil
	})
}
