package intent

import (
	"swapkeep/chain"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

// A spokePool is the contract of Across on a chain, for deposits and fills.
type spokePool struct {
	address common.Address
	coin    common.Address // the wrapped coin there, which it pays out as the coin
}

// spokePools has the chains among the networks and destinations where Across is: by its
// deployments/legacy-addresses.json at 27c17da4 and broadcast/deployed-addresses.json at 00b1e143
// (testdata/live/FACTS.md, "Across"). The proxies can be replaced by Across's own hub.
var spokePools = map[uint64]spokePool{
	1:     ownPool(1, "0x5c7BCd6E7De5423a257D81B442095A1a6ced35C5"),
	10:    ownPool(10, "0x6f26Bf09B1C792e3228e5467807a900A503c0281"),
	56:    ownPool(56, "0x4e8E101924eDE233C13e2D8622DC8aED2872d505"),
	143:   ownPool(143, "0xd2ecb3afe598b746F8123CaE365a598DA831A449"),
	8453:  ownPool(8453, "0x09aea4b2242abC8bb4BB78D537A67a245A7bEC64"),
	42161: ownPool(42161, "0xe35e9842fceaCA96570B734083f4a58e8F7C5f2A"),
	130:   farPool("0x09aea4b2242abC8bb4BB78D537A67a245A7bEC64", "0x4200000000000000000000000000000000000006"),
	137:   farPool("0x9295ee1d8C5b022Be115A2AD3c30C72E34e7F096", "0x0d500B1d8E8eF31E21C99d1Db9A6444d3ADf1270"),
	324:   farPool("0xE0B015E54d54fc84a6cB9B666099c46adE9335FF", "0x5AEa5775959fBC2557Cc8789bC1bf90A239D9a91"),
	59144: farPool("0x7E63A5f1a8F0B4d0934B2f2327DAED3F6bb2ee75", "0xe5D7C2a44FfDDf6b295A15c148167daaAf5Cf34f"),
}

func ownPool(chainID uint64, address string) spokePool {
	n, _ := chain.NetworkByID(chainID)
	return spokePool{common.HexToAddress(address), n.WrappedNative}
}

func farPool(address, coin string) spokePool {
	return spokePool{common.HexToAddress(address), common.HexToAddress(coin)}
}

// relay is how a payment between two chains would be linked if Across made it, and who would
// have made a smaller one. Which network takes an order is known only from the receipt of its
// deposit, so the rule is the same for every route. nil = Across is not on both chains.
func relay(t swap.Terms) (*swap.Link, []common.Address) {
	from, on := spokePools[t.SrcChain]
	to, there := spokePools[t.DstChain]
	if !on || !there || t.SrcChain == t.DstChain || t.Recipient == to.address {
		return nil, nil
	}
	return &swap.Link{Relay: &swap.Relay{Source: from.address, Destination: to.address, Coin: to.coin}}, []common.Address{to.address}
}
