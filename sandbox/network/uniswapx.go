package network

import "github.com/ethereum/go-ethereum/common"

// UniswapX holds a chain's contracts of the auction route. Missing reactors are zero.
type UniswapX struct {
	V2Reactor   common.Address
	V3Reactor   common.Address
	OrderQuoter common.Address
	// FeeOwner may appoint a protocol fee controller. None is set, on the real chains or
	// here, and no fee is taken.
	FeeOwner common.Address
	// Protocol is the kind of auction that the DEX API offers on the chain; "" = none.
	Protocol string
}

// orderQuoter is the address of the OrderQuoter lens on every chain.
var orderQuoter = common.HexToAddress("0x00000000a3db63Df9078cBF3dF88B4CAdD5a7F58")

// uniswapX maps chain ids to the addresses in the UniswapX SDK and the deployments of its
// repository. The API does not offer the V3 reactors of 1 and 10 and the V2 reactor of
// 42161. The owner of 43114's fees is the sandbox's own choice.
var uniswapX = map[uint64]UniswapX{
	1:     auction("0x00000011F84B9aa48e5f8aA8B9897600006289Be", "0x0000000015757c461808EA25Eb309638B62681cf", "0x1a9C8182C09F50C8318d769245beA52c32BE35BC", "UNISWAPX_V2"),
	10:    auction("", "0x000000000923439A92daE8930613568824108631", "0xa1dD330d602c32622AA270Ea73d078B803Cb3518", ""),
	56:    auction("", "0x00000000a55e50C71b70Db3C8B58749cd1E18eB2", "0x341c1511141022cf8eE20824Ae0fFA3491F1302b", "UNISWAPX_V3"),
	143:   auction("", "0x000000000Ac008F7e07210CFb6648e40249232c2", "0xE783DE89a7F0408687f051e3E6D0BEb62719EbAd", "UNISWAPX_V3"),
	8453:  auction("", "0x000000008a8330B5d1F43A62Bf4C673A49f27ba0", "0x31FAfd4889FA1269F7a13A66eE0fB458f27D72A9", "UNISWAPX_V3"),
	42161: auction("0x1bd1aAdc9E230626C44a139d7E70d842749351eb", "0xB274d5F4b833b61B340b654d600A864fB604a87c", "0x2BAD8182C09F50c8318d769245beA52C32Be46CD", "UNISWAPX_V3"),
	43114: auction("", "0x00000000862cCF095823fc7576Fa6C7e6b7385ef", "0x5a4d000000000000000000000000000000000061", "UNISWAPX_V3"),
}

func auction(v2, v3, feeOwner, protocol string) UniswapX {
	return UniswapX{common.HexToAddress(v2), common.HexToAddress(v3), orderQuoter, common.HexToAddress(feeOwner), protocol}
}

// UniswapX returns the chain's contracts of the auction route.
func (n Network) UniswapX() UniswapX { return uniswapX[n.ID] }
