package bridgesim

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/ethereum/go-ethereum/common"
)

// Settings are what a test or a demonstration may change while the simulator
// runs. What an answer's body can say is rather made by a lie of the faults.
type Settings struct {
	// APIKey is demanded for quotes in the header x-api-key, and by the
	// websocket; "" demands none.
	APIKey string `json:"apiKey"`
	// QuoteLimit and Limit are the quotes, and the other requests, that each key
	// may make in a minute; 0 = no limit. The real API allows 50 and 200.
	QuoteLimit int `json:"quoteLimit"`
	Limit      int `json:"limit"`
	// PaceMS is how long an order stays in each state at least.
	PaceMS int `json:"paceMs"`
	// Router is the version of the routers that new quotes name.
	Router string `json:"router"`
	// Disabled are chains that the API calls disabled.
	Disabled []uint64 `json:"disabled"`
	// NeedsIndex makes a deposit count only once it was indexed.
	NeedsIndex bool `json:"needsIndex"`

	// Outcome is what becomes of orders. Next goes before it: one for each
	// deposit seen, in turn. Requests goes before both, and may be changed while
	// an order is under way.
	Outcome  Outcome                 `json:"outcome"`
	Next     []Outcome               `json:"next"`
	Requests map[common.Hash]Outcome `json:"requests"`

	// Depository is a contract named, everywhere, in place of the real one.
	Depository *common.Address `json:"depository"`
	// CallShortBips is what calls of routers pay less than quoted, and are
	// content with.
	CallShortBips int64 `json:"callShortBips"`
	// ExtraStep is put behind the steps of a quote: approve, deposit, send or
	// signature; ExtraAfter quotes go out without it first.
	ExtraStep  string `json:"extraStep"`
	ExtraAfter int    `json:"extraAfter"`
}

// A Kind is how an order ends.
type Kind string

// The kinds.
const (
	Fill   Kind = "fill"   // paid on the destination
	Refund Kind = "refund" // paid back on the origin
	Fail   Kind = "fail"   // said to have failed; nothing is paid
	Never  Kind = "never"  // stays pending
)

var kinds = []Kind{Fill, Refund, Fail, Never}

// An Outcome is what becomes of an order that goes across chains.
type Outcome struct {
	Kind    Kind `json:"kind"`
	DelayMS int  `json:"delayMs,omitempty"` // between the deposit and the payment
	// FailReason and RefundFailReason are what the status says; "" is a usual
	// reason, where there is one to be given.
	FailReason       string `json:"failReason,omitempty"`
	RefundFailReason string `json:"refundFailReason,omitempty"`
	// ShortBips is what the payment falls below the floor by.
	ShortBips int64 `json:"shortBips,omitempty"`
	// Currency of the payment in place of the right one; the zero address is the
	// native coin.
	Currency *common.Address `json:"currency,omitempty"`
	// To is who is paid in place of the right one.
	To *common.Address `json:"to,omitempty"`
	// Stranger has an account pay that is not the solver.
	Stranger bool `json:"stranger,omitempty"`
	// Router has the solver pay by a call of a router.
	Router bool `json:"router,omitempty"`
}

// DefaultSettings fill every order; a server's key is added to them.
var DefaultSettings = Settings{PaceMS: 100, Router: newest, Outcome: Outcome{Kind: Fill}}

// newest is the version of the routers that the real API names.
const newest = "v3.2"

// Bounds of the settings.
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

// clone shares nothing with s that either could change.
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
