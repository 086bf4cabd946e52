package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/big"

	"github.com/spf13/cobra"

	"swapkeep/cmd/internal/amount"
	"swapkeep/cmd/internal/screen"
	"swapkeep/host/protocol"
)

func newGas(t *terminal) *cobra.Command {
	var network string
	var watch bool
	cmd := &cobra.Command{
		Use: "gas", Short: "Show gas prices of a network, now or at every block", Args: noArguments,
	}
	cmd.Flags().StringVar(&network, "network", "", "`network` by name or chain id (default the active one)")
	cmd.Flags().BoolVar(&watch, "watch", false, "update at every new block until Ctrl-C")
	_ = cmd.RegisterFlagCompletionFunc("network", t.complete(completeNetworks))
	cmd.RunE = t.withDaemon(func(ctx context.Context, l *daemonConn, _ []string) error {
		n, err := l.network(ctx, network)
		if err != nil {
			return err
		}
		err = show(ctx, l, "gas.watch", protocol.GasWatchParams{ChainID: n.ChainID}, func(r protocol.GasWatchResult) error {
			if r.Price == nil {
				return fmt.Errorf("%s: no gas price", n.Name)
			}
			l.t.gasTable(n, *r.Price)
			return nil
		})
		if err != nil || !watch {
			return err
		}
		return l.watchGas(ctx, n)
	})
	return cmd
}

var gasColumns = []screen.Column{{Head: "tier"}, {Head: "gas price (gwei)", Right: true}, {Head: "tip", Right: true}, {Head: "plain transfer", Right: true}, {Head: "worth", Right: true}}

// transferGas is the gas of a plain transfer of native coin.
const transferGas = 21_000

func (t *terminal) gasTable(n protocol.Network, p protocol.GasPrice) {
	t.result.Line(fmt.Sprintf("%s, block %d of %s%s", n.Name, p.Block, clockTime(p.Time), baseText(p)))
	rows := make([][]string, 0, 3)
	for _, tier := range tiersOf(p) {
		cost := new(big.Int).Mul(bigOf(tier.price()), big.NewInt(transferGas))
		cost.Add(cost, bigOf(p.L1Transfer))
		rows = append(rows, []string{tier.name, gweiText(tier.price()), gweiText(tier.MaxPriorityFee), "at most " + native(n).Text(cost), coinWorth(p.CoinUSD, cost)})
	}
	t.result.Table(gasColumns, rows)
}

type namedTier struct {
	name string
	protocol.GasTier
}

func tiersOf(p protocol.GasPrice) []namedTier {
	return []namedTier{{"slow", p.Slow}, {"normal", p.Normal}, {"fast", p.Fast}}
}

// price returns the maximum price per unit of gas, in wei.
func (g namedTier) price() protocol.Amount {
	if g.MaxFee == "" {
		return g.GasPrice
	}
	return g.MaxFee
}

func gweiText(a protocol.Amount) string {
	n := a.Int()
	if n == nil {
		return "-"
	}
	return amount.Decimal(n, gwei, gwei)
}

func baseText(p protocol.GasPrice) string {
	if p.BaseFee == "" {
		return ""
	}
	return fmt.Sprintf(", base fee %s gwei", gweiText(p.BaseFee))
}

// watchGas prints a line for every new block until ctx ends.
func (l *daemonConn) watchGas(ctx context.Context, n protocol.Network) error {
	for {
		select {
		case note := <-l.Notifications():
			var p protocol.GasPrice
			if note.Method != "gas.price" || json.Unmarshal(note.Params, &p) != nil || p.ChainID != n.ChainID {
				continue
			}
			if l.t.json {
				if err := writeRaw(l.t.out, note.Params); err != nil {
					return err
				}
				continue
			}
			said := fmt.Sprintf("block %d%s", p.Block, baseText(p))
			for _, tier := range tiersOf(p) {
				said += fmt.Sprintf(", %s %s", tier.name, gweiText(tier.price()))
			}
			l.t.result.Line(said)
			if err := l.t.result.Err(); err != nil { // the reader is gone
				return err
			}
		case <-l.Done():
			return l.Err()
		case <-ctx.Done():
			return printedError{ctx.Err()} // the usual way to end it
		}
	}
}
