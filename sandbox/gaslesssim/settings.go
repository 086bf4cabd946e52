package gaslesssim

import (
	"fmt"
	"maps"
	"slices"
)

// Settings are what a test or a demonstration may change while the simulator
// runs.
type Settings struct {
	// APIKey is what the header source-auth may carry; "" takes any. Without a
	// key prices are wider, as in the provider's demo mode.
	APIKey string `json:"apiKey"`
	// RateLimit is the requests a second that each key may make; 0 = no limit.
	RateLimit int `json:"rateLimit"`
	// JAM and RFQ are the two protocols, each for itself.
	JAM Behaviour `json:"jam"`
	RFQ Behaviour `json:"rfq"`
}

// A Behaviour is how one protocol quotes, takes orders, settles and reports.
type Behaviour struct {
	// Down answers everything of the protocol with a page and status 503.
	Down bool `json:"down"`
	// NoQuote is an error code to answer every quote with; 0 = none.
	NoQuote int `json:"noQuote"`
	// PriceBps makes quotes better by so many basis points, or worse.
	PriceBps int64 `json:"priceBps"`
	// GasMicroUSD is what settling costs, in millionths of a US dollar. It is
	// part of the price.
	GasMicroUSD int64 `json:"gasMicroUsd"`
	// ProtocolFeeBps is a fee of JAM's own, which the order names.
	ProtocolFeeBps int64 `json:"protocolFeeBps"`
	// Router has quotes name the router that settles much traded tokens, as RFQ's do on
	// the real chains, with the order that the router would be the taker of.
	Router bool `json:"router"`
	// ValiditySeconds is how long quotes live.
	ValiditySeconds int64 `json:"validitySeconds"`

	// Refuse is an error code to answer every valid order with, instead of
	// taking it; 0 = none.
	Refuse int `json:"refuse"`
	// Answer is an error code to answer orders with that are taken all the same;
	// 0 = none.
	Answer int `json:"answer"`
	// Outcome is what becomes of orders taken from now on; see outcomes.
	Outcome string `json:"outcome"`
	// AfterBlocks is how many blocks pass before that.
	AfterBlocks uint64 `json:"afterBlocks"`
	// LateSeconds is how close to the expiry an order of outcome "late" settles.
	LateSeconds uint64 `json:"lateSeconds"`
	// SurplusBps is how much more than quoted is paid. Less than the user signed
	// is refused by the contracts, and orders with it by the API.
	SurplusBps int64 `json:"surplusBps"`
	// Status is a lie to tell about every order; see lies. "" tells the truth.
	Status string `json:"status"`
}

// outcomes are what can become of an order.
var outcomes = map[string]string{
	"settle": "settled",
	"part":   "settled for half of its input, as RFQ's contract allows",
	"late":   "settled just before it expires",
	"never":  "forgotten, and reported failed once expired",
	"revert": "sent in a transaction that pays less than was signed, and reverts",
	"reject": "reported failed, without a transaction",
}

// DefaultSettings settle every order at once. JAM costs the taker a little more,
// so that RFQ wins where both quote.
var DefaultSettings = Settings{
	JAM: Behaviour{GasMicroUSD: 20_000, ValiditySeconds: 60, Outcome: "settle", LateSeconds: 3},
	RFQ: Behaviour{GasMicroUSD: 10_000, ValiditySeconds: 60, Outcome: "settle", LateSeconds: 3},
}

// Bounds of settings.
const (
	maxBps      = 9_000
	maxValidity = 24 * 3600
	maxGasUSD   = 1_000_000_000_000
)

func (s Settings) check() error {
	if s.RateLimit < 0 {
		return fmt.Errorf("rateLimit: want 0 or more")
	}
	if err := s.JAM.check(); err != nil {
		return fmt.Errorf("jam.%w", err)
	}
	if s.RFQ.ProtocolFeeBps != 0 {
		return fmt.Errorf("rfq.protocolFeeBps: JAM alone has one")
	}
	if s.JAM.Router {
		return fmt.Errorf("jam.router: RFQ alone has one")
	}
	if s.JAM.Outcome == "part" {
		return fmt.Errorf("jam.outcome: RFQ alone settles in part")
	}
	if err := s.RFQ.check(); err != nil {
		return fmt.Errorf("rfq.%w", err)
	}
	return nil
}

func (b Behaviour) check() error {
	for name, code := range map[string]int{"noQuote": b.NoQuote, "refuse": b.Refuse, "answer": b.Answer} {
		if codes[code] == "" && code != 0 {
			return fmt.Errorf("%s: the API has no error %d", name, code)
		}
	}
	for _, bound := range []struct {
		name             string
		value, low, high int64
	}{
		{"priceBps", b.PriceBps, -maxBps, maxBps},
		{"surplusBps", b.SurplusBps, -maxBps, maxBps},
		{"protocolFeeBps", b.ProtocolFeeBps, 0, maxBps},
		{"validitySeconds", b.ValiditySeconds, 1, maxValidity},
		{"gasMicroUsd", b.GasMicroUSD, 0, maxGasUSD},
	} {
		if bound.value < bound.low || bound.value > bound.high {
			return fmt.Errorf("%s: want %d to %d", bound.name, bound.low, bound.high)
		}
	}
	if outcomes[b.Outcome] == "" {
		return fmt.Errorf("outcome: want one of %q", slices.Sorted(maps.Keys(outcomes)))
	}
	if lies[b.Status] == nil {
		return fmt.Errorf("status: want one of %q", slices.Sorted(maps.Keys(lies)))
	}
	return nil
}
