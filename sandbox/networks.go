package sandbox

import "swapkeep/sandbox/network"

// The table of chains is in package network.
type (
	// A Network is a chain that the sandbox can start.
	Network = network.Network
	// A Token is a token of a sandbox chain, at its real address.
	Token = network.Token
)

// Networks lists the chains that can be started.
func Networks() []Network { return network.All() }
