package network

import "github.com/ethereum/go-ethereum/common"

// V4 holds a chain's Uniswap v4 contracts; zero where there are none.
type V4 struct {
	Manager common.Address
	Quoter  common.Address
	// Liquidity is the sandbox's own contract that makes pools.
	Liquidity common.Address
	// Pair holds the symbols of the two tokens with a pool at genesis.
	Pair [2]string
}

// v4 maps chain ids to the addresses in the vendor's SDK (@uniswap/sdk-core 7.19.4). On
// one chain a V4 pool pays more than those of other versions.
var v4 = map[uint64]V4{
	1:     v4At("0x000000000004444c5dc75cB358380D2e3dE08A90", "0x52f0e24d1c21c8a0cb1e5a5dd6198556bd9e1203", "", ""),
	10:    v4At("0x9a13f98cb987694c9f086b1f5eb990eea8264ec3", "0x1f3131a13296fb91c90870043742c3cdbff1a8d7", "", ""),
	8453:  v4At("0x498581ff718922c3f8e6a244956af099b2652b2b", "0x0d5e0f971ed27fbff6c2837bf31316121532048d", "USDC", "DAI"),
	42161: v4At("0x360e68faccca8ca495c1b759fd9eee466db9fb32", "0x3972c00f7ed4885e145823eb7c655375d275a1c5", "", ""),
}

func v4At(manager, quoter, a, b string) V4 {
	return V4{common.HexToAddress(manager), common.HexToAddress(quoter), common.HexToAddress("0x5a4d000000000000000000000000000000000051"), [2]string{a, b}}
}

// V4 returns the chain's Uniswap v4 contracts.
func (n Network) V4() V4 { return v4[n.ID] }

// V4Fee, 0.0005 %, and V4TickSpacing belong to the pool that exists at genesis.
const (
	V4Fee         = 5
	V4TickSpacing = 1
)

func (v V4) named() map[string]common.Address {
	return map[string]common.Address{"v4PoolManager": v.Manager, "v4Quoter": v.Quoter, "v4Liquidity": v.Liquidity}
}
