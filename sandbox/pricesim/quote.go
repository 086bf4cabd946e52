package pricesim

import (
	"encoding/json"
	"math"
	"strconv"
	"time"
)

// historyDepth is how far back the services have prices.
const historyDepth = 3 * 365 * 24 * time.Hour

// A quote is a price that a service reports.
type quote struct {
	dollars    float64
	at         time.Time
	override   string // sent instead of the price; "" = none
	confidence float64
}

// quoteAt returns the price of a symbol at a time, altered by the settings. For a future
// time it returns the current price. It returns false if the service has no price.
func (s *Server) quoteAt(symbol string, at time.Time) (quote, bool) {
	settings := s.Settings()
	now := s.now()
	if !settings.knows(symbol) || at.Before(now.Add(-historyDepth)) {
		return quote{}, false
	}
	if at.After(now) {
		at = now
	}
	altered := settings.affects(symbol)
	q := quote{at: at, confidence: DefaultSettings.Confidence}
	if altered {
		q.at, q.override, q.confidence = at.Add(-time.Duration(settings.Stale)*time.Second), settings.Price, settings.Confidence
	}
	microdollars, ok := s.market.At(symbol, q.at)
	if !ok {
		return quote{}, false
	}
	if altered {
		microdollars *= settings.Factor
	}
	q.dollars = microdollars / 1e6
	return q, true
}

// currentQuote returns the current price.
func (s *Server) currentQuote(symbol string) (quote, bool) { return s.quoteAt(symbol, s.now()) }

// change returns the change of the price, in percent, over the span that ends at a quote.
func (s *Server) change(symbol string, q quote, span time.Duration) float64 {
	start, ok := s.market.At(symbol, q.at.Add(-span))
	end, _ := s.market.At(symbol, q.at)
	if !ok || start == 0 {
		return 0
	}
	return round((end/start-1)*100, 6)
}

func round(x float64, digits int) float64 {
	scale := math.Pow10(digits)
	return math.Round(x*scale) / scale
}

// decimal formats a number with up to ten decimals and no exponent, as the services do.
func decimal(x float64) string { return strconv.FormatFloat(round(x, 10), 'f', -1, 64) }

// number returns the price as a JSON number, or the override, as a number if it is one.
func (q quote) number() any {
	switch {
	case q.override == "":
		return json.RawMessage(decimal(q.dollars))
	case isNumber(q.override):
		return json.RawMessage(q.override)
	default:
		return q.text()
	}
}

// text returns the price as a JSON string, or the override.
func (q quote) text() any {
	switch q.override {
	case "":
		return decimal(q.dollars)
	case "null":
		return nil
	default:
		return q.override
	}
}

// isNumber reports whether a text, which is not empty, is a JSON number.
func isNumber(text string) bool {
	return (text[0] == '-' || (text[0] >= '0' && text[0] <= '9')) && json.Valid([]byte(text))
}
