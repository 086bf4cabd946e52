package intent

import (
	"slices"

	"github.com/ethereum/go-ethereum/common"
)

// sandboxDeposit is the simulator's deposit contract on chains where none is published. 143
// is left out so that the sandbox also shows routes to a contract that is not built in.
var sandboxDeposit = common.HexToAddress("0x5a4d000000000000000000000000000000000021")

func sandboxDepositContracts() []depositContract {
	return append(slices.Clone(depositContracts), depositContract{10, sandboxDeposit}, depositContract{56, sandboxDeposit}, depositContract{43114, sandboxDeposit})
}
