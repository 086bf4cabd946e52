package network

import "github.com/ethereum/go-ethereum/common"

// intentDeposits are the intent provider's deposit contracts by chain id: the asset
// reserves that its configuration endpoint names, or addresses of the sandbox's own
// choice.
var intentDeposits = map[uint64]common.Address{
	1:     common.HexToAddress("0x4bACc118f9CEe2f6e9b52AAb317F8b5aaf2503F5"),
	10:    ownIntentDeposit,
	56:    ownIntentDeposit,
	143:   ownIntentDeposit,
	43114: ownIntentDeposit,
	8453:  common.HexToAddress("0x1A7c327d0f402AEf2eD3D20D1141bD71BA1C317B"),
	42161: common.HexToAddress("0xb280C373F57c9169e009a66496EE556084afAd24"),
	130:   ownIntentDeposit,
}

var ownIntentDeposit = common.HexToAddress("0x5a4d000000000000000000000000000000000021")

// IntentDeposit returns the intent provider's deposit contract on the chain; zero if the
// provider does not serve the chain.
func (n Network) IntentDeposit() common.Address { return intentDeposits[n.ID] }
