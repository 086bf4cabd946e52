package onchain

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"swapkeep/chain"
	"swapkeep/priceapi/price"
	"swapkeep/tokens"

	"github.com/ethereum/go-ethereum/common"
)

var (
	usdc1, usdt1 = chainConfigs[1].dollars[0], chainConfigs[1].dollars[1]
	weth1        = chainConfigs[1].wrapped
	ether        = tokenAt(1, "", "ETH", 18)
	wrapped      = tokenAt(1, "0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2", "WETH", 18)
	link         = tokenAt(1, "0x514910771AF9Ca656af840dff83E8264EcF986CA", "LINK", 18)
	usdc         = tokenAt(1, "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48", "USDC", 6)
	fbtc         = tokenAt(1, "0xC96dE26018A54D51c097160568752c4E3BD6C364", "FBTC", 8)
	weeth        = tokenAt(1, "0xCd5fE23C85820F7B72D0926FC9b05b43E359b7ee", "weETH", 18)
	nobody       = tokenAt(1, "0x00000000000000000000000000000000000000ff", "XYZ", 18) // no oracle knows it
)

func feedOf(t testing.TB, tok tokens.Token) feed {
	t.Helper()
	fs := oracles().feeds[price.ID{Chain: tok.Chain, Address: chainConfigs[tok.Chain].asset(tok.Address)}]
	if len(fs) == 0 {
		t.Fatalf("%s has no feed", tok.Symbol)
	}
	return fs[0]
}

// mainnet has the feeds of the coins that pools are quoted in.
func mainnet(t testing.TB) *fakeChain {
	t.Helper()
	f := newFake()
	f.feed(1, feedOf(t, ether).address, 3000_000_000, noon.Add(-10*time.Minute))
	f.feed(1, feedOf(t, usdc).address, 999_900, noon.Add(-20*time.Hour))
	f.feed(1, hex("0x3E7d1eAB13ad0104d2750B8863b489D65364e32D"), 1_000_100, noon.Add(-time.Hour)) // USDT
	return f
}

func read(t testing.TB, s *Source, ts ...tokens.Token) map[price.ID][]string {
	t.Helper()
	rs, err := s.Now(t.Context(), ts)
	if err != nil {
		t.Fatal(err)
	}
	return readingTexts(rs)
}

// wants compares what is returned for a token.
func wants(t testing.TB, got map[price.ID][]string, tok tokens.Token, want ...string) {
	t.Helper()
	if g := got[price.IDOf(tok)]; !slices.Equal(g, want) {
		t.Errorf("%s of chain %d: %q, want %q", tok.Symbol, tok.Chain, g, want)
	}
}

// refusedFor wants a refusal with the given reason.
func refusedFor(t testing.TB, all []Rejection, reason error) {
	t.Helper()
	if !slices.ContainsFunc(all, func(r Rejection) bool { return errors.Is(r.Err, reason) }) {
		t.Errorf("refused for %v, want %v", all, reason)
	}
}

func TestOracleAndPool(t *testing.T) {
	f := mainnet(t)
	f.feed(1, feedOf(t, link).address, 15_000_000, noon.Add(-time.Hour))
	f.pool(1, link.Address, 18, fakePool{tier: 3000, at: hex("0xa1"), coin: weth1, micro: 5_000, balance: 100, mean: 5_010}) // 15.00 in ether
	f.pool(1, weth1.address, 18, fakePool{tier: 500, at: hex("0xa2"), coin: usdc1, micro: 3001_000_000, balance: 1_000_000, mean: 3001_000_000})
	s, _ := source(t, f)
	rs, err := s.Now(t.Context(), []tokens.Token{ether, wrapped, link, nobody})
	if err != nil {
		t.Fatal(err)
	}
	got := readingTexts(rs)
	wants(t, got, link, "chainlink 15.00", "uniswap-v3 14.99")
	wants(t, got, ether, "chainlink 3000.00", "uniswap-v3 3000.69") // 3001 times the price of the dollar coin
	wants(t, got, wrapped, got[price.IDOf(ether)]...)
	wants(t, got, nobody)
	for _, r := range rs {
		want := noon.Add(-time.Second) // time of the block
		if r.Source == price.Chainlink {
			want = noon.Add(-10 * time.Minute)
			if r.ID == price.IDOf(link) {
				want = noon.Add(-time.Hour)
			}
		}
		if !r.At.Equal(want) || r.Confidence != nil || !r.DayAgo.IsZero() {
			t.Errorf("%+v, want it of %s", r, want)
		}
	}
	if f.maxQuestions > defaultAtOnce {
		t.Errorf("%d questions in one call", f.maxQuestions)
	}
}

// TestChainlinkRules checks which answers of a feed are accepted.
func TestChainlinkRules(t *testing.T) {
	at := feedOf(t, link).address
	dollar := feedOf(t, usdc).address
	usd, max := big.NewInt(1_500_000_000), new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 255), big.NewInt(1))
	for name, c := range map[string]struct {
		do     func(f *fakeChain)
		of     tokens.Token
		want   []string
		reason error
	}{
		"fresh":        {func(f *fakeChain) { f.feed(1, at, 15_000_000, noon.Add(-89*time.Minute)) }, link, []string{"chainlink 15.00"}, nil},
		"tenfold":      {func(f *fakeChain) { f.feed(1, at, 150_000_000, noon.Add(-time.Minute)) }, link, []string{"chainlink 150.00"}, nil},
		"stale":        {func(f *fakeChain) { f.feed(1, at, 15_000_000, noon.Add(-91*time.Minute)) }, link, nil, errStale},
		"stable":       {func(f *fakeChain) { f.feed(1, dollar, 1_000_000, noon.Add(-24*time.Hour)) }, usdc, []string{"chainlink 1.00"}, nil},
		"stale stable": {func(f *fakeChain) { f.feed(1, dollar, 1_000_000, noon.Add(-26*time.Hour)) }, usdc, nil, errStale},
		"zero":         {func(f *fakeChain) { f.feed(1, at, 0, noon) }, link, nil, errNegative},
		"negative":     {func(f *fakeChain) { f.feed(1, at, -15_000_000, noon) }, link, nil, errNegative},
		"lowest":       {func(f *fakeChain) { f.feed(1, at, 1, noon); f.round(1, at, 1, new(big.Int).Not(max), noon, noon) }, link, nil, errNegative},
		"highest":      {func(f *fakeChain) { f.feed(1, at, 1, noon); f.round(1, at, 1, max, noon, noon.Add(-time.Second)) }, link, nil, price.ErrValue},
		"never":        {func(f *fakeChain) { f.feed(1, at, 1, noon); f.round(1, at, 1, usd, noon, time.Unix(0, 0)) }, link, nil, errNever},
		"no round":     {func(f *fakeChain) { f.feed(1, at, 1, noon); f.round(1, at, 0, usd, noon, noon.Add(-time.Minute)) }, link, nil, errNoRound},
		"future":       {func(f *fakeChain) { f.feed(1, at, 15_000_000, noon) }, link, nil, errFuture}, // a second after its block
		"year 30000": {func(f *fakeChain) {
			f.feed(1, at, 1, noon)
			f.set(1, at, call(latestRound), enc(1, usd, 0, 900_000_000_000, 1))
		}, link, nil, errShape},
		"far future":  {func(f *fakeChain) { f.feed(1, at, 1, noon); f.set(1, at, call(latestRound), enc(1, usd, 0, max, 1)) }, link, nil, errShape},
		"reverts":     {func(f *fakeChain) { f.set(1, at, call(latestRound), nil) }, link, nil, errNoAnswer},
		"no contract": {func(*fakeChain) {}, link, nil, errShape},
		"short":       {func(f *fakeChain) { f.set(1, at, call(latestRound), enc(1, usd, noon, noon)) }, link, nil, errShape},
		"long":        {func(f *fakeChain) { f.set(1, at, call(latestRound), enc(1, usd, noon, noon, 1, 0)) }, link, nil, errShape},
		"wide round":  {func(f *fakeChain) { f.set(1, at, call(latestRound), enc(max, usd, noon, noon, 1)) }, link, nil, errShape},
		"no decimals": {func(f *fakeChain) {
			f.feed(1, at, 15_000_000, noon.Add(-time.Minute))
			f.set(1, at, call("decimals()"), nil)
		}, link, nil, errDecimals},
		"37 decimals": {func(f *fakeChain) {
			f.feed(1, at, 15_000_000, noon.Add(-time.Minute))
			f.set(1, at, call("decimals()"), enc(37))
		}, link, nil, errDecimals},
		"18 decimals": {func(f *fakeChain) {
			f.round(1, at, 1, big10(15, 18), noon, noon.Add(-time.Minute))
			f.set(1, at, call("decimals()"), enc(18))
		}, link, []string{"chainlink 15.00"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			c.do(f)
			s, refused := source(t, f)
			wants(t, read(t, s, c.of), c.of, c.want...)
			if c.reason != nil {
				all := slices.DeleteFunc(refused(price.IDOf(c.of)), func(r Rejection) bool { return r.Source != price.Chainlink })
				refusedFor(t, all, c.reason)
			}
		})
	}
}

// TestSequencer checks that while a rollup's sequencer is down, and for an hour after,
// neither its oracles nor the pools that need them are used.
func TestSequencer(t *testing.T) {
	weth := tokenAt(10, "0x4200000000000000000000000000000000000006", "WETH", 18)
	usd10 := tokenAt(10, "0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85", "USDC", 6)
	at := chainConfigs[10].sequencer
	mai := tokenAt(10, "0xdFA46478F9e5EA86d57387849598dbFB2e964b02", "MAI", 18) // priced by Aave only
	listed := oracles().aave[price.IDOf(mai)]
	both := []string{"chainlink 3000.00", "uniswap-v3 3001.00"}
	for name, c := range map[string]struct {
		do   func(f *fakeChain)
		want []string
	}{
		"up":                         {func(f *fakeChain) { f.up(10, noon.Add(-48*time.Hour)) }, both},
		"up again":                   {func(f *fakeChain) { f.up(10, noon.Add(-61*time.Minute)) }, both},
		"grace":                      {func(f *fakeChain) { f.up(10, noon.Add(-59*time.Minute)) }, nil},
		"future":                     {func(f *fakeChain) { f.up(10, noon.Add(time.Hour)) }, nil},
		"down":                       {func(f *fakeChain) { f.round(10, at, 1, big.NewInt(1), noon.Add(-2*time.Hour), noon.Add(-2*time.Hour)) }, nil},
		"other answer":               {func(f *fakeChain) { f.round(10, at, 1, big.NewInt(-1), noon.Add(-2*time.Hour), noon.Add(-2*time.Hour)) }, nil},
		"never began":                {func(f *fakeChain) { f.round(10, at, 1, new(big.Int), time.Unix(0, 0), time.Unix(0, 0)) }, nil},
		"reverts":                    {func(f *fakeChain) { f.set(10, at, call(latestRound), nil) }, nil},
		"no sequencer feed contract": {func(*fakeChain) {}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake()
			f.feed(10, feedOf(t, weth).address, 3000_000_000, noon.Add(-time.Minute))
			f.feed(10, feedOf(t, usd10).address, 1_000_000, noon.Add(-time.Minute))
			f.pool(10, weth.Address, 18, fakePool{tier: 500, at: hex("0xb1"), coin: chainConfigs[10].dollars[0], micro: 3001_000_000, balance: 1_000_000, mean: 3001_000_000})
			f.listAave(10, mai.Address, listed.source, 990_000)
			f.feed(10, listed.source, 990_000, noon.Add(-time.Minute))
			c.do(f)
			s, refused := source(t, f)
			got := read(t, s, weth, mai)
			wants(t, got, weth, c.want...)
			if c.want != nil {
				wants(t, got, mai, "aave-oracle 0.99")
			} else {
				wants(t, got, mai)
				refusedFor(t, refused(price.ID{Chain: 10}), errSequencer)
			}
		})
	}
}

// TestAnOldBlock checks that a node that lags gives no prices and does not affect other
// chains.
func TestAnOldBlock(t *testing.T) {
	bnb := tokenAt(56, "", "BNB", 18)
	for name, c := range map[string]struct {
		at     time.Time
		reason error
	}{"fresh": {noon.Add(-4 * time.Minute), nil}, "old": {noon.Add(-6 * time.Minute), errOld}, "future": {noon.Add(3 * time.Minute), errAhead}} {
		t.Run(name, func(t *testing.T) {
			f := mainnet(t)
			f.feed(56, feedOf(t, bnb).address, 900_000_000, noon.Add(-10*time.Minute))
			f.block[56] = c.at
			s, _ := source(t, f)
			rs, err := s.Now(t.Context(), []tokens.Token{bnb, ether})
			got := readingTexts(rs)
			wants(t, got, ether, "chainlink 3000.00")
			if !errors.Is(err, c.reason) || c.reason != nil && !strings.Contains(err.Error(), "chain 56") {
				t.Errorf("%v, want %v", err, c.reason)
			}
			if c.reason == nil {
				wants(t, got, bnb, "chainlink 900.00")
			} else {
				wants(t, got, bnb)
			}
		})
	}
}

// TestHalvesOfTwoNodes has the last questions of a call answered by a node that lags.
func TestHalvesOfTwoNodes(t *testing.T) {
	f := mainnet(t)
	f.twist = func(qs []chain.Question, answers [][]byte) [][]byte {
		answers[len(answers)-1] = enc(noon.Add(-time.Hour))
		return answers
	}
	s, _ := source(t, f)
	if rs, err := s.Now(t.Context(), []tokens.Token{ether}); len(rs) != 0 || !errors.Is(err, errOld) {
		t.Fatalf("Now = %v, %v; want no price and errOld", rs, err)
	}
}

func TestAnswersOfAnotherNumber(t *testing.T) {
	for name, twist := range map[string]func([]chain.Question, [][]byte) [][]byte{
		"fewer": func(_ []chain.Question, a [][]byte) [][]byte { return a[:len(a)-1] },
		"more":  func(_ []chain.Question, a [][]byte) [][]byte { return append(a, a[len(a)-1]) },
		"none":  func([]chain.Question, [][]byte) [][]byte { return nil },
	} {
		f := mainnet(t)
		f.twist = twist
		s, _ := source(t, f)
		if rs, err := s.Now(t.Context(), []tokens.Token{ether}); len(rs) != 0 || !errors.Is(err, errCount) {
			t.Errorf("%s: %v, %v", name, rs, err)
		}
	}
}

// listAave makes Aave's oracle return a price in millionths of a dollar.
func (f *fakeChain) listAave(id uint64, asset, source common.Address, micro int64) {
	oracle := chainConfigs[id].aave
	f.set(id, oracle, call("getSourceOfAsset(address)", asset), enc(source))
	f.set(id, oracle, call("getAssetsPrices(address[])", int64(32), int64(1), asset), enc(32, 1, 100*micro))
}

func TestAave(t *testing.T) {
	listed := oracles().aave[price.IDOf(weeth)]
	base := hex("0xc0ffee")
	pool := func(micro int64) func(f *fakeChain) {
		return func(f *fakeChain) {
			f.pool(1, weeth.Address, 18, fakePool{tier: 500, at: hex("0xa7"), coin: weth1, micro: micro, balance: 1000, mean: micro})
		}
	}
	adapter := func(updated time.Time) func(f *fakeChain) {
		return func(f *fakeChain) {
			f.listAave(1, weeth.Address, listed.source, 3_240_000_000)
			f.set(1, listed.source, call("BASE_TO_USD_AGGREGATOR()"), enc(base))
			f.feed(1, base, 3000_000_000, updated)
		}
	}
	fresh := noon.Add(-time.Minute)
	for name, c := range map[string]struct {
		do     []func(f *fakeChain)
		want   []string
		reason error
	}{
		"an adapter of a fresh feed": {[]func(*fakeChain){adapter(fresh)}, []string{"aave-oracle 3240.00"}, nil},
		"an adapter of a stale feed": {[]func(*fakeChain){adapter(noon.Add(-2 * time.Hour))}, nil, errStale},
		"capped":                     {[]func(*fakeChain){adapter(fresh), func(f *fakeChain) { f.set(1, listed.source, call("isCapped()"), enc(1)) }}, nil, errCapped},
		"not capped":                 {[]func(*fakeChain){adapter(fresh), func(f *fakeChain) { f.set(1, listed.source, call("isCapped()"), enc(0)) }}, []string{"aave-oracle 3240.00"}, nil},
		"an adapter of an adapter": {[]func(*fakeChain){adapter(fresh), func(f *fakeChain) {
			f.set(1, base, call(latestRound), nil)
			f.set(1, base, call("ASSET_TO_PEG()"), enc(hex("0xd1")))
			f.set(1, base, call("PEG_TO_BASE()"), enc(hex("0xd2")))
			f.feed(1, hex("0xd1"), 1_000_000, noon.Add(-20*time.Hour)) // a ratio is updated daily
			f.feed(1, hex("0xd2"), 3000_000_000, fresh)
		}}, []string{"aave-oracle 3240.00"}, nil},
		"the ratio is fresh and the price is not": {[]func(*fakeChain){adapter(fresh), func(f *fakeChain) {
			f.set(1, base, call(latestRound), nil)
			f.set(1, base, call("ASSET_TO_PEG()"), enc(hex("0xd1")))
			f.set(1, base, call("PEG_TO_BASE()"), enc(hex("0xd2")))
			f.feed(1, hex("0xd1"), 1_000_000, fresh)
			f.feed(1, hex("0xd2"), 3000_000_000, noon.Add(-20*time.Hour))
		}}, nil, errStale},
		"an adapter of itself": {[]func(*fakeChain){adapter(fresh), func(f *fakeChain) {
			f.set(1, listed.source, call("BASE_TO_USD_AGGREGATOR()"), enc(listed.source))
		}}, nil, errNoAge},
		"a feed, and an adapter of itself": {[]func(*fakeChain){adapter(fresh), func(f *fakeChain) {
			f.set(1, listed.source, call("ASSET_TO_USD_AGGREGATOR()"), enc(listed.source))
		}}, nil, errNoAge},
		"one price of two": {[]func(*fakeChain){adapter(fresh), func(f *fakeChain) {
			f.set(1, chainConfigs[1].aave, call("getAssetsPrices(address[])", int64(32), int64(1), weeth.Address), enc(32, 2, 1e8))
		}}, nil, errShape},
		"no age":                     {[]func(*fakeChain){func(f *fakeChain) { f.listAave(1, weeth.Address, listed.source, 3_240_000_000) }}, nil, errNoAge},
		"no age, a pool agrees":      {[]func(*fakeChain){func(f *fakeChain) { f.listAave(1, weeth.Address, listed.source, 3_240_000_000) }, pool(1_080_000)}, []string{"aave-oracle 3240.00", "uniswap-v3 3240.00"}, nil},
		"no age, and a pool differs": {[]func(*fakeChain){func(f *fakeChain) { f.listAave(1, weeth.Address, listed.source, 3_240_000_000) }, pool(1_000_000)}, []string{"uniswap-v3 3000.00"}, errUnconfirmed},
		"another source than listed": {[]func(*fakeChain){adapter(fresh), func(f *fakeChain) {
			f.listAave(1, weeth.Address, hex("0xbad"), 3_240_000_000)
			f.feed(1, hex("0xbad"), 1, fresh)
		}}, nil, errChanged},
		"zero": {[]func(*fakeChain){adapter(fresh), func(f *fakeChain) { f.listAave(1, weeth.Address, listed.source, 0) }}, nil, errNegative},
		"reverts": {[]func(*fakeChain){adapter(fresh), func(f *fakeChain) {
			f.set(1, chainConfigs[1].aave, call("getAssetsPrices(address[])", int64(32), int64(1), weeth.Address), nil)
		}}, nil, errNoAnswer},
		"two prices": {[]func(*fakeChain){adapter(fresh), func(f *fakeChain) {
			f.set(1, chainConfigs[1].aave, call("getAssetsPrices(address[])", int64(32), int64(1), weeth.Address), enc(32, 2, 1e8, 1e8))
		}}, nil, errShape},
		"tenfold": {[]func(*fakeChain){adapter(fresh), func(f *fakeChain) { f.listAave(1, weeth.Address, listed.source, 32_400_000_000) }}, []string{"aave-oracle 32400.00"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			f := mainnet(t)
			for _, do := range c.do {
				do(f)
			}
			s, refused := source(t, f)
			wants(t, read(t, s, weeth), weeth, c.want...)
			if c.reason != nil {
				refusedFor(t, refused(price.IDOf(weeth)), c.reason)
			}
		})
	}
}

// TestAnotherAssetsFeed checks that FBTC, which Aave prices by the BTC feed, gets that
// price only if a pool of FBTC agrees.
func TestAnotherAssetsFeed(t *testing.T) {
	listed := oracles().aave[price.IDOf(fbtc)]
	for micro, want := range map[int64][]string{
		0: nil, 90_500_000_000: {"aave-oracle 90000.00", "uniswap-v3 90490.95"}, 80_000_000_000: {"uniswap-v3 79992.00"},
	} {
		f := mainnet(t)
		f.listAave(1, fbtc.Address, listed.source, 90_000_000_000)
		f.feed(1, listed.source, 90_000_000_000, noon.Add(-time.Minute))
		if micro > 0 {
			f.pool(1, fbtc.Address, 8, fakePool{tier: 3000, at: hex("0xa3"), coin: usdc1, micro: micro, balance: 1_000_000, mean: micro})
		}
		s, refused := source(t, f)
		wants(t, read(t, s, fbtc), fbtc, want...)
		if len(want) < 2 {
			refusedFor(t, refused(price.IDOf(fbtc)), errOtherAsset)
		}
	}
}

// TestPools checks which pools count, and how much.
func TestPools(t *testing.T) {
	at := hex("0xa1")
	v2 := len(chainConfigs[1].markets) - 1
	one := func(p fakePool) func(f *fakeChain) { return func(f *fakeChain) { f.pool(1, nobody.Address, 18, p) } }
	valid := fakePool{tier: 3000, at: at, coin: usdc1, micro: 2_000_000, balance: 50_000, mean: 2_000_000}
	but := func(change func(*fakePool)) fakePool { p := valid; change(&p); return p }
	garble := func(data, out []byte) func(f *fakeChain) { return func(f *fakeChain) { f.set(1, at, data, out) } }
	for name, c := range map[string]struct {
		do     []func(f *fakeChain)
		want   []string
		reason error
	}{
		"sound":                     {[]func(*fakeChain){one(valid)}, []string{"uniswap-v3 1.99"}, nil}, // times the price of the dollar coin
		"shallow":                   {[]func(*fakeChain){one(but(func(p *fakePool) { p.balance = 9_000 }))}, nil, errShallow},
		"full, and nothing in play": {[]func(*fakeChain){one(but(func(p *fakePool) { p.thin = true }))}, nil, errShallow},
		"off its mean":              {[]func(*fakeChain){one(but(func(p *fakePool) { p.mean = 1_950_000 }))}, nil, errDrift},
		"near its mean":             {[]func(*fakeChain){one(but(func(p *fakePool) { p.mean = 1_970_000 }))}, []string{"uniswap-v3 1.99"}, nil},
		"without a mean":            {[]func(*fakeChain){one(but(func(p *fakePool) { p.mean = 0 }))}, nil, errShallow},
		"deep without a mean":       {[]func(*fakeChain){one(but(func(p *fakePool) { p.mean, p.balance = 0, 101_000 }))}, []string{"uniswap-v3 1.99"}, nil},
		"a pair":                    {[]func(*fakeChain){one(but(func(p *fakePool) { p.market, p.balance = v2, 200_000 }))}, []string{"uniswap-v2 1.99"}, nil},
		"a shallow pair":            {[]func(*fakeChain){one(but(func(p *fakePool) { p.market, p.balance = v2, 45_000 }))}, nil, errShallow},
		"a deep pair next to a pool away from its mean": {[]func(*fakeChain){one(but(func(p *fakePool) { p.mean = 1_500_000 })), one(but(func(p *fakePool) { p.market, p.balance, p.at = v2, 200_000, hex("0xa5") }))}, nil, errDrift},
		"a pair that holds less than it says": {[]func(*fakeChain){one(but(func(p *fakePool) { p.market, p.balance = v2, 200_000 })), func(f *fakeChain) {
			f.set(1, usdc1.address, call("balanceOf(address)", at), enc(big10(5_000, 6)))
		}}, nil, errShallow},
		"an empty pair":        {[]func(*fakeChain){one(but(func(p *fakePool) { p.market, p.balance = v2, 200_000 })), garble(call("getReserves()"), enc(0, 0, 0))}, nil, errEmpty},
		"wide reserves":        {[]func(*fakeChain){one(but(func(p *fakePool) { p.market, p.balance = v2, 200_000 })), garble(call("getReserves()"), enc(-1, 1, 0))}, nil, errShape},
		"pool not initialised": {[]func(*fakeChain){one(valid), garble(call("slot0()"), enc(0, 0, 0, 0, 0, 0, 0))}, nil, errNoPrice},
		"pool not initialised, token order reversed": {[]func(*fakeChain){
			func(f *fakeChain) {
				p := valid
				p.coin = weth1
				f.pool(1, nobody.Address, 18, p)
			},
			func(f *fakeChain) {
				f.pool(1, weth1.address, 18, fakePool{tier: 500, at: hex("0xa9"), coin: usdc1, micro: 1, balance: 90_000, mean: 1})
				f.set(1, hex("0xa9"), call("slot0()"), enc(0, 0, 0, 0, 0, 0, 0)) // ether is token1 there
			},
			garble(call("slot0()"), enc(1, 0, 0, 0, 0, 0, 0)),
		}, nil, errNoPrice},
		"beyond the last price":     {[]func(*fakeChain){one(valid), garble(call("slot0()"), enc(-1, 0, 0, 0, 0, 0, 0))}, nil, errNoPrice},
		"another slot":              {[]func(*fakeChain){one(valid), garble(call("slot0()"), enc(1<<50, 0, 0, 0, 0, 0))}, nil, errShape},
		"no liquidity":              {[]func(*fakeChain){one(valid), garble(call("liquidity()"), enc(0))}, nil, errEmpty},
		"slot reverts":              {[]func(*fakeChain){one(valid), garble(call("slot0()"), nil)}, nil, errShape},
		"mean tick out of range":    {[]func(*fakeChain){one(valid), garble(observeCall, enc(64, 160, 2, 0, 1<<60, 2, 0, 0))}, nil, errShallow}, // counts as no mean
		"worth more than all money": {[]func(*fakeChain){one(valid), garble(call("slot0()"), enc(new(big.Int).Sub(maxSqrtPrice, big.NewInt(1)), 0, 0, 0, 0, 0, 0))}, nil, nil},
		"the deeper half decides": {[]func(*fakeChain){one(valid),
			one(but(func(p *fakePool) {
				p.at, p.tier, p.coin, p.balance, p.micro, p.mean = hex("0xa4"), 10000, usdt1, 200_000, 3_000_000, 3_000_000
			})),
			one(but(func(p *fakePool) { p.at, p.market, p.balance, p.micro = hex("0xa5"), v2, 120_000, 2_500_000 })),
		}, []string{"uniswap-v3 3.00"}, nil},
		"a lie of a shallow pool": {[]func(*fakeChain){one(but(func(p *fakePool) { p.balance = 100_000 })),
			one(but(func(p *fakePool) {
				p.at, p.tier, p.coin, p.balance, p.micro, p.mean = hex("0xa4"), 10000, usdt1, 90_000, 20_000_000, 20_000_000
			})),
		}, []string{"uniswap-v3 1.99"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			f := mainnet(t)
			for _, do := range c.do {
				do(f)
			}
			s, refused := source(t, f)
			wants(t, read(t, s, nobody), nobody, c.want...)
			if c.reason != nil {
				refusedFor(t, refused(price.IDOf(nobody)), c.reason)
			}
		})
	}
}

// TestTheDeepest checks that only the deepest of many pools with one coin are read again.
func TestTheDeepest(t *testing.T) {
	f := mainnet(t)
	at := []common.Address{hex("0xa1"), hex("0xa2"), hex("0xa3")}
	for i, balance := range []int64{50_000, 40_000, 60_000} {
		f.pool(1, nobody.Address, 18, fakePool{tier: feeTiers[i], at: at[i], coin: usdc1, micro: 2_000_000, balance: balance, mean: 2_000_000})
	}
	queried := map[common.Address]bool{}
	f.twist = func(qs []chain.Question, answers [][]byte) [][]byte {
		for _, q := range qs {
			queried[q.To] = true
		}
		return answers
	}
	s, _ := source(t, f)
	wants(t, read(t, s, nobody), nobody, "uniswap-v3 1.99")
	if !queried[at[0]] || queried[at[1]] || !queried[at[2]] {
		t.Errorf("asked %v", queried)
	}
}

func TestMemoIsBounded(t *testing.T) {
	var m ttlCache[int]
	for i := range 3 * maxCached {
		m.put(common.BigToAddress(big.NewInt(int64(i))), i, noon)
		if v, ok := m.get(common.BigToAddress(big.NewInt(int64(i))), noon); !ok || v != i || len(m.kept) > maxCached {
			t.Fatalf("%d: %d, %t, %d kept", i, v, ok, len(m.kept))
		}
	}
}

// TestBothSides checks that a pool of two coins prices both, in whatever order it was
// found.
func TestBothSides(t *testing.T) {
	for range 20 {
		f := mainnet(t)
		f.pool(1, usdc.Address, 6, fakePool{tier: 500, at: hex("0xa2"), coin: weth1, micro: 333, balance: 333, mean: 333})
		f.pool(1, weth1.address, 18, fakePool{tier: 500, at: hex("0xa2"), coin: usdc1, micro: 3003_000_000, balance: 1_000_000, mean: 3003_000_000})
		s, _ := source(t, f)
		got := read(t, s, ether, usdc)
		wants(t, got, ether, "chainlink 3000.00", "uniswap-v3 3002.69")
		if len(got[price.IDOf(usdc)]) != 2 {
			t.Fatalf("USDC: %v", got[price.IDOf(usdc)])
		}
	}
}

// TestNoCircle checks that coins that pools are quoted in are priced by oracles only.
func TestNoCircle(t *testing.T) {
	f := newFake()
	f.pool(1, weth1.address, 18, fakePool{tier: 500, at: hex("0xa2"), coin: usdc1, micro: 3000_000_000, balance: 9_000_000, mean: 3000_000_000})
	f.pool(1, usdc.Address, 6, fakePool{tier: 500, at: hex("0xa2"), coin: weth1, micro: 333, balance: 3000, mean: 333})
	f.pool(1, nobody.Address, 18, fakePool{tier: 500, at: hex("0xa3"), coin: weth1, micro: 1000, balance: 3000, mean: 1000})
	s, refused := source(t, f)
	if got := read(t, s, ether, usdc, nobody); len(got) != 0 {
		t.Errorf("without any oracle: %v", got)
	}
	refusedFor(t, refused(price.IDOf(nobody)), errQuote)
}

// TestPeggedCoin checks chain 56, whose dollar coins are bridged. They have the price of
// the issuer's coins while their pool with the native coin agrees.
func TestPeggedCoin(t *testing.T) {
	usdt := chainConfigs[56].dollars[0]
	dollar := tokenAt(56, usdt.address.Hex(), "USDT", 18)
	other := tokenAt(56, "0x00000000000000000000000000000000000000ff", "XYZ", 18)
	for micro, want := range map[int64][2][]string{
		1111: {{"chainlink 1.00", "uniswap-v3 0.99"}, {"uniswap-v3 2.00"}}, // at 900 dollars
		900:  {{"uniswap-v3 0.80"}, nil},
		0:    {nil, nil},
	} {
		f := newFake()
		f.feed(56, feedOf(t, tokenAt(56, "", "BNB", 18)).address, 900_000_000, noon.Add(-time.Minute))
		f.feed(56, feedOf(t, dollar).address, 1_000_000, noon.Add(-time.Minute))
		if micro > 0 {
			f.pool(56, usdt.address, 18, fakePool{tier: 500, at: hex("0xe1"), coin: chainConfigs[56].wrapped, micro: micro, balance: 5000, mean: micro})
		}
		f.pool(56, other.Address, 18, fakePool{tier: 500, at: hex("0xe2"), coin: usdt, micro: 2_000_001, balance: 50_000, mean: 2_000_000})
		s, _ := source(t, f)
		got := read(t, s, dollar, other)
		wants(t, got, dollar, want[0]...)
		wants(t, got, other, want[1]...)
	}
}

// TestSuperseed checks DIA's adapters, and Velodrome's pools priced by the dollar coin's
// feed on its home chain.
func TestSuperseed(t *testing.T) {
	coins := chainConfigs[5330]
	eth, supr := tokenAt(5330, "", "ETH", 18), tokenAt(5330, "0x6EA1fFcbD7F5D210dB07D9E773862B0512fA219B", "SUPR", 18)
	f := mainnet(t)
	f.feed(5330, feedOf(t, eth).address, 3000_000_000, noon.Add(-23*time.Hour))
	f.round(5330, feedOf(t, eth).address, 0, big.NewInt(3000_00000000), noon, noon.Add(-23*time.Hour)) // rounds without numbers
	f.pool(5330, coins.dollars[0].address, 6, fakePool{tier: 100, at: hex("0xe1"), coin: coins.wrapped, micro: 333, balance: 500, mean: 333})
	f.pool(5330, supr.Address, 18, fakePool{market: 1, tier: 200, at: hex("0xe2"), coin: coins.dollars[0], micro: 4_000, balance: 30_000, mean: 4_000})
	s, _ := source(t, f)
	usd := tokenAt(5330, coins.dollars[0].address.Hex(), "USDC", 6)
	got := read(t, s, eth, supr, usd)
	wants(t, got, eth, "dia 3000.00")
	wants(t, got, usd, "velodrome 0.99") // the feed of its canonical token is used for pools only
	rs, err := s.Now(t.Context(), []tokens.Token{supr})
	if err != nil || len(rs) != 1 || rs[0].Source != price.Velodrome || rs[0].Value.Fixed(6) != "0.003999" {
		t.Fatalf("Now = %v, %v; want Velodrome's 0.003999", rs, err)
	}
	if f.calls[1] == 0 {
		t.Error("chain 1 was not asked for the dollar coin")
	}
	f.fails[1] = chain.ErrNoNetwork
	s, _ = source(t, f)
	if got := read(t, s, eth, supr); len(got[price.IDOf(supr)]) != 0 {
		t.Errorf("without chain 1: %v", got)
	}
}

// TestMonad checks that MON is priced by its feed on 42161.
func TestMonad(t *testing.T) {
	mon := tokenAt(143, "", "MON", 18)
	f := newFake()
	at := feedOf(t, mon)
	f.feed(at.on, at.address, 50_000, noon.Add(-time.Minute))
	f.up(42161, noon.Add(-48*time.Hour))
	s, _ := source(t, f)
	wants(t, read(t, s, mon), mon, "chainlink 0.05")
	f.up(42161, noon.Add(-time.Minute))
	s, _ = source(t, f)
	wants(t, read(t, s, mon), mon)
}

// TestRemembered checks that decimals, sources and pools are looked up once in six hours.
func TestRemembered(t *testing.T) {
	f := mainnet(t)
	f.feed(1, feedOf(t, link).address, 15_000_000, noon.Add(-time.Minute))
	f.pool(1, link.Address, 18, fakePool{tier: 3000, at: hex("0xa1"), coin: weth1, micro: 5_000, balance: 100, mean: 5_000})
	queries := map[string]int{}
	f.twist = func(qs []chain.Question, answers [][]byte) [][]byte {
		for _, q := range qs {
			queries[string(q.Data[:4])]++
		}
		return answers
	}
	now := noon
	s := New(f, Options{Now: func() time.Time { return now }})
	once := []string{"decimals()", "getSourceOfAsset(address)", "getPool(address,address,uint24)", "getPair(address,address)"}
	counts := func() (n int) {
		for _, signature := range once {
			m := selector(signature)
			n += queries[string(m[:])]
		}
		return n
	}
	read(t, s, ether, link)
	after, total := counts(), f.calls[1]
	read(t, s, ether, link)
	if counts() != after || after == 0 {
		t.Errorf("asked %d times, then %d", after, counts())
	}
	if calls := f.calls[1] - total; calls > 3 {
		t.Errorf("%d calls for what is known", calls)
	}
	now = noon.Add(cacheTTL)
	f.block[1] = now
	read(t, s, ether, link)
	if counts() != 2*after {
		t.Errorf("after six hours asked %d times, want %d", counts(), 2*after)
	}
}

// TestManyTokens checks that a long list is limited and its pools are searched for step by
// step.
func TestManyTokens(t *testing.T) {
	f := mainnet(t)
	var ts []tokens.Token
	for i := range maxTokens + 10 {
		ts = append(ts, tokenAt(1, fmt.Sprintf("0x%x", 0xff0000+i), "T", 18))
	}
	s, refused := source(t, f)
	read(t, s, ts...)
	find := 0
	f.twist = func(qs []chain.Question, answers [][]byte) [][]byte {
		for _, q := range qs {
			if q.To == chainConfigs[1].markets[0].factory {
				find++
			}
		}
		return answers
	}
	read(t, s, ts...)
	if find == 0 || find > maxSearches*3*4 {
		t.Errorf("%d pools were looked for", find)
	}
	if f.maxQuestions > defaultAtOnce {
		t.Errorf("%d questions in one call", f.maxQuestions)
	}
	if len(refused(price.IDOf(ts[maxTokens]))) == 0 || len(refused(price.IDOf(ts[maxTokens-1]))) != 0 {
		t.Error("the bound of tokens is another")
	}
}

// TestAFailingChain checks that a failing chain does not affect others and is paused after
// some failures.
func TestAFailingChain(t *testing.T) {
	bnb := tokenAt(56, "", "BNB", 18)
	f := mainnet(t)
	f.fails[56] = chain.ErrUnreachable
	f.feed(56, feedOf(t, bnb).address, 900_000_000, noon.Add(-time.Minute))
	now := noon
	s := New(f, Options{Now: func() time.Time { return now }})
	fetch := func(want error) {
		t.Helper()
		rs, err := s.Now(t.Context(), []tokens.Token{ether, bnb})
		if !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
		wants(t, readingTexts(rs), ether, "chainlink 3000.00")
	}
	for range failuresAllowed {
		fetch(chain.ErrUnreachable)
	}
	fetch(nil)
	if f.calls[56] != failuresAllowed {
		t.Errorf("asked %d times", f.calls[56])
	}
	now = now.Add(firstPause)
	fetch(chain.ErrUnreachable)
	now = now.Add(firstPause)
	fetch(nil) // the pause has doubled
	delete(f.fails, 56)
	now = now.Add(firstPause)
	f.block[56], f.block[1] = now, now
	rs, err := s.Now(t.Context(), []tokens.Token{bnb})
	if err != nil || len(rs) != 1 {
		t.Errorf("after it: %v, %v", rs, err)
	}
}

// TestNotServed checks that a chain without endpoints is not a failure.
func TestNotServed(t *testing.T) {
	f := mainnet(t)
	f.fails[10] = fmt.Errorf("chain 10: %w", chain.ErrNoNetwork)
	s, _ := source(t, f)
	for range 5 {
		got := read(t, s, ether, tokenAt(10, "", "ETH", 18), tokenAt(39, "", "U2U", 18), tokenAt(7, "", "X", 18))
		wants(t, got, ether, "chainlink 3000.00")
	}
}

// A slowChain blocks calls to one chain until they are cancelled.
type slowChain struct {
	*fakeChain
	slow uint64
}

func (c slowChain) Ask(ctx context.Context, id uint64, qs []chain.Question) ([][]byte, error) {
	if id == c.slow {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return c.fakeChain.Ask(ctx, id, qs)
}

// TestDeadline checks that a chain that does not answer costs only the deadline.
func TestDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(slowChain{mainnet(t), 56}, Options{Now: func() time.Time { return noon }})
		began := time.Now()
		rs, err := s.Now(t.Context(), []tokens.Token{ether, tokenAt(56, "", "BNB", 18)})
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != defaultDeadline {
			t.Errorf("%v after %s", err, time.Since(began))
		}
		wants(t, readingTexts(rs), ether, "chainlink 3000.00")
	})
}

// TestCancelled checks that cancelling by the caller does not count as a failure of the
// chain.
func TestCancelled(t *testing.T) {
	f := mainnet(t)
	s, _ := source(t, f)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 2 * failuresAllowed {
		if _, err := s.Now(ctx, []tokens.Token{ether}); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	wants(t, read(t, s, ether), ether, "chainlink 3000.00")
}

func TestMarketCaps(t *testing.T) {
	f := mainnet(t)
	f.feed(1, feedOf(t, link).address, 15_000_000, noon.Add(-time.Minute))
	f.set(1, link.Address, call("totalSupply()"), enc(big10(1_000_000_000, 18)))
	f.set(1, usdc.Address, call("totalSupply()"), enc(-1)) // more than all money
	f.set(1, weth1.address, call("totalSupply()"), nil)
	s, _ := source(t, f)
	caps, err := s.MarketCaps(t.Context(), []tokens.Token{ether, wrapped, link, usdc, nobody})
	if err != nil || len(caps) != 1 || caps[price.IDOf(link)].Fixed(2) != "15000000000.00" {
		t.Errorf("MarketCaps = %v, %v; want 15000000000.00 for LINK alone", caps, err)
	}
	f.pool(1, link.Address, 18, fakePool{tier: 3000, at: hex("0xa1"), coin: weth1, micro: 4_000, balance: 100, mean: 4_000})
	s, _ = source(t, f)
	if caps, err := s.MarketCaps(t.Context(), []tokens.Token{link}); err != nil || len(caps) != 0 {
		t.Errorf("with a pool that disagrees: %v, %v", caps, err)
	}
	if n, err := s.Holders(t.Context(), []tokens.Token{link}); n != nil || err != nil {
		t.Errorf("Holders = %v, %v; want none and no error", n, err)
	}
}

// TestTable checks that every feed is on a chain that is read, every row is about a chain
// in places, and the coins of pools have oracles.
func TestTable(t *testing.T) {
	for id, fs := range oracles().feeds {
		for _, f := range fs {
			if _, ok := chainConfigs[f.on]; !ok || f.maxAge == 0 {
				t.Errorf("the feed of %v is on chain %d, for %s", id, f.on, f.maxAge)
			}
			if _, ok := chainConfigs[id.Chain]; !ok || id.Address == tokens.Native {
				t.Errorf("%v has a feed and no place", id)
			}
		}
	}
	for id, p := range chainConfigs {
		n, ok := chain.NetworkByID(id)
		if !ok || n.WrappedNative != p.wrapped.address {
			t.Errorf("chain %d wraps its coin as %s", id, p.wrapped.address)
		}
		for _, c := range p.coins() {
			if len(oracles().feeds[price.ID{Chain: id, Address: c.address}]) == 0 {
				t.Errorf("pools of chain %d are quoted in %s, which no oracle prices", id, c.address)
			}
		}
		group := 0
		for _, mk := range p.markets {
			group += len(p.coins()) * max(1, len(mk.tiers))
		}
		if group+2*len(stampQuestions) > minAtOnce {
			t.Errorf("chain %d: %d questions belong together", id, group)
		}
	}
	if _, err := tableOf([]byte(`{"feeds":[{"chain":1,"kind":"oracle"}]}`)); err == nil {
		t.Error("a feed of no kind is taken")
	}
}
