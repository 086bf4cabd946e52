package market

import (
	"math/big"

	"github.com/ethereum/go-ethereum/common"

	"swapkeep/sandbox/network"
)

// A Deployment is a contract that exists at genesis.
type Deployment struct {
	Contract string
	At       common.Address
	Args     []any
}

// Deployments returns the market's contract on a chain and the stand-ins for the oracles,
// at the starting prices.
func Deployments(n network.Network, mover common.Address) []Deployment {
	o := n.Oracles()
	prices := starting().prices()
	keys, answers := contractAnswers(prices)
	all := []Deployment{{"SandboxMarket", network.Market, []any{mover, n.Wrapped.Address, keys, answers}}}
	for _, f := range o.Feeds {
		all = append(all, Deployment{"ChainlinkFeed", f.At, []any{network.Market, key(f.Symbol)}})
	}
	if o.Sequencer != (common.Address{}) {
		all = append(all, Deployment{"SequencerFeed", o.Sequencer, []any{network.Market}})
	}
	if o.Aave != (common.Address{}) {
		var known, sources []common.Address
		for _, a := range o.Assets {
			known, sources = append(known, a.Asset), append(sources, a.Source)
		}
		all = append(all, Deployment{"AaveOracle", o.Aave, []any{network.Market, known, sources}})
	}
	if o.DIA != (common.Address{}) {
		all = append(all, Deployment{"DiaOracle", o.DIA, []any{network.Market}})
	}
	return append(all, slipstream(n, prices)...)
}

// slipstream returns the Slipstream factories and the pools, all of which are in the last
// factory.
func slipstream(n network.Network, prices map[string]int64) []Deployment {
	o := n.Oracles()
	if len(o.Slipstream) == 0 {
		return nil
	}
	factory := o.Slipstream[len(o.Slipstream)-1]
	var all []Deployment
	var token0, token1, pools []common.Address
	var spacing []*big.Int
	for _, p := range o.Pools {
		a, _ := o.Token(n, p.A)
		b, _ := o.Token(n, p.B)
		a, b = sorted(a, b)
		sqrt := sqrtPriceX96(a, b, prices)
		all = append(all, Deployment{"SlipstreamPool", p.At, []any{
			factory, network.Market, a.Address, b.Address, big.NewInt(p.Spacing), depth(a, b, p.Dollars), sqrt, tickAt(sqrt),
		}})
		token0, token1, pools = append(token0, a.Address), append(token1, b.Address), append(pools, p.At)
		spacing = append(spacing, big.NewInt(p.Spacing))
	}
	for _, at := range o.Slipstream[:len(o.Slipstream)-1] {
		all = append(all, Deployment{"SlipstreamFactory", at, []any{[]common.Address{}, []common.Address{}, []*big.Int{}, []common.Address{}}})
	}
	return append(all, Deployment{"SlipstreamFactory", factory, []any{token0, token1, spacing, pools}})
}

// contractAnswers returns prices as the market's contract takes them: symbols as keys, and answers
// with eight decimals.
func contractAnswers(prices map[string]int64) (keys [][32]byte, answers []*big.Int) {
	for _, a := range assets {
		keys = append(keys, key(a.Symbol))
		answers = append(answers, big.NewInt(prices[a.Symbol]*100))
	}
	return keys, answers
}

func key(symbol string) (k [32]byte) {
	copy(k[:], symbol)
	return k
}
