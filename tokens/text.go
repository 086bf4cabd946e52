package tokens

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// The most characters of a symbol and of a name that are shown; the bounds of
// tokenlists.org are 20 and 60.
const (
	maxSymbol = 20
	maxName   = 60
)

// Characters that leave nothing to be seen, although their class says letter
// or mark: fillers and the like.
var unseen = []*unicode.RangeTable{
	unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector, unicode.Me,
	{R16: []unicode.Range16{{Lo: 0x2800, Hi: 0x2800, Stride: 1}}}, // braille without a dot
}

// maxMarks combining marks in a row are kept: scripts need them, but a pile of
// them covers the lines above and below.
const maxMarks = 2

// Line is a name from outside, made fit for one line of a screen as names of tokens
// are; "" = nothing of it can be seen.
func Line(name string) string { return clean(name, maxName) }

// clean makes text from outside fit for one line of a screen: only what can be
// seen stays, in the order in which it is written, at most n characters of it.
// A text of nothing but what cannot be seen becomes "".
func clean(text string, n int) string {
	var b strings.Builder
	count, marks, gap := 0, 0, false
	for _, r := range text {
		if unicode.IsSpace(r) {
			gap = b.Len() > 0
			continue
		}
		if r == utf8.RuneError || !unicode.IsPrint(r) || unicode.IsOneOf(unseen, r) {
			continue
		}
		if marks++; !unicode.Is(unicode.M, r) {
			marks = 0
		}
		if marks > maxMarks || marks > 0 && (b.Len() == 0 || gap) { // a mark on nothing
			continue
		}
		if gap {
			count++
		}
		if count++; count > n {
			return cutAt(b.String(), n)
		}
		if gap {
			b.WriteByte(' ')
			gap = false
		}
		b.WriteRune(r)
	}
	return b.String()
}

// cutAt ends a text with an ellipsis as its nth character.
func cutAt(text string, n int) string {
	runes := []rune(text)
	return strings.TrimRightFunc(string(runes[:min(len(runes), n-1)]), unicode.IsSpace) + "…"
}
