package chain

import (
	"math/big"
	"slices"
	"time"

	"github.com/ethereum/go-ethereum/common"
)

// FeeKind is how a network prices gas.
type FeeKind string

// The kinds of fee.
const (
	FeeMarket FeeKind = "eip1559" // base fee and tip (EIP-1559)
	FeeLegacy FeeKind = "legacy"  // one gas price, paid in full
)

// L1FeeKind is how a rollup charges for the data it posts to its parent chain.
type L1FeeKind string

// The kinds of L1 fee.
const (
	L1FeeNone     L1FeeKind = ""         // none, or not a rollup
	L1FeeOP       L1FeeKind = "op"       // on top of gas; read from the GasPriceOracle predeploy
	L1FeeArbitrum L1FeeKind = "arbitrum" // inside the gas estimate
)

// A Network is the fixed description of one EVM chain.
type Network struct {
	ID            uint64
	Name          string
	Symbol        string // of the native coin
	Decimals      uint8  // of the native coin
	WrappedNative common.Address
	RPC           []string // endpoints; of the built-in networks those of the table of hosts
	// Depth is how many confirmations, its own block included, a transaction needs before
	// it counts as evidence.
	Depth uint64
	// Finalized: besides, the host must count its block as final (the tag "finalized").
	Finalized bool
	// MinAge is how old its block must be besides; only far networks have one.
	MinAge       time.Duration
	BlockTime    time.Duration
	Fee          FeeKind
	L1Fee        L1FeeKind
	ChargesLimit bool // the whole gas limit is charged, not the gas used
	// MinTip and MaxTip bound the tip that is offered, in wei per gas; on a FeeLegacy
	// network, the gas price. Block producers take nothing below MinTip; a node's
	// suggestion above MaxTip is not believed.
	MinTip, MaxTip *big.Int
	GasCeiling     *big.Int // wei; default limit on the cost of one plan's own transactions
	Explorer       string
	// Ended is the day on which the chain was shut down; zero = it runs.
	Ended time.Time
}

// HasEnded reports whether the chain was shut down. Then nothing is offered or fetched
// there by itself: balances are read when somebody asks for them, and what was open there
// has no end on the chain.
func (n Network) HasEnded() bool { return !n.Ended.IsZero() }

// Networks returns the networks in the order of the support table. The caller owns
// the result.
func Networks() []Network {
	all := slices.Clone(networks)
	for i, n := range all {
		all[i] = n.clone()
	}
	return all
}

// NetworkByID returns the network with that chain id.
func NetworkByID(id uint64) (Network, bool) {
	for _, n := range networks {
		if n.ID == id {
			return n.clone(), true
		}
	}
	return Network{}, false
}

func (n Network) clone() Network {
	n.RPC = slices.Clone(n.RPC)
	if n.RPC == nil {
		n.RPC = defaultURLs(n.ID)
	}
	for _, x := range []**big.Int{&n.MinTip, &n.MaxTip, &n.GasCeiling} {
		*x = new(big.Int).Set(*x)
	}
	return n
}

// milli returns n thousandths of a coin with 18 decimals, in base units.
func milli(n int64) *big.Int {
	return new(big.Int).Mul(big.NewInt(n), big.NewInt(1e15))
}

// mwei returns n thousandths of a gwei, in wei.
func mwei(n int64) *big.Int { return new(big.Int).Mul(big.NewInt(n), big.NewInt(1e6)) }

// networks are the supported networks. Their endpoints are in the table hosts; the sources of
// block times and of the end of one are in docs/networks.md.
//
// Depths: a step of a plan starts when the one before it is this deep, so they are as
// small as each chain's way of finalizing blocks allows:
//
//   - Ethereum: since proof of stake, reorgs of one block are weekly, of two rare; 5 (a
//     minute) leaves a margin without the 13 minutes to finality.
//   - OP stack (10, 8453, 5330): one sequencer orders; a reorg needs its failure or a
//     deep one of L1. 5 blocks (10 s) cover a failover.
//   - BNB: fast finality (BEP-126) makes block n final when two blocks on top of it have
//     the votes, and "finalized" says so; 3 (1.4 s). Where votes are missing nothing is
//     final and orders wait: one validator makes 16 blocks in a row, so any depth in
//     blocks that covers a change of several validators takes minutes.
//   - Arbitrum: the sequencer's order is final unless it breaks its promise; 20 blocks (5
//     s) cover a feed that is ahead of its node.
//   - Monad: "latest" is only proposed; two blocks later it is final, and the state root
//     follows three behind: 5 (2 s).
//   - Avalanche: a block that a node shows is accepted, which is final; 3 (4 s) guards
//     against endpoints that lag.
//   - U2U: its aBFT blocks are final when made; 3 guards against lagging endpoints.
//
// Tips: Geth includes what pays 0.001 gwei and more, which OP-stack nodes suggest as the
// minimum too; BNB's validators ask 0.05 gwei. Arbitrum orders by arrival: a tip buys
// nothing there. The upper bounds are a multiple of what the busiest hours asked. A
// speed-up may exceed them: the ceiling of its policy bounds it.
var networks = []Network{
	{
		ID: 1, Name: "Ethereum", Symbol: "ETH", Decimals: 18, Depth: 5, BlockTime: 12 * time.Second,
		Fee: FeeMarket, MinTip: mwei(1), MaxTip: mwei(50_000),
		WrappedNative: common.HexToAddress("0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2"),
		GasCeiling:    milli(50), Explorer: "https://etherscan.io",
	},
	{
		ID: 10, Name: "OP Mainnet", Symbol: "ETH", Decimals: 18, Depth: 5, BlockTime: 2 * time.Second,
		Fee: FeeMarket, MinTip: mwei(1), MaxTip: mwei(10_000),
		WrappedNative: common.HexToAddress("0x4200000000000000000000000000000000000006"),
		L1Fee:         L1FeeOP, GasCeiling: milli(5), Explorer: "https://optimistic.etherscan.io",
	},
	{
		ID: 56, Name: "BNB Smart Chain", Symbol: "BNB", Decimals: 18, Depth: 3, Finalized: true, BlockTime: 450 * time.Millisecond,
		Fee: FeeMarket, MinTip: mwei(50), MaxTip: mwei(20_000),
		WrappedNative: common.HexToAddress("0xbb4CdB9CBd36B01bD1cBaEBF2De08d9173bc095c"),
		GasCeiling:    milli(10), Explorer: "https://bscscan.com",
	},
	{
		ID: 8453, Name: "Base", Symbol: "ETH", Decimals: 18, Depth: 5, BlockTime: 2 * time.Second,
		Fee: FeeMarket, MinTip: mwei(1), MaxTip: mwei(10_000),
		WrappedNative: common.HexToAddress("0x4200000000000000000000000000000000000006"),
		L1Fee:         L1FeeOP, GasCeiling: milli(5), Explorer: "https://basescan.org",
	},
	{
		ID: 42161, Name: "Arbitrum One", Symbol: "ETH", Decimals: 18, Depth: 20, BlockTime: 250 * time.Millisecond,
		Fee: FeeMarket, MinTip: mwei(0), MaxTip: mwei(1_000),
		WrappedNative: common.HexToAddress("0x82aF49447D8a07e3bd95BD0d56f35241523fBab1"),
		L1Fee:         L1FeeArbitrum, GasCeiling: milli(5), Explorer: "https://arbiscan.io",
	},
	{
		ID: 143, Name: "Monad", Symbol: "MON", Decimals: 18, Depth: 5, BlockTime: 400 * time.Millisecond,
		Fee: FeeMarket, MinTip: mwei(0), MaxTip: mwei(1_000_000),
		WrappedNative: common.HexToAddress("0x3bd359C1119dA7Da1D913D1C4D2B7c461115433A"),
		ChargesLimit:  true, GasCeiling: milli(5000), Explorer: "https://monadscan.com",
	},
	{
		ID: 43114, Name: "Avalanche", Symbol: "AVAX", Decimals: 18, Depth: 3, BlockTime: 1200 * time.Millisecond,
		Fee: FeeMarket, MinTip: mwei(0), MaxTip: mwei(100_000),
		WrappedNative: common.HexToAddress("0xB31f66AA3C1e785363F0875A1B74E27b85FD66c7"),
		GasCeiling:    milli(1000), Explorer: "https://snowtrace.io",
	},
	{
		ID: 5330, Name: "Superseed", Symbol: "ETH", Decimals: 18, Depth: 5, BlockTime: 2 * time.Second,
		Fee: FeeMarket, MinTip: mwei(1), MaxTip: mwei(10_000),
		WrappedNative: common.HexToAddress("0x4200000000000000000000000000000000000006"),
		L1Fee:         L1FeeOP, GasCeiling: milli(5), Explorer: "https://explorer.superseed.xyz",
		Ended: time.Date(2026, time.August, 15, 0, 0, 0, 0, time.UTC),
	},
	{
		// It is not established whether U2U has a fee market; a legacy transaction is
		// valid either way. Its block time only sets polling intervals.
		ID: 39, Name: "U2U Solaris", Symbol: "U2U", Decimals: 18, Depth: 3, BlockTime: time.Second,
		Fee: FeeLegacy, MinTip: mwei(0), MaxTip: mwei(100_000_000),
		GasCeiling: milli(50000), Explorer: "https://u2uscan.xyz",
	},
}
