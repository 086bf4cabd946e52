package swap

import (
	"context"
	"fmt"
	"math/big"
	"slices"

	"github.com/ethereum/go-ethereum/common"
)

// A dollarCoin is by what amounts on two networks are compared: one issuer's coin,
// worth a dollar on each.
type dollarCoin struct {
	chain    uint64
	address  common.Address
	decimals int
}

// dollarCoins has USDC as Circle issues it, or on 56 and 5330 as its bridges do
// (Circle's list of contract addresses; the tokens' own explorers).
var dollarCoins = []dollarCoin{
	{1, common.HexToAddress("0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"), 6},
	{10, common.HexToAddress("0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85"), 6},
	{56, common.HexToAddress("0x8AC76a51cc950d9822D68b83fE1Ad97B32Cd580d"), 18},
	{143, common.HexToAddress("0x754704Bc059F8C67012fEd69BC8A327a5aafb603"), 6},
	{5330, common.HexToAddress("0xC316C8252B5F2176d0135Ebb0999E99296998F2e"), 6},
	{8453, common.HexToAddress("0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"), 6},
	{42161, common.HexToAddress("0xaf88d065e77c8cC2239327C5EDb3A432268e5831"), 6},
}

func dollarOn(chainID uint64) (dollarCoin, error) {
	i := slices.IndexFunc(dollarCoins, func(d dollarCoin) bool { return d.chain == chainID })
	if i < 0 {
		return dollarCoin{}, fmt.Errorf("no dollar coin is known on chain %d", chainID)
	}
	return dollarCoins[i], nil
}

// across is what an amount of a token is worth in another, in base units, from our
// own sources; between networks by way of the dollar coin of each. An error means
// unknown.
func across(ctx context.Context, p Pricer, src uint64, in common.Address, dst uint64, out common.Address, amount *big.Int) (*big.Int, error) {
	if src == dst {
		return p.Out(ctx, src, in, out, amount)
	}
	from, err := dollarOn(src)
	if err != nil {
		return nil, err
	}
	to, err := dollarOn(dst)
	if err != nil {
		return nil, err
	}
	dollars := amount
	if in != from.address {
		if dollars, err = p.Out(ctx, src, in, from.address, amount); err != nil {
			return nil, err
		}
	}
	dollars = rescale(dollars, from.decimals, to.decimals)
	if out == to.address || dollars.Sign() == 0 {
		return dollars, nil
	}
	return p.Out(ctx, dst, to.address, out, dollars)
}

// rescale gives an amount of one number of decimals in another, rounded down.
func rescale(n *big.Int, from, to int) *big.Int {
	tens := func(e int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(e)), nil) }
	if to >= from {
		return new(big.Int).Mul(n, tens(to-from))
	}
	return new(big.Int).Div(n, tens(from-to))
}
