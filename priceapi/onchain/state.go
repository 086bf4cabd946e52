package onchain

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"time"

	"swapkeep/priceapi/price"

	"github.com/ethereum/go-ethereum/common"
)

// Limits for accepting a pool's price.
const (
	window       = 10 * time.Minute
	maxDrift     = 0.02      // how far the price may be from its mean over the window
	minDepthUSD  = 10_000    // how much of its coin a pool must hold
	noMeanFactor = 5         // times as much if the mean is unknown
	maxTick      = 887_272   // of Uniswap v3 and its forks
	perTick      = 1.0001    // price factor of one tick
	q96          = uint(96)  // fraction bits of a square root price
	q192         = uint(192) // fraction bits of its square
)

// Bounds of a square root price (Uniswap v3's TickMath).
var (
	minSqrtPrice    = big.NewInt(4295128739)
	maxSqrtPrice, _ = new(big.Int).SetString("1461446703485210103287273052203988822378723970342", 10)
)

// Why a pool's price is rejected.
var (
	errEmpty   = errors.New("the pool has no liquidity")
	errNoPrice = errors.New("the pool has no price")
	errShallow = errors.New("the pool is not deep enough")
	errDrift   = errors.New("the pool's price is far off its mean of ten minutes")
	errQuote   = errors.New("no oracle tells what the pool's coin is worth")
)

// A state is what was read from a pool. The asset's price is num/den of the pool's coin, in
// base units of both.
type state struct {
	pool
	source   price.Source
	stamp    blockStamp
	num, den *big.Int
	depth    *big.Int // of the coin, in base units: the balance, but at most the liquidity at this price
	mean     float64  // of the asset's price over the window, in base units; 0 = unknown
	err      error
}

func stateOf(p pool, mk market, asset common.Address, answers [][]byte, of blockStamp) state {
	s := state{pool: p, source: mk.source, stamp: of}
	balance, err := wordWithin(answers[0], 256)
	switch {
	case err != nil:
		s.err = fmt.Errorf("the balance: %w", err)
	case mk.words == 0:
		s.err = s.pair(answers[1], balance, isToken0(asset, p.coin.address))
	default:
		s.err = s.concentrated(answers[1:], mk.words, balance, isToken0(asset, p.coin.address))
	}
	return s
}

// pair decodes getReserves(): two uint112 and a time. Transfer fees or donations make
// reserves and balance differ; the lesser counts.
func (s *state) pair(out []byte, balance *big.Int, assetFirst bool) error {
	ws, err := words(out, 3)
	if err != nil {
		return err
	}
	if err := errors.Join(within(ws[0], 112), within(ws[1], 112), within(ws[2], 32)); err != nil {
		return err
	}
	s.num, s.den = ws[1], ws[0]
	if !assetFirst {
		s.num, s.den = ws[0], ws[1]
	}
	if s.num.Sign() == 0 || s.den.Sign() == 0 {
		return errEmpty
	}
	s.depth = lesser(s.num, balance)
	return nil
}

// concentrated decodes slot0(), liquidity() and observe() of a pool with concentrated
// liquidity.
func (s *state) concentrated(answers [][]byte, slotWords int, balance *big.Int, assetFirst bool) error {
	slot, err := words(answers[0], slotWords)
	if err != nil {
		return err
	}
	sqrt := slot[0]
	if sqrt.Cmp(minSqrtPrice) < 0 || sqrt.Cmp(maxSqrtPrice) >= 0 {
		return errNoPrice // zero: the pool was never initialized
	}
	liquidity, err := wordWithin(answers[1], 128)
	if err != nil {
		return err
	}
	if liquidity.Sign() == 0 {
		return errEmpty
	}
	square, one := new(big.Int).Mul(sqrt, sqrt), new(big.Int).Lsh(big.NewInt(1), q192)
	var inPlay *big.Int // of the coin: the amount if the current liquidity covered the whole range
	if assetFirst {
		s.num, s.den = square, one
		inPlay = new(big.Int).Rsh(new(big.Int).Mul(liquidity, sqrt), q96)
	} else {
		s.num, s.den = one, square
		inPlay = new(big.Int).Div(new(big.Int).Lsh(liquidity, q96), sqrt)
	}
	s.depth = lesser(balance, inPlay)
	if tick, ok := meanTick(answers[2]); ok {
		s.mean = math.Pow(perTick, tick)
		if !assetFirst {
			s.mean = 1 / s.mean
		}
	}
	return nil
}

// meanTick decodes observe([600, 0]): the cumulative ticks then and now, followed by as
// many cumulative seconds per liquidity. It returns false if the pool does not keep that
// history.
func meanTick(out []byte) (float64, bool) {
	ws, err := words(out, 8)
	if err != nil {
		return 0, false
	}
	for i, want := range map[int]int64{0: 2 * word, 1: 5 * word, 2: 2, 5: 2} {
		if ws[i].Cmp(big.NewInt(want)) != 0 {
			return 0, false
		}
	}
	then, err := signed(ws[3], 56)
	if err != nil {
		return 0, false
	}
	now, err := signed(ws[4], 56)
	if err != nil {
		return 0, false
	}
	tick := float64(now.Int64()-then.Int64()) / window.Seconds()
	return tick, math.Abs(tick) <= maxTick
}

func lesser(a, b *big.Int) *big.Int {
	if a.Cmp(b) < 0 {
		return a
	}
	return b
}

// A poolPrice is a pool's price in US dollars.
type poolPrice struct {
	price.Sample
	depth     price.Value // in US dollars
	confirmed bool        // by its mean over the window
}

// quote converts the state to dollars by the coin's price and applies the limits.
func (s state) quote(decimals uint8, coin price.Value) (poolPrice, error) {
	if s.err != nil {
		return poolPrice{}, s.err
	}
	v, err := dollars(s.num, s.den, decimals, s.coin.decimals, coin)
	if err != nil {
		return poolPrice{}, err
	}
	depth, err := dollars(s.depth, big.NewInt(1), 0, s.coin.decimals, coin)
	if err != nil {
		return poolPrice{}, fmt.Errorf("the depth: %w", err)
	}
	if v.IsZero() {
		return poolPrice{}, errNoPrice
	}
	q := poolPrice{price.Sample{Value: v, At: s.stamp.at, Source: s.source}, depth, s.mean > 0}
	minimum := float64(minDepthUSD)
	if !q.confirmed {
		minimum *= noMeanFactor
	}
	if depth.Float() < minimum {
		return poolPrice{}, fmt.Errorf("%w: %s dollars, want %.0f", errShallow, depth.Fixed(0), minimum)
	}
	if q.confirmed {
		spot, _ := new(big.Rat).SetFrac(s.num, s.den).Float64()
		if off := math.Abs(spot/s.mean - 1); !(off <= maxDrift) {
			return poolPrice{}, fmt.Errorf("%w: by %.1f%%", errDrift, 100*off)
		}
	}
	return q, nil
}

// dollars converts num/den base units of a coin per base unit of an asset to dollars per
// whole asset.
func dollars(num, den *big.Int, assetDecimals, coinDecimals uint8, coin price.Value) (price.Value, error) {
	num = new(big.Int).Mul(num, pow10(assetDecimals))
	den = new(big.Int).Mul(den, pow10(coinDecimals))
	return price.FromRatio(num.Mul(num, coin.Int()), den.Mul(den, pow10(price.Digits)))
}
