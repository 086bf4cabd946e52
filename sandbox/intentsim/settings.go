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

// Settings are what a test or a demonstration may change while the simulator
// runs. What the body of an answer can say is left to lies; see inject.
type Settings struct {
	RateLimit    int  `json:"rateLimit"`    // requests a minute; 0 = no limit
	FlatTokens   bool `json:"flatTokens"`   // GET /v1/tokens answers an array, as was seen live
	QuoteSeconds int  `json:"quoteSeconds"` // how long a price holds
	ValidSeconds int  `json:"validSeconds"` // how long a quote is known and its deposit taken
	ClockSeconds int  `json:"clockSeconds"` // how far its clock, Date header included, is ahead
	PacePercent  int  `json:"pacePercent"`  // of the time that an order takes; 0 = at once

	Switch      bool   `json:"switch"`      // plans for tokens begin with wallet_switchEthereumChain
	ProtocolFee string `json:"protocolFee"` // wei that DeBridge's deposits ask beside the amount
	Plan        string `json:"plan"`        // how plans go wrong; see plans

	LoseQuotes int  `json:"loseQuotes"` // so many submits find their quote lost, for good
	Conflicts  int  `json:"conflicts"`  // so many submits find another hash in their place
	Indexing   bool `json:"indexing"`   // deposits that nobody submitted become orders too

	Stream  Stream         `json:"stream"`
	DelayMS map[string]int `json:"delayMs"` // before a filler's route comes, by routeId
	Errors  List[Error]    `json:"errors"`

	Outcome  Outcome       `json:"outcome"`  // of every order
	Outcomes List[Outcome] `json:"outcomes"` // of the next orders, before that
}

// A List takes the place of the one before when it is read. The decoder would
// else leave members of the old elements in the new ones.
type List[T any] []T

// UnmarshalJSON reads an array without unknown members.
func (l *List[T]) UnmarshalJSON(raw []byte) error {
	var fresh []T
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	err := dec.Decode(&fresh)
	*l = fresh
	return err
}

// A Stream says how a streamed answer goes wrong. Lines count from 1.
type Stream struct {
	StallAfter int  `json:"stallAfter"` // lines until nothing comes any more; 0 = never
	CutAfter   int  `json:"cutAfter"`   // lines until the connection breaks within the next; 0 = never
	Repeat     int  `json:"repeat"`     // times that every line is sent again
	Blank      bool `json:"blank"`      // a blank line before each, and none of them ended at the end
}

// An Error is answered to the next requests to a path, which are not carried
// out.
type Error struct {
	Path  string `json:"path"`  // a * at its end stands for any rest
	Name  string `json:"name"`  // of exceptions
	Times int    `json:"times"` // at least 1
}

func (e Error) matches(path string) bool { return inject.Rule{Target: e.Path}.Matches(path) }

// An Outcome is what becomes of an order.
type Outcome struct {
	Ending      string `json:"ending"`      // one of endings; "" = fill
	LateSeconds int    `json:"lateSeconds"` // beyond what was quoted, whatever the pace
	PayBips     int64  `json:"payBips"`     // of what is owed; 0 = all of it
	// Reserve pays out of the deposit contract, with a call that is opaque to
	// others, and not from the solver's account.
	Reserve bool `json:"reserve"`
	// Stranger has an account pay that is not the solver, as any of the real
	// provider's fillers is to the wallet.
	Stranger bool `json:"stranger,omitempty"`
}

// DefaultSettings fill every order as quoted.
func DefaultSettings() Settings {
	return Settings{QuoteSeconds: 60, ValidSeconds: 600, PacePercent: 100, Switch: true, ProtocolFee: "0"}
}

// Bounds of the settings.
const (
	maxSeconds = 10 * 365 * 24 * 3600
	maxRepeat  = 10_000_000
	maxDelayMS = 600_000
	allBips    = 10_000
)

// Settings are the present ones.
func (s *Server) Settings() Settings {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.settings.clone()
}

func (c Settings) clone() Settings {
	c.DelayMS, c.Errors, c.Outcomes = maps.Clone(c.DelayMS), slices.Clone(c.Errors), slices.Clone(c.Outcomes)
	return c
}

// Set changes the settings, of orders to come.
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
