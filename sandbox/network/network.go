// Package network is the table of the chains that the sandbox can start, with their
// tokens and contracts at the real addresses.
package network

import (
	"maps"
	"math/big"
	"slices"

	"github.com/ethereum/go-ethereum/common"
)

// A Token is a token of a sandbox chain, at its real address.
type Token struct {
	Address  common.Address
	Symbol   string
	Name     string
	Decimals uint8
	// MicroUSD is the starting price of one token in the pools, in millionths of a US
	// dollar.
	MicroUSD int64
	// Tether marks a token whose transfers and approvals return nothing, and whose
	// allowance can only change to or from zero.
	Tether bool
}

// Contracts are a chain's contracts. UniversalRouter is zero where the DEX API does not
// serve the chain.
type Contracts struct {
	Permit2         common.Address
	Multicall3      common.Address
	V2Factory       common.Address
	V2Router        common.Address
	V3Factory       common.Address
	PositionManager common.Address
	QuoterV2        common.Address
	UniversalRouter common.Address
}

// Named returns the contracts of the chain, those of the providers included, by their
// names in sandbox.json. Contracts that the chain lacks are left out.
func (n Network) Named() map[string]common.Address {
	c, x := n.Contracts, n.UniswapX()
	named := map[string]common.Address{
		"permit2": c.Permit2, "multicall3": c.Multicall3, "v2Factory": c.V2Factory, "v2Router": c.V2Router,
		"v3Factory": c.V3Factory, "positionManager": c.PositionManager, "quoterV2": c.QuoterV2, "universalRouter": c.UniversalRouter,
		"v2DutchOrderReactor": x.V2Reactor, "v3DutchOrderReactor": x.V3Reactor, "orderQuoter": x.OrderQuoter, "intentDeposit": n.IntentDeposit(), "spokePool": n.SpokePool(),
	}
	maps.Copy(named, n.V4().named())
	maps.Copy(named, n.Bridge().named())
	maps.Copy(named, n.Gasless().named())
	maps.Copy(named, n.Oracles().named())
	maps.DeleteFunc(named, func(_ string, at common.Address) bool { return at == (common.Address{}) })
	return named
}

// A Network is a chain that the sandbox can start.
type Network struct {
	ID        uint64
	Name      string
	Native    string // symbol of the native coin, which has 18 decimals
	Wrapped   Token  // its price is also the native coin's
	Tokens    []Token
	Contracts Contracts
	// DEX says whether the DEX API serves the chain.
	DEX bool
	// Ended says that the real chain was shut down.
	Ended bool
	// Far says that the wallet does not serve the chain, and providers pay out on it.
	Far bool
}

var (
	permit2    = common.HexToAddress("0x000000000022D473030F116dDEE9F6B43aC78BA3")
	multicall3 = common.HexToAddress("0xcA11bde05977b3631167028862bE2a173976CA11")
)

const (
	dollar = 1_000_000
	ether  = 3000 * dollar
)

// networks is the table of chains. Addresses are those of the real chains, as published
// in the Uniswap SDKs and by the tokens' issuers. The addresses of chain 39 and the
// Uniswap addresses of 5330 have no such source and are the sandbox's own.
var networks = []Network{
	{
		ID: 1, Name: "Ethereum", Native: "ETH", DEX: true,
		Wrapped: weth("0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2"),
		Tokens: []Token{
			usd("0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48", "USDC", "USD Coin", 6),
			tether("0xdAC17F958D2ee523a2206206994597C13D831ec7", "USDT", "Tether USD", 6),
			usd("0x6B175474E89094C44Da98b954EedeAC495271d0F", "DAI", "Dai Stablecoin", 18),
		},
		Contracts: contractsAt(
			"0x5C69bEe701ef814a2B6a3EDD4B1652CB9cc5aA6f", "0x7a250d5630B4cF539739dF2C5dAcb4c659F2488D",
			"0x1F98431c8aD98523631AE4a59f267346ea31F984", "0xC36442b4a4522E871399CD717aBDD847Ab11FE88",
			"0x61fFE014bA17989E743c5F6cB21bF9697530B21e", "0x23617e59A5925b2A4Bf75d73ff6711cD0b29De85"),
	},
	{
		ID: 10, Name: "OP Mainnet", Native: "ETH", DEX: true,
		Wrapped: weth("0x4200000000000000000000000000000000000006"),
		Tokens: []Token{
			usd("0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85", "USDC", "USD Coin", 6),
			usd("0x94b008aA00579c1307B0EF2c499aD98a8ce58e58", "USDT", "Tether USD", 6),
			usd("0xDA10009cBd5D07dd0CeCc66161FC93D7c9000da1", "DAI", "Dai Stablecoin", 18),
		},
		Contracts: contractsAt(
			"0x0c3c1c532F1e39EdF36BE9Fe0bE1410313E074Bf", "0x4A7b5Da61326A6379179b40d00F57E5bbDC962c2",
			"0x1F98431c8aD98523631AE4a59f267346ea31F984", "0xC36442b4a4522E871399CD717aBDD847Ab11FE88",
			"0x61fFE014bA17989E743c5F6cB21bF9697530B21e", "0xC09255D86DB563cBc11C2fCf4a0C512e160111B4"),
	},
	{
		ID: 56, Name: "BNB Smart Chain", Native: "BNB", DEX: true,
		Wrapped: Token{common.HexToAddress("0xbb4CdB9CBd36B01bD1cBaEBF2De08d9173bc095c"), "WBNB", "Wrapped BNB", 18, 900 * dollar, false},
		Tokens: []Token{
			usd("0x8AC76a51cc950d9822D68b83fE1Ad97B32Cd580d", "USDC", "USD Coin", 18),
			usd("0x55d398326f99059fF775485246999027B3197955", "USDT", "Tether USD", 18),
		},
		Contracts: contractsAt(
			"0x8909Dc15e40173Ff4699343b6eB8132c65e18eC6", "0x4752ba5DBc23f44D87826276BF6Fd6b1C372aD24",
			"0xdB1d10011AD0Ff90774D0C6Bb92e5C5c8b4461F7", "0x7b8A01B39D58278b5DE7e48c8449c9f4F5170613",
			"0x78D78E420Da98ad378D7799bE8f4AF69033EB077", "0xDc264714F68d84CF29BC605589405E78bDBE7C9f"),
	},
	{
		ID: 8453, Name: "Base", Native: "ETH", DEX: true,
		Wrapped: weth("0x4200000000000000000000000000000000000006"),
		Tokens: []Token{
			usd("0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", "USDC", "USD Coin", 6),
			usd("0xfde4C96c8593536E31F229EA8f37b2ADa2699bb2", "USDT", "Tether USD", 6),
			usd("0x50c5725949A6F0c72E6C4a641F24049A917DB0Cb", "DAI", "Dai Stablecoin", 18),
		},
		Contracts: contractsAt(
			"0x8909Dc15e40173Ff4699343b6eB8132c65e18eC6", "0x4752ba5DBc23f44D87826276BF6Fd6b1C372aD24",
			"0x33128a8fC17869897dcE68Ed026d694621f6FDfD", "0x03a520b32C04BF3bEEf7BEb72E919cf822Ed34f1",
			"0x3d4e44Eb1374240CE5F1B871ab261CD16335B76a", "0xd6145b2D3F379919E8CdEda7B97e37c4b2Ca9c40"),
	},
	{
		ID: 42161, Name: "Arbitrum One", Native: "ETH", DEX: true,
		Wrapped: weth("0x82aF49447D8a07e3bd95BD0d56f35241523fBab1"),
		Tokens: []Token{
			usd("0xaf88d065e77c8cC2239327C5EDb3A432268e5831", "USDC", "USD Coin", 6),
			usd("0xFd086bC7CD5C481DCC9C85ebE478A1C0b69FCbb9", "USDT", "Tether USD", 6),
			usd("0xDA10009cBd5D07dd0CeCc66161FC93D7c9000da1", "DAI", "Dai Stablecoin", 18),
		},
		Contracts: contractsAt(
			"0xf1D7CC64Fb4452F05c498126312eBE29f30Fbcf9", "0x4752ba5DBc23f44D87826276BF6Fd6b1C372aD24",
			"0x1F98431c8aD98523631AE4a59f267346ea31F984", "0xC36442b4a4522E871399CD717aBDD847Ab11FE88",
			"0x61fFE014bA17989E743c5F6cB21bF9697530B21e", "0x2d01411773c8C24805306E89A41F7855C3c4Fe65"),
	},
	{
		ID: 143, Name: "Monad", Native: "MON", DEX: true,
		Wrapped: Token{common.HexToAddress("0x3bd359C1119dA7Da1D913D1C4D2B7c461115433A"), "WMON", "Wrapped MON", 18, dollar / 20, false},
		Tokens:  []Token{usd("0x754704Bc059F8C67012fEd69BC8A327a5aafb603", "USDC", "USD Coin", 6)},
		Contracts: contractsAt(
			"0x182a927119D56008d921126764bF884221b10f59", "0x4B2ab38DBF28D31D467aA8993f6c2585981D6804",
			"0x204FAca1764B154221e35c0d20aBb3c525710498", "0x7197E214c0b767cFB76Fb734ab638E2c192F4E53",
			"0x2D01411773c8C24805306e89A41f7855C3c4fe65", "0xa6CE4F10d83dBdDAc17E68e1837ca9cE6a1b596e"),
	},
	{
		ID: 43114, Name: "Avalanche", Native: "AVAX", DEX: true,
		Wrapped: Token{common.HexToAddress("0xB31f66AA3C1e785363F0875A1B74E27b85FD66c7"), "WAVAX", "Wrapped AVAX", 18, 20 * dollar, false},
		Tokens: []Token{
			usd("0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E", "USDC", "USD Coin", 6),
			usd("0x9702230A8Ea53601f5cD2dc00fDBc13d4dF4A8c7", "USDT", "TetherToken", 6),
		},
		Contracts: contractsAt(
			"0x9e5A52f57b3038F1B8EeE45F28b3C1967e22799C", "0x4752ba5DBc23f44D87826276BF6Fd6b1C372aD24",
			"0x740b1c1de25031C31FF4fC9A62f554A55cdC1baD", "0x655C406EBFa14EE2006250925e54ec43AD184f8B",
			"0xbe0F5544EC67e9B3b2D979aaA43f18Fd87E6257F", "0x661E93cca42AfacB172121EF892830cA3b70F08d"),
	},
	{
		ID: 5330, Name: "Superseed", Native: "ETH", Ended: true,
		Wrapped: weth("0x4200000000000000000000000000000000000006"),
		Tokens: []Token{
			usd("0xC316C8252B5F2176d0135Ebb0999E99296998F2e", "USDC", "USD Coin (bridged)", 6),
			usd("0xc5068BB6803ADbe5600DE5189fe27A4dAcE31170", "USDT", "Tether USD (Hyperlane)", 6),
		},
		Contracts: ownContracts,
	},
	{
		ID: 130, Name: "Unichain", Native: "ETH", Far: true,
		Wrapped:   weth("0x4200000000000000000000000000000000000006"),
		Tokens:    []Token{usd("0x078D782b760474a361dDA0AF3839290b0EF57AD6", "USDC", "USD Coin", 6)},
		Contracts: ownContracts,
	},
	{
		ID: 39, Name: "U2U Solaris Mainnet", Native: "U2U",
		Wrapped:   Token{common.HexToAddress("0x5A4d000000000000000000000000000000000001"), "WU2U", "Wrapped U2U", 18, dollar / 100, false},
		Tokens:    []Token{usd("0x5a4d000000000000000000000000000000000002", "USDC", "USD Coin (sandbox)", 6)},
		Contracts: ownContracts,
	},
}

// ownContracts are addresses of the sandbox's own choice, for chains without a known
// deployment.
var ownContracts = contractsAt(
	"0x5a4d000000000000000000000000000000000011", "0x5A4d000000000000000000000000000000000012",
	"0x5A4D000000000000000000000000000000000013", "0x5a4D000000000000000000000000000000000014",
	"0x5A4d000000000000000000000000000000000015", "0x0000000000000000000000000000000000000000")

func weth(address string) Token {
	return Token{common.HexToAddress(address), "WETH", "Wrapped Ether", 18, ether, false}
}

func usd(address, symbol, name string, decimals uint8) Token {
	return Token{common.HexToAddress(address), symbol, name, decimals, dollar, false}
}

func tether(address, symbol, name string, decimals uint8) Token {
	return Token{common.HexToAddress(address), symbol, name, decimals, dollar, true}
}

func contractsAt(v2Factory, v2Router, v3Factory, positionManager, quoter, universalRouter string) Contracts {
	return Contracts{
		Permit2:         permit2,
		Multicall3:      multicall3,
		V2Factory:       common.HexToAddress(v2Factory),
		V2Router:        common.HexToAddress(v2Router),
		V3Factory:       common.HexToAddress(v3Factory),
		PositionManager: common.HexToAddress(positionManager),
		QuoterV2:        common.HexToAddress(quoter),
		UniversalRouter: common.HexToAddress(universalRouter),
	}
}

// All lists the chains that can be started.
func All() []Network { return slices.Clone(networks) }

// ByID looks up a network by its chain id.
func ByID(id uint64) (Network, bool) {
	i := slices.IndexFunc(networks, func(n Network) bool { return n.ID == id })
	if i < 0 {
		return Network{}, false
	}
	return networks[i], true
}

// Token looks up a token by its symbol, the wrapped native coin included.
func (n Network) Token(symbol string) (Token, bool) {
	if n.Wrapped.Symbol == symbol {
		return n.Wrapped, true
	}
	i := slices.IndexFunc(n.Tokens, func(t Token) bool { return t.Symbol == symbol })
	if i < 0 {
		return Token{}, false
	}
	return n.Tokens[i], true
}

// Units returns the amount of the token worth the given US dollars at its starting price,
// in base units, rounded down.
func (t Token) Units(dollars int64) *big.Int {
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(t.Decimals)), nil)
	amount := unit.Mul(unit, big.NewInt(dollars*dollar))
	return amount.Div(amount, big.NewInt(t.MicroUSD))
}
