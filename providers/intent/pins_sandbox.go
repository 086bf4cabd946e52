package intent

import (
	"slices"

	"github.com/ethereum/go-ethereum/common"
)

// sandboxFiller is the account that the sandbox's simulator pays from. Its key is
// public; only [Config.Sandbox] reaches this table.
var sandboxFiller = common.HexToAddress("0x7c4Fa858cdFb46a314404409B69d7Dfa4ee5E3B0")

// sandboxDeposit is the simulator's deposit contract where none is published. On 143 it is
// left out: there the sandbox shows what a contract that is not built in comes to.
var sandboxDeposit = common.HexToAddress("0x5a4d000000000000000000000000000000000021")

func sandboxDepots() []depot {
	return append(slices.Clone(depots), depot{10, sandboxDeposit}, depot{56, sandboxDeposit})
}

func sandboxFillers() []filler {
	out := make([]filler, len(networks))
	for i, n := range networks {
		out[i] = filler{n.ChainID, sandboxFiller}
	}
	return out
}
