package main

import (
	"math/big"
	"slices"
	"time"

	"swapkeep/chain"
	"swapkeep/extension/messages"
	"swapkeep/host/protocol"
	"swapkeep/internal/clock"
	"swapkeep/priceapi/price"
	"swapkeep/swap"
	"swapkeep/swap/lines"

	"github.com/ethereum/go-ethereum/common"
)

// A lineNames names what the lines of a review name, by the daemon's own lists alone: it asks no
// network, so that lines do not wait.
type lineNames struct {
	d         *daemon
	providers map[swap.Kind]swap.Provider
}

var _ lines.Names = lineNames{}

// Token returns a token that is the coin, built in, listed or imported.
func (n lineNames) Token(chainID uint64, token common.Address) lines.Token {
	if token == chain.Native {
		net, err := n.d.hub.Network(chainID)
		return lines.Token{Symbol: net.Symbol, Decimals: net.Decimals, BuiltIn: err == nil}
	}
	t, ok := n.d.tokens.Lookup(chainID, token)
	if !ok {
		return lines.Token{}
	}
	return lines.Token{Symbol: t.Symbol, Decimals: t.Decimals, BuiltIn: t.Recognized}
}

func (n lineNames) Network(chainID uint64) string {
	if net, err := n.d.hub.Network(chainID); err == nil {
		return net.Name
	}
	return protocol.NetworkNames[chainID]
}

// Contract returns the brand of the provider whose built-in contract it is.
func (n lineNames) Contract(chainID uint64, contract common.Address) string {
	if contract == swap.Permit2Contract {
		return "Permit2"
	}
	for _, k := range swap.Kinds() {
		p, ok := n.providers[k]
		if ok && slices.ContainsFunc(p.Pins(), func(x swap.Pin) bool { return x.Chain == chainID && x.Address == contract }) {
			return messages.Brand(string(k))
		}
	}
	return ""
}

// Worth returns what an amount is worth by the newest price table, as the popup shows it.
func (n lineNames) Worth(chainID uint64, token common.Address, amount *big.Int) (w lines.Worth, ok bool) {
	id := price.ID{Chain: chainID, Address: token}
	value, err := n.d.prices.Dollars(id, amount)
	if err != nil {
		return w, false
	}
	row, ok := n.d.prices.feed.Now().Row(id)
	if !ok {
		return w, false
	}
	return lines.Worth{Dollars: value.Fixed(2), Sources: []string{row.Now.Source.String()}, Age: max(clock.Now().Sub(row.Now.At), time.Second)}, true
}

// lines puts a review into lines.
func (d *daemon) lines(providers map[swap.Kind]swap.Provider) func(swap.Review) []swap.Line {
	names := lineNames{d, providers}
	return func(r swap.Review) []swap.Line { return lines.Of(r, names) }
}

// orderLines puts an act on an order into lines.
func (d *daemon) orderLines(providers map[swap.Kind]swap.Provider) func(string, swap.Order) []swap.Line {
	names := lineNames{d, providers}
	return func(act string, o swap.Order) []swap.Line { return lines.OfOrder(act, o, names) }
}
