package tokens

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxSymbol and maxName are the most characters of a symbol and of a name that are shown:
// the limits of tokenlists.org.
const (
	maxSymbol = 20
	maxName   = 60
)

// unseen are characters that show nothing although their class says letter or mark, such
// as fillers.
var unseen = []*unicode.RangeTable{
	unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector, unicode.Me,
	{R16: []unicode.Range16{{Lo: 0x2800, Hi: 0x2800, Stride: 1}}}, // braille without a dot
}

// maxMarks is how many combining marks in a row are kept: scripts need them, but a pile
// of them covers the lines above and below.
const maxMarks = 2

// CleanName cleans a name from outside for one line of a screen, as names of tokens are; "" if
// nothing of it is visible.
func CleanName(name string) string { return clean(name, maxName) }

// clean makes text from outside fit for one line of a screen: it keeps only visible
// characters, in the order in which they are written, and at most n of them. Text without
// any becomes "".
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
		if marks > maxMarks || marks > 0 && (b.Len() == 0 || gap) { // a mark too many, or one without a character to be on
			continue
		}
		if gap {
			count++
		}
		if count++; count > n {
			return truncate(b.String(), n)
		}
		if gap {
			b.WriteByte(' ')
			gap = false
		}
		b.WriteRune(r)
	}
	return b.String()
}

// truncate shortens a text to n characters, ending in an ellipsis.
func truncate(text string, n int) string {
	runes := []rune(text)
	return strings.TrimRightFunc(string(runes[:min(len(runes), n-1)]), unicode.IsSpace) + "…"
}
