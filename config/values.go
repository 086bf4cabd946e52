package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Percent is a number with at most two decimals, stored in hundredths: 0.5 is 50. It is a
// struct because the TOML decoder would store a whole number in an integer type as
// hundredths.
type Percent struct{ Hundredths int }

// UnmarshalText parses a number.
func (p *Percent) UnmarshalText(b []byte) error {
	whole, part, point := strings.Cut(string(b), ".")
	if !consistsOf(whole, 1, 2, digits) || len(whole) == 2 && whole[0] == '0' || point && !consistsOf(part, 1, 2, digits) {
		return fmt.Errorf("%q: want a number below 100 with at most two decimals", b)
	}
	n, err := strconv.Atoi(whole + (part + "00")[:2])
	p.Hundredths = n
	return err
}

// MarshalText formats a number.
func (p Percent) MarshalText() ([]byte, error) {
	s := fmt.Sprintf("%d.%02d", p.Hundredths/100, p.Hundredths%100)
	return []byte(strings.TrimSuffix(strings.TrimRight(s, "0"), ".")), nil
}

// Duration is a time.Duration written as text: 15m, 1h30m.
type Duration time.Duration

// UnmarshalText parses a duration.
func (d *Duration) UnmarshalText(b []byte) error {
	v, err := time.ParseDuration(string(b))
	*d = Duration(v)
	return err
}

// MarshalText writes a duration.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// Character sets of the accepted forms. Regular expressions would be compiled at every
// start of a relay.
const (
	digits  = "0123456789"
	lower   = "abcdefghijklmnopqrstuvwxyz"
	capital = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
)

// consistsOf reports whether s has minLen to maxLen characters, all of them from set.
func consistsOf(s string, minLen, maxLen int, set string) bool {
	return len(s) >= minLen && len(s) <= maxLen && strings.Trim(s, set) == ""
}

// isLanguage accepts a BCP 47 tag: a language and at most three further parts.
func isLanguage(tag string) bool {
	parts := strings.Split(tag, "-")
	return len(parts) <= 4 && consistsOf(parts[0], 2, 3, lower) &&
		!slices.ContainsFunc(parts[1:], func(part string) bool { return !consistsOf(part, 2, 8, lower+capital+digits) })
}

// isCurrency accepts an ISO 4217 code.
func isCurrency(code string) bool { return consistsOf(code, 3, 3, capital) }
