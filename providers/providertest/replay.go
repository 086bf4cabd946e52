package providertest

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// An Exchange is one recorded request with its reply. Its path may carry a query. A request
// field or parameter that is the string "*" matches any value. For a reply in lines
// (content type application/x-ndjson) the body is the list of the lines.
type Exchange struct {
	Note    string `json:"note,omitempty"`
	Request struct {
		Method  string            `json:"method"`
		Path    string            `json:"path"`
		Headers map[string]string `json:"headers"`
		Body    json.RawMessage   `json:"body"`
	} `json:"request"`
	Response struct {
		Status  int               `json:"status"`
		Headers map[string]string `json:"headers"`
		Body    json.RawMessage   `json:"body"`
	} `json:"response"`
}

// ReadExchange reads a recorded exchange.
func ReadExchange(t testing.TB, file string) Exchange {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var x Exchange
	if err := json.Unmarshal(raw, &x); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return x
}

func (x Exchange) path() string {
	path, _, _ := strings.Cut(x.Request.Path, "?")
	return path
}

// A replayer is a real HTTP server on loopback that answers as recorded.
type replayer struct {
	*httptest.Server
	suite     Suite
	exchanges map[string]Exchange // by path
	fixed     map[string]Exchange // by path; never lied about

	clockError atomic.Int64 // error of its clock, in nanoseconds

	mu        sync.Mutex
	overrides map[string]http.HandlerFunc // by path: a lie or fault in place of the recorded reply
	problems  []string                    // requests that differed from the recorded ones
}

func replay(t testing.TB, s Suite, f Flow) *replayer {
	r := &replayer{suite: s, exchanges: recorded(t, s, f.Exchanges), fixed: recorded(t, s, f.FixedExchanges), overrides: map[string]http.HandlerFunc{}}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

// recorded reads exchanges into a map by path.
func recorded(t testing.TB, s Suite, names []string) map[string]Exchange {
	out := map[string]Exchange{}
	for _, name := range names {
		x := ReadExchange(t, s.file(name))
		out[x.path()] = x
	}
	return out
}

// override makes h answer a path; nil restores the recorded reply.
func (r *replayer) override(path string, h http.HandlerFunc) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if h == nil {
		delete(r.overrides, path)
		return
	}
	r.overrides[path] = h
}

// ServeHTTP answers requests. While any path is lied about, requests are not compared,
// since they may repeat the lie.
func (r *replayer) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	r.mu.Lock()
	h, lying := r.overrides[req.URL.Path], len(r.overrides) > 0
	r.mu.Unlock()
	w.Header().Set("Date", r.suite.Now.Add(time.Duration(r.clockError.Load())).UTC().Format(http.TimeFormat))
	if x, ok := r.other(req); ok {
		send(w, x, x.Response.Body)
		return
	}
	if h != nil {
		h(w, req)
		return
	}
	x, ok := r.exchanges[req.URL.Path]
	if !ok {
		x, ok = r.fixed[req.URL.Path]
	}
	if !ok || x.Request.Method != req.Method {
		r.problem(req.Method + " " + req.URL.Path + " was not recorded")
		http.NotFound(w, req)
		return
	}
	if !lying {
		r.compare(req, x)
	}
	send(w, x, x.Response.Body)
}

// other returns an exchange of r.fixed for a path that the flow also has, if the request's
// body matches it.
func (r *replayer) other(req *http.Request) (Exchange, bool) {
	x, fixed := r.fixed[req.URL.Path]
	if _, own := r.exchanges[req.URL.Path]; !own || !fixed {
		return x, false
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		r.problem(req.URL.Path + ": " + err.Error())
	}
	req.Body = io.NopCloser(bytes.NewReader(body))
	return x, alike(decode(x.Request.Body), decode(body))
}

func send(w http.ResponseWriter, x Exchange, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	for k, v := range x.Response.Headers {
		w.Header().Set(k, v)
	}
	w.WriteHeader(x.Response.Status)
	_, _ = w.Write(wireBody(w.Header().Get("Content-Type"), body)) // a client that is gone reports its own error
}

// wireBody is a recorded body as sent over HTTP.
func wireBody(contentType string, body []byte) []byte {
	var lines []json.RawMessage
	if contentType != "application/x-ndjson" || json.Unmarshal(body, &lines) != nil {
		return body
	}
	var out bytes.Buffer
	for _, l := range lines {
		if json.Compact(&out, l) != nil {
			panic("a line that is no JSON") // it was parsed as JSON
		}
		out.WriteByte('\n')
	}
	return out.Bytes()
}

func (r *replayer) problem(s string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.problems = append(r.problems, s)
}

func (r *replayer) compare(req *http.Request, x Exchange) {
	for k, v := range x.Request.Headers {
		if got := req.Header.Get(k); got != v {
			r.problem(req.URL.Path + ": header " + k + " is " + got + ", recorded " + v)
		}
	}
	_, query, _ := strings.Cut(x.Request.Path, "?")
	want, err := url.ParseQuery(query)
	if err != nil || !alike(parameters(want), parameters(req.URL.Query())) {
		r.problem(req.URL.Path + ": the query is " + req.URL.RawQuery)
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		r.problem(req.URL.Path + ": " + err.Error())
	}
	if !alike(decode(x.Request.Body), decode(body)) {
		r.problem(req.URL.Path + ": the body is " + string(body))
	}
}

// parameters converts a query to a JSON object.
func parameters(q url.Values) map[string]any {
	out := map[string]any{}
	for name, values := range q {
		out[name] = strings.Join(values, "&")
	}
	return out
}

func decode(raw []byte) any {
	var v any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return string(raw)
	}
	return v
}

// alike compares JSON values. "*" in want matches anything, and addresses are compared
// without case.
func alike(want, got any) bool {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		return ok && len(g) == len(w) && !slices.ContainsFunc(slices.Collect(maps.Keys(w)), func(k string) bool {
			v, there := g[k]
			return !there || !alike(w[k], v)
		})
	case []any:
		g, ok := got.([]any)
		return ok && slices.EqualFunc(w, g, alike)
	case string:
		g, ok := got.(string)
		return w == "*" || ok && (w == g || addressForm.MatchString(w) && strings.EqualFold(w, g))
	}
	return want == got
}
