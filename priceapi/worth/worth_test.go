package worth

import (
	"context"
	"errors"
	"math/big"
	"testing"
	"time"

	"swapkeep/priceapi/board"
	"swapkeep/priceapi/price"
	"swapkeep/tokens"

	"github.com/ethereum/go-ethereum/common"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

var errPool = errors.New("no pool")

// A pool quotes one for one, or fails.
type pool struct{ fail error }

func (p pool) QuoteExactInput(_ context.Context, _ uint64, _, _ common.Address, in *big.Int) (*big.Int, error) {
	return in, p.fail
}

func dollars(s string) price.Value {
	v, err := price.Parse(s)
	if err != nil {
		panic(err)
	}
	return v
}

func row(address byte, decimals uint8, now string, change func(*board.Row)) board.Row {
	r := board.Row{Token: tokens.Token{Chain: 1, Address: common.Address{19: address}, Decimals: decimals, Verified: true}, Taken: noon}
	if now != "" {
		r.Now = price.Sample{Value: dollars(now), At: noon, Source: price.DefiLlama}
	}
	if change != nil {
		change(&r)
	}
	return r
}

// desk has ether at the zero address, a dollar at 1, and tokens that are not to be
// valued by.
func desk(age time.Duration) Desk {
	feed := board.NewFeed()
	feed.Publish(board.New(1, noon, []board.Row{
		row(0, 18, "3000", nil), row(1, 6, "1", nil), row(2, 18, "", nil),
		row(3, 18, "5", func(r *board.Row) { r.Stale = true }),
		row(4, 18, "5", func(r *board.Row) { r.Token.Verified, r.Token.Imported = false, true }),
		row(5, 18, "5", func(r *board.Row) { r.Token.Verified, r.Token.Imported, r.Confirmed = false, true, true }),
		row(6, 36, "100000000000000000000", nil), row(7, 0, "0.000000000000000001", nil),
	}))
	return Desk{Feed: feed, Now: func() time.Time { return noon.Add(age) }}
}

func id(address byte) price.ID { return price.ID{Chain: 1, Address: common.Address{19: address}} }

func TestDollars(t *testing.T) {
	for name, c := range map[string]struct {
		of   price.ID
		age  time.Duration
		want string // "" = unknown
	}{
		"current":                       {id(0), board.StaleAfter, "0.003000"},
		"six decimals":                  {id(1), 0, "1000000.000000"},
		"no price":                      {id(2), 0, ""},
		"stale":                         {id(3), 0, ""},
		"stale since the board":         {id(0), board.StaleAfter + time.Second, ""},
		"taken in the future":           {id(0), -board.Ahead - time.Second, ""},
		"imported, told by one":         {id(4), 0, ""},
		"imported, told by two":         {id(5), 0, "0.000005"},
		"not on the board":              {id(9), 0, ""},
		"the same address on chain ten": {price.ID{Chain: 10}, 0, ""},
	} {
		v, err := desk(c.age).Dollars(c.of, big.NewInt(1e12))
		if c.want == "" {
			if !errors.Is(err, ErrUnknown) {
				t.Errorf("%s: %s, %v", name, v, err)
			}
		} else if err != nil || v.Fixed(6) != c.want {
			t.Errorf("%s: %s, %v; want %s", name, v.Fixed(6), err, c.want)
		}
	}
	huge := new(big.Int).Lsh(big.NewInt(1), 256)
	for _, amount := range []*big.Int{nil, big.NewInt(-1), huge, new(big.Int).Sub(huge, big.NewInt(1))} {
		if v, err := desk(0).Dollars(id(0), amount); !errors.Is(err, ErrUnknown) {
			t.Errorf("%v is worth %s, %v", amount, v, err)
		}
	}
}

func TestOut(t *testing.T) {
	ether := big.NewInt(1e18)
	for name, c := range map[string]struct {
		in, out byte
		age     time.Duration
		want    string // "" = by the pool
	}{
		"by the board":                  {0, 1, 0, "3000000000"},
		"the other way":                 {1, 0, 0, "333333333333333333333333333"},
		"the board is old":              {0, 1, time.Hour, ""},
		"no price":                      {0, 2, 0, ""},
		"stale":                         {3, 0, 0, ""},
		"imported, told by one":         {4, 0, 0, ""},
		"for an imported one, likewise": {0, 4, 0, ""},
		"imported, told by two":         {5, 1, 0, "5000000"},
		"the dearest for the cheapest":  {6, 7, 0, "100000000000000000000"},
		"the cheapest for the dearest":  {7, 6, 0, "10000000000000000"},
	} {
		d := desk(c.age)
		in, out := id(c.in).Address, id(c.out).Address
		if c.want == "" {
			if n, err := d.Out(t.Context(), 1, in, out, ether); !errors.Is(err, ErrUnknown) {
				t.Errorf("%s, and no pool: %s, %v", name, n, err)
			}
			d.Quoter, c.want = pool{}, ether.String()
		}
		if n, err := d.Out(t.Context(), 1, in, out, ether); err != nil || n.String() != c.want {
			t.Errorf("%s: %s, %v; want %s", name, n, err, c.want)
		}
	}
	d := desk(time.Hour)
	d.Quoter = pool{errPool}
	if n, err := d.Out(t.Context(), 1, common.Address{}, id(1).Address, ether); !errors.Is(err, errPool) {
		t.Errorf("an old board and no pool: %s, %v", n, err)
	}
	for _, amount := range []*big.Int{nil, big.NewInt(-1)} {
		if n, err := desk(0).Out(t.Context(), 1, common.Address{}, id(1).Address, amount); !errors.Is(err, ErrUnknown) {
			t.Errorf("%v buys %s, %v", amount, n, err)
		}
	}
}
