package intent

import (
	"slices"

	"github.com/ethereum/go-ethereum/common"
)

// sandboxFiller is the account that the sandbox's simulator pays from. Its key is public;
// it is used only with [Config.Sandbox].
var sandboxFiller = common.HexToAddress("0x7c4Fa858cdFb46a314404409B69d7Dfa4ee5E3B0")

// sandboxDeposit is the simulator's deposit contract on chains where none is published. 143
// is left out so that the sandbox also shows routes to a contract that is not built in.
var sandboxDeposit = common.HexToAddress("0x5a4d000000000000000000000000000000000021")

func sandboxDepositContracts() []depositContract {
	return append(slices.Clone(depositContracts), depositContract{10, sandboxDeposit}, depositContract{56, sandboxDeposit}, depositContract{43114, sandboxDeposit})
}

func sandboxFillers() []filler {
	out := make([]filler, len(networks))
	for i, n := range networks {
		out[i] = filler{n.ChainID, sandboxFiller}
	}
	return out
}
