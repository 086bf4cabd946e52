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

// Clip truncates text to width, with an ellipsis where something was cut off.
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

// Wrap breaks text between words. A word longer than the width gets its own line.
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

// JSON replaces characters that could control a terminal by their JSON escapes, which
// leaves the value unchanged. encoding/json escapes only the first 32 characters.
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

// Printable drops characters that could control a terminal or change the direction of
// text, for use on text from others.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, text)
}
