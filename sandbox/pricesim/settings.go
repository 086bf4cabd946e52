package pricesim

import (
	"errors"
	"fmt"
	"slices"

	"swapkeep/sandbox/market"
)

// Settings can be changed while a simulator runs.
type Settings struct {
	// APIKey is the key that CoinGecko requires; "" = none.
	APIKey string `json:"apiKey"`
	// RateLimit is the allowed requests per minute; 0 = no limit.
	RateLimit int `json:"rateLimit"`
	// Only are the known symbols; empty = all. Unknown are symbols that are not known.
	Only    []string `json:"only"`
	Unknown []string `json:"unknown"`

	// About are the symbols that the members below apply to; empty = all.
	About []string `json:"about"`
	// Factor multiplies prices.
	Factor float64 `json:"factor"`
	// Stale is the age of prices, in seconds.
	Stale int64 `json:"stale"`
	// Price replaces every price. It is sent as a number if the API has a number there and
	// the text is one; "" = the true price.
	Price string `json:"say"`
	// Confidence is DefiLlama's confidence in its prices.
	Confidence float64 `json:"confidence"`
	// Legacy makes Blockscout answer with the members of older instances.
	Legacy bool `json:"legacy"`
}

// DefaultSettings report true prices and require no key.
var DefaultSettings = Settings{Factor: 1, Confidence: 0.99}

// Limits of settings.
const (
	maxFactor    = 1e12
	maxStale     = 10 * 365 * 24 * 3600
	maxPriceText = 200
	maxList      = 1000
)

func (k kind) check(s Settings) error {
	for _, b := range []struct {
		bad bool
		why string
	}{
		{s.RateLimit < 0, "rateLimit: want 0 or more"},
		{!(s.Factor >= -maxFactor && s.Factor <= maxFactor), "factor: want a number up to 1e12"},
		{s.Stale < 0 || s.Stale > maxStale, "stale: want 0 seconds to ten years"},
		{!(s.Confidence >= 0 && s.Confidence <= 1), "confidence: want 0 to 1"},
		{len(s.Price) > maxPriceText, "say: too long"},
		{s.APIKey != "" && !k.hasKey, "apiKey: this service demands none"},
		{s.Confidence != DefaultSettings.Confidence && !k.hasConfidence, "confidence: this service tells none"},
		{s.Legacy && !k.hasLegacy, "legacy: this service has one form only"},
	} {
		if b.bad {
			return errors.New(b.why)
		}
	}
	for name, list := range map[string][]string{"only": s.Only, "unknown": s.Unknown, "about": s.About} {
		if len(list) > maxList {
			return fmt.Errorf("%s: too many", name)
		}
		for _, symbol := range list {
			if _, ok := market.BySymbol(symbol); !ok {
				return fmt.Errorf("%s: no asset %q; GET /market lists them", name, symbol)
			}
		}
	}
	return nil
}

// clone returns a copy that shares no memory with s.
func (s Settings) clone() Settings {
	s.Only, s.Unknown, s.About = slices.Clone(s.Only), slices.Clone(s.Unknown), slices.Clone(s.About)
	return s
}

// knows reports whether the service knows a symbol.
func (s Settings) knows(symbol string) bool {
	return !slices.Contains(s.Unknown, symbol) && (len(s.Only) == 0 || slices.Contains(s.Only, symbol))
}

// affects reports whether the settings change the prices of a symbol.
func (s Settings) affects(symbol string) bool {
	return len(s.About) == 0 || slices.Contains(s.About, symbol)
}
