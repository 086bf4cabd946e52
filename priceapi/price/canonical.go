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

// Coins that are also issued or bridged elsewhere, each where an oracle measures it.
var (
	usdc   = ID{ethereum, common.HexToAddress("0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48")}
	usdt   = ID{ethereum, common.HexToAddress("0xdAC17F958D2ee523a2206206994597C13D831ec7")}
	crvusd = ID{ethereum, common.HexToAddress("0xf939E0A03FB07F59A73314E73794Be0E57ac1b4E")}
	lusd   = ID{ethereum, common.HexToAddress("0x5f98805A4E8be255a32880FDeC7F6728C6568bA0")}
	dola   = ID{ethereum, common.HexToAddress("0x865377367054516e17014CcdED1e7d814EDC9ce4")}
	tusd   = ID{ethereum, common.HexToAddress("0x0000000000085d4780B73119b644AE5ecd22b376")}
	ausd   = ID{43114, common.HexToAddress("0x00000000eFE302BEAA2b3e6e1b18d08D69a9012a")}
)

// A Redeemable is a token that can be redeemed for its issuer's token on another chain, so
// it is worth whatever that token is worth, not a fixed sum.
type Redeemable struct {
	Of       ID
	Decimals uint8 // of the token itself, not of Of
}

// redeemables covers chains whose own markets would not give a better price and that few
// sources know.
var redeemables = map[ID]Redeemable{
	// Superseed: the coin is bridged ether, and the predeploy wraps it one to one.
	on(superseed, "0x0000000000000000000000000000000000000000"): {ID{ethereum, tokens.Native}, 18},
	on(superseed, "0x4200000000000000000000000000000000000006"): {on(ethereum, "0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2"), 18},
	// USDC, locked on Ethereum.
	on(superseed, "0xC316C8252B5F2176d0135Ebb0999E99296998F2e"): {usdc, 6},
	// USDT, locked on Ethereum: Hyperlane's token, and OpenUSDT.
	on(superseed, "0xc5068BB6803ADbe5600DE5189fe27A4dAcE31170"): {usdt, 6},
	on(superseed, "0x1217BfE6c773EEC6cc4A38b5Dc45B92292B6E189"): {usdt, 6},
	// cbBTC, locked on Base.
	on(superseed, "0x6f36DBD829DE9b7e077DB8A35b480d4329ceB331"): {on(base, "0xcbB7C0000aB88B473b1f5aFd9ef808440eed33Bf"), 8},

	// USDC that Circle itself issues and redeems, on the chains that the bridge and the
	// intent provider reach (developers.circle.com/stablecoins/usdc-contract-addresses).
	on(130, "0x078D782b760474a361dDA0AF3839290b0EF57AD6"):   {usdc, 6}, // Unichain
	on(137, "0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359"):   {usdc, 6}, // Polygon
	on(143, "0x754704Bc059F8C67012fEd69BC8A327a5aafb603"):   {usdc, 6}, // Monad
	on(146, "0x29219dd400f2Bf60E5a23d13Be72B486D4038894"):   {usdc, 6}, // Sonic
	on(324, "0x1d17CBcF0D6D143135aE902365D2E5e2A16538D4"):   {usdc, 6}, // zkSync Era
	on(480, "0x79A02482A880bCE3F13e09Da970dC34db4CD24d1"):   {usdc, 6}, // World Chain
	on(999, "0xb88339CB7199b77E23DB6E890353E22632Ba630f"):   {usdc, 6}, // HyperEVM
	on(1329, "0xe15fC38F6D8c56aF07bbCBe3BAf5708A2Bf42392"):  {usdc, 6}, // Sei
	on(42220, "0xcebA9300f2b948710d2653dD7B07f33A8B32118C"): {usdc, 6}, // Celo
	on(43114, "0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E"): {usdc, 6}, // Avalanche
	on(57073, "0x2D270e6886d130D724215A266106e6832161EAEd"): {usdc, 6}, // Ink
	on(59144, "0x176211869cA2b568f2A7D4EE941E073a821EE1ff"): {usdc, 6}, // Linea
	// USDT0 on Monad: USDT locked on Ethereum (monad-crypto/token-list, bridgeInfo).
	on(143, "0xe7cd86e13AC4309349F30B3435a9d337750fC82D"): {usdt, 6},
	// USDT that Tether itself issues and redeems (tether.to, supported protocols).
	on(42220, "0x48065fbBE25f71C9282ddf5e1cD6D6A887483D5e"): {usdt, 6}, // Celo
	on(43114, "0x9702230A8Ea53601f5cD2dc00fDBc13d4dF4A8c7"): {usdt, 6}, // Avalanche
	// AUSD that Agora issues and redeems at the same address everywhere, on Monad by its own bridge that
	// mints and burns (governance.aave.com, assessments of AUSD of 2024-11 and 2026-06).
	on(1, "0x00000000eFE302BEAA2b3e6e1b18d08D69a9012a"):     {ausd, 6},
	on(56, "0x00000000eFE302BEAA2b3e6e1b18d08D69a9012a"):    {ausd, 6},
	on(143, "0x00000000eFE302BEAA2b3e6e1b18d08D69a9012a"):   {ausd, 6},
	on(base, "0x00000000eFE302BEAA2b3e6e1b18d08D69a9012a"):  {ausd, 6},
	on(42161, "0x00000000eFE302BEAA2b3e6e1b18d08D69a9012a"): {ausd, 6},
	// Locked in the networks' own bridges on Ethereum (@eth-optimism/tokenlist 10.0.1757, bridge addresses).
	on(10, "0xC52D7F23a2e460248Db6eE192Cb23dD12bDDCbf6"):   {crvusd, 18},
	on(10, "0x8aE125E8653821E851F12A49F7765db9a9ce7384"):   {dola, 18},
	on(10, "0xcB59a0A753fDB7491d5F3D794316F1adE197B21E"):   {tusd, 18},
	on(base, "0x417Ac0e078398C154EdFadD9Ef675d30Be60Af93"): {crvusd, 18},
	on(base, "0x368181499736d0c0CC614DBB145E2EC1AC86b8c6"): {lusd, 18},
}

func on(chain uint64, address string) ID { return ID{chain, common.HexToAddress(address)} }

// CanonicalOf returns the token on another chain whose price is used for id where no source
// knows id. That token never follows another itself.
func CanonicalOf(id ID) (Redeemable, bool) {
	r, ok := redeemables[id]
	return r, ok
}
