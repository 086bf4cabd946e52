package protocol

import "time"

type GasWatchParams struct {
	ChainID uint64 `json:"chainId,omitempty" doc:"default: the active network"`
	Stop    bool   `json:"stop,omitempty" doc:"end the watch instead"`
}

// A GasWatchResult reports whether this connection now watches the network.
type GasWatchResult struct {
	ChainID  uint64    `json:"chainId"`
	Watching bool      `json:"watching"`
	Price    *GasPrice `json:"price,omitempty" doc:"absent after stop"`
}

// A GasPrice is the gas price at a network's latest block.
type GasPrice struct {
	ChainID     uint64    `json:"chainId"`
	Block       uint64    `json:"block"`
	Time        time.Time `json:"time" doc:"of the block"`
	BaseFee     Amount    `json:"baseFeePerGas,omitempty" doc:"wei; absent without a fee market"`
	NextBaseFee Amount    `json:"nextBaseFeePerGas,omitempty" doc:"wei, of the next block"`
	Slow        GasTier   `json:"slow"`
	Normal      GasTier   `json:"normal"`
	Fast        GasTier   `json:"fast"`
	L1          string    `json:"l1,omitempty" doc:"how data on L1 is charged: op (on top of gas) or arbitrum (inside the gas); absent: not"`
	CoinUSD     USD       `json:"coinUsd,omitempty" doc:"US dollars for one of the network's own coin; absent: price unavailable"`
	L1Transfer  Amount    `json:"l1Transfer,omitempty" doc:"wei that the data of a plain transfer costs on L1; absent: nothing, or unknown"`
}

// A GasTier is the fee a transaction offers: fee cap and tip, or one price on a network
// without a fee market.
type GasTier struct {
	MaxFee         Amount `json:"maxFeePerGas,omitempty" doc:"wei"`
	MaxPriorityFee Amount `json:"maxPriorityFeePerGas,omitempty" doc:"wei"`
	GasPrice       Amount `json:"gasPrice,omitempty" doc:"wei"`
}
