package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"swapkeep/host/protocol"
)

func newKeysDiscover(t *terminal) *cobra.Command {
	var wallet string
	cmd := &cobra.Command{
		Use: "discover", Short: "Find and add the accounts of a wallet that were used on any network", Args: noArguments,
	}
	cmd.Flags().StringVar(&wallet, "wallet", "", "`wallet` by name or id (default the only one)")
	password := passwordFlag(cmd.Flags())
	cmd.RunE = t.withDaemon(func(ctx context.Context, l *daemonConn, _ []string) error {
		w, err := l.wallet(ctx, wallet)
		if err == nil {
			err = l.loadNetworks(ctx)
		}
		if err != nil {
			return err
		}
		return l.withSession(ctx, password, func() error {
			return show(ctx, l, "keys.discover", protocol.DiscoverParams{Request: newRequest(), Wallet: w.ID}, l.printDiscovery)
		})
	})
	return cmd
}

// printDiscovery prints the accounts found and the networks that did not answer. It returns the
// error that ended the search early, if any.
func (l *daemonConn) printDiscovery(d protocol.Discovery) error {
	l.t.result.Line(fmt.Sprintf("checked %d accounts, added %d that were used", d.Checked, len(d.Found)))
	if len(d.Found) > 0 {
		l.t.accountsTable(d.Found)
	}
	if len(d.Unreachable) > 0 {
		names := make([]string, 0, len(d.Unreachable))
		for _, id := range d.Unreachable {
			names = append(names, l.nameOf(id))
		}
		l.t.result.Line("cannot reach " + strings.Join(names, ", ") + ": accounts used only there were not found")
	}
	if d.Error != "" {
		return protocol.New(d.Error, "")
	}
	return nil
}
