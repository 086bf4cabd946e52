package intentsim

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"

	"swapkeep/sandbox/inject"
)

// Settings can be changed while the simulator runs. Changes to the body of a response are
// left to lies; see package inject.
type Settings struct {
	RateLimit    int  `json:"rateLimit"`    // requests per minute; 0 = no limit
	FlatTokens   bool `json:"flatTokens"`   // GET /v1/tokens answers with an array, as seen live
	QuoteSeconds int  `json:"quoteSeconds"` // lifetime of a price
	ValidSeconds int  `json:"validSeconds"` // lifetime of a quote and its deposit
	ClockSeconds int  `json:"clockSeconds"` // how far its clock, Date header included, is ahead
	PacePercent  int  `json:"pacePercent"`  // of the usual time of an order; 0 = at once

	Switch      bool   `json:"switch"`      // plans for tokens start with wallet_switchEthereumChain
	ProtocolFee string `json:"protocolFee"` // wei that DeBridge's deposits require on top of the amount
	Plan        string `json:"plan"`        // how plans are wrong; see plans

	LoseQuotes int  `json:"loseQuotes"` // number of submits whose quote is lost for good
	Conflicts  int  `json:"conflicts"`  // number of submits that find another hash in their place
	Indexing   bool `json:"indexing"`   // deposits that were not submitted become orders too

	Stream  Stream         `json:"stream"`
	DelayMS map[string]int `json:"delayMs"` // before a filler's route is ready, by routeId
	Errors  List[Error]    `json:"errors"`

	Outcome  Outcome       `json:"outcome"`  // of every order
	Outcomes List[Outcome] `json:"outcomes"` // of the next orders; takes precedence
}

// A List is replaced as a whole when decoded. The decoder would otherwise keep members of
// old elements.
type List[T any] []T

// UnmarshalJSON decodes an array; unknown members are an error.
func (l *List[T]) UnmarshalJSON(raw []byte) error {
	var fresh []T
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	err := dec.Decode(&fresh)
	*l = fresh
	return err
}

// A Stream says how a streamed response goes wrong.
type Stream struct {
	StallAfter int  `json:"stallAfter"` // lines after which the stream stalls; 0 = never
	CutAfter   int  `json:"cutAfter"`   // lines after which the connection breaks, within the next line; 0 = never
	Repeat     int  `json:"repeat"`     // times that every line is sent again
	Blank      bool `json:"blank"`      // a blank line before each, and no newline at the end
}

// An Error is the response to the next requests to a path, which are not carried out.
type Error struct {
	Path  string `json:"path"`  // a trailing * matches any rest
	Name  string `json:"name"`  // a key of exceptions
	Times int    `json:"times"` // at least 1
}

func (e Error) matches(path string) bool { return inject.Rule{Target: e.Path}.Matches(path) }

// An Outcome says what becomes of an order.
type Outcome struct {
	Ending      string `json:"ending"`      // a key of endings; "" = fill
	LateSeconds int    `json:"lateSeconds"` // delay beyond the quoted duration, not scaled by PacePercent
	PayBips     int64  `json:"payBips"`     // part of the amount owed that is paid, in basis points; 0 = all
	// Reserve pays out of the deposit contract, through a call that others cannot decode,
	// instead of from the solver's account.
	Reserve bool `json:"reserve"`
	// Stranger makes an account other than the solver pay. To the wallet, any of the real
	// provider's fillers is such a stranger.
	Stranger bool `json:"stranger,omitempty"`
}

// DefaultSettings fill every order as quoted.
func DefaultSettings() Settings {
	return Settings{QuoteSeconds: 60, ValidSeconds: 600, PacePercent: 100, Switch: true, ProtocolFee: "0"}
}

// Limits of the settings.
const (
	maxSeconds = 10 * 365 * 24 * 3600
	maxRepeat  = 10_000_000
	maxDelayMS = 600_000
	allBips    = 10_000
)

// Settings returns the current settings.
func (s *Server) Settings() Settings {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.settings.clone()
}

func (c Settings) clone() Settings {
	c.DelayMS, c.Errors, c.Outcomes = maps.Clone(c.DelayMS), slices.Clone(c.Errors), slices.Clone(c.Outcomes)
	return c
}

// Set changes the settings. Existing orders keep their outcome and duration.
func (s *Server) Set(settings Settings) error {
	if err := settings.check(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settings = settings.clone()
	s.limits.Reset()
	return nil
}

func (c Settings) check() error {
	counts := []struct {
		name      string
		n         int
		low, high int
	}{
		{"rateLimit", c.RateLimit, 0, 1_000_000},
		{"quoteSeconds", c.QuoteSeconds, 0, maxSeconds},
		{"validSeconds", c.ValidSeconds, 0, maxSeconds},
		{"clockSeconds", c.ClockSeconds, -maxSeconds, maxSeconds},
		{"pacePercent", c.PacePercent, 0, 10_000},
		{"loseQuotes", c.LoseQuotes, 0, 1_000_000},
		{"conflicts", c.Conflicts, 0, 1_000_000},
		{"stream.stallAfter", c.Stream.StallAfter, 0, maxRepeat},
		{"stream.cutAfter", c.Stream.CutAfter, 0, maxRepeat},
		{"stream.repeat", c.Stream.Repeat, 0, maxRepeat},
	}
	for _, f := range counts {
		if f.n < f.low || f.n > f.high {
			return fmt.Errorf("%s: want %d to %d", f.name, f.low, f.high)
		}
	}
	if wei, ok := new(big.Int).SetString(c.ProtocolFee, 10); !ok || wei.Sign() < 0 || wei.BitLen() > 128 {
		return fmt.Errorf("protocolFee: want wei as a decimal string")
	}
	if _, known := plans[c.Plan]; c.Plan != "" && !known {
		return fmt.Errorf("plan: want one of %v", slices.Sorted(maps.Keys(plans)))
	}
	return c.checkLists()
}

func (c Settings) checkLists() error {
	for id, ms := range c.DelayMS {
		if !slices.ContainsFunc(fillers, func(f filler) bool { return f.id == id }) || ms < 0 || ms > maxDelayMS {
			return fmt.Errorf("delayMs: want a routeId and 0 to %d", maxDelayMS)
		}
	}
	for _, e := range c.Errors {
		if _, known := exceptions[e.Name]; !known || e.Path == "" || e.Times < 1 {
			return fmt.Errorf("errors: want a path, times and one of %v", slices.Sorted(maps.Keys(exceptions)))
		}
	}
	for _, o := range append(slices.Clone(c.Outcomes), c.Outcome) {
		if _, known := endings[o.Ending]; o.Ending != "" && !known {
			return fmt.Errorf("ending: want one of %v", slices.Sorted(maps.Keys(endings)))
		}
		if o.LateSeconds < 0 || o.LateSeconds > maxSeconds || o.PayBips < 0 || o.PayBips > 2*allBips {
			return fmt.Errorf("outcome: want lateSeconds of 0 to %d and payBips of 0 to %d", maxSeconds, 2*allBips)
		}
		if o.Reserve && o.Stranger {
			return errors.New("outcome: want reserve or stranger: the deposit contract pays for the solver alone")
		}
	}
	return nil
}
