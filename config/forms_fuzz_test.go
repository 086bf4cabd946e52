package config

import (
	"regexp"
	"testing"
)

// patterns are the accepted forms as regular expressions.
var patterns = map[string]struct {
	form  *regexp.Regexp
	knows func(string) bool
}{
	"language": {regexp.MustCompile(`^[a-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}$`), isLanguage},
	"currency": {regexp.MustCompile(`^[A-Z]{3}$`), isCurrency},
	"percent": {regexp.MustCompile(`^(0|[1-9][0-9]?)(\.[0-9]{1,2})?$`), func(s string) bool {
		return new(Percent).UnmarshalText([]byte(s)) == nil
	}},
}

// FuzzForms: the hand-written checks accept exactly what the patterns match.
func FuzzForms(f *testing.F) {
	for _, s := range []string{
		"en", "pt-BR", "zh-Hant-TW-x1", "a-b-c-d-e", "en-", "-", "EN", "enxx", "sl-rozaj-biske-1994", "en-a", "en-abcdefghi",
		"USD", "usd", "US", "USDT", "ÄÖÜ", "", "0", "00", "01", "9", "99", "100", "0.5", "0.05", "0.005", "1.", ".5", "1.5.5", "-1", "5\n", "１",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for name, p := range patterns {
			if got, want := p.knows(s), p.form.MatchString(s); got != want {
				t.Errorf("%s: %q is known: %v, matches: %v", name, s, got, want)
			}
		}
	})
}
