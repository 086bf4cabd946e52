package price

import (
	"swapkeep/tokens"

	"github.com/ethereum/go-ethereum/common"
)

// Chains of the table below.
const (
	ethereum  = 1
	base      = 8453
	superseed = 5330
)

// twins are tokens whose worth is that of the issuer's token on another chain, by
// which they can be redeemed. Superseed has no market of its own that would price
// them better, and sources rarely know it.
var twins = map[ID]ID{
	// the coin is bridged ether, and the predeploy wraps it one to one
	onSuperseed("0x0000000000000000000000000000000000000000"): {ethereum, tokens.Native},
	onSuperseed("0x4200000000000000000000000000000000000006"): {ethereum, common.HexToAddress("0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2")},
	// USDC, locked on Ethereum
	onSuperseed("0xC316C8252B5F2176d0135Ebb0999E99296998F2e"): {ethereum, common.HexToAddress("0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48")},
	// USDT, locked on Ethereum: Hyperlane's token, and OpenUSDT
	onSuperseed("0xc5068BB6803ADbe5600DE5189fe27A4dAcE31170"): {ethereum, common.HexToAddress("0xdAC17F958D2ee523a2206206994597C13D831ec7")},
	onSuperseed("0x1217BfE6c773EEC6cc4A38b5Dc45B92292B6E189"): {ethereum, common.HexToAddress("0xdAC17F958D2ee523a2206206994597C13D831ec7")},
	// cbBTC, locked on Base
	onSuperseed("0x6f36DBD829DE9b7e077DB8A35b480d4329ceB331"): {base, common.HexToAddress("0xcbB7C0000aB88B473b1f5aFd9ef808440eed33Bf")},
}

func onSuperseed(address string) ID { return ID{superseed, common.HexToAddress(address)} }

// TwinOf is the token on another chain whose price stands for that of id where no
// source knows id. It has no twin itself.
func TwinOf(id ID) (ID, bool) {
	twin, ok := twins[id]
	return twin, ok
}
