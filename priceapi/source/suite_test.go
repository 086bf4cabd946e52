package source

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"swapkeep/priceapi/poll"
	"swapkeep/priceapi/price"
	"swapkeep/rest"
	"swapkeep/tokens"

	"github.com/ethereum/go-ethereum/common"
	"golang.org/x/time/rate"
)

// testNow is when the recorded replies were given.
var testNow = time.Date(2026, 11, 22, 14, 0, 0, 0, time.UTC)

func clock() time.Time { return testNow }

// A recorded reply answers calls whose path contains the given text.
type recorded struct {
	path string
	file string // in testdata
	read reader // for fuzzing
	asks func([]tokens.Token) *keySet
}

// A subject is a source under test.
type subject struct {
	name    string
	open    func(Config) (any, error)
	replies []recorded
	perCall int  // most keys per call
	burst   int  // calls at once
	few     bool // needs so many calls that lies are tested on two chains only
}

// asks returns the tokens for the lie tests.
func (s subject) asks() []tokens.Token {
	elsewhere := func(t tokens.Token) bool { return s.few && t.Chain != 1 && t.Chain != 56 }
	return slices.DeleteFunc(slices.Clone(testTokens), elsewhere)
}

// on returns the keys of one chain.
func on(chain uint64, slug string, key func(tokens.Token) string) func([]tokens.Token) *keySet {
	return func(ts []tokens.Token) *keySet {
		for _, a := range byChain(ts, func(uint64) string { return slug }, key) {
			if a.chain == chain {
				return a
			}
		}
		return new(keySet)
	}
}

// one requests a single token.
func one(t tokens.Token) func([]tokens.Token) *keySet {
	return func([]tokens.Token) *keySet {
		a := &keySet{chain: t.Chain}
		a.add(tokenKey(t), price.IDOf(t))
		return a
	}
}

func natives(ts []tokens.Token) *keySet {
	a := new(keySet)
	for _, t := range ts {
		if t.Address == tokens.Native {
			a.add(networks[t.Chain].coin, price.IDOf(t))
		}
	}
	return a
}

func hostedKey(t tokens.Token) string { return strings.ToLower(t.Address.Hex()) }

// page adapts a list to a reader.
func page(l list) reader {
	return func(r *rest.Reply, asks *keySet, to *results) error {
		_, _, err := l.read(r, asks, to)
		return err
	}
}

var subjects = []subject{
	{
		name: "defillama", open: opener(NewDefiLlama), perCall: 100, burst: 20,
		replies: []recorded{
			{"/prices/current/", "defillama-prices", readLlamaPrices, llamaAsks},
			{"/mcaps", "defillama-mcaps", readLlamaCaps, llamaAsks},
			{"/chart/", "defillama-chart", readLlamaChart, llamaAsks},
		},
	},
	{
		name: "geckoterminal", open: opener(NewGeckoTerminal), perCall: 30, burst: 10,
		replies: []recorded{
			{"/networks/eth/token_price/", "geckoterminal-eth", readGeckoPrices, on(1, "eth", marketKey)},
			{"/networks/optimism/token_price/", "geckoterminal-optimism", readGeckoPrices, on(10, "optimism", marketKey)},
			{"/networks/bsc/token_price/", "geckoterminal-bsc", readGeckoPrices, on(56, "bsc", marketKey)},
			{"/tokens/0x55d398326f99059ff775485246999027b3197955/info", "geckoterminal-info", readGeckoHolders, one(usdtOnBSC)},
			{"/token_price/", "geckoterminal-other", nil, nil},
		},
	},
	{
		name: "coingecko", open: openCoinGecko, perCall: 30, burst: 10,
		replies: []recorded{
			{"/simple/price", "coingecko-price", readCoinGecko, natives},
			{"/token_price/ethereum", "coingecko-ethereum", readCoinGecko, on(1, "ethereum", tokenKey)},
			{"/token_price/", "coingecko-other", nil, nil},
		},
	},
	{
		name: "dexscreener", open: opener(NewDexScreener), perCall: 10, burst: 20,
		replies: []recorded{
			{"/tokens/v1/ethereum/", "dexscreener-ethereum", readPairs, on(1, "ethereum", marketKey)},
			{"/tokens/v1/bsc/", "dexscreener-bsc", readPairs, on(56, "bsc", marketKey)},
			{"/tokens/v1/", "dexscreener-other", nil, nil},
		},
	},
	{
		name: "blockscout", open: openBlockscout, perCall: 1, burst: 60,
		replies: []recorded{
			{"/1/api/v2/tokens/0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48", "blockscout-usdc", readExplorer, one(usdcOnEthereum)},
			{"/5330/api/v2/tokens/0x6ea1ffcbd7f5d210db07d9e773862b0512fa219b", "blockscout-supr", readExplorer, one(supr)},
			{"/5330/api/v2/tokens/0xc316c8252b5f2176d0135ebb0999e99296998f2e", "blockscout-old", readExplorer, one(usdcOnSuperseed)},
		},
	},
	{
		name: "goplus", open: opener(NewGoPlus), perCall: 20, burst: 10,
		replies: []recorded{{"/token_security/56", "goplus", readSecurity, on(56, "56", tokenKey)}, {"/token_security/", "goplus", nil, nil}},
	},
	{
		name: "hosted", open: opener(NewHosted), perCall: 1, burst: 30, few: true,
		replies: []recorded{
			{"/api/v1/tokens?chain_id=1&", "hosted-tokens-1", page(allTokens), on(1, "1", hostedKey)},
			{"/api/v1/tokens?chain_id=56&", "hosted-tokens-56", page(allTokens), on(56, "56", hostedKey)},
			{"/api/v1/tokens/price24h?chain_id=1&", "hosted-day-1", page(dayOld), on(1, "1", hostedKey)},
			{"/api/v1/tokens/price24h?chain_id=56&", "hosted-day-56", page(dayOld), on(56, "56", hostedKey)},
			{"/api/v1/tokens", "hosted-none", nil, nil},
		},
	},
}

func opener[T any](open func(Config) (*T, error)) func(Config) (any, error) {
	return func(c Config) (any, error) { return open(c) }
}

// endless is a budget that never runs out.
func endless() *budget { return &budget{rate.NewLimiter(rate.Inf, budgetBurst)} }

func openCoinGecko(c Config) (any, error) {
	if c.Key == nil {
		c.Key = func(context.Context) (string, error) { return "demo-key", nil }
	}
	g, err := NewCoinGecko(c)
	if err == nil {
		g.prices, g.caps = endless(), endless()
	}
	return g, err
}

// openBlockscout opens an explorer for each of two chains under one base URL.
func openBlockscout(c Config) (any, error) {
	c.Hosts = map[uint64]string{1: c.Base + "/1", superseed: c.Base + "/5330"}
	c.Base = ""
	return NewBlockscout(c)
}

func token(chain uint64, address string) tokens.Token {
	return tokens.Token{Chain: chain, Address: common.HexToAddress(address)}
}

var (
	usdcOnEthereum  = token(1, "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48")
	usdtOnBSC       = token(56, "0x55d398326f99059fF775485246999027B3197955")
	supr            = token(5330, "0x6EA1fFcbD7F5D210dB07D9E773862B0512fA219B")
	usdcOnSuperseed = token(5330, "0xC316C8252B5F2176d0135Ebb0999E99296998F2e")
)

// testTokens are requested. The recorded replies know most of them, and one more.
var testTokens = []tokens.Token{
	token(1, "0x0"), token(10, "0x0"), token(56, "0x0"), token(8453, "0x0"), token(5330, "0x0"), token(143, "0x0"),
	token(1, "0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2"), usdcOnEthereum,
	token(10, "0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85"), token(56, "0xbb4CdB9CBd36B01bD1cBaEBF2De08d9173bc095c"), usdtOnBSC,
	supr, usdcOnSuperseed, token(99999, "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"),
}

// quick are limits that do not slow tests down.
func quick() rest.Limits {
	return rest.Limits{Attempts: 1, Rate: rate.Inf, Burst: 10_000, Attempt: 15 * time.Second, Call: 18 * time.Second}
}

// A stage is a test server whose handler can be changed.
type stage struct {
	url     string
	handler atomic.Pointer[http.HandlerFunc]
	calls   atomic.Int32
}

func newStage(t *testing.T) *stage {
	t.Helper()
	s := new(stage)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.calls.Add(1)
		b, _ := io.ReadAll(r.Body) // the server notices a closed connection only after the body is read
		r.Body = io.NopCloser(bytes.NewReader(b))
		(*s.handler.Load())(w, r)
	}))
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

func (s *stage) serve(h http.HandlerFunc) { s.handler.Store(&h) }

// play answers with the recorded replies, some of them replaced, and 404 for other paths.
func (s *stage) play(t testing.TB, replies []recorded, replaced map[string][]byte) {
	bodies := make(map[string][]byte)
	for _, r := range replies {
		bodies[r.file] = recording(t, r.file)
	}
	maps.Copy(bodies, replaced)
	s.serve(func(w http.ResponseWriter, r *http.Request) {
		for _, one := range replies {
			if strings.Contains(r.URL.RequestURI(), one.path) {
				answer(w, http.StatusOK, bodies[one.file])
				return
			}
		}
		answer(w, http.StatusNotFound, []byte(`{"message":"Not found"}`))
	})
}

func answer(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Date", testNow.Format(http.TimeFormat))
	w.WriteHeader(status)
	_, _ = w.Write(body) // a client that has gone gets its own error
}

// recordedAs returns the recorded reply of a file.
func recordedAs(file string) recorded {
	for _, s := range subjects {
		for _, r := range s.replies {
			if r.file == file {
				return r
			}
		}
	}
	panic("no reply is recorded as " + file)
}

func recording(t testing.TB, file string) []byte {
	t.Helper()
	b, err := os.ReadFile("testdata/" + file + ".json")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func (s subject) opened(t *testing.T, at *stage, l rest.Limits) any {
	t.Helper()
	x, err := s.open(Config{Base: at.url, Reach: rest.LoopbackOnly, Now: clock, Limits: l})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(x.(interface{ Close() }).Close)
	return x
}

// An outcome is everything a source returned, as text by method and token.
type outcome struct {
	texts map[string]string
	errs  map[string]error // by method
}

// since and step are the arguments for archives.
var (
	since = testNow.Add(-6 * time.Hour)
	step  = time.Hour
)

// methods are the requests that a source may support.
var methods = map[string]func(context.Context, any, []tokens.Token, map[string]string) error{
	"now": func(ctx context.Context, x any, ts []tokens.Token, lines map[string]string) error {
		s, ok := x.(poll.Source)
		if !ok {
			return errNotServed
		}
		readings, err := s.Now(ctx, ts)
		for _, r := range readings {
			put(lines, "now", r.ID, describe(r))
		}
		return err
	},
	"past": func(ctx context.Context, x any, ts []tokens.Token, lines map[string]string) error {
		s, ok := x.(poll.Archive)
		if !ok {
			return errNotServed
		}
		candles, err := s.Past(ctx, ts, since, step)
		for id, all := range candles {
			put(lines, "past", id, chart(all))
		}
		return err
	},
	"caps": func(ctx context.Context, x any, ts []tokens.Token, lines map[string]string) error {
		s, ok := x.(poll.MetadataSource)
		if !ok {
			return errNotServed
		}
		caps, err := s.MarketCaps(ctx, ts)
		for id, v := range caps {
			put(lines, "caps", id, short(v))
		}
		return err
	},
	"holders": func(ctx context.Context, x any, ts []tokens.Token, lines map[string]string) error {
		s, ok := x.(poll.MetadataSource)
		if !ok {
			return errNotServed
		}
		holders, err := s.Holders(ctx, ts)
		for id, n := range holders {
			line := fmt.Sprint(n)
			if n == 0 {
				line += bad
			}
			put(lines, "holders", id, line)
		}
		return err
	},
}

var errNotServed = errors.New("not served")

// bad marks a value that must never be returned.
const bad = " BAD"

func describe(r price.Reading) string {
	line := short(r.Value) + " at " + r.At.Format(time.TimeOnly) + " from " + r.Source.String()
	if !r.DayAgo.IsZero() {
		line += " after " + short(r.DayAgo)
	}
	if c := r.Confidence; c != nil {
		line += fmt.Sprintf(" sure %.3f", *c)
		if !(*c >= 0 && *c <= 1) {
			line += bad
		}
	}
	if r.At.After(testNow) || r.At.Unix() <= 0 {
		line += bad
	}
	return line
}

func chart(all []price.Candle) string {
	var lines []string
	for i, c := range all {
		line := fmt.Sprintf("%s %s %s %s %s", c.At.Format("15:04"), short(c.Open), short(c.High), short(c.Low), short(c.Close))
		if c.At.Before(since) || c.At.After(testNow) || c.At != c.At.Truncate(step) || i > 0 && !c.At.After(all[i-1].At) || c.High.Cmp(c.Low) < 0 {
			line += bad
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, ", ")
}

// short formats a value without trailing zeros.
func short(v price.Value) string {
	if v.IsZero() || v.Cmp(price.Max) > 0 {
		return v.String() + bad
	}
	return strings.TrimRight(strings.TrimRight(v.String(), "0"), ".")
}

func put(lines map[string]string, what string, id price.ID, line string) {
	key := what + " " + whose(id)
	if _, twice := lines[key]; twice {
		line += bad
	}
	lines[key] = line
}

func whose(id price.ID) string {
	return fmt.Sprintf("%d %s", id.Chain, strings.ToLower(id.Address.Hex()[:8]))
}

// all calls every method of a source.
func all(ctx context.Context, x any, ts []tokens.Token) outcome {
	out := outcome{make(map[string]string), make(map[string]error)}
	for name, ask := range methods {
		if err := ask(ctx, x, ts, out.texts); err != nil && err != errNotServed {
			out.errs[name] = err
		}
	}
	return out
}

func (o outcome) lines() string {
	var b strings.Builder
	for _, k := range slices.Sorted(maps.Keys(o.texts)) {
		fmt.Fprintf(&b, "%s: %s\n", k, o.texts[k])
	}
	return b.String()
}
