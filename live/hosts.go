package live

import (
	"context"
	"errors"
	"fmt"
	"time"

	"swapkeep/chain"
)

// Bounds for a host's latest block, because deadlines are judged by block times.
const (
	blockAhead = 30 * time.Second
	blockOld   = 3 * time.Minute
)

// checkHosts checks each host of a network.
func (w World) checkHosts(ctx context.Context, n chain.Network) (rows []Row) {
	row := func(what string, v Verdict, how string) {
		rows = append(rows, Row{"hosts", n.ID, what, v, how})
	}
	probes, err := w.Nodes.Probe(ctx, n.ID)
	if err != nil {
		row("all", NotAvailable, err.Error())
		return rows
	}
	for _, p := range probes {
		v, how := judgeHost(p)
		row(p.Host, v, how)
	}
	return rows
}

// checkAgreement checks whether enough hosts of a network agree.
func (w World) checkAgreement(ctx context.Context, n chain.Network) Row {
	row := Row{"hosts", n.ID, "their agreement", Works, ""}
	b, hosts, err := w.Nodes.Settled(ctx, n.ID)
	if err != nil {
		if row.Verdict, row.How = verdictOf(err), err.Error(); row.Verdict == Differs {
			row.How += "; so nothing on the chain is compared"
		}
		return row
	}
	row.How = fmt.Sprintf("%d say the same of block %d", len(hosts), b.Number)
	return row
}

func judgeHost(p chain.Probe) (Verdict, string) {
	simulates := "eth_simulateV1 shows what moves"
	if p.SimulateErr != nil {
		simulates = "no use of eth_simulateV1: " + p.SimulateErr.Error()
	}
	summary := fmt.Sprintf("block %d, %s old; eth_getLogs over %d blocks; %s", p.Head, p.Age.Round(time.Second), p.LogBlocks, simulates)
	switch {
	case errors.Is(p.Err, chain.ErrWrongChain):
		return Differs, p.Err.Error()
	case p.Err != nil:
		return NotAvailable, p.Err.Error()
	case p.Age < -blockAhead || p.Age > blockOld:
		return Differs, "its latest block is not of now: " + summary
	case p.LogErr != nil:
		return Differs, "no logs: " + p.LogErr.Error() + "; " + summary
	case p.LogBlocks < min(chain.MinLogRange, p.Head):
		return Differs, "logs of too few blocks at once: " + summary
	case p.FinalErr != nil:
		return Differs, p.FinalErr.Error() + "; " + summary
	case p.SimulateErr != nil:
		return Differs, summary
	}
	return Works, summary
}
