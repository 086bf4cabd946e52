package source

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"swapkeep/rest"
)

const secret = "CG-test-key-not-secret"

// TestKeys checks that a key is sent in its header and nowhere else, and that no error
// contains it.
func TestKeys(t *testing.T) {
	type open func(Config) (any, error)
	for _, x := range []struct {
		name, header string
		open         open
		pro          bool
	}{
		{"demo", "X-Cg-Demo-Api-Key", openCoinGecko, false},
		{"pro", "X-Cg-Pro-Api-Key", openCoinGecko, true},
		{"hosted", "X-Api-Key", opener(NewHosted), false},
	} {
		at := newStage(t)
		at.serve(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get(x.header) != secret || strings.Contains(r.URL.String(), secret) {
				t.Errorf("%s: %s with %v", x.name, r.URL, r.Header)
			}
			for _, other := range []string{"X-Cg-Demo-Api-Key", "X-Cg-Pro-Api-Key", "X-Api-Key"} {
				if other != x.header && r.Header.Get(other) != "" {
					t.Errorf("%s: also %s", x.name, other)
				}
			}
			answer(w, http.StatusUnauthorized, fmt.Appendf(nil, `{"error":"the key %s is wrong"}`, secret))
		})
		key := func(context.Context) (string, error) { return secret, nil }
		opened, err := x.open(Config{Base: at.url, Reach: rest.LoopbackOnly, Now: clock, Limits: quick(), Key: key, Pro: x.pro})
		if err != nil {
			t.Fatal(err)
		}
		for method, err := range all(t.Context(), opened, testTokens).errs {
			if strings.Contains(err.Error(), secret) || !strings.Contains(err.Error(), "401") {
				t.Errorf("%s: %s: %v", x.name, method, err)
			}
		}
		if at.calls.Load() == 0 {
			t.Errorf("%s: nothing was sent", x.name)
		}
	}
}

// TestWithoutKey checks that nothing is sent without a required key.
func TestWithoutKey(t *testing.T) {
	at := newStage(t)
	at.play(t, subjects[6].replies, nil)
	c := Config{Base: at.url, Reach: rest.LoopbackOnly, Now: clock, Limits: quick()}
	if _, err := NewCoinGecko(c); err == nil {
		t.Error("CoinGecko without a key")
	}
	if got := all(t.Context(), opening(t, c, opener(NewHosted)), testTokens); len(got.errs) > 0 || len(got.texts) == 0 {
		t.Errorf("hosted without a key: %v", got.errs)
	}
	locked := errors.New("the keyring is locked")
	for name, key := range map[string]func(context.Context) (string, error){
		"locked": func(context.Context) (string, error) { return "", locked },
		"empty":  func(context.Context) (string, error) { return "", nil },
	} {
		c.Key = key
		at.calls.Store(0)
		got := all(t.Context(), opening(t, c, openCoinGecko), testTokens)
		var e *rest.Error
		if err := got.errs["now"]; !errors.As(err, &e) || e.Kind != rest.NoCredentials || name == "locked" && !errors.Is(err, locked) || at.calls.Load() > 0 {
			t.Errorf("%s: %v, %d calls", name, err, at.calls.Load())
		}
	}
	c.Key = func(context.Context) (string, error) { return "", nil }
	if got := all(t.Context(), opening(t, c, opener(NewHosted)), testTokens); len(got.errs) > 0 {
		t.Errorf("hosted with an empty key: %v", got.errs)
	}
}

func opening(t *testing.T, c Config, open func(Config) (any, error)) any {
	t.Helper()
	x, err := open(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(x.(interface{ Close() }).Close)
	return x
}

// TestReach checks that the services' own URLs are accepted as external https hosts, and
// that a base outside the allowed reach is rejected.
func TestReach(t *testing.T) {
	key := func(context.Context) (string, error) { return "k", nil }
	opens := map[string]func(Config) (any, error){
		"defillama": opener(NewDefiLlama), "geckoterminal": opener(NewGeckoTerminal), "coingecko": opener(NewCoinGecko),
		"dexscreener": opener(NewDexScreener), "blockscout": opener(NewBlockscout), "goplus": opener(NewGoPlus),
	}
	for name, open := range opens {
		for _, pro := range []bool{false, true} {
			if _, err := open(Config{Now: clock, Key: key, Pro: pro}); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if _, err := open(Config{Now: clock, Key: key, Reach: rest.LoopbackOnly}); err == nil {
			t.Errorf("%s: reached from the sandbox", name)
		}
		if _, err := open(Config{Key: key}); err == nil {
			t.Errorf("%s: without a clock", name)
		}
		for _, base := range []string{"http://example.org", "https://127.0.0.1:1", "https://a:b@example.org", "https://example.org/?key=1"} {
			if _, err := open(Config{Now: clock, Key: key, Base: base, Hosts: map[uint64]string{1: base}}); err == nil {
				t.Errorf("%s: at %s", name, base)
			}
		}
	}
	if _, err := NewHosted(Config{Now: clock}); err == nil {
		t.Error("hosted nowhere")
	}
}
