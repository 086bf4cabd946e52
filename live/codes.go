package live

import "github.com/ethereum/go-ethereum/common"

// A Code is the known Keccak-256 hash of the code at an address of a chain.
type Code struct {
	Chain   uint64
	Address common.Address
	Hash    common.Hash
	Real    bool // only on the real chain: a sandbox has its own contract there
}

// codes are hashes that were published or follow from published data; somebody's report
// of a hash is not a source. None is known for the routers, reactors, depositories and
// settlements: their published packages are of other builds, or there are none.
//
// Permit2's address follows by CREATE2 from its creation code, which is therefore what
// ran there. The deployed code differs per chain because it contains the chain id and the
// domain. (@uniswap/uniswapx-sdk 3.1.0, Permit2__factory.js. cmd/swapkeepd TestKnownCodes
// runs it.)
//
// Ethereum's WETH9: account proof and code at block 19,000,000 in
// ethereum/portal-network-specs, state/state-network-test-vectors.md, commit
// 04e1a893ab9a3c724ca6b0f365d0cfc013706bb2.
var codes = []Code{
	{Chain: 1, Address: permit2, Hash: common.HexToHash("0xc67d1657868aa5146eaf24fb879fb1fdec3d2d493b3683a61c9c2f4fb2851131")},
	{Chain: 10, Address: permit2, Hash: common.HexToHash("0x375714c2c948abd47bf468552c0a842d0e8002ca721efd85061a1297d6824617")},
	{Chain: 56, Address: permit2, Hash: common.HexToHash("0x48774d936722dd7002887f307f58bcddb3eeabad39149e7dcb5c08e4ebe3310f")},
	{Chain: 143, Address: permit2, Hash: common.HexToHash("0x332f9ca0fbd282f4a9b16f5332870dc98addc5172dd5e48ab6fa7c9be3d10fa0")},
	{Chain: 8453, Address: permit2, Hash: common.HexToHash("0xa67739abc3ede9dbdc0491636c67d6a14ac07fab9030c3f509b1eb7b11dff8ed")},
	{Chain: 42161, Address: permit2, Hash: common.HexToHash("0x9e51dcb64cf56fc09a82cb41edbc17c6a2250f18dbd1b91e884c0aca02acd57c")},
	{Chain: 43114, Address: permit2, Hash: common.HexToHash("0x081beff14e75c5a5c1e60740445f58d54ba0fef228148a11d3e4287dc3551cbb")},
	{Chain: 1, Address: common.HexToAddress("0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2"), Hash: common.HexToHash("0xd0a06b12ac47863b5c7be4185c2deaad1c61557033f56c7d4ea74429cbb25e23"), Real: true},
}

// knownHash returns the expected code hash of an address, if there is one that applies here.
func (w World) knownHash(chainID uint64, a common.Address) (common.Hash, bool) {
	for _, c := range w.Codes {
		if c.Chain == chainID && c.Address == a && !(c.Real && w.Sandbox) {
			return c.Hash, true
		}
	}
	return common.Hash{}, false
}
