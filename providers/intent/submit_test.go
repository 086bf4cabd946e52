package intent

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

// answers are the replies of the deposit endpoints; nil = 404, as for an unknown path.
type answers struct{ submit, byID, list http.HandlerFunc }

// A depositServer serves these endpoints and records the requests.
type depositServer struct {
	answers
	mu          sync.Mutex
	submissions []submission
	requests    map[string]int // by endpoint
}

func (d *depositServer) serve(t *testing.T) *Provider {
	d.requests = map[string]int{}
	return at(t, func(w http.ResponseWriter, r *http.Request) {
		name, h := "list", d.list
		switch {
		case r.Method == http.MethodPut && r.URL.Path == "/v1/deposit/submit":
			name, h = "submit", d.submit
			var s submission
			body, err := io.ReadAll(r.Body)
			if err != nil || json.Unmarshal(body, &s) != nil {
				t.Errorf("told %s, %v", body, err)
			}
			d.mu.Lock()
			d.submissions = append(d.submissions, s)
			d.mu.Unlock()
		case strings.HasPrefix(r.URL.Path, "/v1/orders/by-id/"):
			name, h = "byID", d.byID
		case r.URL.Path != "/v1/orders/"+exampleAccount.Hex() || r.URL.Query().Get("txHashSearch") != exampleTx.Hex() || r.URL.Query().Get("limit") != "20":
			t.Errorf("asked for %s", r.URL)
		}
		d.mu.Lock()
		d.requests[name]++
		d.mu.Unlock()
		if h == nil {
			h = notFound
		}
		h(w, r)
	})
}

// notFound is how the API answers an unknown path.
func notFound(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain")
	w.WriteHeader(404)
	_, _ = w.Write([]byte("404 Not Found"))
}

func hang(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// once answers with h the first times, and then with then.
func once(times int, h, then http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if times--; times >= 0 {
			h(w, r)
			return
		}
		then(w, r)
	}
}

func page(orders ...[]byte) http.HandlerFunc {
	var list []json.RawMessage
	for _, o := range orders {
		list = append(list, o)
	}
	raw, err := json.Marshal(map[string]any{"data": append([]json.RawMessage{}, list...)})
	if err != nil {
		panic(err) // it came from JSON
	}
	return says(200, raw)
}

func TestSubmit(t *testing.T) {
	ours, taken := example(t, "k_ord_created"), says(200, example(t, "k_sub_resp"))
	lost, conflict, duplicate := example(t, "k_e_nf"), example(t, "k_e_conf"), example(t, "k_e_dup")
	stranger := changed(t, ours, "author", attacker.Hex())
	for name, c := range map[string]struct {
		answers
		want     string
		code     swap.Code // of the refusal, which is always temporary
		searched bool
	}{
		"taken":                            {answers{submit: taken}, exampleOrder, "", false},
		"accepted, without the hash":       {answers{submit: says(200, []byte(`{"orderId":"o"}`))}, "o", "", false},
		"accepted at the second attempt":   {answers{submit: once(1, says(500, example(t, "k_e_500")), taken)}, exampleOrder, "", false},
		"a lost answer":                    {answers{submit: once(1, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, taken)}, exampleOrder, "", false},
		"down":                             {answers{submit: says(500, example(t, "k_e_500"))}, "", swap.ProviderDown, false},
		"silent":                           {answers{submit: hang}, "", swap.ProviderDown, false},
		"busy":                             {answers{submit: says(429, []byte(`{}`))}, "", swap.ProviderBusy, false},
		"the quote is lost, the order not": {answers{submit: says(404, lost), list: page(ours)}, exampleOrder, "", true},
		"the quote is lost":                {answers{submit: says(404, lost), list: page()}, "", swap.QuoteExpired, true},
		"an unknown path":                  {answers{list: page(ours)}, exampleOrder, "", true},
		"the quote is lost, the list down": {answers{submit: says(404, lost), list: says(500, example(t, "k_e_500"))}, "", swap.QuoteExpired, true},
		"another hash, then ours":          {answers{submit: says(400, conflict), list: page(ours)}, exampleOrder, "", true},
		"another hash":                     {answers{submit: says(400, conflict), list: page()}, "", swap.ProviderDown, true},
		"recorded at the same moment":      {answers{submit: says(409, duplicate), list: page(ours)}, exampleOrder, "", true},
		"recorded, with a good status":     {answers{submit: says(200, duplicate), list: page(ours)}, exampleOrder, "", true},
		"recorded, with a bad status":      {answers{submit: says(500, duplicate), list: page(ours)}, exampleOrder, "", true},
		"recorded, and not found":          {answers{submit: says(200, duplicate), list: page()}, "", swap.ProviderDown, true},
		"a stranger's order in the list":   {answers{submit: says(404, lost), list: page(stranger)}, "", swap.QuoteExpired, true},
		"our order among others":           {answers{submit: says(404, lost), list: page(stranger, changed(t, ours, "depositTxHash", common.Hash{1}.Hex()), ours)}, exampleOrder, "", true},
		"a request that it rejects":        {answers{submit: says(400, example(t, "k_e_val"))}, "", swap.ProviderDown, false},
		"for another account":              {answers{submit: says(400, []byte(`{"name":"UnexpectedFromAddressException"}`))}, "", swap.ProviderDown, false},
		"no route any more":                {answers{submit: says(400, example(t, "k_e_fill"))}, "", swap.ProviderDown, false},
		"another hash in the answer":       {answers{submit: says(200, []byte(`{"orderId":"o","txHash":"0x01"}`))}, "", swap.ProviderInvalidResponse, false},
		"no name":                          {answers{submit: says(200, []byte(`{}`))}, "", swap.ProviderInvalidResponse, false},
		"a name that breaks lines":         {answers{submit: says(200, []byte(`{"orderId":"a\nb"}`))}, "", swap.ProviderInvalidResponse, false},
		"null":                             {answers{submit: says(200, []byte(`null`))}, "", swap.ProviderInvalidResponse, false},
		"an array":                         {answers{submit: says(200, []byte(`[]`))}, "", swap.ProviderInvalidResponse, false},
	} {
		t.Run(name, func(t *testing.T) {
			d := &depositServer{answers: c.answers}
			p := d.serve(t)
			id, err := p.Submit(t.Context(), exampleOrderOf(t))
			if id != c.want || (err == nil) != (c.code == "") {
				t.Fatalf("%q, %v", id, err)
			}
			var r *swap.Refusal
			if err != nil && (!errors.As(err, &r) || r.Code != c.code || !r.Temporary()) {
				t.Errorf("want %s, got %v", c.code, err)
			}
			d.mu.Lock() // after a timed-out call the server may still be busy
			defer d.mu.Unlock()
			if (d.requests["list"] > 0) != c.searched {
				t.Errorf("the orders were listed %d times", d.requests["list"])
			}
			for _, s := range d.submissions {
				if s != (submission{exampleQuote, "Hyperstream", exampleTx}) {
					t.Errorf("told %+v", s)
				}
			}
		})
	}
}

// TestSubmitAgain: submitting a deposit again gives the same id. A cancelled caller gets
// context.Canceled. Without a mined deposit nothing is sent.
func TestSubmitAgain(t *testing.T) {
	d := &depositServer{answers: answers{submit: says(200, example(t, "k_sub_resp"))}}
	p, o := d.serve(t), exampleOrderOf(t)
	for range 3 {
		if id, err := p.Submit(t.Context(), o.Clone()); err != nil || id != exampleOrder {
			t.Errorf("Submit = %q, %v, want the example order", id, err)
		}
	}
	ctx, leave := context.WithCancel(t.Context())
	d.submit = func(_ http.ResponseWriter, r *http.Request) { leave(); <-r.Context().Done() }
	if _, err := p.Submit(ctx, o); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller that left: %v", err)
	}
	submitted := len(d.submissions)
	o.Results = nil
	_, err := p.Submit(t.Context(), o)
	refusedFor(t, "no deposit", err, swap.Undecodable, "deposit")
	o.Results = []swap.Result{{Skipped: true}}
	_, err = p.Submit(t.Context(), o)
	refusedFor(t, "no transaction", err, swap.Undecodable, "deposit")
	_, err = p.Status(t.Context(), o)
	refusedFor(t, "no transaction to ask about", err, swap.Undecodable, "deposit")
	o.Plan.Steps = nil
	_, err = p.Proof(o)
	refusedFor(t, "no plan", err, swap.Undecodable, "plan")
	if len(d.submissions) != submitted {
		t.Error("told of a deposit that is none")
	}
}

// TestSpeedUp: the mined transaction is registered and queried, not the first one signed.
func TestSpeedUp(t *testing.T) {
	d := &depositServer{answers: answers{submit: says(200, example(t, "k_sub_resp")), list: page(example(t, "k_ord_created"))}}
	p, o := d.serve(t), exampleOrderOf(t)
	first := common.Hash{1}
	o.CurrentTx, o.Attempts = exampleTx, []swap.Attempt{{Tx: first}, {Tx: exampleTx}}
	if _, err := p.Submit(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if len(d.submissions) != 1 || d.submissions[0].TxHash != exampleTx {
		t.Errorf("told %+v", d.submissions)
	}
	o.ProviderOrderID = "" // as after a crash
	if c, err := p.Status(t.Context(), o); err != nil || c.ProviderStatus != "created" {
		t.Errorf("Status = %+v, %v, want created", c, err)
	}
	d.byID, o.ProviderOrderID = says(200, changed(t, example(t, "k_ord_created"), "depositTxHash", first.Hex())), exampleOrder
	_, err := p.Status(t.Context(), o)
	refusedFor(t, "the first hash", err, swap.ProviderInvalidResponse, "depositTxHash")
}

// changed is a JSON object with one member changed; nil removes it.
func changed(t testing.TB, raw []byte, name string, value any) []byte {
	t.Helper()
	var o map[string]any
	if err := json.Unmarshal(raw, &o); err != nil {
		t.Fatal(err)
	}
	if o[name] = value; value == nil {
		delete(o, name)
	}
	out, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// An otherOrder is a reply about an order with one member changed.
type otherOrder struct {
	member string
	value  any
	field  string // of the refusal; "" = it is still ours
}

var otherOrders = []otherOrder{
	{"id", "another", "id"},
	{"id", nil, "status"},
	{"status", nil, "status"},
	{"quoteId", "another", "quoteId"},
	{"quoteId", nil, "quoteId"},
	{"routeId", "Across", "routeId"},
	{"fromChainId", 1, "fromChainId"},
	{"toChainId", 8453, "toChainId"},
	{"author", attacker.Hex(), "author"},
	{"author", nil, "author"},
	{"recipient", attacker.Hex(), "recipient"},
	{"recipient", nil, ""},
	{"refundTo", attacker.Hex(), "refundTo"},
	{"refundTo", nil, ""},
	{"fromToken", attacker.Hex(), "fromToken"},
	{"fromToken", nil, ""},
	{"toToken", nativePlaceholder.Hex(), "toToken"},
	{"toToken", nil, ""},
	{"depositTxHash", common.Hash{1}.Hex(), "depositTxHash"},
	{"depositTxHash", nil, "depositTxHash"},
	{"depositTxHash", exampleTx.Hex()[2:], "depositTxHash"},
	{"fromChainId", "8453", "order"},
	{"transactions", []any{}, "order"},
}

func (c otherOrder) asked(t *testing.T) (swap.Claim, error) {
	d := &depositServer{answers: answers{byID: says(200, changed(t, example(t, "k_ord_filled"), c.member, c.value))}}
	claim, err := d.serve(t).Status(t.Context(), exampleOrderOf(t))
	if d.requests["list"] != 0 {
		t.Error("the list was requested, want no request")
	}
	return claim, err
}

// TestSparseOrders: fields that the API may leave out of an order are not required.
func TestSparseOrders(t *testing.T) {
	for _, c := range otherOrders {
		if claim, err := c.asked(t); c.field == "" && (err != nil || claim.State != swap.Filled) {
			t.Errorf("%s %v: %+v, %v", c.member, c.value, claim, err)
		}
	}
}

// TestLookUp: an order without an id, or with one that is not found, is searched by its
// deposit. Only the list shows for certain that it is unknown.
func TestLookUp(t *testing.T) {
	ours := example(t, "k_ord_filled")
	missing := says(404, []byte(`{"message":"Intent not found","name":"IntentNotFoundException"}`))
	for name, c := range map[string]struct {
		answers
		ref   string
		code  swap.Code
		field string
	}{
		"by its name":                       {answers{byID: says(200, ours)}, exampleOrder, "", ""},
		"by its deposit":                    {answers{list: page(ours)}, "", "", ""},
		"no name is found":                  {answers{byID: missing, list: page(ours)}, exampleOrder, "", ""},
		"no path is found":                  {answers{list: page(ours)}, exampleOrder, "", ""},
		"neither is found":                  {answers{byID: missing, list: page()}, exampleOrder, swap.OrderUnknown, "txHash"},
		"no deposit is found":               {answers{list: page()}, "", swap.OrderUnknown, "txHash"},
		"others are found":                  {answers{list: page(changed(t, ours, "depositTxHash", common.Hash{1}.Hex()), []byte(`{}`), []byte(`7`))}, "", swap.OrderUnknown, "txHash"},
		"a contradiction is found":          {answers{list: page(changed(t, ours, "quoteId", "another"))}, "", swap.ProviderInvalidResponse, "quoteId"},
		"the list is down too":              {answers{byID: missing, list: says(500, []byte(`{}`))}, exampleOrder, swap.ProviderDown, ""},
		"no path, and the list is down":     {answers{list: says(500, []byte(`{}`))}, exampleOrder, swap.ProviderInvalidResponse, ""},
		"the list is down":                  {answers{list: says(500, []byte(`{}`))}, "", swap.ProviderDown, ""},
		"the list is none":                  {answers{list: says(200, []byte(`{}`))}, "", swap.ProviderInvalidResponse, "data"},
		"the list is null":                  {answers{list: says(200, []byte(`{"data":null}`))}, "", swap.ProviderInvalidResponse, "data"},
		"the list is an array":              {answers{list: says(200, []byte(`[]`))}, "", swap.ProviderInvalidResponse, "orders"},
		"the list is an error":              {answers{list: says(200, []byte(`{"name":"InternalErrorException"}`))}, "", swap.ProviderDown, ""},
		"no name is found, with status 200": {answers{byID: says(200, []byte(`{"name":"IntentNotFoundException"}`)), list: page(ours)}, exampleOrder, "", ""},
		"the order is an error":             {answers{byID: says(200, []byte(`{"name":"InternalErrorException"}`))}, exampleOrder, swap.ProviderDown, ""},
		"down":                              {answers{byID: says(500, []byte(`{}`)), list: page(ours)}, exampleOrder, swap.ProviderDown, ""},
		"a name that leads somewhere else":  {answers{byID: says(200, ours)}, "../../v1/tokens", swap.ProviderInvalidResponse, "id"},
	} {
		t.Run(name, func(t *testing.T) {
			p, o := (&depositServer{answers: c.answers}).serve(t), exampleOrderOf(t)
			o.ProviderOrderID = c.ref
			claim, err := p.Status(t.Context(), o)
			if c.code != "" {
				refusedFor(t, name, err, c.code, c.field)
			} else if err != nil || claim.State != swap.Filled {
				t.Errorf("Status = %+v, %v, want filled", claim, err)
			}
		})
	}
}

// TestWords: the three terminal words are final, and no other word is, since the deposit is
// mined.
func TestWords(t *testing.T) {
	ends := map[string]swap.State{"filled": swap.Filled, "refunded": swap.Refunded, "failed": swap.Failed}
	known := []string{"created", "deposited", "published", "refund_pending"}
	older := []string{"pending", "inflight", "completed", "settled", "cancelled", "expired", "reverted", "timeout", "unknown", "FILLED", "filled ", "\u202efilled"}
	for word := range ends {
		known = append(known, word)
	}
	if len(statuses) != len(known) {
		t.Errorf("%d words are known, %d are the API's", len(statuses), len(known))
	}
	for _, word := range append(known, older...) {
		raw := changed(t, example(t, "k_ord_created"), "status", word)
		c, err := at(t, says(200, raw)).Status(t.Context(), exampleOrderOf(t))
		want, final := ends[word]
		if !final {
			want = swap.Settling
		}
		if err != nil || c.State != want || strings.ContainsRune(c.ProviderStatus, '\u202e') || c.Tx != (common.Hash{}) {
			t.Errorf("%q: %+v, %v", word, c, err)
		}
		if _, ok := statuses[word]; !ok && final {
			t.Errorf("%q is not in the table", word)
		}
	}
	for _, tx := range []string{"0x", "0x01", "7", exampleTx.Hex() + "00"} {
		raw := changed(t, example(t, "k_ord_filled"), "transactions", map[string]any{"fill": map[string]any{"txHash": tx, "chainId": 42161}})
		_, err := at(t, says(200, raw)).Status(t.Context(), exampleOrderOf(t))
		refusedFor(t, tx, err, swap.ProviderInvalidResponse, "txHash")
	}
}

// TestProof: the proof depends on the terms and the deposit's bytes, and on nothing that
// the provider said.
func TestProof(t *testing.T) {
	p := &Provider{depositContracts: depositContracts}
	pool := func(at, coin string) *swap.Relay {
		return &swap.Relay{Source: common.HexToAddress("0x09aea4b2242abC8bb4BB78D537A67a245A7bEC64"), Destination: common.HexToAddress(at), Coin: common.HexToAddress(coin)}
	}
	arbitrum := pool("0xe35e9842fceaCA96570B734083f4a58e8F7C5f2A", "0x82aF49447D8a07e3bd95BD0d56f35241523fBab1")
	for name, c := range map[string]struct {
		change func(*swap.Terms)
		own    bool
		again  []common.Address
		relay  *swap.Relay
	}{
		"across":                           {func(*swap.Terms) {}, false, []common.Address{exampleDepot}, arbitrum},
		"of the native coin":               {func(t *swap.Terms) { t.TokenIn = common.Address{} }, false, nil, arbitrum},
		"to a far network":                 {func(t *swap.Terms) { t.DstChain = 137 }, false, []common.Address{exampleDepot}, pool("0x9295ee1d8C5b022Be115A2AD3c30C72E34e7F096", "0x0d500B1d8E8eF31E21C99d1Db9A6444d3ADf1270")},
		"to where Across is not":           {func(t *swap.Terms) { t.DstChain = 43114 }, false, []common.Address{exampleDepot}, nil},
		"to Across itself":                 {func(t *swap.Terms) { t.Recipient = arbitrum.Destination }, false, []common.Address{exampleDepot}, nil},
		"on one chain":                     {func(t *swap.Terms) { t.DstChain = 8453 }, true, []common.Address{exampleDepot}, nil},
		"on one chain, to the native coin": {func(t *swap.Terms) { t.DstChain, t.TokenOut = 8453, common.Address{} }, false, []common.Address{exampleDepot}, nil},
	} {
		o := exampleOrderOf(t)
		c.change(&o.Terms)
		o.ProviderOrderID, o.Offer, o.Results = "other", swap.Offer{}, nil // what the provider said
		o.Claim = &swap.Claim{State: swap.Filled, Tx: common.Hash{7}}
		got, err := p.Proof(o)
		want := swap.Proof{
			Own:     c.own,
			Arrival: &swap.Arrival{Chain: o.Terms.DstChain, Token: o.Terms.TokenOut, To: o.Terms.Recipient, Least: o.Terms.MinOut},
			Refund:  &swap.Arrival{Chain: 8453, Token: o.Terms.TokenIn, To: exampleAccount, Least: o.Terms.AmountIn, From: c.again},
		}
		if c.relay != nil {
			want.Arrival.From, want.Arrival.Link = []common.Address{c.relay.Destination}, &swap.Link{Relay: c.relay}
		}
		if err := got.Check(o.Terms); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		x, _ := json.Marshal(got)
		y, _ := json.Marshal(want)
		if err != nil || string(x) != string(y) {
			t.Errorf("%s: %s, want %s: %v", name, x, y, err)
		}
	}
}

// TestTokens: listed tokens are printable. A list is cached, an error for a shorter time.
func TestTokens(t *testing.T) {
	now, asked := exampleNow, 0
	var answer http.HandlerFunc
	p := at(t, func(w http.ResponseWriter, r *http.Request) {
		asked++
		if r.URL.Path != "/v1/tokens" || r.URL.RawQuery != "chainIds=137&limit=500" {
			t.Errorf("asked for %s", r.URL)
		}
		answer(w, r)
	})
	p.now = func() time.Time { return now }
	row := func(address, symbol, name, more string) string {
		return `{"chainId":137,"address":"` + address + `","symbol":"` + symbol + `","name":"` + name + `","decimals":6` + more + `}`
	}
	token := exampleIn.Hex()
	answer = says(200, []byte(`{"data":[`+strings.Join([]string{
		row(token, "USD\u202eC", "USD Coin", ""), row(token, "AGAIN", "Again", ""),
		row(nativePlaceholder.Hex(), "POL", "Polygon", ""),
		row(attacker.Hex(), "BAD", "Risky", `,"extensions":{"isRiskToken":true}`),
		row("0x12", "SHORT", "Short", ""), row(exampleOut.Hex(), "", "No symbol", ""), row(exampleOut.Hex(), "X", "\u2800", ""),
		`{"chainId":1,"address":"` + exampleOut.Hex() + `","symbol":"X","name":"Elsewhere","decimals":6}`,
		`{"chainId":137,"address":"` + exampleOut.Hex() + `","symbol":"X","name":"Too fine","decimals":255}`,
		`{"chainId":137,"address":"` + exampleOut.Hex() + `","symbol":"X","name":"No decimals"}`, `7`, `null`,
	}, ",")+`]}`))
	for range 2 {
		list, err := p.Tokens(t.Context(), 137)
		if err != nil || len(list) != 2 || list[0].Symbol != "USDC" || list[0].Address != exampleIn || list[0].List != "intent" || list[0].Verified || list[1].Address != (common.Address{}) {
			t.Errorf("Tokens = %+v, %v, want USDC and the native coin", list, err)
		}
	}
	now = now.Add(listTime)
	answer = says(500, []byte(`{}`))
	for range 2 {
		_, err := p.Tokens(t.Context(), 137)
		refusedFor(t, "down", err, swap.ProviderDown, "")
	}
	now = now.Add(failTime)
	answer = says(200, []byte(`[]`))
	if list, err := p.Tokens(t.Context(), 137); err != nil || len(list) != 0 {
		t.Errorf("Tokens = %+v, %v, want none", list, err)
	}
	if want := 1 + 2 + 1; asked != want { // a failing call is retried once
		t.Errorf("asked %d times, want %d", asked, want)
	}
	for _, id := range []uint64{5330, 39, 20_011_000_000} {
		_, err := p.Tokens(t.Context(), id)
		refusedFor(t, "not reached", err, swap.UnsupportedNetwork, "dstChainId")
	}
	now = now.Add(listTime)
	for _, body := range []string{`{}`, `null`, `{"data":7}`, `[`, `"x"`} {
		answer = says(200, []byte(body))
		if _, err := p.Tokens(t.Context(), 137); !errors.Is(err, &swap.Refusal{Code: swap.ProviderInvalidResponse}) {
			t.Errorf("%s: %v", body, err)
		}
		now = now.Add(failTime)
	}
}

// TestTokensAskedOnce: concurrent callers cause a single request for a list, which leaves
// the rate limit to orders.
func TestTokensAskedOnce(t *testing.T) {
	var asked atomic.Int32
	p := at(t, func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		time.Sleep(20 * time.Millisecond)
		says(200, []byte(`[]`))(w, r)
	})
	var wg sync.WaitGroup
	for range 30 {
		wg.Go(func() {
			if _, err := p.Tokens(t.Context(), 137); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := asked.Load(); n != 1 {
		t.Errorf("asked %d times", n)
	}
}
