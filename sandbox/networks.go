package sandbox

import "swapkeep/sandbox/network"

// The table of chains is package network's.
type (
	// A Network is one of the chains that the sandbox can start.
	Network = network.Network
	// A Token of a sandbox chain stands at the address it has on the real one.
	Token = network.Token
)

// Networks lists the chains that can be started.
func Networks() []Network { return network.All() }
