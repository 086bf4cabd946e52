package protocol

import "time"

// A Network is an EVM chain the daemon has an RPC endpoint for.
type Network struct {
	ChainID       uint64  `json:"chainId"`
	Name          string  `json:"name"`
	Symbol        string  `json:"symbol" doc:"of the native coin"`
	Decimals      int     `json:"decimals" doc:"of the native coin"`
	WrappedNative Address `json:"wrappedNative,omitempty"`
	// NoWrapped is set where WrappedNative is not.
	NoWrapped        string  `json:"noWrapped,omitempty" doc:"why there is no wrapped native"`
	Explorer         string  `json:"explorer,omitempty" doc:"URL of a block explorer"`
	Depth            uint64  `json:"depth" doc:"blocks until a receipt counts as final"`
	BlockTimeSeconds float64 `json:"blockTimeSeconds" doc:"about"`
	Fees             string  `json:"fees" doc:"eip1559 or legacy"`
	L1Fee            string  `json:"l1Fee,omitempty" doc:"op (on top of gas) or arbitrum (inside the gas); absent: none"`
	GasCeiling       Amount  `json:"gasCeiling" doc:"most that the transactions of one plan may cost without new consent"`
	RPC              []RPC   `json:"rpc" doc:"endpoints, in the order they are tried"`
	// Ended is set where nothing can be swapped any more.
	Ended time.Time `json:"ended,omitzero" doc:"when the network was shut down: no offers, no gas price, balances only when asked for; absent: it runs"`
}

// An RPC is an endpoint with the result of its last use. Listing it makes no request.
type RPC struct {
	Host    string    `json:"host" doc:"never the path, which may be an access key"`
	Failure string    `json:"failure,omitempty" doc:"what went wrong at its last use; absent: nothing, or it was not used yet"`
	RetryAt time.Time `json:"retryAt,omitzero" doc:"until then its siblings are asked first"`
	Block   uint64    `json:"block,omitempty" doc:"latest it has shown"`
	Behind  bool      `json:"behind,omitempty" doc:"so far that it is not asked"`
}

type NetworksResult struct {
	Active   uint64    `json:"active" doc:"chain id of the active network"`
	Networks []Network `json:"networks"`
}

type SelectParams struct {
	ChainID uint64 `json:"chainId"`
}

type SelectResult struct {
	Active uint64 `json:"active" doc:"chain id of the active network"`
}

type NetworksChanged struct {
	Active uint64 `json:"active" doc:"chain id of the active network"`
}
