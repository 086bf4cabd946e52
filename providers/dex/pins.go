package dex

import (
	"math/big"

	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

// permit2 has one address on every chain served (Uniswap permit2 deployments).
var permit2 = common.HexToAddress("0x000000000022D473030F116dDEE9F6B43aC78BA3")

// routerVersion is asked for in every call; the pinned routers are of this
// version and calldata for another is refused.
const routerVersion = "2.1.2"

// A deployment is what the provider may call on one chain.
type deployment struct {
	chain   uint64
	router  common.Address // Universal Router, routerVersion
	wrapped common.Address // wrapped native coin
}

// deployments has the chains on which the support table has the DEX provider
// active. Source: the chain configurations of @uniswap/universal-router-sdk.
var deployments = []deployment{
	{1, common.HexToAddress("0x23617e59A5925b2A4Bf75d73ff6711cD0b29De85"), common.HexToAddress("0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2")},
	{10, common.HexToAddress("0xC09255D86DB563cBc11C2fCf4a0C512e160111B4"), common.HexToAddress("0x4200000000000000000000000000000000000006")},
	{8453, common.HexToAddress("0xd6145b2D3F379919E8CdEda7B97e37c4b2Ca9c40"), common.HexToAddress("0x4200000000000000000000000000000000000006")},
	{42161, common.HexToAddress("0x2d01411773c8C24805306E89A41F7855C3c4Fe65"), common.HexToAddress("0x82aF49447D8a07e3bd95BD0d56f35241523fBab1")},
}

func deploymentOn(chainID uint64) (deployment, error) {
	for _, d := range deployments {
		if d.chain == chainID {
			return d, nil
		}
	}
	return deployment{}, refuse(swap.UnsupportedNetwork, "srcChainId", "the dex provider does not serve chain %d; choose another provider or network", chainID)
}

// Pins are the routers, wrapped coins and Permit2 of every chain served. The
// sandbox has them at the same addresses.
func (p *Provider) Pins() swap.Pins {
	var pins swap.Pins
	for _, d := range deployments {
		pins = append(pins,
			swap.Pin{Chain: d.chain, Role: swap.Router, Address: d.router},
			swap.Pin{Chain: d.chain, Role: swap.Wrapper, Address: d.wrapped},
			swap.Pin{Chain: d.chain, Role: swap.Spender, Address: permit2},
			swap.Pin{Chain: d.chain, Role: swap.Verifier, Address: permit2},
		)
	}
	return pins
}

// A pair is a request's tokens as the provider's routes see them.
type pair struct {
	deployment
	wrap, unwrap bool // native to wrapped native, and back: no route, no fee
	pulled       bool // the router takes the input out of the account, through Permit2
}

func pairOf(chainID uint64, in, out common.Address) (pair, error) {
	d, err := deploymentOn(chainID)
	unwrap := in == d.wrapped && out == nativeCoin
	return pair{
		deployment: d,
		wrap:       in == nativeCoin && out == d.wrapped,
		unwrap:     unwrap,
		pulled:     in != nativeCoin && !unwrap,
	}, err
}

// spender is who must have an ERC-20 allowance on the input; zero for nobody.
func (pr pair) spender() common.Address {
	if pr.pulled {
		return permit2
	}
	return common.Address{}
}

// holds reports whether Permit2 can carry an allowance of exactly n: the highest
// number it can hold stands for one without limit.
func (pr pair) holds(n *big.Int) bool { return !pr.pulled || n.Cmp(unlimited) < 0 }

// unlimited is 2^160-1, which Permit2 never counts down.
var unlimited = new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 160), big.NewInt(1))

// isToken is false of the swap's own contracts and of the addresses to which
// the router gives a meaning of its own.
func (d deployment) isToken(a common.Address) bool {
	return a != msgSender && a != routerItself && a != d.router && a != permit2
}

// pooled is the token that pools hold for t: the wrapped coin for the native one.
func (d deployment) pooled(t common.Address) common.Address {
	if t == nativeCoin {
		return d.wrapped
	}
	return t
}
