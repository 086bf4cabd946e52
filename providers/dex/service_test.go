package dex

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"swapkeep/rest"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	"golang.org/x/time/rate"
)

const testToken = "test-token-of-no-installation"

var testNow = testDeadline.Add(-8 * time.Minute)

// fixture returns the body of a recorded reply.
func fixture(t testing.TB, name string) []byte {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata/exchanges", name))
	if err != nil {
		t.Fatal(err)
	}
	var x struct {
		Response struct{ Body json.RawMessage }
	}
	if err := json.Unmarshal(raw, &x); err != nil {
		t.Fatal(err)
	}
	return x.Response.Body
}

// serve returns a provider on a server that the test defines.
func serve(t testing.TB, h http.HandlerFunc) *Provider {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Date", testNow.Format(http.TimeFormat))
		w.Header().Set("Content-Type", "application/json")
		h(w, r)
	}))
	t.Cleanup(s.Close)
	p, err := New(Config{
		Base: s.URL + "/v1", Sandbox: true, Now: func() time.Time { return testNow },
		Token:    func(context.Context) (string, error) { return testToken, nil },
		OwnPrice: ownPrice,
		Limits:   rest.Limits{Attempts: 2, Backoff: time.Millisecond, MaxWait: 10 * time.Millisecond, Rate: rate.Inf, Failures: 1000},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// baseRequest is the request of the recorded base-eth-usdc.
func baseRequest() swap.QuoteRequest {
	return swap.QuoteRequest{
		Account: testAccount, Recipient: testAccount, RefundTo: testAccount, SrcChain: 8453, DstChain: 8453,
		TokenOut: testUSDC, AmountIn: big.NewInt(100_000_000_000_000_000), SlippageBps: 50, FeeBps: 40, FeeReceiver: testFeeTo,
	}
}

func baseTerms() swap.Terms {
	t := ethToUSDC()
	t.AmountIn, t.MinOut, t.FeeBps = big.NewInt(100_000_000_000_000_000), big.NewInt(259_999_998), 40
	return t
}

// TestErrors checks every documented error body, and a few statuses alone.
func TestErrors(t *testing.T) {
	raw, err := os.ReadFile("testdata/errors.json")
	if err != nil {
		t.Fatal(err)
	}
	var list struct {
		Errors []struct {
			When   string
			Status int
			Body   json.RawMessage
		}
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		t.Fatal(err)
	}
	want := map[string]swap.Code{
		"RequestValidationError": swap.ProviderRefused, "Unauthorized": swap.ProviderKey, "ResourceNotFound": swap.NoRoute,
		"UnsupportedTokenError": swap.NoRoute, "NoRouteFoundError": swap.NoRoute, "QuoteAmountTooLowError": swap.AmountTooSmall,
		"UniswapXNotSupportedOnChainError": swap.UnsupportedRoute, "UpstreamTimeoutError": swap.ProviderDown, "Ratelimited": swap.ProviderBusy,
		"InternalServerError": swap.ProviderDown, "ServiceUnavailable": swap.ProviderDown, "Timeout": swap.ProviderDown,
	}
	if len(list.Errors) < len(want) {
		t.Fatalf("%d recorded errors", len(list.Errors))
	}
	for _, e := range list.Errors {
		var body struct{ ErrorCode string }
		if err := json.Unmarshal(e.Body, &body); err != nil {
			t.Fatal(err)
		}
		p := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(e.Status)
			_, _ = w.Write(e.Body)
		})
		_, err := p.Quote(t.Context(), baseRequest())
		if got := codeOf(err); got != want[body.ErrorCode] || got == "" {
			t.Errorf("%s: %q, want %q", e.When, got, want[body.ErrorCode])
		}
		var inner *rest.Error
		if !errors.As(err, &inner) || inner.Status != e.Status {
			t.Errorf("%s: the status is lost: %v", e.When, err)
		}
	}
}

// TestUpstreamTimeout checks the only 404 that is worth repeating unchanged.
func TestUpstreamTimeout(t *testing.T) {
	calls := 0
	good := fixture(t, "base-eth-usdc.quote.json")
	p := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		if calls++; calls == 1 {
			w.WriteHeader(http.StatusNotFound)
			_, _ = w.Write([]byte(`{"errorCode":"UpstreamTimeoutError","detail":"…"}`))
			return
		}
		_, _ = w.Write(good)
	})
	if _, err := p.Quote(t.Context(), baseRequest()); err != nil || calls != 2 {
		t.Errorf("%d calls, %v", calls, err)
	}
}

// TestTokenIsNotRepeated checks that a token which the service repeats in its error does
// not get into ours.
func TestTokenIsNotRepeated(t *testing.T) {
	p := serve(t, func(w http.ResponseWriter, r *http.Request) {
		bearer := r.Header.Get("Authorization")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(`{"errorCode":"` + bearer + `","detail":"bad token ` + strings.TrimPrefix(bearer, "Bearer ") + `"}`))
	})
	_, err := p.Quote(t.Context(), baseRequest())
	if err == nil || strings.Contains(err.Error(), testToken) || strings.Contains(errors.Unwrap(err).Error(), testToken) {
		t.Errorf("error %v, of %v; want one without the token", err, errors.Unwrap(err))
	}
	locked, err := New(Config{Base: "http://127.0.0.1:1", Sandbox: true, Token: func(context.Context) (string, error) { return "", errors.New("locked") }})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := locked.Quote(t.Context(), baseRequest()); codeOf(err) != swap.ProviderKey {
		t.Errorf("a token that cannot be read: %v", err)
	}
}

// TestQuoteIsEchoed checks that the quote goes back to the service byte for byte, whatever
// its spacing, escapes and number forms.
func TestQuoteIsEchoed(t *testing.T) {
	quote := fixture(t, "base-eth-usdc.quote.json")
	quote = bytes.Replace(quote, []byte(`"priceImpact": 0.04`), []byte("\"priceImpact\" :  4.0e-2 , \"more\":\"<a>&\\u0041\", \"n\": 12345678901234567890.10"), 1)
	var e envelope
	if err := json.Unmarshal(quote, &e); err != nil {
		t.Fatal(err)
	}
	var sent []byte
	p := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/quote") {
			_, _ = w.Write(quote)
			return
		}
		sent, _ = io.ReadAll(r.Body)
		_, _ = w.Write(fixture(t, "base-eth-usdc.swap.json"))
	})
	offers, err := p.Quote(t.Context(), baseRequest())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Build(t.Context(), offers[0], baseTerms()); err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(sent, e.Quote) || !bytes.Contains(sent, []byte("4.0e-2 ,")) || !json.Valid(sent) {
		t.Errorf("sent %s", sent)
	}
	for _, absent := range []string{"permitData", "signature"} {
		if bytes.Contains(sent, []byte(absent)) {
			t.Errorf("%s was sent", absent)
		}
	}
}

// TestRequests checks that what cannot be served is refused before anything is sent.
func TestRequests(t *testing.T) {
	p := serve(t, func(http.ResponseWriter, *http.Request) { t.Error("a request was sent") })
	for name, c := range map[string]struct {
		change func(*swap.QuoteRequest)
		want   swap.Code
	}{
		"another chain":                {func(r *swap.QuoteRequest) { r.SrcChain, r.DstChain = 39, 39 }, swap.UnsupportedNetwork},
		"an unknown chain":             {func(r *swap.QuoteRequest) { r.SrcChain, r.DstChain = 7, 7 }, swap.UnsupportedNetwork},
		"across chains":                {func(r *swap.QuoteRequest) { r.DstChain = 1 }, swap.UnsupportedRoute},
		"one token":                    {func(r *swap.QuoteRequest) { r.TokenOut = nativeCoin }, swap.SameToken},
		"nothing":                      {func(r *swap.QuoteRequest) { r.AmountIn = new(big.Int) }, swap.AmountZero},
		"no amount":                    {func(r *swap.QuoteRequest) { r.AmountIn = nil }, swap.AmountZero},
		"a negative amount":            {func(r *swap.QuoteRequest) { r.AmountIn = big.NewInt(-1) }, swap.AmountZero},
		"257 bits":                     {func(r *swap.QuoteRequest) { r.AmountIn = new(big.Int).Lsh(big.NewInt(1), 256) }, swap.BadRequest},
		"no slippage":                  {func(r *swap.QuoteRequest) { r.SlippageBps = 0 }, swap.SlippageBounds},
		"a slippage of more than half": {func(r *swap.QuoteRequest) { r.SlippageBps = 5001 }, swap.SlippageBounds},
		"no account":                   {func(r *swap.QuoteRequest) { r.Account = nativeCoin }, swap.BadRequest},
		"no recipient":                 {func(r *swap.QuoteRequest) { r.Recipient = nativeCoin }, swap.BadRequest},
		"to the router":                {func(r *swap.QuoteRequest) { r.Recipient = base.router }, swap.BadRequest},
		"to a router constant":         {func(r *swap.QuoteRequest) { r.Recipient = addressThis }, swap.BadRequest},
		"a fee to nobody":              {func(r *swap.QuoteRequest) { r.FeeReceiver = nativeCoin }, swap.BadRequest},
		"a receiver, no fee":           {func(r *swap.QuoteRequest) { r.FeeBps = 0 }, swap.BadRequest},
		"a fee to the user":            {func(r *swap.QuoteRequest) { r.FeeReceiver = testAccount }, swap.BadRequest},
		"a large fee":                  {func(r *swap.QuoteRequest) { r.FeeBps = 501 }, swap.BadRequest},
		"all Permit2 can hold":         {func(r *swap.QuoteRequest) { r.TokenIn, r.TokenOut, r.AmountIn = testUSDC, nativeCoin, permit2Unlimited }, swap.BadRequest},
		"more than Permit2 can allow":  {func(r *swap.QuoteRequest) { r.TokenIn, r.AmountIn = testDAI, new(big.Int).Lsh(big.NewInt(1), 200) }, swap.BadRequest},
		"Permit2 as a token":           {func(r *swap.QuoteRequest) { r.TokenIn = permit2 }, swap.BadRequest},
		"the reactor as a token":       {func(r *swap.QuoteRequest) { r.TokenOut = base.reactor }, swap.BadRequest},
		"the router as a token":        {func(r *swap.QuoteRequest) { r.TokenOut = base.router }, swap.BadRequest},
		"wrapping for a friend":        {func(r *swap.QuoteRequest) { r.TokenOut, r.Recipient = base.wrapped, testFriend }, swap.UnsupportedRoute},
		"wrapping with a fee":          {func(r *swap.QuoteRequest) { r.TokenOut = base.wrapped }, swap.BadRequest},
	} {
		r := baseRequest()
		c.change(&r)
		if _, err := p.Quote(t.Context(), r); codeOf(err) != c.want {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

// TestRequestBody checks the fields that decide what is quoted.
func TestRequestBody(t *testing.T) {
	r := baseRequest()
	r.SlippageBps, r.Recipient = 125, testFriend
	body := string(mustMarshal(t, r))
	for _, want := range []string{`"type":"EXACT_INPUT"`, `"slippageTolerance":1.25`, `"permitAmount":"EXACT"`, `"protocols":["V3","V4"]`, `"recipient":"` + testFriend.Hex() + `"`, `"bips":40`} {
		if !strings.Contains(body, want) {
			t.Errorf("%s is not in %s", want, body)
		}
	}
	r.FeeBps, r.FeeReceiver, r.SrcChain, r.DstChain, r.Recipient = 0, common.Address{}, 1, 1, testAccount
	body = string(mustMarshal(t, r))
	if strings.Contains(body, "integratorFees") || strings.Contains(body, "recipient") || !strings.Contains(body, `"protocols":["V3","V2","V4"]`) {
		t.Error(body)
	}
	r.TokenIn, r.TokenOut = testDAI, deployments[0].wrapped
	if body = string(mustMarshal(t, r)); !strings.Contains(body, `"protocols":["V3","V2"`) || strings.Contains(body, "V4") {
		t.Errorf("to the wrapped coin: %s", body)
	}
	r.TokenIn = nativeCoin
	body = string(mustMarshal(t, r))
	for _, absent := range []string{"protocols", "permitAmount", "integratorFees", "routingPreference"} {
		if strings.Contains(body, absent) {
			t.Errorf("%s is sent for a wrap", absent)
		}
	}
}

func mustMarshal(t *testing.T, r swap.QuoteRequest) []byte {
	t.Helper()
	pr, err := checkRequest(r)
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(newQuoteRequest(r, pr, pr.auction != nil))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestClock checks that the service's clock can shorten a quote's life, never lengthen it.
func TestClock(t *testing.T) {
	for name, c := range map[string]struct {
		skew time.Duration // of the Date header, relative to our clock
		life time.Duration // 0 = refused
	}{
		"together": {0, 30 * time.Second}, "theirs ahead": {40 * time.Second, 30 * time.Second}, "ours ahead": {-10 * time.Second, 21 * time.Second},
		"too old to use": {-27 * time.Second, 0}, "far ahead": {61 * time.Second, 0}, "far behind": {-62 * time.Second, 0},
	} {
		good := fixture(t, "base-eth-usdc.quote.json")
		p := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Date", testNow.Add(c.skew).Format(http.TimeFormat))
			_, _ = w.Write(good)
		})
		offers, err := p.Quote(t.Context(), baseRequest())
		if c.life == 0 {
			if codeOf(err) != swap.ClockSkew {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil || offers[0].Expires.Sub(testNow) != c.life {
			t.Errorf("%s: %v, %v", name, offers, err)
		}
	}
}

// TestBuildRefuses checks offers that are too old, altered, or for other terms.
func TestBuildRefuses(t *testing.T) {
	good := fixture(t, "base-eth-usdc.swap.json")
	p := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(good) })
	q, err := (&Provider{}).readQuote(fixture(t, "base-eth-usdc.quote.json"), baseRequest())
	if err != nil {
		t.Fatal(err)
	}
	offer := q.offer
	offer.Expires = testNow.Add(quoteLife)
	if _, err := p.Build(t.Context(), offer, baseTerms()); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func(*swap.Offer, *swap.Terms)
		want   swap.Code
	}{
		"expired":            {func(o *swap.Offer, _ *swap.Terms) { o.Expires = testNow }, swap.QuoteExpired},
		"consent has ended":  {func(_ *swap.Offer, t *swap.Terms) { t.Deadline = testNow }, swap.QuoteExpired},
		"a shorter deadline": {func(_ *swap.Offer, t *swap.Terms) { t.Deadline = testNow.Add(time.Minute) }, swap.NotAsAccepted},
		"a higher minimum":   {func(_ *swap.Offer, t *swap.Terms) { t.MinOut = big.NewInt(260_000_001) }, swap.NotAsAccepted},
		"another account":    {func(_ *swap.Offer, t *swap.Terms) { t.Account = testFriend }, swap.NotAsAccepted},
		"another recipient":  {func(_ *swap.Offer, t *swap.Terms) { t.Recipient = testFriend }, swap.NotAsAccepted},
		"another token":      {func(_ *swap.Offer, t *swap.Terms) { t.TokenOut = testDAI }, swap.NotAsAccepted},
		"another amount":     {func(_ *swap.Offer, t *swap.Terms) { t.AmountIn = big.NewInt(1) }, swap.NotAsAccepted},
		"another fee":        {func(_ *swap.Offer, t *swap.Terms) { t.FeeBps = 20 }, swap.NotAsAccepted},
		"another chain":      {func(_ *swap.Offer, t *swap.Terms) { t.SrcChain = 1 }, swap.NotAsAccepted},
		"another provider":   {func(_ *swap.Offer, t *swap.Terms) { t.Provider = swap.Bridge }, swap.NotAsAccepted},
		"an altered minimum": {func(o *swap.Offer, _ *swap.Terms) { o.MinOut = big.NewInt(1) }, swap.NotAsAccepted},
		"an altered quote": {func(o *swap.Offer, _ *swap.Terms) {
			o.Raw = bytes.Replace(o.Raw, []byte("261306533"), []byte("261306532"), 1)
		}, swap.ProviderInvalidResponse},
		"no quote":                          {func(o *swap.Offer, _ *swap.Terms) { o.Raw = nil }, swap.ProviderInvalidResponse},
		"fees that differ from those shown": {func(o *swap.Offer, _ *swap.Terms) { o.Fees = nil }, swap.NotAsAccepted},
	} {
		o, terms := offer, baseTerms()
		c.change(&o, &terms)
		if _, err := p.Build(t.Context(), o, terms); codeOf(err) != c.want {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

// TestBuildDeadline checks that the calldata's deadline is neither over nor, though within
// the terms, later than requested.
func TestBuildDeadline(t *testing.T) {
	good := fixture(t, "base-eth-usdc.swap.json")
	for name, c := range map[string]struct {
		now time.Time // the calldata ends at testDeadline
		ok  bool
	}{
		"within ten minutes": {testDeadline.Add(-10 * time.Minute), true},
		"too late":           {testDeadline.Add(-10*time.Minute - time.Second), false},
		"over":               {testDeadline, false},
	} {
		p := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(good) })
		p.now = func() time.Time { return c.now }
		q, err := (&Provider{}).readQuote(fixture(t, "base-eth-usdc.quote.json"), baseRequest())
		if err != nil {
			t.Fatal(err)
		}
		offer := q.offer
		offer.Expires = c.now.Add(quoteLife)
		terms := baseTerms()
		terms.Deadline = c.now.Add(20 * time.Minute)
		if _, err := p.Build(t.Context(), offer, terms); (err == nil) != c.ok || err != nil && codeOf(err) != swap.NotAsAccepted {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestConfig checks that a base URL is https and not loopback, except in the sandbox, where
// it must be loopback, and with OwnProxy, where it may be.
func TestConfig(t *testing.T) {
	for _, c := range []struct {
		config Config
		ok     bool
	}{
		{Config{Base: "https://proxy.example/v1"}, true},
		{Config{Base: "http://proxy.example/v1"}, false},
		{Config{Base: "http://127.0.0.1:1/v1"}, false},
		{Config{Base: "http://127.0.0.1:1/v1", OwnProxy: true}, true},
		{Config{Base: "http://127.0.0.1:1/v1", Sandbox: true}, true},
		{Config{Base: "https://proxy.example/v1", Sandbox: true}, false},
		{Config{}, false},
	} {
		if _, err := New(c.config); (err == nil) != c.ok {
			t.Errorf("%s: %v", strconv.Quote(c.config.Base), err)
		}
	}
}
