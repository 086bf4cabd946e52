package source

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"swapkeep/priceapi/poll"
	"swapkeep/priceapi/price"
	"swapkeep/rest"
	"swapkeep/tokens"

	"github.com/ethereum/go-ethereum/common"
)

// crowd returns n tokens on each chain, all with different addresses.
func crowd(n int, chains ...uint64) (ts []tokens.Token) {
	for _, chain := range chains {
		for i := range n {
			var a common.Address
			binary.BigEndian.PutUint64(a[:], chain)
			binary.BigEndian.PutUint32(a[8:], uint32(i))
			ts = append(ts, tokens.Token{Chain: chain, Address: a})
		}
	}
	return ts
}

// nothing is a reply that is valid for most services and knows none of the tokens.
const nothing = `{"coins":{},"data":{"attributes":{"token_prices":{}}},"code":1,"result":{}}`

var keyForm = regexp.MustCompile(`([a-z]+:)?0x[0-9a-f]{40}`)

// TestBatches checks that no call exceeds its service's limits or the URL length, and that
// each key is requested once even if its token is listed twice.
func TestBatches(t *testing.T) {
	crowds := map[string]int{"defillama": 250, "coingecko": 100, "dexscreener": 100, "geckoterminal": 70, "goplus": 50, "blockscout": 20}
	for _, s := range subjects {
		ts := crowd(crowds[s.name], 1, 56, 5330)
		if len(ts) == 0 {
			continue // lists are requested by page
		}
		at := newStage(t)
		var mu sync.Mutex
		largest, requests := 0, make(map[string]int)
		at.serve(func(w http.ResponseWriter, r *http.Request) {
			b, _ := io.ReadAll(r.Body)
			keys := keyForm.FindAllString(r.URL.Path+" "+r.URL.Query().Get("contract_addresses")+string(b), -1)
			mu.Lock()
			defer mu.Unlock()
			if largest = max(largest, len(keys)); len(keys) > s.perCall || len(r.URL.RequestURI()) > 8000 || len(b) > 8000 {
				t.Errorf("%s: a call for %d, of %d and %d bytes", s.name, len(keys), len(r.URL.RequestURI()), len(b))
			}
			for _, k := range keys {
				requests[k]++
			}
			text := nothing
			if strings.Contains(r.URL.Path, "/tokens/v1/") {
				text = "[]"
			}
			if strings.Contains(r.URL.Path, "/api/v2/tokens/") || strings.HasSuffix(r.URL.Path, "/info") {
				answer(w, http.StatusNotFound, []byte(`{}`))
				return
			}
			answer(w, http.StatusOK, []byte(text))
		})
		x, total := s.opened(t, at, quick()), 0
		for name, ask := range methods {
			clear(requests)
			if err := ask(t.Context(), x, append(ts, ts...), make(map[string]string)); err != nil && err != errNotServed {
				t.Errorf("%s: %s: %v", s.name, name, err)
			}
			total += len(requests)
			for k, n := range requests {
				if n != 1 {
					t.Errorf("%s: %s asks %d times for %s", s.name, name, n, k)
				}
			}
		}
		if largest != s.perCall || total < crowds[s.name] {
			t.Errorf("%s: at most %d a call, of %d; %d in all", s.name, largest, s.perCall, total)
		}
	}
}

// TestURLBound checks that batches are limited by length.
func TestURLBound(t *testing.T) {
	var a keySet
	for i := range 300 {
		a.add(fmt.Sprintf("%0200d", i), price.ID{Chain: uint64(i)})
	}
	seen := 0
	for _, b := range a.batches(100) {
		seen += len(b.keys)
		if n := len(strings.Join(b.keys, "%2C")); n > maxKeys || n < maxKeys/2 && seen < 300 {
			t.Errorf("%d keys of %d bytes", len(b.keys), n)
		}
	}
	if seen != 300 {
		t.Errorf("%d of 300 keys", seen)
	}
}

// TestFirstFailureEnds checks that after a failed call the service is not called again and
// earlier results are returned with the error.
func TestFirstFailureEnds(t *testing.T) {
	at := newStage(t)
	d := subjects[0].opened(t, at, quick()).(*DefiLlama)
	at.serve(func(w http.ResponseWriter, r *http.Request) {
		if at.calls.Load() > 1 {
			status(503)(w, r)
			return
		}
		coins := make([]string, 0, coinsPerCall)
		for _, k := range strings.Split(strings.TrimPrefix(r.URL.Path, "/prices/current/"), ",") {
			coins = append(coins, fmt.Sprintf(`%q:{"price":2,"timestamp":%d}`, k, testNow.Unix()))
		}
		answer(w, http.StatusOK, []byte(`{"coins":{`+strings.Join(coins, ",")+`}}`))
	})
	readings, err := d.Now(t.Context(), crowd(400, 1))
	var e *rest.Error
	if len(readings) != coinsPerCall || !errors.As(err, &e) || e.Status != 503 || at.calls.Load() != 2 {
		t.Errorf("%d readings by %d calls, %v", len(readings), at.calls.Load(), err)
	}
}

// TestOneExplorerDown checks that the other explorers are still asked.
func TestOneExplorerDown(t *testing.T) {
	var blockscout subject
	for _, s := range subjects {
		if s.name == "blockscout" {
			blockscout = s
		}
	}
	at := newStage(t)
	b := blockscout.opened(t, at, quick()).(*Blockscout)
	at.play(t, blockscout.replies, nil)
	honest := *at.handler.Load()
	at.serve(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/1/") {
			status(500)(w, r)
			return
		}
		honest(w, r)
	})
	holders, err := b.Holders(t.Context(), append(crowd(5, 1), testTokens...))
	var e *rest.Error
	if len(holders) != 2 || holders[price.IDOf(supr)] != 1207 || !errors.As(err, &e) || e.Status != 500 || at.calls.Load() != 3 {
		t.Errorf("%v by %d calls, %v", holders, at.calls.Load(), err)
	}
}

// TestPatience checks that a slow service is abandoned in time and its results so far are
// kept.
func TestPatience(t *testing.T) {
	at := newStage(t)
	d, err := NewDefiLlama(Config{Base: at.url, Reach: rest.LoopbackOnly, Now: clock, Limits: quick(), Timeout: 1500 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	at.serve(func(w http.ResponseWriter, r *http.Request) {
		if at.calls.Load() > 1 {
			select {
			case <-release:
			case <-r.Context().Done():
			}
			return
		}
		key, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/prices/current/"), ",")
		answer(w, http.StatusOK, fmt.Appendf(nil, `{"coins":{%q:{"price":2,"timestamp":%d}}}`, key, testNow.Unix()))
	})
	began := time.Now()
	readings, err := d.Now(t.Context(), crowd(1000, 1))
	var e *rest.Error
	if len(readings) != 1 || !errors.As(err, &e) || e.Kind != rest.TimedOut || time.Since(began) > 10*time.Second {
		t.Errorf("%d readings after %s, %v", len(readings), time.Since(began), err)
	}
}

// TestRates checks that of many calls at once only the burst is sent, and that the rate
// stays within what the service allows.
func TestRates(t *testing.T) {
	granted := map[string]float64{"defillama": 120, "geckoterminal": 30, "coingecko": 30, "dexscreener": 300, "blockscout": 300, "goplus": 30, "hosted": 60}
	for _, s := range subjects {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			at := newStage(t)
			at.serve(body(nothing))
			if s.name == "dexscreener" {
				at.serve(body(`[]`))
			}
			if s.name == "blockscout" {
				at.serve(status(404))
			}
			if s.name == "hosted" { // an endless list
				at.serve(body(`{"data":[{}],"total_count":1000000}`))
			}
			x, err := s.open(Config{Base: at.url, Reach: rest.LoopbackOnly, Now: clock, Timeout: 60 * time.Millisecond})
			if err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			ts := crowd(3*s.burst*s.perCall, 1, 56)
			var failed error
			if source, ok := x.(poll.Source); ok && s.name != "blockscout" {
				_, failed = source.Now(t.Context(), ts)
				_, _ = source.Now(t.Context(), ts) // shares the burst
			} else {
				_, failed = x.(poll.MetadataSource).Holders(t.Context(), ts)
			}
			perSecond := (granted[s.name] - float64(s.burst)) / 60
			limit := float64(s.burst) + 1 + perSecond*time.Since(began).Seconds()
			if n := float64(at.calls.Load()); n > limit || failed == nil {
				t.Errorf("%v calls, of %.1f at most; %v", n, limit, failed)
			}
		})
	}
}

// TestMonth checks that CoinGecko calls ahead of the monthly schedule fail before anything
// is sent, for all calls of a request or none.
func TestMonth(t *testing.T) {
	now := testNow
	at := newStage(t)
	at.serve(body(`{}`))
	g, err := NewCoinGecko(Config{
		Base: at.url, Reach: rest.LoopbackOnly, Now: func() time.Time { return now }, Limits: quick(),
		Key: func(context.Context) (string, error) { return "k", nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
	refused := 0
	for minute := range 31 * 24 * 60 {
		now = testNow.Add(time.Duration(minute) * time.Minute)
		before := at.calls.Load()
		_, err := g.Now(t.Context(), testTokens)
		var e *rest.Error
		switch sent := at.calls.Load() - before; {
		case err == nil && sent == 4:
		case errors.As(err, &e) && e.Kind == rest.Throttled && e.RetryAfter > 0 && e.RetryAfter < time.Hour && sent == 0:
			refused++
		default:
			t.Fatalf("minute %d: %d calls, %v", minute, sent, err)
		}
		if minute%60 == 0 {
			if _, err := g.MarketCaps(t.Context(), testTokens); err != nil && !errors.As(err, &e) {
				t.Fatal(err)
			}
		}
	}
	if n := at.calls.Load(); n > 10_000 || n < 8_000 || refused == 0 {
		t.Errorf("%d calls in a month, %d questions refused", n, refused)
	}
}

// TestSmallerCalls checks that calls shrink for a plan that allows fewer addresses.
func TestSmallerCalls(t *testing.T) {
	at := newStage(t)
	for _, granted := range []int{30, 10, 1} {
		g := subjects[2].opened(t, at, quick()).(*CoinGecko)
		at.serve(func(w http.ResponseWriter, r *http.Request) {
			if strings.Count(r.URL.RawQuery, "0x") > granted {
				answer(w, http.StatusBadRequest, []byte(`{"error_code":10012,"status":{"error_message":"too many"}}`))
				return
			}
			answer(w, http.StatusOK, []byte(`{}`))
		})
		for tries, ts := 0, crowd(30, 1); ; tries++ {
			_, err := g.Now(t.Context(), ts)
			if err == nil {
				break
			}
			if tries > 2 {
				t.Fatalf("%d granted: %v", granted, err)
			}
		}
	}
}

// TestPages checks that a list is read to its end, but not past its limit.
func TestPages(t *testing.T) {
	at := newStage(t)
	open := func() *Hosted { return subjects[6].opened(t, at, quick()).(*Hosted) }
	ts := crowd(2500, 1)
	at.serve(func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		offset, _ := strconv.Atoi(q.Get("offset"))
		limit, _ := strconv.Atoi(q.Get("limit"))
		if q.Get("chain_id") != "1" || limit != 1000 {
			t.Errorf("asked for %s", r.URL.RawQuery)
		}
		rows := []string{}
		for _, one := range ts[min(offset, len(ts)):min(offset+limit, len(ts))] {
			rows = append(rows, fmt.Sprintf(`{"chain_id":1,"token_address":%q,"price_now":"2.5","price_updated_at":"2026-11-22T13:59:00Z","stale":false,"price_24h_ago":"2.0","has_24h_data":true}`, one.Address.Hex()))
		}
		answer(w, http.StatusOK, fmt.Appendf(nil, `{"data":[%s],"total_count":%d}`, strings.Join(rows, ","), len(ts)))
	})
	readings, err := open().Now(t.Context(), ts)
	if len(readings) != len(ts) || err != nil || at.calls.Load() != 6 {
		t.Fatalf("%d readings by %d calls, %v", len(readings), at.calls.Load(), err)
	}
	if r := readings[2499]; r.ID != price.IDOf(ts[2499]) || r.Value.Fixed(1) != "2.5" || r.DayAgo.Fixed(1) != "2.0" || !r.At.Equal(testNow.Add(-time.Minute)) {
		t.Errorf("the last is %+v", r)
	}
	at.calls.Store(0)
	at.serve(body(`{"data":[{}],"total_count":18446744073709551615}`))
	if _, err := open().Now(t.Context(), ts); err == nil || at.calls.Load() != maxPages {
		t.Errorf("%d pages of a list without an end, %v", at.calls.Load(), err)
	}
}

// TestNobodyAsked checks that nothing is sent for tokens that a source cannot know.
func TestNobodyAsked(t *testing.T) {
	at := newStage(t)
	at.serve(status(500))
	for _, s := range subjects {
		for _, ts := range [][]tokens.Token{nil, {token(77, "0x0")}} {
			if s.name == "hosted" && ts != nil {
				continue // it may know any chain
			}
			if got := all(t.Context(), s.opened(t, at, quick()), ts); len(got.texts)+len(got.errs) > 0 {
				t.Errorf("%s of %v: %v, %v", s.name, ts, got.texts, got.errs)
			}
		}
	}
	if at.calls.Load() > 0 {
		t.Errorf("%d calls", at.calls.Load())
	}
}
