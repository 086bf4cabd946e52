package gasless

import (
	"slices"

	"swapkeep/chain"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

// A deployment is the provider's contracts on one chain.
type deployment struct {
	chain uint64
	name  string // name of the chain in API paths
	// JAM: users approve the balance manager and sign for the settlement. The settlement
	// must never be approved: anyone who calls it may take what it is allowed.
	jamSettlement, balanceManager common.Address
	// RFQ: the settlement itself pulls the tokens. Zero where the protocol is not used.
	rfqSettlement common.Address
}

var (
	jamSettlement  = common.HexToAddress("0xbeb0b0623f66bE8cE162EbDfA2ec543A522F4ea6")
	balanceManager = common.HexToAddress("0xC5a350853E4e36b73EB0C24aaA4b8816C9A3579a")
	rfqSettlement  = common.HexToAddress("0xbbbbbBB520d69a9775E85b458C58c648259FAD5F")
	// bebopRouter has settled RFQ orders of heavily traded tokens since August 2026, as a
	// layer around rfqSettlement. It is not pinned: an order for it holds a minimum only if
	// its limitAmount is above 0, and the recorded ones have 0; besides, an oracle and a
	// checker that the order names may lower what arrives. (bebop-dex/bebop-rfqa,
	// BebopRouter.sol; docs.bebop.xyz, router-migration-guide, which documents no way to
	// ask for the other form.)
	bebopRouter = common.HexToAddress("0xBeb0009ACa35087ce7cCF11637E24dd1Aad3bf2A")
)

// deployments lists the chains where the support table has the provider as active. Sources:
// the address lists of bebop-dex/bebop-jam-contracts and of Bebop's documentation. Chain
// 5330 has its own contracts and only one protocol (spec section 2).
var deployments = []deployment{
	{1, "ethereum", jamSettlement, balanceManager, rfqSettlement},
	{10, "optimism", jamSettlement, balanceManager, rfqSettlement},
	{56, "bsc", jamSettlement, balanceManager, rfqSettlement},
	{8453, "base", jamSettlement, balanceManager, rfqSettlement},
	{42161, "arbitrum", jamSettlement, balanceManager, rfqSettlement},
	{43114, "avalanche", jamSettlement, balanceManager, rfqSettlement},
	{5330, "superseed", common.HexToAddress("0xbeb0b0623f66bE8cE162EbDfA2ec543A522F4ea6"), common.HexToAddress("0xC5a350853E4e36b73EB0C24aaA4b8816C9A3579a"), common.Address{}},
}

var (
	// nativePlaceholder stands for the native coin in the API and in orders.
	nativePlaceholder = common.HexToAddress("0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE")
	nativeCoin        = common.Address{}
	permit2           = common.HexToAddress("0x000000000022D473030F116dDEE9F6B43aC78BA3")
)

func deploymentOn(chainID uint64) (deployment, error) {
	for _, d := range deployments {
		if d.chain == chainID {
			return d, nil
		}
	}
	return deployment{}, refuse(swap.UnsupportedNetwork, "srcChainId", "does not serve chain %d; choose another provider or network", chainID)
}

func (d deployment) wrapped() common.Address {
	n, _ := chain.NetworkByID(d.chain)
	return n.WrappedNative
}

// isReserved reports whether a is one of the provider's contracts, Permit2 or the placeholder
// for the native coin. None of these may be a token, an account or a maker.
func (d deployment) isReserved(a common.Address) bool {
	return a != nativeCoin && slices.Contains([]common.Address{d.jamSettlement, d.balanceManager, d.rfqSettlement, bebopRouter, permit2, nativePlaceholder}, a)
}

// Pins are the settlement contracts, their spenders and the wrapped coins. The sandbox
// deploys them at the same addresses.
func (p *Provider) Pins() swap.Pins {
	var pins swap.Pins
	for _, d := range deployments {
		pins = append(pins, swap.Pin{Chain: d.chain, Role: swap.Wrapper, Address: d.wrapped()})
		for _, v := range d.venues() {
			pins = append(pins,
				swap.Pin{Chain: d.chain, Role: swap.Verifier, Address: v.settlement},
				swap.Pin{Chain: d.chain, Role: swap.Settlement, Address: v.settlement},
				swap.Pin{Chain: d.chain, Role: swap.Spender, Address: v.spender},
			)
		}
	}
	return pins
}
