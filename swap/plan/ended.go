package plan

import (
	"slices"
	"time"

	"swapkeep/chain"
	"swapkeep/swap"
)

// HasEnded reports whether a chain was shut down, with its description. The nodes know it
// for the networks that they have, the table of networks for the others, which may be
// destinations.
func HasEnded(nodes Nodes, id uint64) (chain.Network, bool) {
	n, err := nodes.Network(id)
	if err != nil {
		n, _ = chain.NetworkByID(id)
	}
	return n, n.HasEnded()
}

// checkRunning refuses a swap from or to a chain that was shut down.
func checkRunning(nodes Nodes, r swap.QuoteRequest) error {
	for _, end := range []struct {
		id    uint64
		field string
	}{{r.SrcChain, "srcChainId"}, {r.DstChain, "dstChainId"}} {
		if n, ended := HasEnded(nodes, end.id); ended {
			return refuseEnded(n, end.field)
		}
	}
	return nil
}

func refuseEnded(n chain.Network, field string) error {
	day := n.Ended.Format(time.DateOnly)
	refused := swap.RefuseField(swap.NetworkEnded, field, "%s was shut down on %s; choose another network", n.Name, day)
	refused.Data = map[string]string{"network": n.Name, "ended": day}
	return refused
}

// running returns the destinations whose chains run.
func running(nodes Nodes, all []swap.Destination) []swap.Destination {
	return slices.DeleteFunc(all, func(d swap.Destination) bool {
		_, ended := HasEnded(nodes, d.ChainID)
		return ended
	})
}
