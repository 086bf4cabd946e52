package gaslesssim

import (
	"fmt"
	"maps"
	"slices"
)

// Settings can be changed while the simulator runs.
type Settings struct {
	// APIKey is the valid value of the header source-auth; "" accepts any. Prices are
	// wider without a key, as in the provider's demo mode.
	APIKey string `json:"apiKey"`
	// RateLimit is the allowed requests per second and key; 0 = no limit.
	RateLimit int `json:"rateLimit"`
	// JAM and RFQ configure the two protocols.
	JAM Behaviour `json:"jam"`
	RFQ Behaviour `json:"rfq"`
}

// A Behaviour says how a protocol quotes, accepts orders, settles and reports.
type Behaviour struct {
	// Down answers every request of the protocol with a page and status 503.
	Down bool `json:"down"`
	// NoQuote is the error code for every quote request; 0 = none.
	NoQuote int `json:"noQuote"`
	// PriceBps improves quotes by so many basis points; negative values worsen them.
	PriceBps int64 `json:"priceBps"`
	// GasMicroUSD is the cost of settling, in millionths of a US dollar. It is part of
	// the price.
	GasMicroUSD int64 `json:"gasMicroUsd"`
	// ProtocolFeeBps is JAM's own fee, which is in the order.
	ProtocolFeeBps int64 `json:"protocolFeeBps"`
	// Router makes quotes name the router and an order with the router as taker, as RFQ's
	// do for heavily traded tokens on the real chains.
	Router bool `json:"router"`
	// ValiditySeconds is the lifetime of quotes.
	ValiditySeconds int64 `json:"validitySeconds"`

	// Refuse is the error code with which every valid order is refused; 0 = none.
	Refuse int `json:"refuse"`
	// Answer is the error code in the response to orders that are accepted nevertheless;
	// 0 = none.
	Answer int `json:"answer"`
	// Outcome applies to orders accepted from now on; see outcomes.
	Outcome string `json:"outcome"`
	// AfterBlocks is the number of blocks before the settlement.
	AfterBlocks uint64 `json:"afterBlocks"`
	// LateSeconds is the time before expiry at which outcome "late" settles.
	LateSeconds uint64 `json:"lateSeconds"`
	// SurplusBps is paid on top of the quote. If it is negative and less than the signed
	// minimum is paid, the contracts revert and the API refuses the order.
	SurplusBps int64 `json:"surplusBps"`
	// Status is a lie in every status response; see lies. "" is the truth.
	Status string `json:"status"`
}

// outcomes are the outcomes of orders.
var outcomes = map[string]string{
	"settle": "settled",
	"part":   "settled for half of its input, as RFQ's contract allows",
	"late":   "settled just before it expires",
	"never":  "forgotten, and reported failed once expired",
	"revert": "sent in a transaction that pays less than was signed, and reverts",
	"reject": "reported failed, without a transaction",
}

// DefaultSettings settle every order at once. JAM's gas costs more, so that RFQ wins
// where both quote.
var DefaultSettings = Settings{
	JAM: Behaviour{GasMicroUSD: 20_000, ValiditySeconds: 60, Outcome: "settle", LateSeconds: 3},
	RFQ: Behaviour{GasMicroUSD: 10_000, ValiditySeconds: 60, Outcome: "settle", LateSeconds: 3},
}

// Limits of settings.
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
