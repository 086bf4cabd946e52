package swap

import (
	"strings"
	"unicode"
)

// Printable returns at most most runes of text, with unprintable ones replaced by spaces.
func Printable(text string, most int) string {
	text = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || r == unicode.ReplacementChar {
			return ' '
		}
		return r
	}, text)
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}
