package chain

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"sync"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/common"
)

// feeTiers are the pools of Uniswap V3, in hundredths of a basis point.
var feeTiers = []int64{100, 500, 3000, 10000}

// quoteExactInputSingle((address tokenIn, address tokenOut, uint256 amountIn,
// uint24 fee, uint160 sqrtPriceLimitX96)), of QuoterV2.
var quoteSelector = []byte{0xc6, 0xa5, 0x02, 0x6a}

// QuoteExactInput returns how much of tokenOut amountIn of tokenIn buys in the
// best single pool of Uniswap V3 on the network, in base units, before gas.
// Native stands for the wrapped coin. ErrNoQuote: no quoter, no pool.
func (h *Hub) QuoteExactInput(ctx context.Context, id uint64, tokenIn, tokenOut common.Address, amountIn *big.Int) (*big.Int, error) {
	p, err := h.pool(id)
	if err != nil {
		return nil, err
	}
	in, out := p.network.wrapped(tokenIn), p.network.wrapped(tokenOut)
	switch none := (common.Address{}); {
	case in == none || out == none:
		return nil, fmt.Errorf("%w: %s", ErrNoWrapped, p.network.NoWrapped())
	case amountIn == nil || amountIn.Sign() <= 0 || amountIn.BitLen() > 256:
		return nil, fmt.Errorf("%w: the amount must be above zero", ErrNoQuote)
	case in == out:
		return new(big.Int).Set(amountIn), nil
	case p.network.QuoterV2 == none:
		return nil, fmt.Errorf("%w: %s has no quoter", ErrNoQuote, p.network.Name)
	}
	return bestQuote(ctx, reader{p}, in, out, amountIn)
}

// wrapped is token, or the wrapped coin for Native.
func (n Network) wrapped(token common.Address) common.Address {
	if token == Native {
		return n.WrappedNative
	}
	return token
}

// bestQuote asks all tiers at once. A tier without a pool reverts; any other
// failure fails the quote, which would otherwise be too low unnoticed.
func bestQuote(ctx context.Context, r reader, in, out common.Address, amountIn *big.Int) (*big.Int, error) {
	quotes, errs := make([]*big.Int, len(feeTiers)), make([]error, len(feeTiers))
	var wg sync.WaitGroup
	for i, fee := range feeTiers {
		wg.Go(func() { quotes[i], errs[i] = quoteTier(ctx, r, in, out, amountIn, fee) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("quote: %w", err)
	}
	best := new(big.Int)
	for _, q := range quotes {
		if q != nil && q.Cmp(best) > 0 {
			best = q
		}
	}
	if best.Sign() == 0 {
		return nil, fmt.Errorf("%w: no pool of %s and %s", ErrNoQuote, in, out)
	}
	return best, nil
}

// quoteTier returns nil if the tier has no pool that can fill amountIn.
func quoteTier(ctx context.Context, r reader, in, out common.Address, amountIn *big.Int, fee int64) (*big.Int, error) {
	data := onAccounts(quoteSelector, in, out)
	for _, x := range []*big.Int{amountIn, big.NewInt(fee), new(big.Int)} {
		data = append(data, word(x)...)
	}
	res, err := r.CallContract(ctx, ethereum.CallMsg{To: &r.p.network.QuoterV2, Data: data}, nil)
	if isRevert(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return readQuote(res)
}

// readQuote reads (uint256 amountOut, uint160 sqrtPriceX96After, uint32
// initializedTicksCrossed, uint256 gasEstimate); nil where no contract is.
func readQuote(out []byte) (*big.Int, error) {
	switch len(out) {
	case 0:
		return nil, nil
	case 4 * 32:
		return firstWord(out), nil
	}
	return nil, fmt.Errorf("the quoter answered %d bytes", len(out))
}
