package sandbox

import (
	"bytes"
	"math/big"

	"github.com/ethereum/go-ethereum/common"

	"swapkeep/sandbox/network"
)

// v4 deploys the pool manager, its quoter and the contract that makes pools.
func (g *genesis) v4() {
	v := g.network.V4()
	if v.Manager == (common.Address{}) {
		return
	}
	g.deploy("V4Manager", v.Manager, g.treasury)
	g.deploy("V4Quoter", v.Quoter, v.Manager)
	g.deploy("V4Liquidity", v.Liquidity, v.Manager)
}

// A v4Key is a V4 PoolKey.
type v4Key struct {
	Currency0, Currency1 common.Address
	Fee, TickSpacing     *big.Int
	Hooks                common.Address
}

// v4Pool creates the V4 pool that the chain has at genesis, at the tokens' starting
// prices.
func (g *genesis) v4Pool(a, b Token, dollars int64) {
	at := g.network.V4().Liquidity
	amountA, amountB := g.mintAndApprove(a, at, dollars), g.mintAndApprove(b, at, dollars)
	g.give(a, g.treasury, big.NewInt(1)) // amounts are rounded up
	g.give(b, g.treasury, big.NewInt(1))
	g.v4Make(a, amountA, b, amountB, network.V4Fee, network.V4TickSpacing)
}

// v4Make creates a pool without hooks, with the given amounts of the treasury's over the
// whole price range. A token with the zero address is the native coin.
func (g *genesis) v4Make(a Token, ofA *big.Int, b Token, ofB *big.Int, fee, spacing int64) {
	if bytes.Compare(a.Address[:], b.Address[:]) > 0 {
		a, ofA, b, ofB = b, ofB, a, ofA
	}
	value := new(big.Int)
	if a.Address == (common.Address{}) {
		value.Add(ofA, ofA) // the rest is returned
	}
	price := new(big.Int).Lsh(ofB, 192)
	liquidity := new(big.Int).Mul(ofA, ofB)
	g.call("V4Liquidity", g.network.V4().Liquidity, value, "make",
		v4Key{a.Address, b.Address, big.NewInt(fee), big.NewInt(spacing), common.Address{}},
		price.Sqrt(price.Div(price, ofA)), liquidity.Sqrt(liquidity))
}
