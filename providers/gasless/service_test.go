package gasless_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"swapkeep/providers/gasless"
	"swapkeep/providers/providertest"
	"swapkeep/swap"
)

// An api is a server on loopback that answers by path and records the requests.
type api struct {
	*httptest.Server
	mu      sync.Mutex
	answers map[string]http.HandlerFunc
	now     time.Time // of its own clock
	asked   []string
}

func newAPI(t testing.TB) *api {
	a := &api{answers: map[string]http.HandlerFunc{}, now: recorded}
	a.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.mu.Lock()
		h := a.answers[r.URL.Path]
		a.asked = append(a.asked, r.Method+" "+r.URL.Path)
		w.Header().Set("Date", a.now.UTC().Format(http.TimeFormat))
		a.mu.Unlock()
		if h == nil {
			h = refusing(108)
		}
		h(w, r)
	}))
	t.Cleanup(a.Close)
	return a
}

func (a *api) answer(path string, h http.HandlerFunc) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.answers[path] = h
}

func (a *api) count(path string) (n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, p := range a.asked {
		if strings.HasSuffix(p, path) {
			n++
		}
	}
	return n
}

func (a *api) provider(t testing.TB) *gasless.Provider {
	return newProvider(t, a.URL, func() time.Time { return recorded }, providertest.Limits(250*time.Millisecond)).(*gasless.Provider)
}

func say(body []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(body) // a client that is gone reports its own error
	}
}

// refusing sends an error as the API does, with status 200.
func refusing(code int) http.HandlerFunc {
	return say(fmt.Appendf(nil, `{"error":{"errorCode":%d,"message":"Name: in its own words","requestId":"r"}}`, code))
}

// slowly answers after a delay, unless the client is gone.
func slowly(after time.Duration, h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-time.After(after):
			h(w, r)
		case <-r.Context().Done():
		}
	}
}

// reply is a recorded reply with changes.
func reply(t testing.TB, file string, change func(r, order map[string]any)) []byte {
	t.Helper()
	x := providertest.ReadExchange(t, filepath.Join("testdata/exchanges", file))
	var m map[string]any
	d := json.NewDecoder(strings.NewReader(string(x.Response.Body)))
	d.UseNumber()
	if err := d.Decode(&m); err != nil {
		t.Fatal(err)
	}
	if change != nil {
		order, _ := m["toSign"].(map[string]any)
		change(m, order)
	}
	raw, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

const (
	jamQuote = "/jam/ethereum/v2/quote"
	rfqQuote = "/pmm/ethereum/v3/quote"
)

// jamOnOne is a JAM reply to the request that the RFQ recording answers.
func jamOnOne(t testing.TB, amount, minimum string) []byte {
	return reply(t, "ethereum-usdc-eth.quote.json", func(r, order map[string]any) {
		r["buyTokens"] = map[string]any{wethEthereum.Hex(): map[string]any{"amount": amount, "minimumAmount": minimum}}
		order["buyTokens"], order["buyAmounts"] = []any{wethEthereum.Hex()}, []any{minimum}
	})
}

func onOne() swap.QuoteRequest { return request(1, usdcEthereum, wethEthereum, "1000000000", 0) }

// TestBothAtOnce: the better net output comes first, whichever protocol answers first. A
// protocol that fails, hangs or lies does not remove the other's offer.
func TestBothAtOnce(t *testing.T) {
	honestRFQ := say(reply(t, "ethereum-usdc-weth.quote.json", nil)) // 504765657558485082
	better, worse := say(jamOnOne(t, "509521195673062120", "506973589694696809")), say(jamOnOne(t, "504765657558485081", "503000000000000000"))
	equal := say(jamOnOne(t, "504765657558485082", "503000000000000000"))
	for name, c := range map[string]struct {
		jam, rfq http.HandlerFunc
		want     []string
	}{
		"JAM is better":            {better, honestRFQ, []string{"JAM", "RFQ"}},
		"JAM is better and slower": {slowly(50*time.Millisecond, better), honestRFQ, []string{"JAM", "RFQ"}},
		"RFQ is better":            {worse, honestRFQ, []string{"RFQ", "JAM"}},
		"RFQ is as good and firm":  {equal, honestRFQ, []string{"RFQ", "JAM"}},
		"JAM has no quote":         {refusing(108), honestRFQ, []string{"RFQ"}},
		"JAM hangs":                {slowly(3*time.Second, better), honestRFQ, []string{"RFQ"}},
		"JAM lies":                 {say(jamOnOne(t, "509521195673062120", "1")), honestRFQ, []string{"RFQ"}},
		"JAM is no JSON":           {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) }, honestRFQ, []string{"RFQ"}},
		"RFQ has no quote":         {better, refusing(102), []string{"JAM"}},
		"RFQ is limited":           {better, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(429) }, []string{"JAM"}},
		"RFQ fails":                {better, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }, []string{"JAM"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAPI(t)
			a.answer(jamQuote, c.jam)
			a.answer(rfqQuote, c.rfq)
			begun := time.Now()
			reported := map[string]bool{}
			offers, err := a.provider(t).Stream(t.Context(), onOne(), func(o swap.Offer) { reported[o.Routing] = true })
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, o := range offers {
				got = append(got, o.Routing)
			}
			if !slices.Equal(got, c.want) || len(reported) != len(got) {
				t.Errorf("offers %v, told %v, want %v", got, reported, c.want)
			}
			if took := time.Since(begun); took > 2500*time.Millisecond {
				t.Errorf("took %s", took)
			}
		})
	}
}

// TestBothProtocolsFail: the code that a person can do most about is reported, with both
// reasons.
func TestBothProtocolsFail(t *testing.T) {
	limited := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(429)
	}
	for name, c := range map[string]struct {
		jam, rfq http.HandlerFunc
		code     swap.Code
	}{
		"no route":         {refusing(108), refusing(102), swap.NoRoute},
		"too small":        {refusing(106), refusing(105), swap.AmountTooSmall},
		"too small by RFQ": {refusing(108), refusing(104), swap.AmountTooSmall},
		"busy":             {refusing(108), limited, swap.ProviderBusy},
		"a lie":            {say(jamOnOne(t, "509521195673062120", "1")), limited, swap.NotAsAccepted},
		"a key":            {refusing(500), func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401) }, swap.ProviderKey},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAPI(t)
			a.answer(jamQuote, c.jam)
			a.answer(rfqQuote, c.rfq)
			_, err := a.provider(t).Quote(t.Context(), onOne())
			var r *swap.Refusal
			if !errors.As(err, &r) || r.Code != c.code || !strings.Contains(r.Reason, "JAM: ") || !strings.Contains(r.Reason, "RFQ: ") {
				t.Errorf("want %s with both reasons, got %v", c.code, err)
			}
			if r != nil && r.Code == swap.ProviderBusy && r.Data["retryAfterSeconds"] != "7" {
				t.Errorf("data %v", r.Data)
			}
		})
	}
}

// TestProtocolsQueried: JAM alone is queried on 5330, and for native output, whose arrival no log
// would prove.
func TestProtocolsQueried(t *testing.T) {
	for name, c := range map[string]struct {
		r        swap.QuoteRequest
		jam, rfq string
	}{
		"both":                     {onOne(), jamQuote, rfqQuote},
		"native out":               {request(1, usdcEthereum, native, "1000000000", 0), jamQuote, ""},
		"one protocol":             {request(5330, usdcSuperseed, wethOP, "100000000", 0), "/jam/superseed/v2/quote", ""},
		"one protocol, native out": {request(5330, usdcSuperseed, native, "100000000", 0), "/jam/superseed/v2/quote", ""},
		"one protocol, native in":  {request(5330, native, usdcSuperseed, "1", 0), "/jam/superseed/v2/quote", ""},
		"the BNB chain":            {request(56, usdcEthereum, wethEthereum, "1", 0), "/jam/bsc/v2/quote", "/pmm/bsc/v3/quote"},
		"native in":                {request(10, native, usdcOptimism, "1", 0), "/jam/optimism/v2/quote", "/pmm/optimism/v3/quote"},
	} {
		a := newAPI(t)
		if _, err := a.provider(t).Quote(t.Context(), c.r); !errors.Is(err, &swap.Refusal{Code: swap.NoRoute}) {
			t.Errorf("%s: %v", name, err)
		}
		var want []string
		for _, path := range []string{c.jam, c.rfq} {
			if path != "" {
				want = append(want, "GET "+path)
			}
		}
		slices.Sort(a.asked)
		if slices.Sort(want); !slices.Equal(a.asked, want) {
			t.Errorf("%s: asked %v, want %v", name, a.asked, want)
		}
	}
}

// TestRequestsRefused: requests that cannot be quoted are not sent.
func TestRequestsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*swap.QuoteRequest)
		code   swap.Code
	}{
		"a chain that the service does not serve": {func(r *swap.QuoteRequest) { r.SrcChain, r.DstChain = 143, 143 }, swap.UnsupportedNetwork},
		"two chains":             {func(r *swap.QuoteRequest) { r.DstChain = 10 }, swap.UnsupportedRoute},
		"the same token":         {func(r *swap.QuoteRequest) { r.TokenOut = r.TokenIn }, swap.SameToken},
		"wrapping":               {func(r *swap.QuoteRequest) { r.TokenIn = native }, swap.UnsupportedRoute},
		"nothing":                {func(r *swap.QuoteRequest) { r.AmountIn = wei("0") }, swap.AmountZero},
		"no amount":              {func(r *swap.QuoteRequest) { r.AmountIn = nil }, swap.AmountZero},
		"more than 256 bits":     {func(r *swap.QuoteRequest) { r.AmountIn = wei("1" + strings.Repeat("0", 78)) }, swap.BadRequest},
		"no account":             {func(r *swap.QuoteRequest) { r.Account = native }, swap.BadRequest},
		"a settlement as token":  {func(r *swap.QuoteRequest) { r.TokenOut = rfq }, swap.BadRequest},
		"the API's native coin":  {func(r *swap.QuoteRequest) { r.TokenIn = nativePlaceholder }, swap.BadRequest},
		"paid to the settlement": {func(r *swap.QuoteRequest) { r.Recipient = jam }, swap.BadRequest},
		"a fee for nobody":       {func(r *swap.QuoteRequest) { r.FeeBps = 40 }, swap.BadRequest},
		"a fee for the account":  {func(r *swap.QuoteRequest) { r.FeeBps, r.FeeReceiver = 40, account }, swap.BadRequest},
		"a fee above the bound":  {func(r *swap.QuoteRequest) { r.FeeBps, r.FeeReceiver = 301, feeReceiver }, swap.BadRequest},
		"no slippage":            {func(r *swap.QuoteRequest) { r.SlippageBps = 0 }, swap.SlippageBounds},
		"too much slippage":      {func(r *swap.QuoteRequest) { r.SlippageBps = 5001 }, swap.SlippageBounds},
	} {
		a := newAPI(t)
		r := onOne()
		c.change(&r)
		if _, err := a.provider(t).Quote(t.Context(), r); !errors.Is(err, &swap.Refusal{Code: c.code}) {
			t.Errorf("%s: want %s, got %v", name, c.code, err)
		}
		if len(a.asked) > 0 {
			t.Errorf("%s: asked %v", name, a.asked)
		}
	}
}

// TestOfferExpiry: an offer lasts for as long as its order can be signed and still be settled. The
// provider's clock can shorten that but never lengthen it.
func TestOfferExpiry(t *testing.T) {
	ends := func(at time.Time) http.HandlerFunc {
		return say(reply(t, "ethereum-usdc-weth.quote.json", func(r, order map[string]any) { r["expiry"], order["expiry"] = at.Unix(), at.Unix() }))
	}
	for name, c := range map[string]struct {
		in, ahead time.Duration
		life      time.Duration
		code      swap.Code
	}{
		"half a minute":        {in: 30 * time.Second, life: 29 * time.Second},
		"seven seconds":        {in: 7 * time.Second, life: 6 * time.Second},
		"six seconds":          {in: 6 * time.Second, code: swap.QuoteExpired},
		"an expired quote":     {in: -time.Minute, code: swap.QuoteExpired},
		"a quarter of an hour": {in: 15 * time.Minute, life: 15*time.Minute - time.Second},
		"more":                 {in: 15*time.Minute + time.Second, code: swap.NotAsAccepted},
		"its clock is ahead":   {in: 30 * time.Second, ahead: 10 * time.Second, life: 19 * time.Second},
		"its clock is behind":  {in: 30 * time.Second, ahead: -30 * time.Second, life: 29 * time.Second},
		"ahead of the end":     {in: 30 * time.Second, ahead: 26 * time.Second, code: swap.QuoteExpired},
		"a clock far ahead":    {in: 10 * time.Minute, ahead: 10 * time.Minute, code: swap.ClockSkew},
		"a clock far behind":   {in: 10 * time.Minute, ahead: -10 * time.Minute, code: swap.ClockSkew},
	} {
		a := newAPI(t)
		a.now = recorded.Add(c.ahead)
		a.answer(rfqQuote, ends(recorded.Add(c.in)))
		offers, err := a.provider(t).Quote(t.Context(), onOne())
		if c.code != "" {
			if !errors.Is(err, &swap.Refusal{Code: c.code}) {
				t.Errorf("%s: want %s, got %v", name, c.code, err)
			}
			continue
		}
		if err != nil || offers[0].Expires.Sub(recorded) != c.life {
			t.Errorf("%s: %v, %v", name, offers, err)
		}
	}
}

// signedOrder is the recorded RFQ order, signed and not yet submitted.
func signedOrder(t testing.TB, a *api, p *gasless.Provider) swap.Order {
	t.Helper()
	a.answer(rfqQuote, say(reply(t, "ethereum-usdc-weth.quote.json", nil)))
	offers, err := p.Quote(t.Context(), onOne())
	if err != nil {
		t.Fatal(err)
	}
	o := swap.Order{ID: "test", Consent: swap.Consent{Terms: termsOf(offers[0]), Offer: offers[0]}}
	built, err := p.Build(t.Context(), offers[0], o.Terms)
	if err != nil {
		t.Fatal(err)
	}
	signature, err := sign(*built.Steps[0].TypedData)
	if err != nil {
		t.Fatal(err)
	}
	o.Plan = swap.Plan(built)
	o.Results = []swap.Result{{Signature: signature}}
	return o
}

func termsOf(o swap.Offer) swap.Terms {
	r := o.Request
	return swap.Terms{
		Provider: o.Provider, Account: r.Account, SrcChain: r.SrcChain, TokenIn: r.TokenIn, AmountIn: r.AmountIn, DstChain: r.DstChain, TokenOut: r.TokenOut,
		Recipient: r.Recipient, MinOut: o.MinOut, RefundTo: r.RefundTo, Deadline: recorded.Add(20 * time.Minute), FeeBps: r.FeeBps, FeeReceiver: r.FeeReceiver,
		GasCeiling: wei("1000000000000000000"), Wrap: o.Wrap,
	}
}

const (
	orderPath  = "/pmm/ethereum/v3/order"
	statusPath = "/pmm/ethereum/v3/order-status"
	rfqID      = "121-197055704233248307894658608409132099557"
)

// TestSubmitAnswers: a certain refusal is reported as certain, everything else as open, and
// no answer makes Submit post the order twice.
func TestSubmitAnswers(t *testing.T) {
	known := say(reply(t, "ethereum-usdc-weth.pending.json", nil))
	status := func(n int) http.HandlerFunc { return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(n) } }
	type want struct {
		ref  string
		code swap.Code
		sure bool // certainly not accepted
	}
	for name, c := range map[string]struct {
		order, status http.HandlerFunc
		want
	}{
		"taken":                         {say(reply(t, "ethereum-usdc-weth.order.json", nil)), nil, want{ref: rfqID}},
		"nonce used, order known":       {refusing(210), known, want{ref: rfqID}},
		"nonce used, order unknown":     {refusing(210), refusing(210), want{code: swap.ProviderRefused, sure: true}},
		"nonce used, status fails":      {refusing(210), status(503), want{code: swap.ProviderDown}},
		"a reply about another order":   {say([]byte(`{"status":"Pending","expiry":1772813488,"txHash":null}`)), nil, want{code: swap.ProviderInvalidResponse}},
		"an empty reply":                {say([]byte(`{}`)), nil, want{code: swap.ProviderInvalidResponse}},
		"a fault":                       {status(500), nil, want{code: swap.ProviderDown}},
		"a fault, said with status 200": {refusing(500), nil, want{code: swap.ProviderDown}},
		"silence":                       {slowly(time.Second, known), nil, want{code: swap.ProviderDown}},
		"busy":                          {status(429), nil, want{code: swap.ProviderBusy}},
		"last look":                     {refusing(202), nil, want{code: swap.ProviderRefused, sure: true}},
		"expired":                       {refusing(203), nil, want{code: swap.ProviderRefused, sure: true}},
		"no balance":                    {refusing(204), nil, want{code: swap.InsufficientFunds, sure: true}},
		"the approval is not seen yet":  {refusing(205), nil, want{code: swap.ProviderDown}},
		"a bad signature":               {refusing(208), nil, want{code: swap.ProviderRefused, sure: true}},
		"a code nobody knows":           {refusing(999), nil, want{code: swap.ProviderRefused, sure: true}},
		"a malformed request":           {status(422), nil, want{code: swap.ProviderInvalidResponse}},
		"a key":                         {status(401), nil, want{code: swap.ProviderKey}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAPI(t)
			p := a.provider(t)
			o := signedOrder(t, a, p)
			a.answer(orderPath, c.order)
			a.answer(statusPath, c.status)
			ref, err := p.Submit(t.Context(), o)
			var r *swap.Refusal
			errors.As(err, &r)
			switch {
			case c.ref != "" && (err != nil || ref != c.ref):
				t.Errorf("%q, %v", ref, err)
			case c.ref == "" && (r == nil || r.Code != c.code || r.Temporary() == c.sure):
				t.Errorf("want %s, sure %v; got %v", c.code, c.sure, err)
			}
			if n := a.count(orderPath); n != 1 {
				t.Errorf("posted %d times", n)
			}
		})
	}
}

// TestSubmitOnlyWhatWasSigned: an order that differs from the signed one, or has expired,
// is not submitted.
func TestSubmitOnlyWhatWasSigned(t *testing.T) {
	a := newAPI(t)
	now := recorded
	p := newProvider(t, a.URL, func() time.Time { return now }, providertest.Limits(250*time.Millisecond)).(*gasless.Provider)
	for name, change := range map[string]func(*swap.Order){
		"another quote": func(o *swap.Order) {
			o.Offer.Raw = reply(t, "ethereum-usdc-weth.quote.json", func(_, order map[string]any) { order["maker_nonce"] = "1" })
		},
		"no signature":          func(o *swap.Order) { o.Results = nil },
		"half a signature":      func(o *swap.Order) { o.Results[0].Signature = o.Results[0].Signature[:64] },
		"no plan":               func(o *swap.Order) { o.Plan = swap.Plan{} },
		"other terms":           func(o *swap.Order) { o.Terms.Recipient = friend },
		"a higher minimum":      func(o *swap.Order) { o.Terms.MinOut = wei("504765657558485083") },
		"another routing":       func(o *swap.Order) { o.Offer.Routing = "JAM" },
		"its expiry has passed": func(*swap.Order) { now = rfqEnds },
	} {
		now = recorded
		o := signedOrder(t, a, p)
		change(&o)
		if _, err := p.Submit(t.Context(), o); err == nil {
			t.Errorf("%s: submitted", name)
		}
	}
	if n := a.count(orderPath); n > 0 {
		t.Errorf("%d orders left the process", n)
	}
}

// TestStatusWords: every status word of the API, unknown words, and replies about no order
// of ours.
func TestStatusWords(t *testing.T) {
	a := newAPI(t)
	p := a.provider(t)
	o := signedOrder(t, a, p)
	for word, state := range map[string]swap.State{
		"Pending": swap.Settling, "Success": swap.Settling, "Settled": swap.Settling, "Confirmed": swap.Filled, "Failed": swap.Failed,
		"Expired": swap.Settling, "Nobody knows this": swap.Settling,
	} {
		a.answer(statusPath, say(fmt.Appendf(nil, `{"status":%q,"txHash":null,"amounts":{}}`, word)))
		if c, err := p.Status(t.Context(), o); err != nil || c.State != state || c.ProviderStatus != word {
			t.Errorf("%s: %+v, %v", word, c, err)
		}
	}
	for body, code := range map[string]swap.Code{
		`{"error":{"errorCode":210,"message":"InvalidQuoteId: none"}}`:   swap.OrderUnknown,
		`{"error":{"errorCode":111,"message":"RateLimited: slow down"}}`: swap.ProviderBusy,
		`{"error":{}}`:  swap.ProviderInvalidResponse,
		`{"error":"x"}`: swap.ProviderInvalidResponse,
		`{"status":"Settled","amounts":{"0xBadBadBadBadBadBadBadBadBadBadBadBadBad0":"1"}}`:                  swap.ProviderInvalidResponse,
		`{"status":"Settled","txHash":"0x12","amounts":{}}`:                                                  swap.ProviderInvalidResponse,
		`{"status":"Settled","amounts":{"` + wethEthereum.Hex() + `":"1","` + usdcEthereum.Hex() + `":"1"}}`: swap.ProviderInvalidResponse,
	} {
		a.answer(statusPath, say([]byte(body)))
		if _, err := p.Status(t.Context(), o); !errors.Is(err, &swap.Refusal{Code: code}) {
			t.Errorf("%s: want %s, got %v", body, code, err)
		}
	}
}

// TestErrorCodes: every code of the error table gives its typed refusal, with status 200
// and with another.
func TestErrorCodes(t *testing.T) {
	for code, want := range map[int]swap.Code{
		101: swap.ProviderRefused, 102: swap.NoRoute, 103: swap.ProviderDown, 104: swap.AmountTooSmall, 105: swap.NoRoute, 106: swap.AmountTooSmall,
		107: swap.ProviderRefused, 108: swap.NoRoute, 111: swap.ProviderBusy, 112: swap.ProviderRefused, 201: swap.ProviderRefused, 202: swap.ProviderRefused,
		203: swap.ProviderRefused, 204: swap.InsufficientFunds, 205: swap.ProviderDown, 206: swap.NoRoute, 207: swap.NoRoute, 208: swap.ProviderRefused,
		209: swap.ProviderRefused, 210: swap.QuoteExpired, 211: swap.ProviderRefused, 212: swap.ProviderRefused, 500: swap.ProviderDown, 522: swap.ProviderDown,
	} {
		for _, status := range []int{200, 400} {
			a := newAPI(t)
			a.answer("/jam/superseed/v2/quote", func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(status)
				_, _ = fmt.Fprintf(w, `{"error":{"errorCode":%d,"message":"Name: in its own words"}}`, code)
			})
			_, err := a.provider(t).Quote(t.Context(), request(5330, usdcSuperseed, wethOP, "100000000", 0))
			if !errors.Is(err, &swap.Refusal{Code: want}) {
				t.Errorf("%d with status %d: want %s, got %v", code, status, want, err)
			}
		}
	}
}

// TestConfig: base URLs and partner ids that New refuses.
func TestConfig(t *testing.T) {
	for name, c := range map[string]gasless.Config{
		"plain http":                 {Base: "http://api.example"},
		"loopback":                   {Base: "https://127.0.0.1"},
		"the sandbox, outside":       {Base: "https://api.example", Sandbox: true},
		"the sandbox, by default":    {Sandbox: true},
		"a key in the url":           {Base: "https://a:b@api.example"},
		"a source with a line break": {Source: "a\r\nb"},
		"a source that is too long":  {Source: strings.Repeat("a", 65)},
	} {
		if _, err := gasless.New(c); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	p, err := gasless.New(gasless.Config{})
	if err != nil {
		t.Fatal(err)
	}
	p.Close()
}

// TestKey: the key is sent with each call and is redacted in errors.
func TestKey(t *testing.T) {
	const key = "test-key-of-nobody"
	a := newAPI(t)
	a.answer("/jam/superseed/v2/quote", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(400)
		_, _ = fmt.Fprintf(w, `{"error":{"errorCode":101,"message":"Name: the key %s"}}`, r.Header.Get("Source-Auth"))
	})
	_, err := a.provider(t).Quote(t.Context(), request(5330, usdcSuperseed, wethOP, "100000000", 0))
	if err == nil || strings.Contains(err.Error(), key) || !strings.Contains(err.Error(), "the key [redacted]") {
		t.Errorf("Quote: error %v, want one with the key redacted", err)
	}
	p, err := gasless.New(gasless.Config{Base: a.URL, Sandbox: true, Key: func(context.Context) (string, error) { return "", errors.New("the keychain is locked") }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	if _, err := p.Quote(t.Context(), onOne()); !errors.Is(err, &swap.Refusal{Code: swap.ProviderKey}) {
		t.Errorf("without its key: %v", err)
	}
}

// TestRFQHasNoFee: RFQ's order can hold no fee. So none is requested, whatever
// the configuration says, no offer has one, and a quote that takes one is refused.
func TestRFQHasNoFee(t *testing.T) {
	a := newAPI(t)
	var query string
	change := func(map[string]any, map[string]any) {}
	a.answer("/pmm/base/v3/quote", func(w http.ResponseWriter, r *http.Request) {
		query = r.URL.RawQuery
		say(reply(t, "base-usdc-dai.quote.json", change))(w, r)
	})
	ask := toFriend(request(8453, usdcBase, daiBase, "1000000000", 40))
	offers, err := a.provider(t).Quote(t.Context(), ask)
	if err != nil || len(offers) != 1 || len(offers[0].Fees) != 0 || strings.Contains(query, "fee") {
		t.Errorf("asked RFQ for %s, got %+v, %v", query, offers, err)
	}
	change = func(q, _ map[string]any) { q["partnerFee"] = map[string]any{daiBase.Hex(): "4002000000000000000"} }
	if _, err := a.provider(t).Quote(t.Context(), ask); !errors.Is(err, &swap.Refusal{Code: swap.NotAsAccepted}) {
		t.Errorf("a fee that nobody asked for: %v", err)
	}
}
