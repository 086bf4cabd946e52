// Package worth says what amounts of tokens are worth by the newest board of prices:
// in US dollars for people, and in another token where a swap is judged.
package worth

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"time"

	"swapkeep/fault"
	"swapkeep/priceapi/board"
	"swapkeep/priceapi/price"

	"github.com/ethereum/go-ethereum/common"
)

// ErrUnknown means that there is no current price that something may be valued by.
var ErrUnknown = errors.New("price unavailable")

// A Quoter says how much of one token an amount of another buys on its chain.
type Quoter interface {
	QuoteExactInput(ctx context.Context, chainID uint64, tokenIn, tokenOut common.Address, amountIn *big.Int) (*big.Int, error)
}

// A Desk values amounts. It is safe for concurrent use.
type Desk struct {
	Feed *board.Feed
	// Quoter is asked where the board has no current price of both tokens; nil = nobody.
	Quoter Quoter
	Now    func() time.Time // nil = fault.Now
}

// Dollars is what an amount of base units is worth, rounded down; ErrUnknown without
// a current price.
func (d Desk) Dollars(id price.ID, amount *big.Int) (price.Value, error) {
	r, err := d.current(id)
	if err != nil {
		return price.Value{}, err
	}
	if amount == nil || amount.Sign() < 0 || amount.BitLen() > 256 {
		return price.Value{}, fmt.Errorf("%w: no sound amount", ErrUnknown)
	}
	num := new(big.Int).Mul(amount, r.Now.Value.Int())
	v, err := price.FromRatio(num, new(big.Int).Mul(tens(int(r.Token.Decimals)), tens(price.Digits)))
	if err != nil {
		return v, fmt.Errorf("%w: %w", ErrUnknown, err)
	}
	return v, nil
}

// Out is how much of tokenOut amountIn of tokenIn is worth on one chain, in base units,
// rounded down. The board is preferred to the chain's pools: what it has was compared
// between sources, while whoever moves one pool moves what that quotes. Errors mean
// unknown.
func (d Desk) Out(ctx context.Context, chainID uint64, tokenIn, tokenOut common.Address, amountIn *big.Int) (*big.Int, error) {
	in, err := d.current(price.ID{Chain: chainID, Address: tokenIn})
	out, outErr := d.current(price.ID{Chain: chainID, Address: tokenOut})
	if err := errors.Join(err, outErr); err != nil {
		if d.Quoter == nil {
			return nil, err
		}
		return d.Quoter.QuoteExactInput(ctx, chainID, tokenIn, tokenOut, amountIn)
	}
	if amountIn == nil || amountIn.Sign() < 0 {
		return nil, fmt.Errorf("%w: no sound amount", ErrUnknown)
	}
	num := new(big.Int).Mul(amountIn, in.Now.Value.Int())
	num.Mul(num, tens(int(out.Token.Decimals)))
	return num.Div(num, new(big.Int).Mul(out.Now.Value.Int(), tens(int(in.Token.Decimals)))), nil
}

// current is a token's row if its price is known and not stale. A token that is not
// verified needs two sources: who made it may own the one pool that prices it.
func (d Desk) current(id price.ID) (board.Row, error) {
	now := d.Now
	if now == nil {
		now = fault.Now
	}
	r, ok := d.Feed.Now().Row(id)
	if !ok || !r.Current(now()) || !r.Token.Verified && !r.Confirmed {
		return r, fmt.Errorf("%w: %s on chain %d", ErrUnknown, id.Address, id.Chain)
	}
	return r, nil
}

func tens(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }
