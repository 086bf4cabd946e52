package sandbox

import (
	"bytes"
	"math/big"

	"github.com/ethereum/go-ethereum/common"

	"swapkeep/sandbox/network"
)

// v4 deploys the pool manager, its quoter and what makes pools.
func (g *genesis) v4() {
	v := g.network.V4()
	if v.Manager == (common.Address{}) {
		return
	}
	g.deploy("V4Manager", v.Manager, g.treasury)
	g.deploy("V4Quoter", v.Quoter, v.Manager)
	g.deploy("V4Liquidity", v.Liquidity, v.Manager)
}

// v4Key is a pool.
type v4Key struct {
	Currency0, Currency1 common.Address
	Fee, TickSpacing     *big.Int
	Hooks                common.Address
}

// v4Pool makes a v4 pool without a hook at the tokens' starting prices, with liquidity
// over the whole range.
func (g *genesis) v4Pool(a, b Token, dollars int64) {
	if bytes.Compare(a.Address[:], b.Address[:]) > 0 {
		a, b = b, a
	}
	at := g.network.V4().Liquidity
	amountA, amountB := g.provide(a, at, dollars), g.provide(b, at, dollars)
	g.give(a, g.treasury, big.NewInt(1)) // amounts are rounded up
	g.give(b, g.treasury, big.NewInt(1))
	price := new(big.Int).Lsh(amountB, 192)
	liquidity := new(big.Int).Mul(amountA, amountB)
	g.call("V4Liquidity", at, new(big.Int), "make",
		v4Key{a.Address, b.Address, big.NewInt(network.V4Fee), big.NewInt(network.V4TickSpacing), common.Address{}},
		price.Sqrt(price.Div(price, amountA)), liquidity.Sqrt(liquidity))
}
