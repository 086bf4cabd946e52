package pricesim

import (
	"encoding/json"
	"math"
	"strconv"
	"time"
)

// historyDepth is how far back the services know prices.
const historyDepth = 3 * 365 * 24 * time.Hour

// A quote is a price as a service reports it.
type quote struct {
	dollars    float64
	at         time.Time
	say        string // replaces the price; "" = nothing
	confidence float64
}

// quote returns the price of a symbol at a time, changed as the settings say. For a
// future time it is the current price. It returns false if the service does not know the
// price.
func (s *Server) quote(symbol string, at time.Time) (quote, bool) {
	settings := s.Settings()
	now := s.now()
	if !settings.knows(symbol) || at.Before(now.Add(-historyDepth)) {
		return quote{}, false
	}
	if at.After(now) {
		at = now
	}
	bent := settings.affects(symbol)
	q := quote{at: at, confidence: DefaultSettings.Confidence}
	if bent {
		q.at, q.say, q.confidence = at.Add(-time.Duration(settings.Stale)*time.Second), settings.Say, settings.Confidence
	}
	micro, ok := s.market.At(symbol, q.at)
	if !ok {
		return quote{}, false
	}
	if bent {
		micro *= settings.Factor
	}
	q.dollars = micro / 1e6
	return q, true
}

// present returns the current price.
func (s *Server) present(symbol string) (quote, bool) { return s.quote(symbol, s.now()) }

// change returns by how many percent the price has moved over a span before a quote.
func (s *Server) change(symbol string, q quote, span time.Duration) float64 {
	before, ok := s.market.At(symbol, q.at.Add(-span))
	now, _ := s.market.At(symbol, q.at)
	if !ok || before == 0 {
		return 0
	}
	return round((now/before-1)*100, 6)
}

func round(x float64, digits int) float64 {
	scale := math.Pow10(digits)
	return math.Round(x*scale) / scale
}

// decimal formats a number as these services do, with up to ten decimals.
func decimal(x float64) string { return strconv.FormatFloat(round(x, 10), 'f', -1, 64) }

// number returns the price as a JSON number, or its replacement.
func (q quote) number() any {
	switch {
	case q.say == "":
		return json.RawMessage(decimal(q.dollars))
	case isNumber(q.say):
		return json.RawMessage(q.say)
	default:
		return q.text()
	}
}

// text returns the price as a JSON string, or its replacement.
func (q quote) text() any {
	switch q.say {
	case "":
		return decimal(q.dollars)
	case "null":
		return nil
	default:
		return q.say
	}
}

func isNumber(text string) bool {
	return (text[0] == '-' || (text[0] >= '0' && text[0] <= '9')) && json.Valid([]byte(text))
}
