package bridgesim

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/ethereum/go-ethereum/common"
)

// Settings can be changed while the simulator runs. To change the body of a response, use
// a lie of Faults instead.
type Settings struct {
	// APIKey is required for quotes in the header x-api-key, and by the websocket; ""
	// requires none.
	APIKey string `json:"apiKey"`
	// QuoteLimit and Limit are the quotes, and other requests, allowed per minute and
	// key; 0 = no limit. The real API allows 50 and 200.
	QuoteLimit int `json:"quoteLimit"`
	Limit      int `json:"limit"`
	// PaceMS is the minimum time in each state of an order, in milliseconds.
	PaceMS int `json:"paceMs"`
	// Router is the version of the routers in new quotes. The wallet does not know v2.1, of 56 and 143.
	Router string `json:"router"`
	// Disabled are chains that the API shows as disabled.
	Disabled []uint64 `json:"disabled"`
	// NeedsIndex makes deposits count only after a report to /transactions/index.
	NeedsIndex bool `json:"needsIndex"`

	// Outcome applies to all orders. Next takes precedence over it: one outcome for each
	// deposit, in order. Requests takes precedence over both and may be changed while an
	// order is in progress.
	Outcome  Outcome                 `json:"outcome"`
	Next     []Outcome               `json:"next"`
	Requests map[common.Hash]Outcome `json:"requests"`

	// Depository replaces the real depository in every response.
	Depository *common.Address `json:"depository"`
	// CallShortBips makes router calls pay less than the quoted minimum by so many basis
	// points, and demand no more.
	CallShortBips int64 `json:"callShortBips"`
	// ExtraStep is appended to the steps of a quote: approve, deposit, send or signature.
	// The first ExtraAfter quotes are sent without it.
	ExtraStep  string `json:"extraStep"`
	ExtraAfter int    `json:"extraAfter"`
}

// A Kind is how an order ends.
type Kind string

// The kinds.
const (
	Fill   Kind = "fill"   // paid on the destination
	Refund Kind = "refund" // paid back on the origin
	Fail   Kind = "fail"   // reported as failed; nothing is paid
	Never  Kind = "never"  // stays pending
)

var kinds = []Kind{Fill, Refund, Fail, Never}

// An Outcome says what becomes of an order across chains.
type Outcome struct {
	Kind    Kind `json:"kind"`
	DelayMS int  `json:"delayMs,omitempty"` // between the deposit and the payment
	// FailReason and RefundFailReason are reported in the status; "" is a default reason,
	// if one applies.
	FailReason       string `json:"failReason,omitempty"`
	RefundFailReason string `json:"refundFailReason,omitempty"`
	// ShortBips is how far a fill falls below the minimum, or a refund below the deposit.
	ShortBips int64 `json:"shortBips,omitempty"`
	// Currency replaces the currency of the payment; the zero address is the native coin.
	Currency *common.Address `json:"currency,omitempty"`
	// To replaces the recipient.
	To *common.Address `json:"to,omitempty"`
	// Stranger makes an account other than the solver pay.
	Stranger bool `json:"stranger,omitempty"`
	// Unlinked leaves the order's id out of the payment's input.
	Unlinked bool `json:"unlinked,omitempty"`
	// Router makes the solver pay through a router.
	Router bool `json:"router,omitempty"`
}

// DefaultSettings fill every order. The server adds its API key.
var DefaultSettings = Settings{PaceMS: 100, Router: newest, Outcome: Outcome{Kind: Fill}}

// newest is the version of the routers in the real API's quotes.
const newest = "v3.2"

// Limits of the settings.
const (
	maxPace     = 60_000
	maxOutcomes = 1000
)

func (s Settings) check() error {
	if s.QuoteLimit < 0 || s.Limit < 0 || s.ExtraAfter < 0 {
		return errors.New("quoteLimit, limit and extraAfter: want 0 or more")
	}
	if s.PaceMS < 0 || s.PaceMS > maxPace {
		return fmt.Errorf("paceMs: want 0 to %d", maxPace)
	}
	if s.CallShortBips < 0 || s.CallShortBips > allBips {
		return fmt.Errorf("callShortBips: want 0 to %d", allBips)
	}
	if _, known := extraSteps[s.ExtraStep]; s.ExtraStep != "" && !known {
		return fmt.Errorf("extraStep: there are %v", slices.Sorted(maps.Keys(extraSteps)))
	}
	if len(s.Next) > maxOutcomes || len(s.Requests) > maxOutcomes {
		return fmt.Errorf("next and requests: want at most %d", maxOutcomes)
	}
	all := append([]Outcome{s.Outcome}, s.Next...)
	for _, o := range slices.AppendSeq(all, maps.Values(s.Requests)) {
		if err := o.check(); err != nil {
			return err
		}
	}
	return nil
}

func (o Outcome) check() error {
	switch {
	case !slices.Contains(kinds, o.Kind):
		return fmt.Errorf("kind: there are %v", kinds)
	case o.DelayMS < 0:
		return errors.New("delayMs: want 0 or more")
	case o.ShortBips < 0 || o.ShortBips > allBips:
		return fmt.Errorf("shortBips: want 0 to %d", allBips)
	}
	return nil
}

// clone returns a copy that shares no memory with s.
func (s Settings) clone() Settings {
	s.Disabled, s.Next, s.Requests = slices.Clone(s.Disabled), slices.Clone(s.Next), maps.Clone(s.Requests)
	return s
}

func (s Settings) depository(m *market) common.Address {
	if s.Depository != nil {
		return *s.Depository
	}
	return m.Bridge().Depository
}
