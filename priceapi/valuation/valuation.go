// Package valuation converts token amounts by the newest price table of prices: to US dollars for
// display, and for a swap's guards, which accept fewer prices.
package valuation

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"time"

	"swapkeep/internal/clock"
	"swapkeep/priceapi/price"
	"swapkeep/priceapi/pricetable"

	"github.com/ethereum/go-ethereum/common"
)

// ErrUnknown reports that no current price is good enough to value an amount by.
var ErrUnknown = errors.New("price unavailable")

// A Valuer values amounts. It is safe for concurrent use.
type Valuer struct {
	Feed *pricetable.Feed
	Now  func() time.Time // nil = clock.Now
}

// DisplayValue returns what an amount of base units is worth for display, in US dollars, rounded
// down. It returns ErrUnknown without a current price. A token that is not verified is
// valued only if it also has a price that guards accept; otherwise the token's maker may
// have made its price.
func (d Valuer) DisplayValue(id price.ID, amount *big.Int) (price.Value, error) {
	r, ok := d.Feed.Now().Row(id)
	if !ok || !r.Current(d.now()) {
		return price.Value{}, unknown(id)
	}
	if _, firm := r.GuardPrice(d.now()); !firm && !r.Token.Verified {
		return price.Value{}, unknown(id)
	}
	if !validAmount(amount) {
		return price.Value{}, errAmount
	}
	num := new(big.Int).Mul(amount, r.Now.Value.Int())
	v, err := price.FromRatio(num, new(big.Int).Mul(tens(r.Token.Decimals), tens(price.Digits)))
	if err != nil {
		return v, fmt.Errorf("%w: %w", ErrUnknown, err)
	}
	return v, nil
}

// Out converts an amount of one token to base units of another, each on its own chain,
// rounded down. It uses only prices that no pool trade can move ([pricetable.Row].Firm) and
// never falls back to others. Any error means that the worth is unknown.
func (d Valuer) Out(_ context.Context, src uint64, in common.Address, dst uint64, out common.Address, amount *big.Int) (*big.Int, error) {
	from, err := d.guardPrice(price.ID{Chain: src, Address: in})
	return d.convert(from, err, dst, out, amount)
}

// Worth returns what an amount is worth in the coin of the token's own network, in wei, for
// weighing gas against it. A stable coin that no oracle measures counts at the market's price
// ([pricetable.Row.GasPrice]). Any error means that the worth is unknown.
func (d Valuer) Worth(_ context.Context, chainID uint64, token common.Address, amount *big.Int) (*big.Int, error) {
	id := price.ID{Chain: chainID, Address: token}
	from, err := d.guardPrice(id)
	if r, ok := d.Feed.Now().Row(id); err != nil && ok {
		if v, ok := r.GasPrice(d.now()); ok {
			from, err = priced{v, r.Token.Decimals}, nil
		}
	}
	return d.convert(from, err, chainID, common.Address{}, amount)
}

// convert returns how much of out, on chain dst, an amount of a token is worth; err is why the
// token's price is unknown.
func (d Valuer) convert(from priced, err error, dst uint64, out common.Address, amount *big.Int) (*big.Int, error) {
	to, outErr := d.guardPrice(price.ID{Chain: dst, Address: out})
	if err := errors.Join(err, outErr); err != nil {
		return nil, err
	}
	if !validAmount(amount) {
		return nil, errAmount
	}
	num := new(big.Int).Mul(amount, from.value.Int())
	num.Mul(num, tens(to.decimals))
	return num.Div(num, new(big.Int).Mul(to.value.Int(), tens(from.decimals))), nil
}

// Dollars returns what an amount is worth in millionths of a US dollar, rounded up, by the
// prices that guards accept. Any error means that the worth is unknown.
func (d Valuer) Dollars(_ context.Context, chainID uint64, token common.Address, amount *big.Int) (micro *big.Int, err error) {
	p, err := d.guardPrice(price.ID{Chain: chainID, Address: token})
	if err != nil {
		return nil, err
	}
	if !validAmount(amount) {
		return nil, errAmount
	}
	num := new(big.Int).Mul(amount, p.value.Int())
	unit := new(big.Int).Mul(tens(p.decimals), tens(price.Digits-microDigits))
	num.Add(num, unit).Sub(num, big.NewInt(1))
	return num.Div(num, unit), nil
}

const microDigits = 6

// A priced is a token's price with its decimals.
type priced struct {
	value    price.Value
	decimals uint8
}

// guardPrice returns a token's price for guards: its own, otherwise that of the coin its issuer
// redeems it for.
func (d Valuer) guardPrice(id price.ID) (priced, error) {
	all := d.Feed.Now()
	if r, ok := all.Row(id); ok {
		if v, ok := r.GuardPrice(d.now()); ok {
			return priced{v, r.Token.Decimals}, nil
		}
		if r.Ended { // nobody redeems it
			return priced{}, unknown(id)
		}
	}
	if canonical, ok := price.CanonicalOf(id); ok {
		if r, ok := all.Row(canonical.Of); ok {
			if v, ok := r.GuardPrice(d.now()); ok {
				return priced{v, canonical.Decimals}, nil
			}
		}
	}
	return priced{}, unknown(id)
}

func (d Valuer) now() time.Time {
	if d.Now == nil {
		return clock.Now()
	}
	return d.Now()
}

func unknown(id price.ID) error {
	return fmt.Errorf("%w: %s on chain %d", ErrUnknown, id.Address, id.Chain)
}

var errAmount = fmt.Errorf("%w: no sound amount", ErrUnknown)

func validAmount(amount *big.Int) bool {
	return amount != nil && amount.Sign() >= 0 && amount.BitLen() <= 256
}

func tens(n uint8) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }
