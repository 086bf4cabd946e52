package intent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"swapkeep/swap"
)

// A line is one route as the API writes it.
type line struct {
	id       string
	out      int64
	takes    float64
	ends     int64  // seconds from now
	methods  string // JSON; "" = absent
	of       string // type of the filler; "" = the provider's own
	more     string // further members of the quote
	quote    string // id; "" = the example's
	amountIn string // "" = as requested
}

func (l line) json(now time.Time) string {
	methods := ""
	if l.methods != "" {
		methods = `"depositMethods":` + l.methods + `,`
	}
	quote, in := l.quote, l.amountIn
	if quote == "" {
		quote = exampleQuote
	}
	if in == "" {
		in = "25000000"
	}
	return fmt.Sprintf(`{"quoteId":%q,"routeId":%q,"type":%q,%s"quote":{"amountIn":%q,"amountOut":"%d","expectedDurationSeconds":%v,"validBefore":%d%s}}`,
		quote, l.id, cmp.Or(l.of, nativeFiller), methods, in, l.out, l.takes, now.Unix()+l.ends, l.more)
}

func answer(lines []line, now time.Time) []byte {
	routes := make([]string, len(lines))
	for i, l := range lines {
		routes[i] = l.json(now)
	}
	return fmt.Appendf(nil, `{"quoteId":%q,"routes":[%s]}`, exampleQuote, strings.Join(routes, ","))
}

func names(offers []swap.Offer) (out []string) {
	for _, o := range offers {
		out = append(out, o.Routing)
	}
	return out
}

const (
	calls     = `["CONTRACT_CALL"]`
	transfers = `["TRANSFER"]`
)

// orderings are routes with the expected order of their ids, by the criterion that decides.
var orderings = []struct {
	name  string
	lines []line
	want  string
}{
	{"contract calls first", []line{{id: "A", out: 900, ends: 600, methods: transfers}, {id: "B", out: 800, ends: 600, methods: calls}}, "B A"},
	{"routes without a deposit method are decided later", []line{{id: "A", out: 900, ends: 600, methods: transfers}, {id: "B", out: 800, ends: 600}, {id: "C", out: 850, ends: 600, methods: `["PERMIT2","CONTRACT_CALL"]`}}, "C B A"},
	{"a life of over 30 seconds before the rest", []line{{id: "A", out: 900, ends: 30, methods: calls}, {id: "B", out: 800, ends: 31, methods: calls}}, "B A"},
	{"a contract call with little life before a transfer", []line{{id: "A", out: 900, ends: 600, methods: transfers}, {id: "B", out: 800, ends: 10, methods: calls}}, "B A"},
	{"the larger output", []line{{id: "A", out: 800, ends: 600, takes: 1}, {id: "B", out: 900, ends: 600, takes: 99}}, "B A"},
	{"the shorter of equal ones", []line{{id: "A", out: 900, ends: 600, takes: 12}, {id: "B", out: 900, ends: 600, takes: 6.5}, {id: "C", out: 900, ends: 600, takes: 6}}, "C B A"},
	{"names to be stable", []line{{id: "C", out: 900, ends: 600}, {id: "A", out: 900, ends: 600}, {id: "B", out: 900, ends: 600}}, "A B C"},
	{"expired ones not at all", []line{{id: "A", out: 900, ends: 0}, {id: "B", out: 800, ends: 600}, {id: "C", out: 990, ends: -5}}, "B"},
	{"the price's end counts where it is earlier", []line{{id: "A", out: 900, ends: 600, more: `,"quoteExpiresAt":1795159805`}, {id: "B", out: 800, ends: 600}}, "B A"},
	{"what goes to built-in contracts before the rest", []line{{id: "A", out: 900, ends: 600, of: "external-intent-router"}, {id: "B", out: 800, ends: 10}}, "B A"},
	{"the contract's end counts where it is earlier", []line{{id: "A", out: 900, ends: 5, more: `,"quoteExpiresAt":1795160400`}, {id: "B", out: 800, ends: 600}}, "B A"},
}

// TestRouteOrdering: routes are sorted as the spec says, from a whole reply in any order
// and from a stream.
func TestRouteOrdering(t *testing.T) {
	for _, c := range orderings {
		t.Run(c.name, func(t *testing.T) {
			for range len(c.lines) {
				c.lines = append(c.lines[1:], c.lines[0])
				p := at(t, says(200, answer(c.lines, exampleNow)))
				offers, err := p.Quote(t.Context(), exampleRequest())
				if err != nil || strings.Join(names(offers), " ") != c.want {
					t.Errorf("whole: %v, %v", names(offers), err)
				}
				p = at(t, streams(func(send func(string)) {
					for _, l := range c.lines {
						send(l.json(exampleNow) + "\n")
					}
				}))
				offers, err = p.Stream(t.Context(), exampleRequest(), func(swap.Offer) {})
				if err != nil || strings.Join(names(offers), " ") != c.want {
					t.Errorf("in lines: %v, %v", names(offers), err)
				}
			}
		})
	}
}

// TestUnusable: a route that takes no contract call, deposits into another filler's
// contract or expires within 30 seconds is shown and never built. An expired one is not
// shown.
func TestUnusable(t *testing.T) {
	now := exampleNow
	asked := 0
	p := at(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == quotesPath {
			says(200, answer([]line{{id: "good", out: 9000, ends: 31}, {id: "transfer", out: 9000, ends: 600, methods: transfers}, {id: "short", out: 9000, ends: 30}, {id: "another's", out: 9000, ends: 600, of: "external-intent-router"}}, exampleNow))(w, r)
			return
		}
		asked++
		says(200, example(t, "k_build_resp"))(w, r)
	})
	p.now = func() time.Time { return now }
	offers, err := p.Quote(t.Context(), exampleRequest())
	if err != nil || len(offers) != 4 {
		t.Fatal(offers, err)
	}
	build := func(o swap.Offer) error {
		terms := termsOf(exampleRequest(), o.MinOut.Int64())
		_, err := p.Build(t.Context(), o, terms)
		return err
	}
	good := offers[0]
	for _, o := range offers {
		if (o.Unusable == "") != (o.Routing == "good") {
			t.Errorf("%s: %q", o.Routing, o.Unusable)
		}
		if o.Routing == "short" {
			refusedFor(t, "30 seconds are left", build(o), swap.QuoteExpired, "expires")
		}
		if o.Routing == "another's" {
			refusedFor(t, "another filler's", build(o), swap.NotPinned, "to")
		}
		if o.Routing == "transfer" {
			refusedFor(t, "a transfer", build(o), swap.UnsupportedRoute, "depositMethods")
		}
	}
	if asked != 0 {
		t.Error("the provider was asked to build what is not executable")
	}
	if err := build(good); err != nil {
		t.Errorf("31 seconds are left: %v", err)
	}
	now = now.Add(time.Second)
	refusedFor(t, "a second later", build(good), swap.QuoteExpired, "expires")
	good.Expires = good.Expires.Add(time.Hour) // as if the stored offer had been edited
	refusedFor(t, "an offer that lives longer than its route", build(good), swap.NotAsAccepted, "expires")
}

// TestNoUsableRoute: if no deposit could go to a built-in contract, the quote is refused
// with what to do instead; on 10, 56, 143 and 43114 without a request to the provider.
func TestNoUsableRoute(t *testing.T) {
	others := answer([]line{{id: "Across", out: 9000, ends: 600, of: "external-intent-router"}, {id: "B", out: 9000, ends: 600, of: "native-filler "}}, exampleNow)
	asked := 0
	p := at(t, func(w http.ResponseWriter, r *http.Request) { asked++; says(200, others)(w, r) })
	p.depositContracts = depositContracts
	for _, ask := range []func(swap.QuoteRequest) ([]swap.Offer, error){
		func(r swap.QuoteRequest) ([]swap.Offer, error) { return p.Quote(t.Context(), r) },
		func(r swap.QuoteRequest) ([]swap.Offer, error) {
			return p.Stream(t.Context(), r, func(swap.Offer) {})
		},
	} {
		for _, id := range []uint64{8453, 10, 56, 143, 43114} {
			asked = 0
			r := exampleRequest()
			r.SrcChain = id
			_, err := ask(r)
			refusedFor(t, fmt.Sprintf("from %d", id), err, swap.NotPinned, "to")
			if err == nil || !strings.Contains(err.Error(), "; choose another route") || (asked > 0) != (id == 8453) {
				t.Errorf("from %d: asked %d times, %v", id, asked, err)
			}
		}
	}
}

// TestExpiresWhileBuilding: nothing is built from a reply that comes after the quote
// expired.
func TestExpiresWhileBuilding(t *testing.T) {
	now := exampleNow
	p := at(t, func(w http.ResponseWriter, r *http.Request) {
		now = now.Add(20 * time.Second)
		says(200, example(t, "k_build_resp"))(w, r)
	})
	p.now = func() time.Time { return now }
	f, err := readRoute("", []byte(line{id: "A", out: 9000, ends: 45}.json(exampleNow)), exampleRequest())
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.Build(t.Context(), f.offer(exampleRequest(), now), termsOf(exampleRequest(), f.minOut.Int64()))
	refusedFor(t, "20 seconds later", err, swap.QuoteExpired, "expires")
}

// TestClocks: a provider's clock that is ahead shortens a route's life, one that is behind
// does not lengthen it, and with more than a minute's difference there are no offers.
func TestClocks(t *testing.T) {
	for ahead, want := range map[int]time.Duration{0: 70, 20: 50, 60: 10, -20: 70, -60: 70, 61: -1, -61: -1, 600: -1, -600: -1} {
		serve := func(body func(http.ResponseWriter)) http.HandlerFunc {
			return func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Date", exampleNow.Add(time.Duration(ahead)*time.Second).Format(http.TimeFormat))
				body(w)
			}
		}
		l := line{id: "A", out: 9000, ends: 100}
		whole := at(t, serve(func(w http.ResponseWriter) { _, _ = w.Write(answer([]line{l}, exampleNow)) }))
		offers, err := whole.Quote(t.Context(), exampleRequest())
		checkLife(t, fmt.Sprintf("%d s ahead", ahead), offers, err, want)
		reported := 0
		lines := at(t, serve(func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "application/x-ndjson")
			fmt.Fprintln(w, l.json(exampleNow))
		}))
		offers, err = lines.Stream(t.Context(), exampleRequest(), func(o swap.Offer) {
			reported++
			checkLife(t, "told", []swap.Offer{o}, nil, want)
		})
		checkLife(t, fmt.Sprintf("%d s ahead, in lines", ahead), offers, err, want)
		if (reported == 1) != (want >= 0) {
			t.Errorf("%d s ahead: %d offers were told", ahead, reported)
		}
	}
}

func checkLife(t *testing.T, name string, offers []swap.Offer, err error, seconds time.Duration) {
	t.Helper()
	if seconds < 0 {
		refusedFor(t, name, err, swap.ClockSkew, "clock")
		return
	}
	if err != nil || len(offers) != 1 || offers[0].Expires.Sub(exampleNow) != seconds*time.Second {
		t.Errorf("%s: %+v, %v", name, offers, err)
	}
}

// TestLongLives: no quote is used for longer than ten minutes.
func TestLongLives(t *testing.T) {
	for ends, want := range map[int64]time.Duration{599: 569 * time.Second, 600: 570 * time.Second, 86_400: 570 * time.Second, 1e11: 570 * time.Second} {
		offers, err := at(t, says(200, answer([]line{{id: "A", out: 9000, ends: ends}}, exampleNow))).Quote(t.Context(), exampleRequest())
		if err != nil || offers[0].Expires.Sub(exampleNow) != want {
			t.Errorf("%d: %+v, %v", ends, offers, err)
		}
	}
}

// stall makes streams wait until the client is gone.
const stall = "stall"

// streams answers with lines; send flushes a piece at once.
func streams(write func(send func(string))) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // otherwise the server does not notice that the client is gone
		if r.URL.Query().Get("mode") != "stream" {
			w.WriteHeader(400)
			return
		}
		w.Header().Set("Content-Type", "application/x-ndjson")
		write(func(s string) {
			if s == stall {
				<-r.Context().Done()
				return
			}
			_, _ = w.Write([]byte(s)) // a client that is gone reports its own error
			_ = http.NewResponseController(w).Flush()
		})
	}
}

type badLine struct {
	line  string
	code  swap.Code
	field string
}

// badLines are lines that are no honest route. Each is left out, and its error is returned if
// no route is left.
var badLines = map[string]badLine{
	"half a line":                        {line{id: "A", out: 9000, ends: 100}.json(exampleNow)[:60], swap.ProviderInvalidResponse, "route"},
	"no JSON":                            {"<html>", swap.ProviderInvalidResponse, "route"},
	"an array":                           {"[]", swap.ProviderInvalidResponse, "route"},
	"an object":                          {"{}", swap.ProviderInvalidResponse, "routeId"},
	"another amount":                     {line{id: "A", out: 9000, ends: 100, amountIn: "25000001"}.json(exampleNow), swap.NotAsAccepted, "amountIn"},
	"a minimum too low":                  {line{id: "A", out: 9000, ends: 100, more: `,"minAmountOut":"8954"`}.json(exampleNow), swap.NotAsAccepted, "minAmountOut"},
	"a minimum above the output":         {line{id: "A", out: 9000, ends: 100, more: `,"minAmountOut":"9001"`}.json(exampleNow), swap.NotAsAccepted, "minAmountOut"},
	"an output of zero":                  {line{id: "A", out: 0, ends: 100}.json(exampleNow), swap.AmountTooSmall, "amountOut"},
	"an output of one unit":              {line{id: "A", out: 1, ends: 100}.json(exampleNow), swap.AmountTooSmall, "amountOut"},
	"a negative output":                  {line{id: "A", out: -1, ends: 100}.json(exampleNow), swap.ProviderInvalidResponse, "route"},
	"no name":                            {line{id: "", out: 9000, ends: 100}.json(exampleNow), swap.ProviderInvalidResponse, "routeId"},
	"a name that breaks lines":           {line{id: "A\nB", out: 9000, ends: 100}.json(exampleNow), swap.ProviderInvalidResponse, "routeId"},
	"a name with bidirectional controls": {line{id: "A\u202e", out: 9000, ends: 100}.json(exampleNow), swap.ProviderInvalidResponse, "routeId"},
	"a long name":                        {line{id: strings.Repeat("A", 161), out: 9000, ends: 100}.json(exampleNow), swap.ProviderInvalidResponse, "routeId"},
	"a long quote's id":                  {line{id: "A", quote: strings.Repeat("A", 161), out: 9000, ends: 100}.json(exampleNow), swap.ProviderInvalidResponse, "routeId"},
	"a negative duration":                {line{id: "A", out: 9000, ends: 100, takes: -1}.json(exampleNow), swap.ProviderInvalidResponse, "expectedDurationSeconds"},
	"a duration of years":                {line{id: "A", out: 9000, ends: 100, takes: 1e9}.json(exampleNow), swap.ProviderInvalidResponse, "route"},
	"a duration of eight days":           {line{id: "A", out: 9000, ends: 100, takes: 691200}.json(exampleNow), swap.ProviderInvalidResponse, "expectedDurationSeconds"},
	"an end that is no time":             {line{id: "A", out: 9000, ends: 1 << 50}.json(exampleNow), swap.ProviderInvalidResponse, "validBefore"},
	"an end long ago":                    {line{id: "A", out: 9000, ends: -1}.json(exampleNow), swap.QuoteExpired, "validBefore"},
	"a route of many kilobytes":          {strings.Replace(line{id: "A", out: 9000, ends: 100}.json(exampleNow), "{", `{"icon":"`+strings.Repeat("a", maxRoute)+`",`, 1), swap.ProviderInvalidResponse, "route"},
	"no figures":                         {`{"quoteId":"q","routeId":"A","quote":{}}`, swap.ProviderInvalidResponse, "quote"},
	"an amount that is no string":        {`{"quoteId":"q","routeId":"A","quote":{"amountIn":25000000}}`, swap.ProviderInvalidResponse, "route"},
}

// alone streams only the bad line.
func (l badLine) alone(t *testing.T) error {
	_, err := l.stream(t, l.line+"\n", 0)
	return err
}

// stream serves lines that must give want offers.
func (badLine) stream(t *testing.T, lines string, want int) ([]swap.Offer, error) {
	reported := 0
	offers, err := at(t, streams(func(send func(string)) { send(lines) })).Stream(t.Context(), exampleRequest(), func(swap.Offer) { reported++ })
	if reported != want || len(offers) != want {
		t.Errorf("%d told, %v: %v", reported, names(offers), err)
	}
	return offers, err
}

// TestStreamOfLies: a bad line does not affect the other routes.
func TestStreamOfLies(t *testing.T) {
	good := line{id: "good", out: 9000, ends: 100}.json(exampleNow)
	for name, c := range badLines {
		for place, lines := range map[string]string{"after": good + "\n" + c.line, "before": c.line + "\n" + good} {
			if _, err := c.stream(t, lines, 1); err != nil {
				t.Errorf("%s, %s a good one: %v", name, place, err)
			}
		}
		if !json.Valid([]byte(c.line)) {
			continue // it would spoil the whole reply
		}
		whole := fmt.Appendf(nil, `{"quoteId":"","routes":[%s,%s]}`, c.line, good)
		var left error
		ctx := swap.OnPartRefused(t.Context(), func(err error) { left = err })
		if offers, err := at(t, says(200, whole)).Quote(ctx, exampleRequest()); err != nil || len(offers) != 1 || !errors.Is(left, &swap.Refusal{Code: c.code}) {
			t.Errorf("%s, in a whole answer: %v, %v, and left out %v", name, names(offers), err, left)
		}
	}
}

// TestEachBadRouteIsReported checks that every refused route is reported, whether or not another
// route is good.
func TestEachBadRouteIsReported(t *testing.T) {
	late := line{id: "late", out: 9000, ends: -1}.json(exampleNow)
	other := strings.Replace(line{id: "other", out: 9000, ends: 100}.json(exampleNow), `"25000000"`, `"7"`, 1)
	good := line{id: "good", out: 9000, ends: 100}.json(exampleNow)
	for routes, want := range map[string][]swap.Code{
		late + "," + other + "," + good: {swap.QuoteExpired, swap.NotAsAccepted},
		late + "," + other:              {swap.NotAsAccepted}, // the first is the reason
	} {
		var reported []swap.Code
		ctx := swap.OnPartRefused(t.Context(), func(err error) {
			var r *swap.Refusal
			if errors.As(err, &r) {
				reported = append(reported, r.Code)
			}
		})
		_, err := at(t, says(200, fmt.Appendf(nil, `{"quoteId":"","routes":[%s]}`, routes))).Quote(ctx, exampleRequest())
		if good := len(want) == 2; good != (err == nil) || !good && !errors.Is(err, &swap.Refusal{Code: swap.QuoteExpired}) || !slices.Equal(reported, want) {
			t.Errorf("reported codes %v, want %v: error %v", reported, want, err)
		}
	}
}

// TestStream: other things that a stream can do.
func TestStream(t *testing.T) {
	l := func(id string) string { return line{id: id, out: 9000, ends: 100}.json(exampleNow) }
	for name, c := range map[string]struct {
		serve    http.HandlerFunc
		want     []string
		reported int
		code     swap.Code
	}{
		"blank lines, and none after the last": {streams(func(send func(string)) { send("\r\n" + l("A") + "\r\n\n  \n" + l("B")) }), []string{"A", "B"}, 2, ""},
		"a line in two pieces": {streams(func(send func(string)) {
			s := l("A")
			send(s[:40])
			send(s[40:] + "\n")
		}), []string{"A"}, 1, ""},
		"the same line again and again": {streams(func(send func(string)) { send(strings.Repeat(l("A")+"\n", 20)) }), []string{"A"}, 1, ""},
		"the same name with other figures": {streams(func(send func(string)) {
			send(l("A") + "\n" + line{id: "A", out: 99_000, ends: 100}.json(exampleNow) + "\n")
		}), []string{"A"}, 1, ""},
		"a name of two quotes": {streams(func(send func(string)) {
			send(l("A") + "\n" + line{id: "A", quote: "other", out: 9900, ends: 100}.json(exampleNow) + "\n")
		}), []string{"A", "A"}, 2, ""},
		"more routes than the limit": {streams(func(send func(string)) {
			for i := range 100 {
				send(l(fmt.Sprintf("R%02d", i)) + "\n")
			}
		}), numbered(maxRoutes), maxRoutes, ""},
		"more bad routes than the limit": {streams(func(send func(string)) { send(strings.Repeat("{}\n", maxRoutes) + l("A") + "\n") }), nil, 0, swap.ProviderInvalidResponse},
		"nothing":                        {streams(func(func(string)) {}), nil, 0, swap.NoRoute},
		"a stall after a route": {streams(func(send func(string)) {
			send(l("A") + "\n")
			send(stall)
		}), []string{"A"}, 1, ""},
		"a stall at once": {streams(func(send func(string)) {
			send("\n")
			send(stall)
		}), nil, 0, swap.ProviderDown},
		"a break within the second line": {streams(func(send func(string)) {
			send(l("A") + "\n" + l("B")[:30])
			panic(http.ErrAbortHandler)
		}), []string{"A"}, 1, ""},
		"a break within the first": {streams(func(send func(string)) {
			send(l("A")[:30])
			panic(http.ErrAbortHandler)
		}), nil, 0, swap.ProviderDown},
		"a line without end": {streams(func(send func(string)) {
			send(l("A") + "\n")
			for range 80 {
				send(strings.Repeat("a", 64<<10))
			}
		}), []string{"A"}, 1, ""},
		"a whole answer":                {says(200, answer([]line{{id: "A", out: 9000, ends: 100}}, exampleNow)), []string{"A"}, 0, ""},
		"a whole answer without routes": {says(200, answer(nil, exampleNow)), nil, 0, swap.NoRoute},
		"an error":                      {says(400, example(t, "k_e_fill")), nil, 0, swap.NoRoute},
		"an error with status 200":      {says(200, example(t, "k_e_fill")), nil, 0, swap.NoRoute},
		"an HTML page": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<html>")
		}, nil, 0, swap.ProviderInvalidResponse},
	} {
		t.Run(name, func(t *testing.T) {
			reported := 0
			offers, err := at(t, c.serve).Stream(t.Context(), exampleRequest(), func(swap.Offer) { reported++ })
			if !slices.Equal(names(offers), c.want) || reported != c.reported || (err == nil) != (c.code == "") || err != nil && !errors.Is(err, &swap.Refusal{Code: c.code}) {
				t.Errorf("%v, %d told, %v", names(offers), reported, err)
			}
		})
	}
}

func numbered(n int) (out []string) {
	for i := range n {
		out = append(out, fmt.Sprintf("R%02d", i))
	}
	return out
}

// TestStreamArrives: offers are reported before the stream ends, and the same offers are
// returned. A cancelled caller gets context.Canceled.
func TestStreamArrives(t *testing.T) {
	first := make(chan struct{})
	p := at(t, streams(func(send func(string)) {
		send(line{id: "A", out: 8000, ends: 100}.json(exampleNow) + "\n")
		<-first
		send(line{id: "B", out: 9000, ends: 100}.json(exampleNow) + "\n")
	}))
	raws := map[string]bool{}
	offers, err := p.Stream(t.Context(), exampleRequest(), func(o swap.Offer) {
		if len(raws) == 0 {
			close(first)
		}
		raws[string(o.Raw)] = true
	})
	if err != nil || !slices.Equal(names(offers), []string{"B", "A"}) || len(raws) != 2 || !raws[string(offers[0].Raw)] || !raws[string(offers[1].Raw)] {
		t.Errorf("Stream = %v, %v, want B, A, each as reported", names(offers), err)
	}
	ctx, leave := context.WithCancel(t.Context())
	p = at(t, streams(func(send func(string)) {
		send(line{id: "A", out: 8000, ends: 100}.json(exampleNow) + "\n")
		send(stall)
	}))
	if _, err := p.Stream(ctx, exampleRequest(), func(swap.Offer) { leave() }); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller that left: %v", err)
	}
}

// A storedOffer is an offer that was edited in storage, or belongs to another swap.
type storedOffer struct {
	change func(*swap.Offer, *swap.Terms)
	code   swap.Code
	field  string
}

var storedOffers = map[string]storedOffer{
	"another provider's":    {func(o *swap.Offer, _ *swap.Terms) { o.Provider = swap.Bridge }, swap.NotAsAccepted, "provider"},
	"another account's":     {func(o *swap.Offer, _ *swap.Terms) { o.Request.Account = attacker }, swap.NotAsAccepted, "account"},
	"to another network":    {func(_ *swap.Offer, t *swap.Terms) { t.DstChain = 10 }, swap.NotAsAccepted, "srcChainId"},
	"of another token":      {func(_ *swap.Offer, t *swap.Terms) { t.TokenIn = attacker }, swap.NotAsAccepted, "tokenIn"},
	"of a wrapped coin":     {func(_ *swap.Offer, t *swap.Terms) { t.Wrap = attacker }, swap.NotAsAccepted, "tokenIn"},
	"for another token":     {func(_ *swap.Offer, t *swap.Terms) { t.TokenOut = attacker }, swap.NotAsAccepted, "tokenOut"},
	"of another amount":     {func(_ *swap.Offer, t *swap.Terms) { t.AmountIn = big.NewInt(1) }, swap.NotAsAccepted, "amountIn"},
	"of no amount":          {func(_ *swap.Offer, t *swap.Terms) { t.AmountIn = nil }, swap.ProviderInvalidResponse, "amountIn"},
	"to another recipient":  {func(_ *swap.Offer, t *swap.Terms) { t.Recipient = attacker }, swap.NotAsAccepted, "recipient"},
	"refunded to another":   {func(o *swap.Offer, _ *swap.Terms) { o.Request.RefundTo = attacker }, swap.NotAsAccepted, "recipient"},
	"with another fee":      {func(o *swap.Offer, _ *swap.Terms) { o.Request.FeeBps = 300 }, swap.NotAsAccepted, "feeBps"},
	"with another receiver": {func(_ *swap.Offer, t *swap.Terms) { t.FeeReceiver = attacker }, swap.NotAsAccepted, "feeBps"},
	"below the minimum":     {func(_ *swap.Offer, t *swap.Terms) { t.MinOut = big.NewInt(24_755_601) }, swap.NotAsAccepted, "minOut"},
	"without a minimum":     {func(_ *swap.Offer, t *swap.Terms) { t.MinOut = nil }, swap.NotAsAccepted, "minOut"},
	"with another minimum":  {func(o *swap.Offer, _ *swap.Terms) { o.MinOut = big.NewInt(24_755_601) }, swap.NotAsAccepted, "minAmountOut"},
	"with another route":    {func(o *swap.Offer, _ *swap.Terms) { o.Routing = "Across" }, swap.NotAsAccepted, "minAmountOut"},
	"with another filler": {func(o *swap.Offer, _ *swap.Terms) {
		o.Raw = json.RawMessage(strings.Replace(string(o.Raw), "Hyperstream", "Across", 1))
	}, swap.NotAsAccepted, "minAmountOut"},
	"with no stored route":            {func(o *swap.Offer, _ *swap.Terms) { o.Raw = nil }, swap.ProviderInvalidResponse, "raw"},
	"with more than the stored route": {func(o *swap.Offer, _ *swap.Terms) { o.Raw = json.RawMessage(`{"quoteId":"q","route":{},"to":"0x"}`) }, swap.ProviderInvalidResponse, "raw"},
	"after consent ended":             {func(_ *swap.Offer, t *swap.Terms) { t.Deadline = exampleNow }, swap.QuoteExpired, "expires"},
}

// built calls Build with the changed offer; the provider must not even be queried.
func (s storedOffer) built(t *testing.T) error {
	o := exampleOrderOf(t)
	p := at(t, func(_ http.ResponseWriter, r *http.Request) { t.Errorf("asked for %s", r.URL) })
	s.change(&o.Offer, &o.Terms)
	_, err := p.Build(t.Context(), o.Offer, o.Terms)
	return err
}

// TestRequests: invalid requests are refused without a request to the provider.
func TestRequests(t *testing.T) {
	p := at(t, func(_ http.ResponseWriter, r *http.Request) { t.Errorf("asked for %s", r.URL) })
	for name, c := range map[string]struct {
		change func(*swap.QuoteRequest)
		code   swap.Code
		field  string
	}{
		"from a network that is disabled":      {func(r *swap.QuoteRequest) { r.SrcChain = 5330 }, swap.UnsupportedNetwork, "srcChainId"},
		"from a network that may only receive": {func(r *swap.QuoteRequest) { r.SrcChain = 137 }, swap.UnsupportedNetwork, "srcChainId"},
		"to a network that is disabled":        {func(r *swap.QuoteRequest) { r.DstChain = 39 }, swap.UnsupportedNetwork, "dstChainId"},
		"to Solana":                            {func(r *swap.QuoteRequest) { r.DstChain = 20_011_000_000 }, swap.UnsupportedNetwork, "dstChainId"},
		"a token for itself":                   {func(r *swap.QuoteRequest) { r.DstChain, r.TokenOut = r.SrcChain, r.TokenIn }, swap.SameToken, "tokenOut"},
		"nothing":                              {func(r *swap.QuoteRequest) { r.AmountIn = new(big.Int) }, swap.AmountZero, "amountIn"},
		"no amount":                            {func(r *swap.QuoteRequest) { r.AmountIn = nil }, swap.AmountZero, "amountIn"},
		"an amount above the maximum":          {func(r *swap.QuoteRequest) { r.AmountIn = new(big.Int).Lsh(big.NewInt(1), 256) }, swap.BadRequest, "amountIn"},
		"nobody":                               {func(r *swap.QuoteRequest) { r.Account = [20]byte{} }, swap.BadRequest, "account"},
		"to nobody":                            {func(r *swap.QuoteRequest) { r.Recipient = [20]byte{} }, swap.BadRequest, "account"},
		"refunded to nobody":                   {func(r *swap.QuoteRequest) { r.RefundTo = [20]byte{} }, swap.BadRequest, "account"},
		"no slippage":                          {func(r *swap.QuoteRequest) { r.SlippageBps = 0 }, swap.SlippageBounds, "slippage"},
		"a slippage above half":                {func(r *swap.QuoteRequest) { r.SlippageBps = 5001 }, swap.SlippageBounds, "slippage"},
		"a fee above the bound":                {func(r *swap.QuoteRequest) { r.FeeBps = 301 }, swap.BadRequest, "feeBps"},
		"a fee for nobody":                     {func(r *swap.QuoteRequest) { r.FeeReceiver = [20]byte{} }, swap.BadRequest, "feeBps"},
		"a receiver of no fee":                 {func(r *swap.QuoteRequest) { r.FeeBps = 0 }, swap.BadRequest, "feeBps"},
	} {
		r := exampleRequest()
		c.change(&r)
		_, err := p.Quote(t.Context(), r)
		refusedFor(t, name, err, c.code, c.field)
		_, err = p.Stream(t.Context(), r, func(swap.Offer) { t.Errorf("%s: told", name) })
		refusedFor(t, name+", in lines", err, c.code, c.field)
	}
}

// TestNoFeeNoReferrer: without a receiver neither fee field is sent.
func TestNoFeeNoReferrer(t *testing.T) {
	r := exampleRequest()
	r.FeeBps, r.FeeReceiver = 0, [20]byte{}
	for bps, want := range map[int]string{1: "0.0001", 50: "0.005", 100: "0.01", 1234: "0.1234", 5000: "0.5"} {
		r.SlippageBps = bps
		var sent map[string]any
		p := at(t, func(w http.ResponseWriter, req *http.Request) {
			d := json.NewDecoder(req.Body)
			d.UseNumber()
			if err := d.Decode(&sent); err != nil {
				t.Error(err)
			}
			says(200, []byte(`{"quoteId":"q","routes":[]}`))(w, req)
		})
		_, err := p.Quote(t.Context(), r)
		refusedFor(t, "no route", err, swap.NoRoute, "tokenOut")
		_, referrer := sent["referrer"]
		_, fee := sent["referrerFeeBps"]
		if n, ok := sent["slippageTolerance"].(json.Number); referrer || fee || !ok || n.String() != want {
			t.Errorf("%d bps: sends %v", bps, sent)
		}
	}
}
