package pricesim

import (
	"errors"
	"fmt"
	"slices"

	"swapkeep/sandbox/market"
)

// Settings are what a test or a demonstration may change while a simulator runs.
type Settings struct {
	// APIKey is the key that CoinGecko demands; "" = none.
	APIKey string `json:"apiKey"`
	// RateLimit is the requests a minute that are answered; 0 = no limit.
	RateLimit int `json:"rateLimit"`
	// Only are the symbols that are known, none = all; Unknown are some that are
	// not.
	Only    []string `json:"only"`
	Unknown []string `json:"unknown"`

	// About are the symbols that the rest is about; none = all.
	About []string `json:"about"`
	// Factor multiplies prices.
	Factor float64 `json:"factor"`
	// Stale is how old prices are, in seconds.
	Stale int64 `json:"stale"`
	// Say stands in place of every price, as a number where the API has numbers and
	// the text is one; "" is the truth.
	Say string `json:"say"`
	// Confidence is DefiLlama's in its prices.
	Confidence float64 `json:"confidence"`
	// Legacy has Blockscout answer with the members of older instances.
	Legacy bool `json:"legacy"`
}

// DefaultSettings tell the truth to anybody.
var DefaultSettings = Settings{Factor: 1, Confidence: 0.99}

// Bounds of settings.
const (
	maxFactor = 1e12
	maxStale  = 10 * 365 * 24 * 3600
	maxSay    = 200
	maxList   = 1000
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
		{len(s.Say) > maxSay, "say: too long"},
		{s.APIKey != "" && !k.keyed, "apiKey: this service demands none"},
		{s.Confidence != DefaultSettings.Confidence && !k.confident, "confidence: this service tells none"},
		{s.Legacy && !k.aged, "legacy: this service has one form only"},
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

// clone shares nothing with s.
func (s Settings) clone() Settings {
	s.Only, s.Unknown, s.About = slices.Clone(s.Only), slices.Clone(s.Unknown), slices.Clone(s.About)
	return s
}

// knows reports whether a symbol is known at all.
func (s Settings) knows(symbol string) bool {
	return !slices.Contains(s.Unknown, symbol) && (len(s.Only) == 0 || slices.Contains(s.Only, symbol))
}

// concerns reports whether prices of a symbol are as the settings have them.
func (s Settings) concerns(symbol string) bool {
	return len(s.About) == 0 || slices.Contains(s.About, symbol)
}
