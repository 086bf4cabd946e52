package keyproxy

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/rs/zerolog"
)

const (
	testKey   = "test-key-of-no-service-1234"
	testToken = "test-token-of-no-installation"
	otherText = "another-test-token-of-nobody"
	weth      = "0x4200000000000000000000000000000000000006"
	usdc      = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"
	native    = "0x0000000000000000000000000000000000000000"
	vendor    = "0x90F79bf6EB2c4f870365E785982E1f101E93b906"
	thief     = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC"
)

// A provider records the requests that reach it and answers with answer.
type provider struct {
	*httptest.Server
	mu     sync.Mutex
	calls  []receivedCall
	answer http.HandlerFunc
}

type receivedCall struct {
	method, uri string
	header      http.Header
	body        string
}

func newProvider(t *testing.T, answer http.HandlerFunc) *provider {
	p := &provider{answer: answer}
	if answer == nil {
		p.answer = func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", jsonType)
			w.Header().Set("X-Internal", "not for clients")
			w.Header().Set("Date", "Fri, 20 Nov 2026 10:00:00 GMT")
			_, _ = io.WriteString(w, `{"requestId":"r1"}`)
		}
	}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		p.mu.Lock()
		p.calls = append(p.calls, receivedCall{r.Method, r.RequestURI, r.Header.Clone(), string(b)})
		p.mu.Unlock()
		p.answer(w, r)
	}))
	t.Cleanup(p.Close)
	return p
}

func (p *provider) last() (receivedCall, int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.calls) == 0 {
		return receivedCall{}, 0
	}
	return p.calls[len(p.calls)-1], len(p.calls)
}

func hashOf(token string) string {
	h := sha256.Sum256([]byte(token))
	return hex.EncodeToString(h[:])
}

type logged struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logged) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// A testProxy is a listening proxy with its log.
type testProxy struct {
	*Proxy
	url string
	log *logged
}

func open(t *testing.T, up *provider, change func(*Config)) testProxy {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &logged{}
	c := Config{
		Upstream: up.URL + "/v1", Sandbox: true, Key: testKey, Hosts: []string{ln.Addr().String()},
		Fee:    &Fee{Bips: 20, Recipient: common.HexToAddress(vendor)},
		Tokens: []Token{{"one", hashOf(testToken)}, {"two", hashOf(otherText)}},
		Limits: Limits{Rate: 1000, Burst: 1000, Share: 1, Body: 4096, Reply: 4096, BodyTime: 20 * time.Second, ReplyTime: 20 * time.Second},
		Log:    zerolog.New(l).Level(zerolog.DebugLevel),
	}
	if change != nil {
		change(&c)
	}
	p, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: p, ReadHeaderTimeout: time.Second}
	go func() { _ = s.Serve(ln) }()
	t.Cleanup(func() { _ = s.Close(); p.Close() })
	return testProxy{p, "http://" + ln.Addr().String(), l}
}

// A testRequest is one request, sent with valid headers unless change alters them.
type testRequest struct {
	method, path, body string
	change             func(*http.Request)
}

type testReply struct {
	status int
	header http.Header
	body   string
	code   string
}

func (d testProxy) send(t *testing.T, a testRequest) testReply {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), a.method, d.url+a.path, strings.NewReader(a.body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+testToken)
	r.Header.Set("Accept", jsonType)
	if a.method == http.MethodPost {
		r.Header.Set("Content-Type", jsonType)
	}
	if a.change != nil {
		a.change(r)
	}
	res, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	g := testReply{status: res.StatusCode, header: res.Header, body: string(b)}
	var e struct{ ErrorCode, Detail string }
	if res.StatusCode >= 400 {
		if err := json.Unmarshal(b, &e); err != nil || e.ErrorCode == "" || e.Detail == "" {
			t.Errorf("%d is not in the provider's error shape: %s", res.StatusCode, b)
		}
		g.code = e.ErrorCode
	}
	all := g.body + fmt.Sprint(g.header) + d.log.String()
	for _, secret := range []string{testKey, testToken, hashOf(testToken), otherText} {
		if strings.Contains(all, secret) {
			t.Errorf("a secret shows in a reply or the log: %s", all)
		}
	}
	return g
}

func header(name string, values ...string) func(*http.Request) {
	return func(r *http.Request) { r.Header[http.CanonicalHeaderKey(name)] = values }
}

func quote(more string) string {
	return `{"type":"EXACT_INPUT","amount":"1","tokenIn":"` + usdc + `","tokenOut":"` + weth + `","tokenInChainId":8453,"tokenOutChainId":8453,"swapper":"` + thief + `","slippageTolerance":0.50` + more + `}`
}

func wrap(more string) string {
	return `{"type":"EXACT_INPUT","amount":"1","tokenIn":"` + native + `","tokenOut":"` + weth + `","tokenInChainId":8453,"tokenOutChainId":8453,"swapper":"` + thief + `"` + more + `}`
}

func fees(bips, recipient string) string {
	return `,"integratorFees":[{"bips":` + bips + `,"recipient":"` + recipient + `"}]`
}

func post(path, body string) testRequest {
	return testRequest{method: http.MethodPost, path: path, body: body}
}
func get(path string) testRequest { return testRequest{method: http.MethodGet, path: path} }
func with(a testRequest, c func(*http.Request)) testRequest {
	a.change = c
	return a
}

const (
	goodLine = `{"token":"` + weth + `","amount":"2","recipient":"` + vendor + `","bps":20,"fee":"INTEGRATOR"}`
	badLine  = `{"token":"` + weth + `","amount":"2","recipient":"` + thief + `","bps":20,"fee":"INTEGRATOR"}`
	userLine = `{"token":"` + weth + `","amount":"998","recipient":"` + thief + `","bps":9980}`
)

func echo(inside string) string { return `{"quote":{"chainId":8453,` + inside + `}}` }

func TestForwarded(t *testing.T) {
	forced := fees("20", vendor)
	swap := echo(`"slippage":0.50,"aggregatedOutputs":[` + userLine + `,` + goodLine + `]`)
	wrapped := echo(`"input":{"token":"` + native + `"},"output":{"token":"` + weth + `"}`)
	order := `{"quote":{"aggregatedOutputs":[` + goodLine + `],"orderInfo":{"outputs":[{"recipient":"` + vendor + `"}]},"encodedOrder":"0x01` + strings.Repeat("0", 24) + strings.ToLower(vendor[2:]) + `02"},"signature":"0x1","routing":"DUTCH_V2"}`
	for name, c := range map[string]struct {
		testRequest
		uri, body string // what the provider must receive
	}{
		"approval":           {post("/v1/check_approval", `{"chainId":1}`), "/v1/check_approval", `{"chainId":1}`},
		"fee added":          {post("/v1/quote", quote("")), "/v1/quote", quote(forced)},
		"fee right":          {post("/v1/quote", quote(forced)), "/v1/quote", quote(forced)},
		"fee in lower case":  {post("/v1/quote", quote(fees("2e1", strings.ToLower(vendor)))), "/v1/quote", quote(forced)},
		"wrap without a fee": {post("/v1/quote", wrap("")), "/v1/quote", wrap("")},
		"wrap with the fee":  {post("/v1/quote", wrap(forced)), "/v1/quote", wrap(forced)},
		"swap":               {post("/v1/swap", swap), "/v1/swap", swap},
		"swap of a wrap":     {post("/v1/swap", wrapped), "/v1/swap", wrapped},
		"order":              {post("/v1/order", order), "/v1/order", order},
		"orders":             {get("/v1/orders?orderIds=0x1,0x2&limit=5"), "/v1/orders?limit=5&orderIds=0x1%2C0x2", ""},
		"swaps":              {get("/v1/swaps?txHashes=0x1&chainId=1"), "/v1/swaps?chainId=1&txHashes=0x1", ""},
		"tokens":             {get("/v1/swappable_tokens?tokenIn=0x1&tokenInChainId=1"), "/v1/swappable_tokens?tokenIn=0x1&tokenInChainId=1", ""},
		"spaced body":        {post("/v1/check_approval", " {\n\"amount\" : \"1\" } "), "/v1/check_approval", `{"amount":"1"}`},
		"second install":     {with(get("/v1/orders"), header("Authorization", "bearer "+otherText)), "/v1/orders", ""},
		"headers left":       {with(get("/v1/orders"), header("X-Permit2-Disabled", "true")), "/v1/orders", ""},
		"foreign key":        {with(get("/v1/orders"), header("X-Api-Key", "mine")), "/v1/orders", ""},
		"cookie":             {with(get("/v1/orders"), header("Cookie", "a=b")), "/v1/orders", ""},
		"wrap, other chains": {post("/v1/quote", strings.Replace(wrap(""), `"tokenOutChainId":8453`, `"tokenOutChainId":10`, 1)), "/v1/quote", strings.Replace(wrap(forced), `"tokenOutChainId":8453`, `"tokenOutChainId":10`, 1)},
	} {
		t.Run(name, func(t *testing.T) {
			up := newProvider(t, nil)
			d := open(t, up, nil)
			g := d.send(t, c.testRequest)
			last, n := up.last()
			if g.status != 200 || n != 1 || g.body != `{"requestId":"r1"}` {
				t.Fatalf("got %d %s after %d calls", g.status, g.body, n)
			}
			if last.uri != c.uri || last.body != c.body || last.method != c.method {
				t.Errorf("provider got %s %s %s\nwant %s %s", last.method, last.uri, last.body, c.uri, c.body)
			}
			if k := last.header.Values(keyHeader); len(k) != 1 || k[0] != testKey {
				t.Errorf("provider got key %q", k)
			}
			for h := range last.header {
				switch h {
				case "Accept", "Content-Type", "Content-Length", "Accept-Encoding", "User-Agent", keyHeader:
				default:
					t.Errorf("header %s went through", h)
				}
			}
			if g.header.Get("X-Internal") != "" || g.header.Get("Date") != "Fri, 20 Nov 2026 10:00:00 GMT" {
				t.Errorf("reply headers %v", g.header)
			}
			for h, v := range securityHeaders {
				if g.header.Get(h) != v {
					t.Errorf("%s is %q", h, g.header.Get(h))
				}
			}
		})
	}
}

func TestRouterVersionIsForwarded(t *testing.T) {
	up := newProvider(t, nil)
	d := open(t, up, nil)
	d.send(t, with(post("/v1/quote", quote("")), header(routerHeader, "2.1.2")))
	if last, _ := up.last(); last.header.Get(routerHeader) != "2.1.2" || last.header.Get("Content-Type") != jsonType {
		t.Errorf("provider got %v", last.header)
	}
}

func TestRefused(t *testing.T) {
	up := newProvider(t, nil)
	d := open(t, up, nil)
	big := strings.Repeat("x", 5000)
	for name, c := range map[string]struct {
		testRequest
		code code
	}{
		"root":                  {get("/"), endpointRefused},
		"other endpoint":        {post("/v1/plan", `{}`), endpointRefused},
		"without version":       {post("/quote", quote("")), endpointRefused},
		"trailing slash":        {get("/v1/orders/"), endpointRefused},
		"encoded path":          {get("/v1/%6frders"), endpointRefused},
		"dots":                  {get("/v1/x/../orders"), endpointRefused},
		"wrong method":          {get("/v1/quote"), methodRefused},
		"options":               {testRequest{method: http.MethodOptions, path: "/v1/quote"}, methodRefused},
		"host":                  {with(get("/v1/orders"), func(r *http.Request) { r.Host = "evil.example" }), hostRefused},
		"health by host":        {with(get("/health"), func(r *http.Request) { r.Host = "evil.example" }), hostRefused},
		"origin":                {with(get("/v1/orders"), header("Origin", "https://a.example")), originRefused},
		"null origin":           {with(get("/health"), header("Origin", "null")), originRefused},
		"no token":              {with(get("/v1/orders"), func(r *http.Request) { r.Header.Del("Authorization") }), unauthorized},
		"wrong token":           {with(get("/v1/orders"), header("Authorization", "Bearer "+testToken+"x")), unauthorized},
		"hash as token":         {with(get("/v1/orders"), header("Authorization", "Bearer "+hashOf(otherText))), unauthorized},
		"short token":           {with(get("/v1/orders"), header("Authorization", "Bearer x")), unauthorized},
		"basic":                 {with(get("/v1/orders"), header("Authorization", "Basic "+testToken)), unauthorized},
		"two tokens":            {with(get("/v1/orders"), header("Authorization", "Bearer "+otherText, "Bearer "+otherText)), unauthorized},
		"charset":               {with(post("/v1/quote", quote("")), header("Content-Type", "application/json; charset=utf-8")), mediaRefused},
		"compressed":            {with(post("/v1/quote", quote("")), header("Content-Encoding", "gzip")), mediaRefused},
		"accept":                {with(get("/v1/orders"), header("Accept", "text/html")), headerRefused},
		"router version":        {with(get("/v1/orders"), header(routerHeader, "two")), headerRefused},
		"query name":            {get("/v1/orders?filler=1"), queryRefused},
		"query parameter twice": {get("/v1/orders?limit=1&limit=2"), queryRefused},
		"query malformed":       {get("/v1/orders?limit=1;x"), queryRefused},
		"query control":         {get("/v1/orders?cursor=%00"), queryRefused},
		"query long":            {get("/v1/orders?cursor=" + big), queryRefused},
		"query on post":         {post("/v1/quote?a=b", quote("")), queryRefused},
		"body on get":           {testRequest{method: http.MethodGet, path: "/v1/orders", body: `{}`}, bodyRefused},
		"too large":             {post("/v1/quote", quote(`,"urgency":"`+big+`"`)), bodyTooLarge},
		"empty":                 {post("/v1/quote", ""), bodyRefused},
		"list":                  {post("/v1/quote", "[]"), bodyRefused},
		"cut":                   {post("/v1/quote", `{"type":`), bodyRefused},
		"two objects":           {post("/v1/quote", quote("")+"{}"), bodyRefused},
		"field twice":           {post("/v1/quote", quote(fees("20", vendor)+fees("20", thief))), bodyRefused},
		"field twice escaped":   {post("/v1/quote", quote(fees("20", vendor)+`,"integratorFee\u0073":[]`)), bodyRefused},
		"unknown field":         {post("/v1/quote", quote(`,"portionRecipient":"`+thief+`"`)), fieldRefused},
		"field in other case":   {post("/v1/quote", quote(`,"IntegratorFees":[]`)), fieldRefused},
		"permit as call":        {post("/v1/quote", quote(`,"generatePermitAsTransaction":true`)), fieldRefused},
		"fee recipient":         {post("/v1/quote", quote(fees("20", thief))), feeRefused},
		"fee bips":              {post("/v1/quote", quote(fees("19", vendor))), feeRefused},
		"fee as text":           {post("/v1/quote", quote(fees(`"20"`, vendor))), feeRefused},
		"fee none":              {post("/v1/quote", quote(`,"integratorFees":[]`)), feeRefused},
		"fee null":              {post("/v1/quote", quote(`,"integratorFees":null`)), feeRefused},
		"two fees":              {post("/v1/quote", quote(`,"integratorFees":[{"bips":20,"recipient":"`+vendor+`"},{"bips":20,"recipient":"`+thief+`"}]`)), feeRefused},
		"fee recipient twice":   {post("/v1/quote", quote(`,"integratorFees":[{"bips":20,"recipient":"`+vendor+`","recipient":"`+thief+`"}]`)), feeRefused},
		"fee extra":             {post("/v1/quote", quote(`,"integratorFees":[{"bips":20,"recipient":"`+vendor+`","to":1}]`)), feeRefused},
		"wrap fee":              {post("/v1/quote", wrap(fees("20", thief))), feeRefused},
		"swap without quote":    {post("/v1/swap", `{}`), bodyRefused},
		"swap pays nobody":      {post("/v1/swap", echo(`"aggregatedOutputs":[`+userLine+`]`)), feeRefused},
		"swap has no outputs":   {post("/v1/swap", echo(`"route":[]`)), feeRefused},
		"swap pays thief":       {post("/v1/swap", echo(`"aggregatedOutputs":[`+badLine+`]`)), feeRefused},
		"swap pays both":        {post("/v1/swap", echo(`"aggregatedOutputs":[`+goodLine+`,`+badLine+`]`)), feeRefused},
		"swap portion":          {post("/v1/swap", echo(`"portionRecipient":"`+thief+`","aggregatedOutputs":[`+goodLine+`]`)), feeRefused},
		"swap portion bips":     {post("/v1/swap", echo(`"portionBips":0,"aggregatedOutputs":[`+goodLine+`]`)), feeRefused},
		"swap outputs twice":    {post("/v1/swap", echo(`"aggregatedOutputs":[`+goodLine+`],"aggregatedOutputs":[`+badLine+`]`)), bodyRefused},
		"swap as false wrap":    {post("/v1/swap", echo(`"route":[[]],"input":{"token":"`+native+`"},"output":{"token":"`+weth+`"}`)), feeRefused},
		"order pays nobody":     {post("/v1/order", echo(`"aggregatedOutputs":[`+goodLine+`],"encodedOrder":"0x01"`)), feeRefused},
		"order is another":      {post("/v1/order", echo(`"aggregatedOutputs":[`+goodLine+`],"orderInfo":{"outputs":[{"recipient":"`+vendor+`"}]},"encodedOrder":"0x`+strings.Repeat("0", 24)+strings.ToLower(thief[2:])+`"`)), feeRefused},
		"order pays thief":      {post("/v1/order", echo(`"aggregatedOutputs":[`+goodLine+`],"orderInfo":{"outputs":[{"recipient":"`+thief+`"}]}`)), feeRefused},
	} {
		t.Run(name, func(t *testing.T) {
			g := d.send(t, c.testRequest)
			if g.code != string(c.code) || g.status != statuses[c.code] {
				t.Errorf("got %d %s, want %s", g.status, g.body, c.code)
			}
		})
	}
	if _, n := up.last(); n != 0 {
		t.Errorf("%d refused calls reached the provider", n)
	}
}

func TestNoFeeMeansNoFee(t *testing.T) {
	up := newProvider(t, nil)
	d := open(t, up, func(c *Config) { c.Fee = nil })
	for name, c := range map[string]struct {
		testRequest
		code code
	}{
		"quote":        {post("/v1/quote", quote("")), ""},
		"swap":         {post("/v1/swap", echo(`"portionBips":0,"aggregatedOutputs":[`+userLine+`]`)), ""},
		"asked":        {post("/v1/quote", quote(fees("20", vendor))), feeRefused},
		"swap with":    {post("/v1/swap", echo(`"aggregatedOutputs":[`+badLine+`]`)), feeRefused},
		"swap portion": {post("/v1/swap", echo(`"portionBips":5,"portionRecipient":"`+thief+`"`)), feeRefused},
	} {
		if g := d.send(t, c.testRequest); g.code != string(c.code) {
			t.Errorf("%s: got %d %s, want %q", name, g.status, g.body, c.code)
		}
	}
	if last, _ := up.last(); strings.Contains(last.body, feeField) {
		t.Error("a fee was added")
	}
}

func TestProviderReplies(t *testing.T) {
	say := func(status int, kind, body string, more ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			for i := 0; i+1 < len(more); i += 2 {
				w.Header().Set(more[i], more[i+1])
			}
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
	}
	known := `{"errorCode":"NoRouteFoundError","detail":"none"}`
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		status int
		code   string
	}{
		"404 passes":    {say(404, jsonType, known), 404, "NoRouteFoundError"},
		"500 passes":    {say(500, jsonType+"; charset=utf-8", known), 500, "NoRouteFoundError"},
		"201 passes":    {say(201, jsonType, `{}`), 201, ""},
		"html 504":      {say(504, "text/html", "<h1>"+testKey), 504, string(upstreamReply)},
		"html 200":      {say(200, "text/html", "<h1>"), 502, string(upstreamReply)},
		"no json":       {say(200, jsonType, "{"), 502, string(upstreamReply)},
		"key echoed":    {say(200, jsonType, `{"k":"`+testKey+`"}`), 502, string(upstreamReply)},
		"key escaped":   {say(200, jsonType, `{"n":1e999,"k":"\u00`+fmt.Sprintf("%02x", testKey[0])+testKey[1:]+`"}`), 502, string(upstreamReply)},
		"1e999":         {say(200, jsonType, `{"n":1e999,"k":"\n"}`), 200, ""},
		"key in error":  {say(400, jsonType, `{"k":"`+testKey+`"}`), 400, string(upstreamReply)},
		"key in header": {say(429, jsonType, known, "Retry-After", testKey, "Date", testKey), 429, "NoRouteFoundError"},
		"long":          {say(200, jsonType, `"`+strings.Repeat("x", 5000)+`"`), 502, string(upstreamReply)},
		"redirect":      {say(307, jsonType, `{}`, "Location", "/v1/stolen"), 502, string(upstreamRedirect)},
		"key refused":   {say(401, jsonType, known), 502, string(upstreamKey)},
		"slow":          {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, 504, string(upstreamTimeout)},
		"slow body": {func(w http.ResponseWriter, r *http.Request) {
			say(200, jsonType, "{")(w, r)
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}, 504, string(upstreamTimeout)},
		"connection broken": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, 502, string(upstreamLost)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			up := newProvider(t, c.answer)
			d := open(t, up, func(c *Config) {
				if strings.HasPrefix(name, "slow") {
					c.Limits.ReplyTime = 300 * time.Millisecond
				}
			})
			g := d.send(t, post("/v1/quote", quote("")))
			_, n := up.last()
			if g.status != c.status || g.code != c.code || n != 1 {
				t.Errorf("got %d %s after %d calls, want %d %s", g.status, g.body, n, c.status, c.code)
			}
		})
	}
}

func TestSlowBody(t *testing.T) {
	up := newProvider(t, nil)
	d := open(t, up, func(c *Config) { c.Limits.BodyTime = 200 * time.Millisecond })
	r, w := io.Pipe()
	t.Cleanup(func() { _ = w.Close() })
	go func() { _, _ = io.WriteString(w, `{"type":`) }()
	g := d.send(t, with(post("/v1/quote", ""), func(q *http.Request) { q.Body = r }))
	if g.code != string(bodyTimeout) {
		t.Errorf("got %d %s", g.status, g.body)
	}
}

func TestBusy(t *testing.T) {
	arrived, release := make(chan struct{}), make(chan struct{})
	up := newProvider(t, func(w http.ResponseWriter, _ *http.Request) {
		close(arrived)
		<-release
		w.Header().Set("Content-Type", jsonType)
		_, _ = io.WriteString(w, `{}`)
	})
	d := open(t, up, func(c *Config) { c.Limits.Running = 1 })
	done := make(chan testReply)
	go func() { done <- d.send(t, get("/v1/orders")) }()
	<-arrived
	if g := d.send(t, get("/v1/orders")); g.code != string(busy) || g.header.Get("Retry-After") != "1" {
		t.Errorf("got %d %s", g.status, g.body)
	}
	close(release)
	if g := <-done; g.status != 200 {
		t.Errorf("first got %d", g.status)
	}
}

func TestShares(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	up := newProvider(t, nil)
	d := open(t, up, func(c *Config) {
		c.Now = func() time.Time { return now }
		c.Limits.Rate, c.Limits.Burst, c.Limits.Share = 6, 6, 0.5
	})
	ask := func(token string) string {
		g := d.send(t, with(get("/v1/orders"), header("Authorization", "Bearer "+token)))
		if g.code != "" && g.header.Get("Retry-After") == "" {
			t.Errorf("%s without retry-after", g.code)
		}
		return g.code
	}
	var outcomes []string
	for range 4 {
		outcomes = append(outcomes, ask(testToken))
	}
	for range 4 {
		outcomes = append(outcomes, ask(otherText))
	}
	limit := string(rateLimited)
	want := []string{"", "", "", limit, "", "", "", limit}
	if fmt.Sprint(outcomes) != fmt.Sprint(want) {
		t.Errorf("got %q", outcomes)
	}
	now = now.Add(400 * time.Millisecond) // 3 calls per second each
	if c := ask(testToken); c != "" {
		t.Errorf("after the wait: %s", c)
	}
	if _, n := up.last(); n != 7 {
		t.Errorf("%d calls reached the provider", n)
	}
}

func TestGlobalLimit(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	d := open(t, newProvider(t, nil), func(c *Config) {
		c.Now = func() time.Time { return now }
		c.Limits.Rate, c.Limits.Burst = 2, 2
	})
	one, two := (*d.gate.installs.Load())[0], (*d.gate.installs.Load())[1]
	for i, c := range []struct {
		in *install
		ok bool
	}{{one, true}, {two, true}, {two, false}, {one, false}} {
		if r := d.gate.reserveCall(c.in, now, d.running.acquire); (r == nil) != c.ok {
			t.Errorf("call %d: %v", i, r)
		}
	}
}

func TestProviderPauseHoldsAll(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	up := newProvider(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", jsonType)
		w.Header().Set("Retry-After", "3")
		w.WriteHeader(429)
		_, _ = io.WriteString(w, `{"errorCode":"Ratelimited","detail":"slow down"}`)
	})
	d := open(t, up, func(c *Config) { c.Now = func() time.Time { return now } })
	if g := d.send(t, get("/v1/orders")); g.code != "Ratelimited" || g.header.Get("Retry-After") != "3" {
		t.Errorf("got %d %s %v", g.status, g.body, g.header)
	}
	if g := d.send(t, get("/v1/orders")); g.code != string(rateLimited) || g.header.Get("Retry-After") != "3" {
		t.Errorf("got %d %s", g.status, g.body)
	}
	now = now.Add(3 * time.Second)
	d.send(t, get("/v1/orders"))
	if _, n := up.last(); n != 2 {
		t.Errorf("%d calls reached the provider", n)
	}
}

func TestHealthMetricsAndDrain(t *testing.T) {
	d := open(t, newProvider(t, nil), nil)
	if g := d.send(t, with(get("/health"), func(r *http.Request) { r.Header.Del("Authorization") })); g.body != `{"status":"ok"}` {
		t.Errorf("health: %s", g.body)
	}
	d.send(t, get("/v1/orders"))
	d.send(t, get("/v1/secret-of-a-client"))
	m := httptest.NewServer(d.Metrics())
	defer m.Close()
	res, err := m.Client().Get(m.URL + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	b, _ := io.ReadAll(res.Body)
	_ = res.Body.Close()
	for _, line := range []string{
		`swapkeep_keyproxy_requests_total{endpoint="/orders",outcome="2xx"} 1`,
		`swapkeep_keyproxy_requests_total{endpoint="none",outcome="ProxyEndpointRefused"} 1`,
		`swapkeep_keyproxy_upstream_seconds_bucket{le="+Inf"} 1`, `swapkeep_keyproxy_upstream_seconds_count 1`, `swapkeep_keyproxy_running 0`,
	} {
		if !strings.Contains(string(b), line+"\n") {
			t.Errorf("metrics lack %s:\n%s", line, b)
		}
	}
	if strings.Contains(string(b), "secret-of-a-client") {
		t.Error("a client's text is in the metrics")
	}
	w := httptest.NewRecorder()
	d.Metrics().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://evil.example/metrics", nil))
	if w.Code != statuses[hostRefused] {
		t.Errorf("metrics by another name: %d", w.Code)
	}
	d.Drain()
	if g := d.send(t, get("/v1/orders")); g.status != 200 {
		t.Errorf("draining: %d", g.status)
	}
	if g := d.send(t, get("/v1/plan")); g.code != string(endpointRefused) {
		t.Errorf("draining: %s", g.body)
	}
}

func TestNewRefuses(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"no key":                func(c *Config) { c.Key = "" },
		"key with a line break": func(c *Config) { c.Key = testKey + "\n" },
		"http":                  func(c *Config) { c.Upstream = "http://api.example/v1" },
		"loopback":              func(c *Config) { c.Upstream = "https://127.0.0.1/v1" },
		"user":                  func(c *Config) { c.Upstream = "https://a:b@api.example/v1" },
		"query":                 func(c *Config) { c.Upstream = "https://api.example/v1?a" },
		"sandbox outside":       func(c *Config) { c.Sandbox = true },
		"no hosts":              func(c *Config) { c.Hosts = nil },
		"any host":              func(c *Config) { c.Hosts = []string{"*"} },
		"no tokens":             func(c *Config) { c.Tokens = nil },
		"token itself":          func(c *Config) { c.Tokens = []Token{{"a", testToken}} },
		"long hash":             func(c *Config) { c.Tokens = []Token{{"a", hashOf("a") + "00"}} },
		"empty token":           func(c *Config) { c.Tokens = []Token{{"a", hashOf("")}} },
		"token twice":           func(c *Config) { c.Tokens = append(c.Tokens, c.Tokens[0]) },
		"fee too high":          func(c *Config) { c.Fee = &Fee{501, common.HexToAddress(vendor)} },
		"fee to nobody":         func(c *Config) { c.Fee = &Fee{Bips: 20} },
		"share":                 func(c *Config) { c.Limits.Share = 1.5 },
		"negative body":         func(c *Config) { c.Limits.Body = -1 },
	} {
		c := Config{Upstream: "https://api.example/v1", Key: testKey, Hosts: []string{"a"}, Tokens: []Token{{"a", hashOf(testToken)}}}
		if _, err := New(c); err != nil {
			t.Fatal(err)
		}
		change(&c)
		if _, err := New(c); err == nil || strings.Contains(err.Error(), testKey) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzFilter: a body that passes is stable JSON, and a quote request carries exactly the
// vendor's fee, or none if it only wraps.
func FuzzFilter(f *testing.F) {
	for _, s := range []string{quote(""), wrap(""), quote(fees("20", vendor)), quote(fees("20", thief)), `{"a":1,"a":2}`, `{`, `[]`,
		`{"integratorFees":[],"integratorFee\u0073":1}`, echo(`"aggregatedOutputs":[` + goodLine + `]`), "{\"type\":\"\xff\"}"} {
		f.Add(s)
	}
	fee := &Fee{20, common.HexToAddress(vendor)}
	f.Fuzz(func(t *testing.T, body string) {
		for i := range endpoints {
			e := &endpoints[i]
			out, err := e.filter(fee, []byte(body))
			if err != nil {
				if asRefusal(err).Error() != err.Error() {
					t.Fatalf("untyped: %v", err)
				}
				continue
			}
			var m map[string]json.RawMessage
			if err := json.Unmarshal(out, &m); err != nil {
				t.Fatalf("%q passed as %q: %v", body, out, err)
			}
			again, err := e.filter(fee, out)
			if err != nil || !bytes.Equal(again, out) {
				t.Fatalf("%q is not stable: %q %v", out, again, err)
			}
			if e.path == "/quote" && m[feeField] == nil && !wraps(m["tokenInChainId"], m["tokenOutChainId"], m["tokenIn"], m["tokenOut"]) {
				t.Fatalf("no fee in %q", out)
			}
			if e.path == "/quote" && m[feeField] != nil && !bytes.Equal(m[feeField], fee.encoded()) {
				t.Fatalf("another fee in %q", out)
			}
		}
	})
}

// TestRecordedRequests: requests as wallets really send them pass unchanged.
func TestRecordedRequests(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) < 6 {
		t.Fatal(files, err)
	}
	up := newProvider(t, nil)
	d := open(t, up, func(c *Config) { c.Fee.Bips, c.Limits.Body = 40, 1<<20 })
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		var r struct {
			Path string
			Body json.RawMessage
		}
		if err := json.Unmarshal(raw, &r); err != nil {
			t.Fatal(err)
		}
		g := d.send(t, post(r.Path, string(r.Body)))
		last, _ := up.last()
		if g.status != 200 || last.uri != r.Path || last.body != string(r.Body) {
			t.Errorf("%s: got %d %s; provider got %.300s", f, g.status, g.body, last.body)
		}
	}
}
