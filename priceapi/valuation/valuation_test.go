package valuation

import (
	"errors"
	"math/big"
	"testing"
	"time"

	"swapkeep/priceapi/price"
	"swapkeep/priceapi/pricetable"
	"swapkeep/tokens"

	"github.com/ethereum/go-ethereum/common"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func dollars(s string) price.Value {
	v, err := price.Parse(s)
	if err != nil {
		panic(err)
	}
	return v
}

// row returns the row of a verified token on chain 1 whose price is confirmed by an oracle,
// unless change alters it.
func row(address common.Address, decimals uint8, now string, change func(*pricetable.Row)) pricetable.Row {
	r := pricetable.Row{Token: tokens.Token{Chain: 1, Address: address, Decimals: decimals, Verified: true}, AcceptedAt: noon}
	if now != "" {
		r.Now = price.Sample{Value: dollars(now), At: noon, Source: price.DefiLlama}
		r.Oracle, r.OracleAt = price.Sample{Value: dollars(now), At: noon, Source: price.Chainlink}, noon
	}
	if change != nil {
		change(&r)
	}
	return r
}

func at(n byte) common.Address { return common.Address{19: n} }

var (
	usdc        = common.HexToAddress("0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48")
	usdcPolygon = common.HexToAddress("0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359")
)

// desk values ether at the zero address, a dollar coin at 1, and tokens whose prices are
// missing, stale or not good enough.
func desk(age time.Duration) Valuer {
	pools := func(r *pricetable.Row) { r.Oracle, r.OracleAt = price.Sample{}, time.Time{} }
	imported := func(r *pricetable.Row) { r.Token.Verified, r.Token.Imported = false, true }
	feed := pricetable.NewFeed()
	feed.Publish(pricetable.New(1, noon, []pricetable.Row{
		row(at(0), 18, "3000", nil), row(at(1), 6, "1", nil), row(at(2), 18, "", nil),
		row(at(3), 18, "5", func(r *pricetable.Row) { r.Stale, r.OracleAt = true, noon.Add(-pricetable.StaleAfter-time.Second) }),
		row(at(4), 18, "5", func(r *pricetable.Row) { imported(r); pools(r) }),
		row(at(5), 18, "5", imported),
		row(at(6), 36, "100000000000000000000", nil), row(at(7), 0, "0.000000000000000001", nil),
		row(at(8), 18, "5", pools),
		row(usdc, 6, "0.9", nil), // off its peg
	}))
	return Valuer{Feed: feed, Now: func() time.Time { return noon.Add(age) }}
}

func id(n byte) price.ID { return price.ID{Chain: 1, Address: at(n)} }

// TestEndedChain checks that nothing is valued by the price of a token on a chain that was shut
// down, not even by that of the coin it was redeemable for.
func TestEndedChain(t *testing.T) {
	coin := price.ID{Chain: 5330}
	if canonical, ok := price.CanonicalOf(coin); !ok || canonical.Of != id(0) {
		t.Fatal("it follows ether on Ethereum no more")
	}
	for _, ended := range []bool{false, true} {
		feed := pricetable.NewFeed()
		feed.Publish(pricetable.New(1, noon, []pricetable.Row{row(at(0), 18, "3000", nil), row(at(0), 18, "3000", func(r *pricetable.Row) {
			r.Token.Chain, r.Ended, r.Stale, r.AcceptedAt = 5330, ended, ended, time.Time{}
			r.Oracle, r.OracleAt = price.Sample{}, time.Time{}
		})}))
		d := Valuer{Feed: feed, Now: func() time.Time { return noon }}
		_, guarded := d.Dollars(t.Context(), coin.Chain, coin.Address, big.NewInt(1e18))
		_, shown := d.DisplayValue(coin, big.NewInt(1e18))
		if (guarded != nil) != ended || (shown != nil) != ended {
			t.Errorf("ended %t: %v, %v", ended, guarded, shown)
		}
	}
}

func TestShown(t *testing.T) {
	for name, c := range map[string]struct {
		of   price.ID
		age  time.Duration
		want string // "" = unknown
	}{
		"current":                            {id(0), pricetable.StaleAfter, "0.003000"},
		"six decimals":                       {id(1), 0, "1000000.000000"},
		"no price":                           {id(2), 0, ""},
		"stale":                              {id(3), 0, ""},
		"stale since the table was made":     {id(0), pricetable.StaleAfter + time.Second, ""},
		"taken in the future":                {id(0), -pricetable.Ahead - time.Second, ""},
		"imported, price from pools only":    {id(4), 0, ""},
		"imported, price from an oracle too": {id(5), 0, "0.000005"},
		"built in, price from pools only":    {id(8), 0, "0.000005"},
		"not in the table":                   {id(9), 0, ""},
		"the same address on chain ten":      {price.ID{Chain: 10}, 0, ""},
	} {
		v, err := desk(c.age).DisplayValue(c.of, big.NewInt(1e12))
		if c.want == "" {
			if !errors.Is(err, ErrUnknown) {
				t.Errorf("%s: %s, %v", name, v, err)
			}
		} else if err != nil || v.Fixed(6) != c.want {
			t.Errorf("%s: %s, %v; want %s", name, v.Fixed(6), err, c.want)
		}
	}
	for _, amount := range invalidAmounts() {
		if v, err := desk(0).DisplayValue(id(0), amount); !errors.Is(err, ErrUnknown) {
			t.Errorf("%v is worth %s, %v", amount, v, err)
		}
	}
}

func invalidAmounts() []*big.Int {
	huge := new(big.Int).Lsh(big.NewInt(1), 256)
	return []*big.Int{nil, big.NewInt(-1), huge}
}

// TestGuardsRestOnNoPool checks that a guard gets a result only if an oracle has a current
// price of both tokens. Being on the built-in list is not a price, and a pool's price is
// never a substitute.
func TestGuardsRestOnNoPool(t *testing.T) {
	ether := big.NewInt(1e18)
	for name, c := range map[string]struct {
		in, out byte
		age     time.Duration
		want    string // "" = unknown
	}{
		"by oracles":                     {0, 1, 0, "3000000000"},
		"the other way":                  {1, 0, 0, "333333333333333333333333333"},
		"the oracles' prices are old":    {0, 1, pricetable.StaleAfter + time.Second, ""},
		"no price":                       {0, 2, 0, ""},
		"an old price":                   {3, 0, 0, ""},
		"imported, price from pools":     {4, 0, 0, ""},
		"for an imported one, likewise":  {0, 4, 0, ""},
		"built in, price from pools":     {8, 0, 0, ""},
		"for a built-in one, likewise":   {0, 8, 0, ""},
		"imported, price from an oracle": {5, 1, 0, "5000000"},
		"the dearest for the cheapest":   {6, 7, 0, "100000000000000000000"},
		"the cheapest for the dearest":   {7, 6, 0, "10000000000000000"},
		"bought token not in the table":  {0, 99, 0, ""},
		"the table is of the future too": {0, 1, -pricetable.Ahead - time.Second, ""},
	} {
		n, err := desk(c.age).Out(t.Context(), 1, at(c.in), 1, at(c.out), ether)
		if c.want == "" && !errors.Is(err, ErrUnknown) || c.want != "" && (err != nil || n.String() != c.want) {
			t.Errorf("%s: %s, %v; want %s", name, n, err, c.want)
		}
		worth, err := desk(c.age).Dollars(t.Context(), 1, at(c.in), ether)
		if c.age != 0 && !errors.Is(err, ErrUnknown) || c.in == 0 && c.age == 0 && (err != nil || worth.String() != "3000000000") || (c.in == 4 || c.in == 8) && err == nil {
			t.Errorf("%s: worth %s, %v", name, worth, err)
		}
	}
	for _, amount := range invalidAmounts() {
		if n, err := desk(0).Out(t.Context(), 1, at(0), 1, at(1), amount); !errors.Is(err, ErrUnknown) {
			t.Errorf("%v buys %s, %v", amount, n, err)
		}
		if n, err := desk(0).Dollars(t.Context(), 1, at(0), amount); !errors.Is(err, ErrUnknown) {
			t.Errorf("%v is worth %s, %v", amount, n, err)
		}
	}
	if n, err := desk(0).Dollars(t.Context(), 1, at(1), big.NewInt(0)); err != nil || n.Sign() != 0 {
		t.Errorf("nothing is worth %s, %v", n, err)
	}
	if n, err := desk(0).Dollars(t.Context(), 1, at(0), big.NewInt(1)); err != nil || n.Int64() != 1 {
		t.Errorf("a wei counts as %s, %v; want it rounded up", n, err)
	}
}

// TestSameIssuersCoins checks that a coin on an unwatched chain is worth what its issuer's
// coin is worth at home, even off the peg, and that any other token there has no known
// worth.
func TestSameIssuersCoins(t *testing.T) {
	d := desk(0)
	if n, err := d.Out(t.Context(), 1, at(0), 137, usdcPolygon, big.NewInt(3e17)); err != nil || n.String() != "1000000000" {
		t.Errorf("900 dollars of ether are %s of Circle's coin on Polygon, %v; want 1000, at 0.9", n, err)
	}
	if n, err := d.Dollars(t.Context(), 137, usdcPolygon, big.NewInt(1e6)); err != nil || n.Int64() != 900_000 {
		t.Errorf("Circle's coin on Polygon is worth %s, %v", n, err)
	}
	for _, other := range []common.Address{usdc, {}, at(1)} {
		if n, err := d.Out(t.Context(), 1, at(0), 137, other, big.NewInt(1e18)); !errors.Is(err, ErrUnknown) {
			t.Errorf("%s on Polygon: %s, %v", other, n, err)
		}
	}
	if n, err := desk(time.Hour).Dollars(t.Context(), 137, usdcPolygon, big.NewInt(1e6)); !errors.Is(err, ErrUnknown) {
		t.Errorf("by an old price at home: %s, %v", n, err)
	}
}

// TestWorth checks what gas is weighed against: the guards' price, else a stable coin's market
// price, at most its currency's worth; never the price of another token without an oracle, and
// that no other guard takes it.
func TestWorth(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*pricetable.Row)
		coin   string // the coin's price
		want   string // wei for one token; "" = unknown
	}{
		"an oracle first":             {func(r *pricetable.Row) { r.Oracle, r.OracleAt = r.Market, noon; r.Oracle.Value = dollars("1.2") }, "3000", "400000000000000"},
		"the market":                  {nil, "3000", "300000000000000"},
		"no more than the currency":   {func(r *pricetable.Row) { r.Market.Value = dollars("50") }, "3000", "333333333333333"},
		"of another currency":         {func(r *pricetable.Row) { r.Token.Par = 1_500_000; r.Market.Value = dollars("1.2") }, "3000", "400000000000000"},
		"no stable coin":              {func(r *pricetable.Row) { r.Token.Par = 0 }, "3000", ""},
		"old":                         {func(r *pricetable.Row) { r.MarketAt = noon.Add(-pricetable.StaleAfter - time.Second) }, "3000", ""},
		"a network that ended":        {func(r *pricetable.Row) { r.Ended = true }, "3000", ""},
		"one hand only":               {func(r *pricetable.Row) { r.Market = price.Sample{} }, "3000", ""},
		"the coin's price is unknown": {nil, "", ""},
	} {
		feed := pricetable.NewFeed()
		feed.Publish(pricetable.New(1, noon, []pricetable.Row{row(at(0), 18, c.coin, nil), row(at(1), 6, "1", func(r *pricetable.Row) {
			r.Oracle, r.OracleAt = price.Sample{}, time.Time{}
			r.Market, r.MarketAt, r.Token.Par = price.Sample{Value: dollars("0.9"), At: noon, Source: price.DexScreener}, noon, 1_000_000
			if c.change != nil {
				c.change(r)
			}
		})}))
		d := Valuer{Feed: feed, Now: func() time.Time { return noon }}
		n, err := d.Worth(t.Context(), 1, at(1), big.NewInt(1e6))
		if c.want == "" && !errors.Is(err, ErrUnknown) || c.want != "" && (err != nil || n.String() != c.want) {
			t.Errorf("%s: %s, %v; want %s", name, n, err, c.want)
		}
		if _, err := d.Out(t.Context(), 1, at(1), 1, at(0), big.NewInt(1e6)); name != "an oracle first" && !errors.Is(err, ErrUnknown) {
			t.Errorf("%s: other guards value it too", name)
		}
	}
	if n, err := desk(0).Worth(t.Context(), 137, usdcPolygon, big.NewInt(1e6)); !errors.Is(err, ErrUnknown) {
		t.Errorf("in a coin without a price: %s, %v", n, err)
	}
}
