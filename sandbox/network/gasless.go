package network

import "github.com/ethereum/go-ethereum/common"

// Gasless holds a chain's contracts of the gasless provider.
type Gasless struct {
	// Name is the chain's name in the provider's paths; "" if it is not served.
	Name string
	// JAM: users approve the balance manager and sign for the settlement contract.
	JamSettlement     common.Address
	JamBalanceManager common.Address
	// RfqSettlement is both at once; zero where the chain has JAM only.
	RfqSettlement common.Address
}

// gasless maps chain ids to the addresses in the provider's contract repositories. Chain
// 5330 has its own deployment and only one protocol.
var gasless = map[uint64]Gasless{
	1:     bothProtocols("ethereum"),
	10:    bothProtocols("optimism"),
	56:    bothProtocols("bsc"),
	8453:  bothProtocols("base"),
	42161: bothProtocols("arbitrum"),
	43114: bothProtocols("avalanche"),
	5330: {
		Name:              "superseed",
		JamSettlement:     common.HexToAddress("0xbeb0b0623f66bE8cE162EbDfA2ec543A522F4ea6"),
		JamBalanceManager: common.HexToAddress("0xC5a350853E4e36b73EB0C24aaA4b8816C9A3579a"),
	},
}

func bothProtocols(name string) Gasless {
	return Gasless{
		Name:              name,
		JamSettlement:     common.HexToAddress("0xbeb0b0623f66bE8cE162EbDfA2ec543A522F4ea6"),
		JamBalanceManager: common.HexToAddress("0xC5a350853E4e36b73EB0C24aaA4b8816C9A3579a"),
		RfqSettlement:     common.HexToAddress("0xbbbbbBB520d69a9775E85b458C58c648259FAD5F"),
	}
}

// Gasless returns the chain's contracts of the gasless provider.
func (n Network) Gasless() Gasless { return gasless[n.ID] }

// named returns the contracts by their names in sandbox.json.
func (g Gasless) named() map[string]common.Address {
	return map[string]common.Address{
		"jamSettlement": g.JamSettlement, "jamBalanceManager": g.JamBalanceManager, "rfqSettlement": g.RfqSettlement,
	}
}
