package live

import (
	"context"
	"fmt"

	"swapkeep/chain"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

// fillBlocks is how many blocks back a fill of any order is searched.
const fillBlocks = 2000

// A FillDescriber provider describes the event of any order's fill.
type FillDescriber interface {
	// Fills returns the fill events of its settlement contracts on a chain: contract,
	// first topic and number of topics.
	Fills(chainID uint64) []swap.LogPattern
}

// checkFills reads the newest fill of each of a provider's settlement contracts as the proof
// of an order would: the event must have the expected form, and as many hosts as a proof
// needs must show its transaction.
func (w World) checkFills(ctx context.Context, p swap.Provider, n chain.Network) (rows []Row) {
	s, ok := p.(FillDescriber)
	if !ok {
		return nil
	}
	for _, f := range s.Fills(n.ID) {
		v, how := w.fill(ctx, n, f)
		rows = append(rows, Row{string(p.Kind()), n.ID, fmt.Sprintf("a fill by %s", f.Address), v, how})
	}
	return rows
}

func (w World) fill(ctx context.Context, n chain.Network, f swap.LogPattern) (Verdict, string) {
	head, err := w.Nodes.Head(ctx, n.ID)
	if err != nil {
		return NotAvailable, err.Error()
	}
	from := max(head, fillBlocks) - fillBlocks
	sweep, err := w.Nodes.Logs(ctx, n.ID, chain.LogFilter{Address: f.Address, Topics: [][]common.Hash{f.Topics[:1]}}, from)
	if len(sweep.Logs) == 0 {
		if err != nil {
			return NotAvailable, err.Error()
		}
		return NotAvailable, fmt.Sprintf("none in the blocks from %d on", from)
	}
	newest := sweep.Logs[len(sweep.Logs)-1]
	if len(newest.Topics) != len(f.Topics) {
		return Differs, fmt.Sprintf("the event in %s has %d topics, and not %d", newest.TxHash, len(newest.Topics), len(f.Topics))
	}
	ev, mined, err := w.Nodes.Evidence(ctx, n.ID, newest.TxHash)
	switch {
	case err != nil:
		return verdictOf(err), err.Error()
	case !mined || !ev.Success:
		return Differs, fmt.Sprintf("%s, which has the event, is not mined, or failed", newest.TxHash)
	}
	return Works, fmt.Sprintf("%s in block %d, at %d hosts", newest.TxHash, ev.Block, len(ev.Hosts))
}
