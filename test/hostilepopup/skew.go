//go:build faults && linux

package main

import (
	"math"
	"math/big"

	"github.com/ethereum/go-ethereum/common"

	"swapkeep/sandbox"
	"swapkeep/sandbox/network"
	"swapkeep/sandbox/operator"
)

// margin is how far above the minimum received the thief leaves the victim's output:
// exactly at the minimum the swap would fail.
const margin = 1.004

// pairFees are the fees of the coin's pools on the sandbox's chains, in millionths.
var pairFees = []int64{500, 3000}

// skew makes the coin cheaper, or dearer, by a share in every pool of the chain: the first
// half of a sandwich around the victim's swap, in either direction. The thief's cost is
// ignored: only the victim's loss counts.
func (t *thief) skew(c *sandbox.Chain, cheaper bool, share float64) error {
	left := (1 - share) * margin
	if left >= 1 {
		return nil
	}
	coin := c.Network.Wrapped
	var calls []operator.Call
	for _, token := range c.Network.Tokens {
		in, out := coin, token
		if !cheaper {
			in, out = token, coin
		}
		for _, fee := range pairFees {
			amount, err := t.toMove(c, in, out, fee, left)
			if err != nil {
				return err
			}
			calls = append(calls, t.swapCalls(c, in, out, fee, amount)...)
		}
	}
	return t.send(c, calls...)
}

// toMove returns how much input moves a pool's price of it to that share of the present
// price. The liquidity of the sandbox's pools covers all prices.
func (t *thief) toMove(c *sandbox.Chain, in, out network.Token, fee int64, share float64) (*big.Int, error) {
	pool, err := t.pool(c, in.Address, out.Address, fee)
	if err != nil {
		return nil, err
	}
	reserve, err := balance(t.ctx, c, pool, in.Address)
	if err != nil {
		return nil, err
	}
	x, _ := new(big.Float).SetInt(reserve).Float64()
	amount, _ := big.NewFloat(x * (1/math.Sqrt(share) - 1)).Int(nil)
	return amount, nil
}

func (t *thief) pool(c *sandbox.Chain, a, b common.Address, fee int64) (common.Address, error) {
	call := t.call("V3Factory", c.Network.Contracts.V3Factory, "getPool", a, b, big.NewInt(fee))
	out, err := view(t.ctx, c, call.To, call.Data)
	return common.BytesToAddress(out), err
}
