package intent_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"swapkeep/providers/intent"
	"swapkeep/providers/providertest"
	"swapkeep/sandbox"
	"swapkeep/sandbox/sandboxtest"
	"swapkeep/swap"
)

// recordedErrors are the two replies of the live service that are public, with the requests
// that make the simulator answer alike. No quote and no plan of the live service is public.
var recordedErrors = map[string]struct{ method, path, body string }{
	"khalani/error-400-orders-limit.json": {http.MethodGet, "/v1/orders/0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266?limit=21", ""},
	"khalani/error-400-validation-from-token.json": {http.MethodPost, "/v1/quotes", `{"tradeType":"EXACT_INPUT","fromChainId":8453,"fromToken":"0x01","toChainId":42161,
		"toToken":"0x0000000000000000000000000000000000000000","amount":"1","fromAddress":"0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"}`},
}

// TestRecordedErrors: the live service's errors become refusals with a code.
func TestRecordedErrors(t *testing.T) {
	for file := range recordedErrors {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Date", recorded.Format(http.TimeFormat))
			w.WriteHeader(http.StatusBadRequest)
			_, _ = w.Write(providertest.LiveReply(t, file)) // a client that is gone reports its own error
		}))
		p := newProvider(t, s.URL, func() time.Time { return recorded }, providertest.Limits(10*time.Second))
		_, err := p.Quote(t.Context(), request(8453, usdcBase, "25000000", 42161, native, 0))
		if !errors.Is(err, &swap.Refusal{Code: swap.ProviderRefused}) || !strings.Contains(err.Error(), "does not accept the request") {
			t.Errorf("%s: %v", file, err)
		}
		s.Close()
	}
}

// TestRecordedShape: the simulator's errors have every member that was recorded.
func TestRecordedShape(t *testing.T) {
	s := sandboxtest.StartWith(t, sandbox.Options{Chains: []uint64{8453, 42161}, Period: -1, Instant: true})
	for file, c := range recordedErrors {
		status, raw := sandboxtest.Ask(t, c.method, s.BaseURL("intent")+c.path, []byte(c.body))
		if status != http.StatusBadRequest {
			t.Errorf("%s: %d %s", file, status, raw)
			continue
		}
		for _, place := range providertest.MissingMembers(t, providertest.LiveReply(t, file), raw) {
			t.Errorf("%s: %s", file, place)
		}
	}
}

// TestTokensAreAskedElsewhere: the token list may have a base URL of its own.
func TestTokensAreAskedElsewhere(t *testing.T) {
	var asked []string
	serve := func(name string) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked = append(asked, name+r.URL.Path)
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"data":[]}`))
		}))
		t.Cleanup(s.Close)
		return s.URL
	}
	p, err := intent.New(intent.Config{Base: serve("base"), Frontend: serve("list"), Sandbox: true, Limits: providertest.Limits(10 * time.Second)})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if _, err := p.Tokens(t.Context(), 8453); err != nil || len(asked) != 1 || asked[0] != "list/v1/tokens" {
		t.Errorf("asked %v, %v", asked, err)
	}
}
