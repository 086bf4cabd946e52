package market

import (
	"bytes"
	"math"
	"math/big"

	"swapkeep/sandbox/network"
)

// sorted orders two tokens by address, as pools do.
func sorted(a, b network.Token) (token0, token1 network.Token) {
	if bytes.Compare(a.Address[:], b.Address[:]) > 0 {
		return b, a
	}
	return a, b
}

func power(n uint8) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

// sqrtPriceX96 returns the price of a pool of two sorted tokens: the square root of
// token1's base units per base unit of token0, times 2^96, rounded down.
func sqrtPriceX96(token0, token1 network.Token, prices map[string]int64) *big.Int {
	up := new(big.Int).Mul(big.NewInt(prices[token0.Symbol]), power(token1.Decimals))
	down := new(big.Int).Mul(big.NewInt(prices[token1.Symbol]), power(token0.Decimals))
	ratio := up.Lsh(up, 192)
	return ratio.Sqrt(ratio.Div(ratio, down))
}

// q96 is 2^96.
var q96 = math.Ldexp(1, 96)

// priceAt returns the value of one whole token0 in whole token1.
func priceAt(sqrtX96 *big.Int, token0, token1 network.Token) float64 {
	root, _ := new(big.Float).SetInt(sqrtX96).Float64()
	return root / q96 * (root / q96) * math.Pow10(int(token0.Decimals)-int(token1.Decimals))
}

// tickAt returns the tick that contains a price, to the accuracy of a float.
func tickAt(sqrtX96 *big.Int) *big.Int {
	root, _ := new(big.Float).SetInt(sqrtX96).Float64()
	return big.NewInt(int64(math.Floor(2 * math.Log(root/q96) / math.Log(1.0001))))
}

// depth returns the full-range liquidity of a pool of two sorted tokens, with the given
// dollars on each side at starting prices.
func depth(token0, token1 network.Token, dollars int64) *big.Int {
	product := new(big.Int).Mul(token0.Units(dollars), token1.Units(dollars))
	return product.Sqrt(product)
}
