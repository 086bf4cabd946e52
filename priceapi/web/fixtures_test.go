package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"swapkeep/priceapi/poll"
	"swapkeep/priceapi/price"
	"swapkeep/priceapi/pricetable"
	"swapkeep/tokens"

	"github.com/ethereum/go-ethereum/common"
)

// then is the current time in the tests.
var then = time.Date(2025, 12, 27, 10, 15, 30, 123456789, time.UTC)

var errDisk = errors.New("the disk is gone")

// charts is an in-memory history that can be made to fail.
type charts struct {
	fails    atomic.Bool
	coverage atomic.Int32 // number of Coverages calls
}

func (c *charts) Chart(_ context.Context, id price.ID, p price.Period, now time.Time) ([]price.Candle, error) {
	if c.fails.Load() {
		return nil, errDisk
	}
	var all []price.Candle
	for at := now.Add(-p.Span).Truncate(p.Step).Add(p.Step); !at.After(now); at = at.Add(p.Step) {
		v := dollars(fmt.Sprint(3000+at.Minute(), ".", id.Chain))
		all = append(all, price.Candle{At: at, Open: v, High: v.Times(dollars("1.01"), dollars("1")), Low: v.Times(dollars("0.99"), dollars("1")), Close: v})
	}
	return all, nil
}

func (c *charts) Coverages(context.Context, time.Time) ([]poll.Coverage, error) {
	c.coverage.Add(1)
	if c.fails.Load() {
		return nil, errDisk
	}
	return []poll.Coverage{
		{ID: price.ID{Chain: 1, Address: weth}, Since: then.Add(-31 * 24 * time.Hour), Points: map[string]int{"24h": 288, "week": 336, "month": 180}},
		{ID: price.ID{Chain: 10}, Since: then.Add(-time.Hour), Points: map[string]int{"24h": 12, "week": 0}},
		{ID: price.ID{Chain: 1, Address: secretToken}, Since: then, Points: map[string]int{"24h": 1}},
	}, nil
}

func (c *charts) Totals(context.Context) (poll.Totals, error) {
	if c.fails.Load() {
		return poll.Totals{}, errDisk
	}
	return poll.Totals{Fetches: 43200, Successful: 43187, Took: 43200 * 840 * time.Millisecond}, nil
}

var (
	weth        = common.HexToAddress("0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2")
	opWeth      = common.HexToAddress("0x4200000000000000000000000000000000000006") // on 10, 8453 and 5330
	secretToken = common.HexToAddress("0x5ec2e70000000000000000000000000000000001")
	newToken    = common.HexToAddress("0x1e70000000000000000000000000000000000001") // no price yet
)

func dollars(text string) price.Value {
	v, err := price.Parse(text)
	if err != nil {
		panic(err)
	}
	return v
}

// row returns a token with a price and one of 24 hours earlier; "" = none.
func row(chain uint64, a common.Address, symbol, now, ago, marketCap string) pricetable.Row {
	r := pricetable.Row{
		Token:  tokens.Token{Chain: chain, Address: a, Symbol: symbol, Name: symbol + " token", Decimals: 18},
		Public: true,
		Facts:  price.Facts{MarketCap: dollars(marketCap), Holders: 837494},
	}
	if now != "" {
		r.Now = price.Sample{Value: dollars(now), At: then.Add(-52 * time.Second), Source: price.DefiLlama}
	}
	if ago != "" {
		r.DayAgo = price.Sample{Value: dollars(ago), At: then.Add(-24 * time.Hour), Source: price.DefiLlama}
	}
	return r
}

func rows() []pricetable.Row {
	stale := row(56, weth, "OLD", "1.5", "", "5000")
	stale.Stale = true
	hidden := row(1, secretToken, "SECRET", "7", "6", "999999999999")
	hidden.Public = false
	diluted := row(8453, opWeth, "WETH", "3049.9", "3050", "300000")
	diluted.Facts.Diluted = true
	return []pricetable.Row{
		row(1, common.Address{}, "ETH", "3050.12", "2998.4", "367000000000.129"),
		row(1, weth, "WETH", "3050.120000000000000001", "2998.4", "9008047197.7"),
		row(10, common.Address{}, "ETH", "3050.13", "3060", "366000000000"),
		row(10, opWeth, "WETH", "3050.14", "3050.14", "1000000"),
		row(56, common.Address{}, "BNB", "600", "", "80000000000"),
		row(5330, opWeth, "WETH", "0.000000000000000001", "100000000000000000000", "20"),
		row(5330, common.HexToAddress("0x6EA1fFcbD7F5D210dB07D9E773862B0512fA219B"), "SUPR", "0.1", "0.000000000000000001", "0"),
		row(1, newToken, "<NEW>&", "", "", "0"),
		stale, hidden, diluted,
	}
}

// many returns n tokens with prices.
func many(n int) []pricetable.Row {
	all := make([]pricetable.Row, n)
	for i := range all {
		a := common.BigToAddress(big.NewInt(int64(i + 1000)))
		all[i] = row([]uint64{1, 10, 56, 8453, 5330}[i%5], a, fmt.Sprintf("TOK%d", i), fmt.Sprint(i+1, ".25"), fmt.Sprint(i+1, ".125"), fmt.Sprint(1_000_000_000-i, ".5"))
	}
	return all
}

// config returns a complete configuration with a feed of the tests' tokens.
func config() Config {
	feed := pricetable.NewFeed()
	feed.Publish(pricetable.New(7, then.Add(-30*time.Second), rows()))
	return Config{
		Feed: feed, Charts: &charts{}, Version: "1.2.3", Now: func() time.Time { return then },
		Health: func(context.Context) Health { return Health{Healthy, "bbolt: ok", "in-process: ok"} },
	}
}

// A site is an API served on loopback.
type site struct {
	*API
	url, address string
	stop         context.CancelFunc
	ended        chan error
}

// serve serves an API until the test ends, and checks that it ends without an error.
func serve(t testing.TB, c Config) *site {
	t.Helper()
	a, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	s := &site{API: a, url: "http://" + l.Addr().String(), address: l.Addr().String(), stop: stop, ended: make(chan error, 1)}
	go func() { s.ended <- a.Serve(ctx, l) }()
	t.Cleanup(func() {
		stop()
		if err := <-s.ended; err != nil {
			t.Error(err)
		}
	})
	return s
}

// A reply is a response that has been read.
type reply struct {
	status int
	header http.Header
	body   string
}

func (s *site) get(t testing.TB, path string, header ...string) reply {
	t.Helper()
	return s.ask(t, http.MethodGet, path, header...)
}

// ask sends a request; header alternates names and values.
func (s *site) ask(t testing.TB, method, path string, header ...string) reply {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, s.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Add(header[i], header[i+1])
		if header[i] == "Host" {
			req.Host = header[i+1]
		}
	}
	res, err := direct.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply{res.StatusCode, res.Header, string(body)}
}

// direct follows no redirects and unpacks nothing.
var direct = &http.Client{
	Transport:     &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 16},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// into decodes a reply's JSON.
func into[T any](t testing.TB, r reply) (v T) {
	t.Helper()
	if err := json.Unmarshal([]byte(r.body), &v); err != nil {
		t.Fatalf("%v: %.200s", err, r.body)
	}
	return v
}

// UnmarshalJSON lets the tests decode records.
func (n *Number) UnmarshalJSON(b []byte) error {
	*n = Number(b)
	return nil
}
