package gasless_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"swapkeep/providers/providertest"
	"swapkeep/swap"
)

// bothAnswer makes JAM and RFQ quote for onOne, with an RFQ quote that expires after life.
func bothAnswer(t *testing.T, life time.Duration) *api {
	a := newAPI(t)
	a.answer(jamQuote, say(reply(t, "ethereum-usdc-weth-jam.quote.json", nil)))
	a.answer(rfqQuote, say(reply(t, "ethereum-usdc-weth.quote.json", func(r, order map[string]any) {
		ends := recorded.Add(life).Unix()
		r["expiry"], order["expiry"] = ends, ends
		more := "600000000000000000" // more than JAM pays
		b := r["buyTokens"].(map[string]any)[wethEthereum.Hex()].(map[string]any)
		b["amount"], b["minimumAmount"], order["maker_amount"] = more, more, more
	})))
	return a
}

// TestRankByConsentTime: an offer that expires before a person can have read its review is
// ranked behind one that does not, though it pays more.
func TestRankByConsentTime(t *testing.T) {
	for life, first := range map[time.Duration]string{
		10 * time.Second: "JAM", // without a key
		30 * time.Second: "JAM", // on chain 1
		31 * time.Second: "RFQ",
		60 * time.Second: "RFQ", // with a key
	} {
		offers, err := bothAnswer(t, life).provider(t).Quote(t.Context(), onOne())
		if err != nil || len(offers) != 2 || offers[0].Routing != first {
			t.Errorf("RFQ for %s: %+v, %v", life, offers, err)
		}
	}
}

// TestOneRoute: a fresh quote of an accepted route queries only that protocol.
func TestOneRoute(t *testing.T) {
	for _, route := range []string{"JAM", "RFQ"} {
		a := bothAnswer(t, time.Minute)
		r := onOne()
		r.Routing = route
		offers, err := a.provider(t).Quote(t.Context(), r)
		if err != nil || len(offers) != 1 || offers[0].Routing != route || len(a.asked) != 1 {
			t.Errorf("%s: %+v, %v, asked %v", route, offers, err, a.asked)
		}
	}
}

// TestRecordedRouterLeavesJAM: if RFQ answers for its router, as recorded, JAM's offer is
// still returned. If JAM has no route, NoRoute is the reason, since it may have one later
// and a watched quote is then requested again. If only RFQ was requested, NoMinimum is the
// reason.
func TestRecordedRouterLeavesJAM(t *testing.T) {
	router := say(providertest.LiveReply(t, "bebop/pmm-v3-single-router-ethereum.json"))
	a := bothAnswer(t, time.Minute)
	a.answer(rfqQuote, router)
	var left []error
	offers, err := a.provider(t).Quote(swap.OnPartRefused(t.Context(), func(err error) { left = append(left, err) }), onOne())
	if err != nil || len(offers) != 1 || offers[0].Routing != "JAM" {
		t.Errorf("Quote = %+v, %v, want one JAM offer", offers, err)
	}
	if len(left) != 1 || !errors.Is(left[0], &swap.Refusal{Code: swap.NoMinimum}) {
		t.Errorf("reported as left out: %v", left)
	}
	a.answer(jamQuote, func(w http.ResponseWriter, _ *http.Request) {
		say([]byte(`{"error":{"errorCode":108,"message":"NoRoute: no route"}}`))(w, nil)
	})
	for routing, want := range map[string]swap.Code{"": swap.NoRoute, "RFQ": swap.NoMinimum} {
		r := onOne()
		r.Routing = routing
		if _, err := a.provider(t).Quote(t.Context(), r); !errors.Is(err, &swap.Refusal{Code: want}) || !strings.Contains(err.Error(), "no minimum") {
			t.Errorf("asked for %q: want %s, got %v", routing, want, err)
		}
	}
}
