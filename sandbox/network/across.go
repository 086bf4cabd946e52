package network

import "github.com/ethereum/go-ethereum/common"

// spokePools are Across's contracts by chain id, as its own list of deployments has them.
var spokePools = map[uint64]common.Address{
	1:     common.HexToAddress("0x5c7BCd6E7De5423a257D81B442095A1a6ced35C5"),
	10:    common.HexToAddress("0x6f26Bf09B1C792e3228e5467807a900A503c0281"),
	56:    common.HexToAddress("0x4e8E101924eDE233C13e2D8622DC8aED2872d505"),
	130:   common.HexToAddress("0x09aea4b2242abC8bb4BB78D537A67a245A7bEC64"),
	143:   common.HexToAddress("0xd2ecb3afe598b746F8123CaE365a598DA831A449"),
	8453:  common.HexToAddress("0x09aea4b2242abC8bb4BB78D537A67a245A7bEC64"),
	42161: common.HexToAddress("0xe35e9842fceaCA96570B734083f4a58e8F7C5f2A"),
}

// SpokePool returns Across's contract on the chain; zero if Across is not there.
func (n Network) SpokePool() common.Address { return spokePools[n.ID] }
