package screen

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

func pad(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(text)))
}

// Clip cuts text off, with a mark where something is missing.
func Clip(text string, width int) string {
	r := []rune(text)
	switch {
	case len(r) <= width:
		return text
	case width < 2:
		return string(r[:max(width, 0)])
	}
	return string(r[:width-1]) + "…"
}

// Wrap breaks text between words. A word longer than the width stands alone.
func Wrap(text string, width int) (lines []string) {
	l := ""
	for _, word := range strings.Fields(text) {
		switch {
		case l == "":
			l = word
		case utf8.RuneCountInString(l)+1+utf8.RuneCountInString(word) <= width:
			l += " " + word
		default:
			lines, l = append(lines, l), word
		}
	}
	return append(lines, l)
}

// JSON writes what could steer a terminal as the escapes that JSON has for it, so
// that the value stays the same. encoding/json leaves all but the first 32
// characters as they are.
func JSON(text []byte) []byte {
	odd := func(r rune) bool { return r > ' ' && !unicode.IsPrint(r) }
	if !bytes.ContainsFunc(text, odd) {
		return text
	}
	out := make([]byte, 0, 2*len(text))
	for _, r := range string(text) {
		if !odd(r) {
			out = utf8.AppendRune(out, r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			out = fmt.Appendf(out, `\u%04x`, unit)
		}
	}
	return out
}

// Printable drops what could steer a terminal, or turn the order of letters,
// from words of others.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, text)
}
