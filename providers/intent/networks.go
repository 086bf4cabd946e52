package intent

import (
	"cmp"
	"context"
	"slices"

	"swapkeep/chain"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

// networks are the wallet's networks (spec section 2, per-network entry). 5330 and 39 stay
// disabled until the provider supports them.
var networks = []swap.NetworkEntry{
	networkEntry(1, "Ethereum", true),
	networkEntry(10, "OP Mainnet", true),
	networkEntry(56, "BNB Smart Chain", true),
	networkEntry(8453, "Base", true),
	networkEntry(42161, "Arbitrum One", true),
	networkEntry(143, "Monad", true),
	networkEntry(43114, "Avalanche", true),
	networkEntry(5330, "Superseed", false),
	networkEntry(39, "U2U Solaris", false),
}

// networkEntry is a network for which the provider uses the wallet's chain id. If it is enabled,
// swaps may leave and enter it.
func networkEntry(id uint64, name string, enabled bool) swap.NetworkEntry {
	return swap.NetworkEntry{ChainID: id, Enabled: enabled, ProviderChainID: id, DisplayName: name, CrossChainEnabled: enabled}
}

// destinations are further EVM chains that the provider listed (GET /v1/chains on
// 2026-07-25). Its ids for non-EVM chains, such as Solana, are left out.
var destinations = []swap.Destination{
	newDestination(130, "Unichain", "ETH"),
	newDestination(137, "Polygon", "POL"),
	newDestination(324, "zkSync Era", "ETH"),
	newDestination(5000, "Mantle", "MNT"),
	newDestination(16661, "0G", "0G"),
	newDestination(59144, "Linea", "ETH"),
	newDestination(80094, "Berachain", "BERA"),
	newDestination(747474, "Katana", "ETH"),
}

// newDestination is a chain whose native coin has 18 decimals, as all of the above have.
func newDestination(id uint64, name, coin string) swap.Destination {
	return swap.Destination{ChainID: id, Name: name, Symbol: coin, Decimals: 18}
}

// Destinations are the chains that may receive, sorted by chain id. It makes no network
// call.
func (p *Provider) Destinations(context.Context) ([]swap.Destination, error) {
	out := slices.Clone(destinations)
	for _, n := range networks {
		if !n.Enabled || !n.CrossChainEnabled {
			continue
		}
		d := swap.Destination{ChainID: n.ChainID, Name: n.DisplayName}
		if known, ok := chain.NetworkByID(n.ChainID); ok {
			d.Symbol, d.Decimals, d.Explorer = known.Symbol, known.Decimals, known.Explorer
		}
		out = append(out, d)
	}
	slices.SortFunc(out, func(a, b swap.Destination) int { return cmp.Compare(a.ChainID, b.ChainID) })
	return out, nil
}

// networkOf is the entry of an enabled network; others are refused.
func networkOf(chainID uint64) (swap.NetworkEntry, error) {
	i := slices.IndexFunc(networks, func(n swap.NetworkEntry) bool { return n.ChainID == chainID })
	switch {
	case i < 0:
		return swap.NetworkEntry{}, refuse(swap.UnsupportedNetwork, "srcChainId", "does not serve chain %d; choose another provider or network", chainID)
	case !networks[i].Enabled:
		return swap.NetworkEntry{}, refuse(swap.UnsupportedNetwork, "srcChainId", "is disabled on %s until it supports it", networks[i].DisplayName)
	}
	return networks[i], nil
}

// receivingChainID is the provider's id of a chain that may receive.
func receivingChainID(chainID uint64) (uint64, error) {
	if slices.ContainsFunc(destinations, func(d swap.Destination) bool { return d.ChainID == chainID }) {
		return chainID, nil
	}
	n, err := networkOf(chainID)
	if err != nil || !n.CrossChainEnabled {
		return 0, refuse(swap.UnsupportedNetwork, "dstChainId", "does not reach chain %d; choose another network", chainID)
	}
	return n.ProviderChainID, nil
}

// destinationChainID is the provider's id of a chain that may receive from src.
func destinationChainID(src swap.NetworkEntry, chainID uint64) (uint64, error) {
	switch {
	case chainID == src.ChainID:
		return src.ProviderChainID, nil
	case !src.CrossChainEnabled:
		return 0, refuse(swap.UnsupportedRoute, "dstChainId", "does not leave %s", src.DisplayName)
	}
	return receivingChainID(chainID)
}

// A depositContract is a built-in deposit contract.
type depositContract struct {
	chain   uint64
	address common.Address
}

// depositContracts are the reserves that the provider's own configuration names (its REST README;
// testdata/live has it), where its own filler takes deposits. Nothing is published for 10,
// 56, 143 and 43114, nor for the routes of other fillers: an isolated account makes the
// deposits on those networks, and the other fillers' routes elsewhere are refused.
var depositContracts = []depositContract{
	{1, common.HexToAddress("0x4bACc118f9CEe2f6e9b52AAb317F8b5aaf2503F5")},
	{42161, common.HexToAddress("0xb280C373F57c9169e009a66496EE556084afAd24")},
	{8453, common.HexToAddress("0x1A7c327d0f402AEf2eD3D20D1141bD71BA1C317B")},
}

// IsolatesOn reports whether a chain has no built-in deposit contract.
func (p *Provider) IsolatesOn(chainID uint64) bool {
	return !slices.ContainsFunc(p.depositContracts, func(d depositContract) bool { return d.chain == chainID })
}

// checkDepositChain refuses a chain without a built-in deposit contract, unless an isolated
// account makes the deposit.
func (p *Provider) checkDepositChain(r swap.QuoteRequest) error {
	if r.Isolated == (common.Address{}) && p.IsolatesOn(r.SrcChain) {
		return refuse(swap.NotPinned, "to", "takes deposits on chain %d by contracts that are not built in; choose another route", r.SrcChain)
	}
	return nil
}

// Pins are the built-in deposit contracts. The provider does not publish the accounts that its
// fillers pay from.
func (p *Provider) Pins() swap.Pins {
	var pins swap.Pins
	for _, d := range p.depositContracts {
		pins = append(pins, swap.Pin{Chain: d.chain, Role: swap.Depot, Address: d.address}, swap.Pin{Chain: d.chain, Role: swap.Spender, Address: d.address})
	}
	return pins
}
