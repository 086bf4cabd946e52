package source

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"swapkeep/priceapi/poll"
	"swapkeep/rest"
	"swapkeep/tokens"
)

// page5MB is more than any source accepts, but compresses to a few thousand bytes.
var page5MB = strings.Repeat(" ", 5<<20)

var bomb = sync.OnceValue(func() []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = io.WriteString(z, `{}`+page5MB)
	_ = z.Close()
	return b.Bytes()
})

func status(code int, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		answer(w, code, []byte(`{"error":"`+strings.Repeat(`\u001b[31m\u202e secret `, 1000)+`"}`))
	}
}

func body(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { answer(w, http.StatusOK, []byte(text)) }
}

// faults are bad responses and the errors that they must cause.
var faults = map[string]struct {
	serve http.HandlerFunc
	kind  rest.Kind // "" = ErrReply
	retry time.Duration
}{
	"429":                {status(429, "Retry-After", "37"), rest.BadStatus, 37 * time.Second},
	"429 until a date":   {status(429, "Retry-After", testNow.Add(90*time.Second).Format(http.TimeFormat)), rest.BadStatus, 90 * time.Second},
	"500":                {status(500), rest.BadStatus, 0},
	"502":                {status(502), rest.BadStatus, 0},
	"503 for a while":    {status(503, "Retry-After", "5"), rest.BadStatus, 5 * time.Second},
	"401":                {status(401), rest.BadStatus, 0},
	"redirect":           {status(302, "Location", "/stolen"), rest.Redirected, 0},
	"permanent redirect": {status(308, "Location", "/stolen"), rest.Redirected, 0},
	"html": {func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<html>just a moment")
	}, rest.NotJSON, 0},
	"slow": {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, rest.TimedOut, 0},
	"slow body": {func(w http.ResponseWriter, r *http.Request) {
		answer(w, http.StatusOK, []byte(`{"coins":`))
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}, rest.TimedOut, 0},
	"cut off": {func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		answer(w, http.StatusOK, []byte(`{"coins":{}}`))
	}, rest.Unreachable, 0},
	"hung up": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, rest.Unreachable, 0},
	"huge":    {body(`{}` + page5MB), rest.TooLarge, 0},
	"bomb": {func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		answer(w, http.StatusOK, bomb())
	}, rest.TooLarge, 0},
	"broken gzip": {func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		answer(w, http.StatusOK, []byte("\x1f\x8b\x08no"))
	}, rest.Unreachable, 0},

	"nothing":        {body(""), "", 0},
	"null":           {body("null"), "", 0},
	"a number":       {body("7"), "", 0},
	"a string":       {body(`"coins"`), "", 0},
	"half":           {body(`{"coins":{"coingecko:ethereum":{"price":3050.12,"times`), "", 0},
	"two documents":  {body(`{"coins":{}} {"coins":{}}`), "", 0},
	"deep array":     {body(strings.Repeat("[", 100_000)), "", 0},
	"deep object":    {body(strings.Repeat(`{"data":`, 50_000) + "1" + strings.Repeat("}", 50_000)), "", 0},
	"not a document": {body(`{"coins":{}}` + "\x00"), "", 0},
	"long number":    {body(strings.Repeat("9", 500_000)), "", 0},
	"wrong inside":   {body(`{"coins":[],"data":"x","result":7,"code":1,"address_hash":[],"status":{"error_code":429}} []`), "", 0},
}

// TestFaults checks that each fault returns an error of its kind, in time, with the pause
// that a 429 asks for, and without any values.
func TestFaults(t *testing.T) {
	for _, s := range subjects {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			at := newStage(t)
			for name, fault := range faults {
				var stolen atomic.Bool
				at.serve(func(w http.ResponseWriter, r *http.Request) {
					if strings.Contains(r.URL.Path, "stolen") {
						stolen.Store(true)
					}
					fault.serve(w, r)
				})
				l := quick()
				if fault.kind == rest.TimedOut {
					l.Attempt = 60 * time.Millisecond
				}
				began := time.Now()
				got := all(t.Context(), s.opened(t, at, l), testTokens)
				if len(got.texts) > 0 || len(got.errs) == 0 || stolen.Load() || time.Since(began) > defaultTimeout {
					t.Errorf("%s: told %v after %s, errors %v, followed %t", name, got.texts, time.Since(began), got.errs, stolen.Load())
				}
				for method, err := range got.errs {
					if wrong := judge(err, fault.kind, fault.retry); wrong != "" {
						t.Errorf("%s: %s: %s: %v", name, method, wrong, err)
					}
				}
				for _, wrong := range compare(outcome{}, got) {
					t.Errorf("%s: %s", name, wrong)
				}
			}
		})
	}
}

// judge describes what is wrong with an error.
func judge(err error, kind rest.Kind, retry time.Duration) string {
	var e *rest.Error
	switch {
	case kind == "":
		if !errors.Is(err, ErrReply) {
			return "not refused as a reply"
		}
	case !errors.As(err, &e):
		return "not of the service"
	case e.Kind == rest.Throttled: // the first 429 also throttles the later methods
		if retry == 0 || e.RetryAfter <= 0 {
			return "throttled for no reason"
		}
	case e.Kind != kind || e.RetryAfter != retry:
		return fmt.Sprintf("%s, again after %s, and not %s after %s", e.Kind, e.RetryAfter, kind, retry)
	}
	return ""
}

// TestOddReplies checks that well-formed but hostile replies return nothing and do no harm.
func TestOddReplies(t *testing.T) {
	many := func(n int, one string) string { return strings.TrimSuffix(strings.Repeat(one+",", n), ",") }
	stranger := `"0x6b175474e89094c44da98b954eedeac495271d0f"`
	odd := map[string]string{
		"empty object":       `{"coins":{},"data":{"attributes":{"token_prices":{}}},"code":1,"result":{}}`,
		"a long list":        `[` + many(200_000, `1`) + `]`,
		"a long page":        `{"data":[` + many(200_000, `{}`) + `],"total_count":200000}`,
		"many objects":       `[` + many(100_000, `{}`) + `]`,
		"strangers":          `{"coins":{"ethereum:` + stranger[1:] + `:{"price":1,"timestamp":1795355000}},` + stranger + `:{"usd":1,"last_updated_at":1795355000},"code":1,"result":{` + stranger + `:{"holder_count":"7"}}}`,
		"keys in upper case": `{"coins":{"COINGECKO:ETHEREUM":{"price":1,"timestamp":1795355000}},"ETHEREUM":{"usd":1,"last_updated_at":1795355000}}`,
		"another's record":   `{"address_hash":` + stranger + `,"holders_count":"7","exchange_rate":"1","circulating_market_cap":"7"}`,
		"deep and ignored":   `{"coins":{},"x":` + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + `}`,
	}
	for _, s := range subjects {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			at := newStage(t)
			for name, text := range odd {
				at.serve(body(text))
				got := all(t.Context(), s.opened(t, at, quick()), testTokens)
				if len(got.texts) > 0 {
					t.Errorf("%s: told %v", name, got.texts)
				}
				for method, err := range got.errs {
					if !errors.Is(err, ErrReply) {
						t.Errorf("%s: %s: %v", name, method, err)
					}
				}
			}
		})
	}
}

// TestDuplicates checks that a repeated row counts once, and that an object with a repeated
// name is rejected.
func TestDuplicates(t *testing.T) {
	for _, s := range subjects {
		at := newStage(t)
		at.play(t, s.replies, nil)
		honest := all(t.Context(), s.opened(t, at, quick()), testTokens)
		doubled := make(map[string][]byte)
		for _, r := range s.replies {
			doubled[r.file] = double(recording(t, r.file))
		}
		at.play(t, s.replies, doubled)
		got := all(t.Context(), s.opened(t, at, quick()), testTokens)
		lists := slices.ContainsFunc(s.replies, func(r recorded) bool { return recording(t, r.file)[0] == '[' })
		switch {
		case lists && (!maps.Equal(honest.texts, got.texts) || len(got.errs) > 0), !lists && (len(got.texts) > 0 || len(got.errs) == 0):
			t.Errorf("%s: told\n%sbefore\n%s%v", s.name, got.lines(), honest.lines(), got.errs)
		}
		for method, err := range got.errs {
			if !errors.Is(err, ErrReply) {
				t.Errorf("%s: %s: %v", s.name, method, err)
			}
		}
	}
}

// double repeats the elements of a top-level list or the members of an object.
func double(b []byte) []byte {
	inner := bytes.TrimSpace(b)
	open, end := inner[:1], inner[len(inner)-1:]
	if inner = bytes.TrimSpace(inner[1 : len(inner)-1]); len(inner) == 0 {
		return b
	}
	return slices.Concat(open, inner, []byte(","), inner, end)
}

// TestTolerated checks what a service may lack without being considered broken.
func TestTolerated(t *testing.T) {
	at := newStage(t)
	open := func(name string) any {
		for _, s := range subjects {
			if s.name == name {
				return s.opened(t, at, quick())
			}
		}
		return nil
	}
	for _, code := range []int{400, 403, 404, 405, 410, 501} {
		at.serve(status(code))
		caps, err := open("defillama").(*DefiLlama).MarketCaps(t.Context(), testTokens)
		if len(caps) > 0 || err != nil {
			t.Errorf("caps with %d: %v, %v", code, caps, err)
		}
		if _, err := open("defillama").(*DefiLlama).Now(t.Context(), testTokens); err == nil {
			t.Errorf("prices with %d", code)
		}
	}
	at.serve(status(404))
	if holders, err := open("blockscout").(*Blockscout).Holders(t.Context(), testTokens); len(holders) > 0 || err != nil {
		t.Errorf("tokens that an explorer does not know: %v, %v", holders, err)
	}
	at.serve(http.NotFound) // not the explorer's own 404
	if _, err := open("blockscout").(*Blockscout).Holders(t.Context(), testTokens); err == nil {
		t.Error("a host without an explorer")
	}
	for code, throttled := range map[string]bool{"4029": true, "5000": false, `"4012"`: false} {
		at.serve(body(`{"code":` + code + `,"message":"` + strings.Repeat("x", 5000) + `","result":{"0x55d398326f99059ff775485246999027b3197955":{"holder_count":"7"}}}`))
		holders, err := open("goplus").(*GoPlus).Holders(t.Context(), testTokens)
		var e *rest.Error
		if err == nil || len(holders) > 0 || len(err.Error()) > maxText || errors.As(err, &e) != throttled || throttled && !e.Temporary() {
			t.Errorf("code %s: %v", code, err)
		}
	}
}

// TestCancelled checks that a cancelled call returns the context's error.
func TestCancelled(t *testing.T) {
	for _, s := range subjects {
		at := newStage(t)
		ctx, cancel := context.WithCancel(t.Context())
		at.serve(func(_ http.ResponseWriter, r *http.Request) {
			cancel()
			<-r.Context().Done()
		})
		got := all(ctx, s.opened(t, at, quick()), testTokens)
		if len(got.errs) == 0 || len(got.texts) > 0 {
			t.Errorf("%s: told %v, %v", s.name, got.texts, got.errs)
		}
		for method, err := range got.errs {
			if !errors.Is(err, context.Canceled) || len(err.Error()) > maxText {
				t.Errorf("%s: %s: %v", s.name, method, err)
			}
		}
	}
}

// TestRepetition checks that a failed call is retried once, unless calls are paid for, and
// that a requested pause is returned to the caller instead of waited for.
func TestRepetition(t *testing.T) {
	for _, s := range subjects {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			at := newStage(t)
			at.serve(func(w http.ResponseWriter, r *http.Request) {
				if at.calls.Load() > 2 {
					status(503, "Retry-After", "2")(w, r)
					return
				}
				status(503)(w, r)
			})
			x, err := s.open(Config{Base: at.url, Reach: rest.LoopbackOnly, Now: clock})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(x.(interface{ Close() }).Close)
			ask := methods["holders"]
			if _, ok := x.(poll.Source); ok {
				ask = methods["now"]
			}
			want := int32(2)
			if s.name == "coingecko" {
				want = 1
			}
			asks := []tokens.Token{usdcOnEthereum}
			if s.name == "blockscout" {
				asks = []tokens.Token{supr}
			}
			if err := ask(t.Context(), x, asks, make(map[string]string)); err == nil || at.calls.Load() != want {
				t.Errorf("%d calls, %v", at.calls.Load(), err)
			}
			at.calls.Store(2)
			began := time.Now()
			err = ask(t.Context(), x, asks, make(map[string]string))
			if wrong := judge(err, rest.BadStatus, 2*time.Second); wrong != "" || at.calls.Load() != 3 || time.Since(began) > 2*time.Second {
				t.Errorf("%d calls in %s, %v", at.calls.Load(), time.Since(began), err)
			}
		})
	}
}
