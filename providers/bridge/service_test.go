package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"swapkeep/chain"
	"swapkeep/rest"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	"golang.org/x/time/rate"
)

func units(n int64) *big.Int { return big.NewInt(n) }

// providerAt returns a provider that gives up quickly.
func providerAt(t testing.TB, base string, now func() time.Time) *Provider {
	t.Helper()
	p, err := New(Config{
		Base: base, Sandbox: true, Now: now, Key: func(context.Context) (string, error) { return "test-key-of-nobody", nil },
		Limits: rest.Limits{Attempt: time.Second, Call: 2 * time.Second, Attempts: 1, Backoff: time.Millisecond, Rate: rate.Inf, Failures: 1000},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// chainsFor returns a list of chains with the built-in contracts.
func chainsFor(ids ...uint64) []byte {
	var entries []string
	for _, id := range ids {
		entries = append(entries, chainEntryFor(id, depositoryOf(id), true))
	}
	return fmt.Appendf(nil, `{"chains":[%s]}`, strings.Join(entries, ","))
}

func chainEntryFor(id uint64, depository common.Address, open bool) string {
	p := routerPairs[2]
	name := map[uint64]string{8453: "base", 42161: "arbitrum"}[id]
	return fmt.Sprintf(`{"id":%d,"vmType":"evm","disabled":%t,"depositEnabled":true,"protocol":{"v2":{"chainId":%q,"depository":%q}},"contracts":{"v3.2":{"erc20Router":%q,"approvalProxy":%q}}}`,
		id, !open, name, depository, p.router, p.proxy)
}

// recordedQuote returns a recorded reply to a quote request.
func recordedQuote(t testing.TB, name string) []byte {
	t.Helper()
	return recordedBody(t, name+".quote")
}

func bridgedUSDC() swap.QuoteRequest {
	return ask(8453, usdcOnBase, 42161, usdcOnArbitrum, 25_000_000, 40)
}

// TestChains checks that a route is only quoted between chains that the API has enabled,
// with the built-in depositories.
func TestChains(t *testing.T) {
	list := func(entries ...string) []byte { return fmt.Appendf(nil, `{"chains":[%s]}`, strings.Join(entries, ",")) }
	base, arbitrum := chainEntryFor(8453, depository, true), chainEntryFor(42161, depository, true)
	for name, c := range map[string]struct {
		list  []byte
		code  swap.Code
		field string
	}{
		"both":                                  {list(base, arbitrum), "", ""},
		"none":                                  {list(), swap.ProviderInvalidResponse, ""},
		"no destination":                        {list(base), swap.UnsupportedNetwork, "dstChainId"},
		"no source":                             {list(arbitrum), swap.UnsupportedNetwork, "srcChainId"},
		"a source that is closed":               {list(chainEntryFor(8453, depository, false), arbitrum), swap.UnsupportedNetwork, "srcChainId"},
		"a destination that is closed":          {list(base, chainEntryFor(42161, depository, false)), swap.UnsupportedNetwork, "dstChainId"},
		"another depository":                    {list(chainEntryFor(8453, testAttacker, true), arbitrum), swap.NotPinned, "depository"},
		"another depository at the destination": {list(base, chainEntryFor(42161, testAttacker, true)), swap.NotPinned, "depository"},
		"a chain of another kind":               {list(base, chainEntryFor(42161, londonDepository, true)), swap.NotPinned, "depository"},
		"a chain twice":                         {list(base, arbitrum, arbitrum), swap.UnsupportedNetwork, "dstChainId"},
		"another machine":                       {list(base, strings.Replace(arbitrum, "evm", "svm", 1)), swap.UnsupportedNetwork, "dstChainId"},
		"deposits switched off":                 {list(base, strings.Replace(arbitrum, `"depositEnabled":true`, `"depositEnabled":false`, 1)), swap.UnsupportedNetwork, "dstChainId"},
		"a chain that cannot be read":           {list(base, strings.Replace(arbitrum, "42161", `"Arbitrum"`, 1)), swap.UnsupportedNetwork, "dstChainId"},
		"other chains that cannot be read":      {list(base, arbitrum, `{"id":-1}`, `7`, `{"id":5,"vmType":"svm","protocol":{"v2":{"depository":"99vQwtBwYtrqqD9YSXbdum3KBdxPAVxYTaQ3cfnJSrN2"}}}`), "", ""},
		"a list that is not an array":           {[]byte(`{"chains":7}`), swap.ProviderInvalidResponse, "chains"},
		"a chain without the field disabled":    {list(base, strings.Replace(arbitrum, `"disabled":false,`, "", 1)), swap.UnsupportedNetwork, "dstChainId"},
		"a depository that is no address":       {list(base, strings.Replace(arbitrum, depository.Hex(), "lie", 1)), swap.UnsupportedNetwork, "dstChainId"},
	} {
		p := providerOf(t, map[string]http.HandlerFunc{"/chains": replying(200, c.list), "/quote/v2": replying(200, recordedQuote(t, "base-usdc-arbitrum"))})
		_, err := p.Quote(t.Context(), bridgedUSDC())
		var r *swap.Refusal
		switch {
		case c.code == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case c.code != "" && (!errors.As(err, &r) || r.Code != c.code || c.field != "" && r.Field != c.field):
			t.Errorf("%s: want %s (%s), got %v", name, c.code, c.field, err)
		}
	}
}

// TestChainsAreKept checks that one caller at a time requests the list, once an hour.
func TestChainsAreKept(t *testing.T) {
	var asked atomic.Int32
	p := providerOf(t, map[string]http.HandlerFunc{"/chains": func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		replying(200, chainsFor(1, 8453, 42161, 137, 59144, 143, 39))(w, r)
	}})
	now := testNow
	p.chains.now = func() time.Time { return now }
	for _, c := range []struct {
		after time.Duration
		asked int32
	}{{0, 1}, {59 * time.Minute, 1}, {60 * time.Minute, 2}, {-time.Hour, 3}} {
		now = testNow.Add(c.after)
		reached, err := p.Destinations(t.Context())
		if err != nil || asked.Load() != c.asked {
			t.Fatalf("after %s: asked %d times, %v", c.after, asked.Load(), err)
		}
		var ids []uint64
		for _, d := range reached {
			ids = append(ids, d.ChainID)
		}
		if want := []uint64{1, 137, 143, 8453, 42161, 59144}; !slices.Equal(ids, want) { // 39 is not supported
			t.Errorf("destinations %v, want %v", ids, want)
		}
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	p.chains.lock <- struct{}{} // a request is under way
	if _, err := p.chains.get(cancelled); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller that is gone: %v", err)
	}
	<-p.chains.lock
}

// TestRequestsRefused checks that what cannot be quoted is not sent.
func TestRequestsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*swap.QuoteRequest)
		code   swap.Code
	}{
		"a chain that the bridge does not serve":    {func(r *swap.QuoteRequest) { r.SrcChain = 39 }, swap.UnsupportedNetwork},
		"a chain nobody knows":                      {func(r *swap.QuoteRequest) { r.SrcChain = 137 }, swap.UnsupportedNetwork},
		"to a chain that the bridge does not serve": {func(r *swap.QuoteRequest) { r.DstChain = 39 }, swap.UnsupportedNetwork},
		"a plain transfer":                          {func(r *swap.QuoteRequest) { r.DstChain, r.TokenOut = r.SrcChain, r.TokenIn }, swap.SameToken},
		"nothing":                                   {func(r *swap.QuoteRequest) { r.AmountIn = units(0) }, swap.AmountZero},
		"no amount":                                 {func(r *swap.QuoteRequest) { r.AmountIn = nil }, swap.AmountZero},
		"more than 256 bits":                        {func(r *swap.QuoteRequest) { r.AmountIn = new(big.Int).Lsh(units(1), 256) }, swap.BadRequest},
		"no account":                                {func(r *swap.QuoteRequest) { r.Account = nativeCoin }, swap.BadRequest},
		"no refund address":                         {func(r *swap.QuoteRequest) { r.RefundTo = nativeCoin }, swap.BadRequest},
		"the depository, sold":                      {func(r *swap.QuoteRequest) { r.TokenIn = depository }, swap.BadRequest},
		"paid to a router":                          {func(r *swap.QuoteRequest) { r.Recipient = routerPairs[1].router }, swap.BadRequest},
		"a fee for nobody":                          {func(r *swap.QuoteRequest) { r.FeeReceiver = nativeCoin }, swap.BadRequest},
		"a fee above the bound":                     {func(r *swap.QuoteRequest) { r.FeeBps = 301 }, swap.BadRequest},
		"no slippage":                               {func(r *swap.QuoteRequest) { r.SlippageBps = 0 }, swap.SlippageBounds},
		"too much slippage":                         {func(r *swap.QuoteRequest) { r.SlippageBps = 5001 }, swap.SlippageBounds},
		"wrapping for somebody":                     {func(r *swap.QuoteRequest) { *r = wrapping(true); r.Recipient = testReceiver }, swap.UnsupportedRoute},
		"unwrapping with a fee":                     {func(r *swap.QuoteRequest) { *r = wrapping(false); r.FeeBps, r.FeeReceiver = 40, testReceiver }, swap.UnsupportedRoute},
		"a refund to the router":                    {func(r *swap.QuoteRequest) { r.RefundTo = routerPairs[0].proxy }, swap.BadRequest},
	} {
		p := providerOf(t, nil)
		r := bridgedUSDC()
		c.change(&r)
		if _, err := p.Quote(t.Context(), r); !errors.Is(err, &swap.Refusal{Code: c.code}) {
			t.Errorf("%s: want %s, got %v", name, c.code, err)
		}
	}
}

// TestLife: an offer lives for 30 s from its receipt. A Date in the past shortens that, one
// in the future does not lengthen it, and clocks that are far apart are refused.
func TestLife(t *testing.T) {
	for name, c := range map[string]struct {
		ahead, life time.Duration
		code        swap.Code
	}{
		"the same time":             {0, 30 * time.Second, ""},
		"one second behind":         {-time.Second, 30 * time.Second, ""},
		"eleven seconds behind":     {-11 * time.Second, 20 * time.Second, ""},
		"thirty-one seconds behind": {-31 * time.Second, 0, swap.ClockSkew},
		"twenty seconds ahead":      {20 * time.Second, 30 * time.Second, ""},
		"ten minutes ahead":         {10 * time.Minute, 0, swap.ClockSkew},
		"ten minutes behind":        {-10 * time.Minute, 0, swap.ClockSkew},
	} {
		date := testNow.Add(c.ahead).Format(http.TimeFormat)
		p := providerOf(t, map[string]http.HandlerFunc{"/chains": replying(200, chainsFor(8453, 42161)), "/quote/v2": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Date", date)
			replying(200, recordedQuote(t, "base-usdc-arbitrum"))(w, r)
		}})
		offers, err := p.Quote(t.Context(), bridgedUSDC())
		switch {
		case c.code != "" && !errors.Is(err, &swap.Refusal{Code: c.code}):
			t.Errorf("%s: %v", name, err)
		case c.code == "" && (err != nil || offers[0].Expires.Sub(testNow) != c.life):
			t.Errorf("%s: %v, %v", name, offers, err)
		}
	}
}

// TestErrors checks that every code of the API has exactly one row, and is reported by it.
func TestErrors(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range failures {
		if f.Code == "" {
			continue
		}
		if seen[f.Code] {
			t.Errorf("%s stands twice", f.Code)
		}
		seen[f.Code] = true
		body := fmt.Appendf(nil, `{"message":"in its own words","errorCode":%q}`, f.Code)
		p := providerOf(t, map[string]http.HandlerFunc{"/chains": replying(200, chainsFor(8453, 42161)), "/quote/v2": replying(400, body)})
		if _, err := p.Quote(t.Context(), bridgedUSDC()); !errors.Is(err, &swap.Refusal{Code: f.Is}) || !strings.Contains(err.Error(), f.Says) {
			t.Errorf("%s: %v", f.Code, err)
		}
	}
	if len(seen) != 38 {
		t.Errorf("%d codes", len(seen))
	}
}

// TestNoKey checks that without a key no header is sent, and the API's answer is reported.
func TestNoKey(t *testing.T) {
	var sent atomic.Value
	p := providerOf(t, map[string]http.HandlerFunc{"/chains": replying(200, chainsFor(8453, 42161)), "/quote/v2": func(w http.ResponseWriter, r *http.Request) {
		sent.Store(r.Header.Values("X-Api-Key"))
		replying(401, example(t, "err401"))(w, r)
	}})
	p.key = func(context.Context) (string, error) { return "", nil }
	if _, err := p.Quote(t.Context(), bridgedUSDC()); !errors.Is(err, &swap.Refusal{Code: swap.ProviderKey}) {
		t.Error(err)
	}
	if keys := sent.Load().([]string); len(keys) != 0 {
		t.Errorf("sent %v", keys)
	}
	p.key = func(context.Context) (string, error) { return "", errors.New("the keychain is closed") }
	if _, err := p.Quote(t.Context(), bridgedUSDC()); !errors.Is(err, &swap.Refusal{Code: swap.ProviderKey}) {
		t.Error(err)
	}
}

// TestConfig checks that no URL points where it may not.
func TestConfig(t *testing.T) {
	for name, c := range map[string]struct {
		config Config
		socket string
		ok     bool
	}{
		"the API's own address":                  {Config{}, defaultSocket, true},
		"another":                                {Config{Base: "https://relay.example"}, "", true},
		"another address, with its stream":       {Config{Base: "https://relay.example", Socket: "wss://stream.example/"}, "wss://stream.example", true},
		"plain":                                  {Config{Base: "http://relay.example"}, "", false},
		"a plain stream":                         {Config{Socket: "ws://stream.example"}, "", false},
		"a malformed stream address":             {Config{Socket: "https://stream.example"}, "", false},
		"a stream with a query":                  {Config{Socket: "wss://stream.example/?apiKey=1"}, "", false},
		"this machine":                           {Config{Base: "http://127.0.0.1:1"}, "", false},
		"the sandbox":                            {Config{Base: "http://127.0.0.1:1/x/", Sandbox: true}, "ws://127.0.0.1:1/x/ws", true},
		"the sandbox, outside":                   {Config{Sandbox: true}, "", false},
		"the sandbox, only one of two addresses": {Config{Base: "http://127.0.0.1:1", Socket: "wss://ws.relay.link", Sandbox: true}, "", false},
	} {
		p, err := New(c.config)
		if (err == nil) != c.ok || err == nil && p.socket != c.socket {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// minedOrder is the order of a recorded deposit that was mined some time ago.
func minedOrder(t testing.TB, name string, r swap.QuoteRequest, ago time.Duration) swap.Order {
	t.Helper()
	x, err := readQuote(recordedQuote(t, name), r, sandboxSolver)
	if err != nil {
		t.Fatal(err)
	}
	terms := termsFor(r)
	terms.MinOut, terms.Deadline = x.offer.MinOut, testNow.Add(20*time.Minute)
	tx := common.HexToHash("0x01")
	return swap.Order{
		ID: "test", Consent: swap.Consent{Terms: terms, Offer: x.offer,
			Plan: swap.Plan{Steps: []swap.Step{{Kind: swap.CallStep, Call: &x.call}}, Settlement: swap.ByProvider, Spender: x.call.To}},
		Progress: swap.Progress{Results: []swap.Result{{Tx: tx, Evidence: &chain.Evidence{Tx: tx, Time: testNow.Add(-ago)}}}},
	}
}

// TestSubmitNeverRefuses: the input is paid, so no answer may refuse the order.
func TestSubmitNeverRefuses(t *testing.T) {
	o := minedOrder(t, "base-usdc-arbitrum", bridgedUSDC(), time.Minute)
	for _, status := range []int{400, 401, 403, 404, 409, 422, 429, 500, 503} {
		p := providerOf(t, map[string]http.HandlerFunc{"/transactions/index": replying(status, []byte(`{"message":"no"}`))})
		var r *swap.Refusal
		if _, err := p.Submit(t.Context(), o); !errors.As(err, &r) || !r.Temporary() {
			t.Errorf("%d: %v", status, err)
		}
	}
	var bodies []string
	p := providerOf(t, map[string]http.HandlerFunc{"/transactions/index": func(w http.ResponseWriter, r *http.Request) {
		var b indexRequest
		if err := json.NewDecoder(r.Body).Decode(&b); err != nil {
			t.Error(err)
		}
		bodies = append(bodies, fmt.Sprint(b))
		replying(200, []byte(`{"message":"Success"}`))(w, r)
	}})
	for range 2 {
		if ref, err := p.Submit(t.Context(), o); err != nil || ref != "0x201aefa974dd7fb6760b5d8d14b06e915acba94ccd1831d12b2b6e0ed3d003be" {
			t.Errorf("Submit = %q, %v, want the order's id", ref, err)
		}
	}
	if len(bodies) != 2 || bodies[0] != bodies[1] {
		t.Errorf("told %v", bodies)
	}
	o.Results = nil
	if _, err := p.Submit(t.Context(), o); !errors.Is(err, &swap.Refusal{Code: swap.Undecodable}) {
		t.Errorf("a deposit that was not mined: %v", err)
	}
}

// TestUnseenDepositIsReportedAgain checks that a deposit that the provider does not see is reported again
// after a minute, once a minute.
func TestUnseenDepositIsReportedAgain(t *testing.T) {
	for word, want := range map[string]int32{"waiting": 2, "unknown": 2, "received": 2, "pending": 0, "success": 0, "failure": 0} {
		var reports atomic.Int32
		p := providerOf(t, map[string]http.HandlerFunc{
			"/intents/status/v3": replying(200, fmt.Appendf(nil, `{"status":%q}`, word)),
			"/transactions/index": func(w http.ResponseWriter, r *http.Request) {
				reports.Add(1)
				replying(500, nil)(w, r)
			},
		})
		now := testNow
		p.now = func() time.Time { return now }
		o := minedOrder(t, "base-usdc-arbitrum", bridgedUSDC(), 0)
		for _, after := range []time.Duration{0, 59, 60, 61, 119, 120, 130} { // seconds
			now = testNow.Add(after * time.Second)
			c, err := p.Status(t.Context(), o)
			if known := !errors.Is(err, &swap.Refusal{Code: swap.OrderUnknown}); known != (word != "unknown") || known && (err != nil || c.ProviderStatus != word) {
				t.Errorf("%s: %+v, %v", word, c, err)
			}
		}
		if got := reports.Load(); got != want {
			t.Errorf("%s: told again %d times, want %d", word, got, want)
		}
	}
}

// TestFailureHasGrace checks that only a failure that cannot become a refund is final.
func TestFailureHasGrace(t *testing.T) {
	s := paidExample() // mined a minute ago
	ms := func(ago time.Duration) string { return fmt.Sprint(testNow.Add(-ago).UnixMilli()) }
	for name, c := range map[string]struct {
		reply string
		want  swap.State
	}{
		"just now":              {`{"status":"failure","updatedAt":` + ms(time.Second) + `}`, swap.Settling},
		"a minute ago":          {`{"status":"failure","updatedAt":` + ms(50*time.Second) + `}`, swap.Settling},
		"two minutes ago":       {`{"status":"failure","updatedAt":` + ms(120*time.Second) + `}`, swap.Settling}, // before the deposit, so it is ignored
		"without a time":        {`{"status":"failure"}`, swap.Settling},
		"in the future":         {`{"status":"failure","updatedAt":` + ms(-time.Hour) + `}`, swap.Settling},
		"no refund":             {`{"status":"failure","refundFailReason":"AMOUNT_TOO_LOW_TO_REFUND"}`, swap.Failed},
		"a refund is no reason": {`{"status":"failure","refundFailReason":"N/A","updatedAt":` + ms(time.Second) + `}`, swap.Settling},
	} {
		r, err := readStatus([]byte(c.reply))
		if err != nil {
			t.Fatal(err)
		}
		if claim, err := s.claim(r, testNow); err != nil || claim.State != c.want {
			t.Errorf("%s: %+v, %v", name, claim, err)
		}
		if claim, err := s.claim(r, testNow.Add(2*time.Hour)); err != nil || claim.State != swap.Failed {
			t.Errorf("%s, hours later: %+v, %v", name, claim, err)
		}
	}
}

// TestWords checks that an unknown status is not final, and that a reply about something
// else is refused.
func TestWords(t *testing.T) {
	s := paidExample()
	for reply, code := range map[string]swap.Code{
		`{"status":"dancing"}`: "",
		`{"status":"SUCCESS"}`: "",
		`{"status":"success","inTxHashes":["` + s.tx.Hex() + `"]}`: "",
		`{"status":"success","inTxHashes":["` + s.id.Hex() + `"]}`: swap.ProviderInvalidResponse,
		`{"status":"success","inTxHashes":["0x12"]}`:               swap.ProviderInvalidResponse,
		`{"status":"success","txHashes":["lie"]}`:                  swap.ProviderInvalidResponse,
		`{"status":"success","originChainId":1}`:                   swap.ProviderInvalidResponse,
		`{"status":"success","destinationChainId":1}`:              swap.ProviderInvalidResponse,
		`{"status":"refund","originChainId":8453}`:                 "",
	} {
		r, err := readStatus([]byte(reply))
		if err != nil {
			t.Fatal(err)
		}
		c, err := s.claim(r, testNow)
		if code == "" && err != nil || code != "" && !errors.Is(err, &swap.Refusal{Code: code}) {
			t.Errorf("%s: %v", reply, err)
		}
		if _, known := statuses[r.Status]; !known && c.State != swap.Settling {
			t.Errorf("%s: claims %s", reply, c.State)
		}
	}
	if _, err := readStatus([]byte(`{"inTxHashes":[]}`)); !errors.Is(err, &swap.Refusal{Code: swap.ProviderInvalidResponse}) {
		t.Errorf("no status: %v", err)
	}
}

// TestUnreadableOffer: an offer that can no longer be read leaves the proof of a fill, and
// of a full refund.
func TestUnreadableOffer(t *testing.T) {
	o := minedOrder(t, "base-usdc-arbitrum", bridgedUSDC(), time.Minute)
	o.Offer.Raw = json.RawMessage(`{}`)
	p, err := providerOf(t, nil).Proof(o)
	if err != nil || p.Arrival == nil || p.Arrival.Least.Cmp(o.Terms.MinOut) != 0 || p.Refund == nil || p.Refund.Token != usdcOnBase || p.Refund.Least.Cmp(o.Terms.AmountIn) != 0 {
		t.Errorf("Proof = %+v, %v, want an arrival of the minimum received, or a refund of the whole input", p, err)
	}
}

// TestRefund: a full refund is the input less the quoted costs, up to a tenth of it.
func TestRefund(t *testing.T) {
	raw := recordedQuote(t, "base-usdc-arbitrum")
	for cost, want := range map[string]string{"0": "25000000", "20300": "24977500", "-5": "25000000", "2500000": "22500000", "2600000": "22500000", "99999999999": "22500000"} {
		body := changed(t, raw, func(q map[string]any) { at(q, "fees", "relayer")["amount"] = cost })
		x, err := readQuote(body, bridgedUSDC(), sandboxSolver)
		if err != nil || x.refunds.minimum.String() != want || x.refunds.token != usdcOnBase {
			t.Errorf("costs of %s: %+v, %v", cost, x.refunds, err)
		}
		if back := x.offer.Refund; back == nil || back.Token != usdcOnBase || back.Amount.String() != want {
			t.Errorf("the offer does not say it: %+v", back)
		}
	}
}

// wrapping is a request to wrap, or to unwrap, on BNB Smart Chain.
func wrapping(in bool) swap.QuoteRequest {
	d, _ := deploymentOn(56)
	if in {
		return ask(56, nativeCoin, 56, d.wrapped(), 1e17, 0)
	}
	return ask(56, d.wrapped(), 56, nativeCoin, 1e17, 0)
}

// TestWraps checks that wrapping works without asking the API.
func TestWraps(t *testing.T) {
	p := providerOf(t, nil)
	for _, in := range []bool{true, false} {
		r := wrapping(in)
		offers, err := p.Quote(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		terms := termsFor(r)
		terms.MinOut, terms.Deadline, terms.GasCeiling = r.AmountIn, testNow.Add(time.Minute), units(1)
		b, err := p.Build(t.Context(), offers[0], terms)
		if err != nil || b.Settlement != swap.ByOwnCall || b.Spender != nativeCoin || len(b.Steps) != 1 {
			t.Fatalf("Build = %+v, %v, want one step settled by the own call", b, err)
		}
		f, err := p.Decode(terms, b.Steps[0])
		if err == nil {
			err = swap.Check(terms, []swap.Effect{f}, p.Pins())
		}
		if err != nil {
			t.Error(err)
		}
		other := *b.Steps[0].Call
		other.Data = append(other.Data, 0)
		if _, err := p.Decode(terms, swap.Step{Kind: swap.CallStep, Call: &other}); !errors.Is(err, &swap.Refusal{Code: swap.Undecodable}) {
			t.Errorf("a byte more: %v", err)
		}
		terms.RefundTo = testReceiver
		if _, err := p.Build(t.Context(), offers[0], terms); !errors.Is(err, &swap.Refusal{Code: swap.NotAsAccepted}) {
			t.Errorf("for other terms: %v", err)
		}
	}
}
