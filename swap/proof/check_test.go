package proof

import "github.com/ethereum/go-ethereum/common"

var (
	account = common.HexToAddress("0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266")
	router  = common.HexToAddress("0x23617e59A5925b2A4Bf75d73ff6711cD0b29De85")
	weth    = common.HexToAddress("0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2")
	usdc    = common.HexToAddress("0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48")
	permit2 = common.HexToAddress("0x000000000022D473030F116dDEE9F6B43aC78BA3")
	thief   = common.HexToAddress("0x000000000000000000000000000000000000dEaD")
)
