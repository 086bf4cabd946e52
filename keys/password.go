package keys

import (
	"bytes"
	_ "embed"
	"fmt"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

const (
	minPassword = 10   // characters
	maxPassword = 1024 // bytes
	minBits     = 35   // minimum estimated strength: log2 of the guesses an attacker needs
)

// commonText lists words that people build passwords from, most used first.
//
//go:embed common_passwords.txt
var commonText string

// guessable maps a word to the bits it adds to a password: 6 for common password words,
// 11 for a word of the mnemonic list (1 of 2048).
var guessable = sync.OnceValue(func() map[string]float64 {
	bits := map[string]float64{}
	for _, w := range words() {
		if len(w) >= 4 {
			bits[w] = wordBits
		}
	}
	for w := range strings.FieldsSeq(commonText) {
		bits[w] = 6
	}
	return bits
})

const longestGuess = 25 // letters in the longest word

// runs are adjacent keys of a keyboard and well-known sequences.
var runs = []string{"abcdefghijklmnopqrstuvwxyz", "01234567890", "qwertyuiop", "asdfghjkl", "zxcvbnm", "qazwsxedcrfvtgb"}

// disguises maps common substitutions back to letters.
var disguises = map[rune]rune{'0': 'o', '1': 'l', '3': 'e', '4': 'a', '5': 's', '7': 't', '@': 'a', '$': 's', '!': 'i'}

// Bits that one more character adds if it belongs to no word, run or repeat. They are low
// because passwords made up by people are far from random.
const (
	letterBits  = 3.5
	capitalBits = 4.5
	digitBits   = 3.3
	symbolBits  = 5
	otherBits   = 7 // beyond ASCII
	spaceBits   = 1
	nextBits    = 0.5 // next character of a run or repeat
)

// CheckStrength returns [ErrWeakPassword], with the reason, for a password of under 10
// characters or one that would be guessed soon.
func CheckStrength(password []byte) error {
	switch n := utf8.RuneCount(password); {
	case !utf8.Valid(password) || len(password) > maxPassword:
		return fmt.Errorf("%w: not valid text of at most %d bytes", ErrWeakPassword, maxPassword)
	case n < minPassword:
		return fmt.Errorf("%w: %d characters of at least %d", ErrWeakPassword, n, minPassword)
	case Strength(password) < minBits:
		return fmt.Errorf("%w: it would be guessed soon", ErrWeakPassword)
	}
	return nil
}

// Strength estimates how hard a password is to guess, in bits, for a strength meter;
// CheckStrength requires 35. It is a rule-of-thumb lower bound that recognizes common
// words, disguised or not, runs, repeats and character classes. It looks at the first
// 1024 bytes only.
func Strength(password []byte) float64 {
	text := bytes.Runes(password[:min(len(password), maxPassword)])
	defer clear(text)
	var bits float64
	for at := 0; at < len(text); {
		if n, b := wordAt(text[at:]); n > 0 {
			at, bits = at+n, bits+b
			continue
		}
		if at > 0 && follows(text[at-1], text[at]) {
			bits += nextBits
		} else {
			bits += characterBits(text[at])
		}
		at++
	}
	return min(bits, distinctBits(text))
}

// wordAt finds the longest guessable word at the start of text.
func wordAt(text []rune) (length int, bits float64) {
	room := make([]byte, 2*longestGuess*utf8.UTFMax) // a buffer that can be wiped, unlike a string
	defer clear(room)
	for n := min(len(text), longestGuess); n >= 4; n-- {
		typed, plain := room[:0:len(room)/2], room[len(room)/2:len(room)/2]
		var changed float64
		for _, r := range text[:n] {
			lower := unicode.ToLower(r)
			typed = utf8.AppendRune(typed, lower)
			if d, ok := disguises[r]; ok {
				lower = d
			}
			if plain = utf8.AppendRune(plain, lower); lower != r {
				changed = 1
			}
		}
		asTyped, ok := guessable()[string(typed)]
		if !ok {
			asTyped, ok = guessable()[string(plain)]
		}
		if ok {
			return n, asTyped + changed
		}
	}
	return 0, 0
}

// follows reports whether b repeats a or is next to it in one of runs.
func follows(a, b rune) bool {
	a, b = unicode.ToLower(a), unicode.ToLower(b)
	if a == b {
		return true
	}
	for _, run := range runs {
		i, k := strings.IndexRune(run, a), strings.IndexRune(run, b)
		if i >= 0 && k >= 0 && (k-i == 1 || i-k == 1) {
			return true
		}
	}
	return false
}

func characterBits(r rune) float64 {
	switch {
	case r == ' ':
		return spaceBits
	case r > unicode.MaxASCII:
		return otherBits
	case unicode.IsDigit(r):
		return digitBits
	case unicode.IsUpper(r):
		return capitalBits
	case unicode.IsLower(r):
		return letterBits
	}
	return symbolBits
}

// distinctBits is an upper bound from the number of distinct characters, whatever the
// length.
func distinctBits(text []rune) float64 {
	seen := map[rune]bool{}
	for _, r := range text {
		seen[r] = true
	}
	return float64(len(seen)) * otherBits
}
