package dex

import (
	"math/big"

	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

// permit2 has the same address on every chain served (Uniswap permit2 deployments).
var permit2 = common.HexToAddress("0x000000000022D473030F116dDEE9F6B43aC78BA3")

// cosigner is the one that UniswapX's order service uses on every chain. Its data can only
// improve an order.
var cosigner = common.HexToAddress("0x4449Cd34d1eb1FEDCF02A1Be3834FfDe8E6A6180")

// routerVersion is requested in every call. The pinned routers are of this version, and
// calldata for another is refused.
const routerVersion = "2.1.2"

// A deployment is the set of contracts that the provider may use on one chain.
type deployment struct {
	chain   uint64
	router  common.Address // Universal Router, routerVersion
	wrapped common.Address // wrapped native coin
	auction *auctionKind   // the only kind of auction requested there
	reactor common.Address // UniswapX's, for that kind
	pairs   *pairFactory   // V2's; nil where V2 is not requested
}

// deployments lists the chains on which the support table has the DEX provider active;
// adding a network takes a row here and one there. Sources: the chain configurations of
// @uniswap/universal-router-sdk 5.13.0, the reactors of @uniswap/uniswapx-sdk 3.1.0. The
// same address may be a different contract on another chain, so a row counts for its own.
var deployments = []deployment{
	{1, common.HexToAddress("0x23617e59A5925b2A4Bf75d73ff6711cD0b29De85"), common.HexToAddress("0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2"),
		dutchV2, common.HexToAddress("0x00000011F84B9aa48e5f8aA8B9897600006289Be"), &pairs},
	{10, common.HexToAddress("0xC09255D86DB563cBc11C2fCf4a0C512e160111B4"), common.HexToAddress("0x4200000000000000000000000000000000000006"),
		dutchV3, common.HexToAddress("0x000000000923439A92daE8930613568824108631"), nil},
	{56, common.HexToAddress("0xDc264714F68d84CF29BC605589405E78bDBE7C9f"), common.HexToAddress("0xbb4CdB9CBd36B01bD1cBaEBF2De08d9173bc095c"),
		dutchV3, common.HexToAddress("0x00000000a55e50C71b70Db3C8B58749cd1E18eB2"), nil},
	{8453, common.HexToAddress("0xd6145b2D3F379919E8CdEda7B97e37c4b2Ca9c40"), common.HexToAddress("0x4200000000000000000000000000000000000006"),
		dutchV3, common.HexToAddress("0x000000008a8330B5d1F43A62Bf4C673A49f27ba0"), nil},
	{42161, common.HexToAddress("0x2d01411773c8C24805306E89A41F7855C3c4Fe65"), common.HexToAddress("0x82aF49447D8a07e3bd95BD0d56f35241523fBab1"),
		dutchV3, common.HexToAddress("0xB274d5F4b833b61B340b654d600A864fB604a87c"), nil},
	{143, common.HexToAddress("0xa6CE4F10d83dBdDAc17E68e1837ca9cE6a1b596e"), common.HexToAddress("0x3bd359C1119dA7Da1D913D1C4D2B7c461115433A"),
		dutchV3, common.HexToAddress("0x000000000Ac008F7e07210CFb6648e40249232c2"), nil},
	{43114, common.HexToAddress("0x661E93cca42AfacB172121EF892830cA3b70F08d"), common.HexToAddress("0xB31f66AA3C1e785363F0875A1B74E27b85FD66c7"),
		dutchV3, common.HexToAddress("0x00000000862cCF095823fc7576Fa6C7e6b7385ef"), nil},
}

func deploymentOn(chainID uint64) (deployment, error) {
	for _, d := range deployments {
		if d.chain == chainID {
			return d, nil
		}
	}
	return deployment{}, refuse(swap.UnsupportedNetwork, "srcChainId", "the dex provider does not serve chain %d; choose another provider or network", chainID)
}

// Pins returns the routers, wrapped coins, Permit2, reactors and the cosigner of every
// chain served. The sandbox has the contracts at the same addresses, and its own cosigner.
func (p *Provider) Pins() swap.Pins {
	var pins swap.Pins
	for _, d := range deployments {
		pins = append(pins,
			swap.Pin{Chain: d.chain, Role: swap.Router, Address: d.router},
			swap.Pin{Chain: d.chain, Role: swap.Wrapper, Address: d.wrapped},
			swap.Pin{Chain: d.chain, Role: swap.Spender, Address: permit2},
			swap.Pin{Chain: d.chain, Role: swap.Verifier, Address: permit2},
			swap.Pin{Chain: d.chain, Role: swap.Settlement, Address: d.reactor},
			swap.Pin{Chain: d.chain, Role: swap.Cosigner, Address: p.cosigner},
		)
	}
	return pins
}

// A tokenPair is a request's tokens as the provider's routes see them.
type tokenPair struct {
	deployment
	wrap, unwrap bool // native to wrapped native, and back: no route, no fee
	pulled       bool // the router or the reactor pulls the input from the account, through Permit2
}

func pairOf(chainID uint64, in, out common.Address) (tokenPair, error) {
	d, err := deploymentOn(chainID)
	unwrap := in == d.wrapped && out == nativeCoin
	pulled := in != nativeCoin && !unwrap
	if !pulled || !swap.SupportOf(swap.DEX, chainID).Auction {
		d.auction = nil // orders spend tokens that Permit2 can pull
	}
	return tokenPair{deployment: d, wrap: in == nativeCoin && out == d.wrapped, unwrap: unwrap, pulled: pulled}, err
}

// spender returns who needs an ERC-20 allowance on the input; zero means nobody.
func (pr tokenPair) spender() common.Address {
	if pr.pulled {
		return permit2
	}
	return common.Address{}
}

// holds reports whether Permit2 can store an allowance of exactly n: its highest value
// means unlimited.
func (pr tokenPair) holds(n *big.Int) bool { return !pr.pulled || n.Cmp(permit2Unlimited) < 0 }

// permit2Unlimited is 2^160-1, which Permit2 never decreases.
var permit2Unlimited = new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 160), big.NewInt(1))

// isToken is false for the router, the reactor, Permit2 and the addresses that have a
// special meaning to the router.
func (d deployment) isToken(a common.Address) bool {
	return a != msgSender && a != addressThis && a != d.router && a != d.reactor && a != permit2
}

// pooled returns the token that pools hold for t: the wrapped coin for the native one.
func (d deployment) pooled(t common.Address) common.Address {
	if t == nativeCoin {
		return d.wrapped
	}
	return t
}
