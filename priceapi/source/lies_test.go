package source

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode"

	"swapkeep/priceapi/price"
)

// lies replace each leaf of each recorded reply. "removed" deletes the leaf.
var lies = map[string]any{
	"removed": nil, "null": nil, "true": true, "false": false, "number": json.Number("7"), "zero": json.Number("0"), "negative": json.Number("-5"),
	"huge": json.Number("1e300"), "tiny": json.Number("1e-300"), "far": json.Number("99999999999999999999"), "fraction": json.Number("0.5"),
	"text": "lie", "empty": "", "not a number": "NaN", "infinite": "Infinity", "negative text": "-5", "hex": "0x7", "grouped": "3,050.12", "spaced": " 7",
	"long": strings.Repeat("9", 5000), "control": "\x00\x1b[31m\u202e", "address": "0xBadBadBadBadBadBadBadBadBadBadBadBadBad0",
	"object": map[string]any{"usd": "7"}, "array": []any{json.Number("7")},
}

// TestLies checks that a wrong leaf affects only the token of its row, or the reply is
// rejected as a whole, and that returned values are prices.
func TestLies(t *testing.T) {
	for _, s := range subjects {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			at := newStage(t)
			x := s.opened(t, at, quick())
			at.play(t, s.replies, nil)
			honest := all(t.Context(), x, s.asks())
			tried, read := 0, 0
			for _, r := range s.replies {
				var doc any
				decode(t, recording(t, r.file), &doc)
				for _, leaf := range leavesOf(doc, nil) {
					lie := func(name string) (changed bool) {
						at.play(t, s.replies, map[string][]byte{r.file: encode(t, replace(doc, leaf, name == "removed", lies[name]))})
						got := all(t.Context(), x, s.asks())
						for _, wrong := range compare(honest, got) {
							t.Errorf("%s: %v is %s: %s", r.file, leaf, name, wrong)
						}
						tried++
						return len(got.errs) > 0 || !maps.Equal(got.texts, honest.texts)
					}
					if !lie("object") && !lie("removed") {
						continue // the leaf is not read
					}
					read++
					for name := range lies {
						lie(name)
					}
				}
			}
			if read == 0 {
				t.Error("no leaf is read")
			}
			t.Logf("%d lies; %d leaves are read", tried, read)
		})
	}
}

// compare lists unacceptable effects of a lie in one row.
func compare(honest, got outcome) (wrong []string) {
	changed := make(map[string]map[string]bool) // by method, lines of rows that appeared or disappeared
	note := func(key, line string) {
		method, _, _ := strings.Cut(key, " ")
		if changed[method] == nil {
			changed[method] = make(map[string]bool)
		}
		changed[method][line] = true
	}
	for key, line := range got.texts {
		_, whose, _ := strings.Cut(key, " ")
		if !requestedKeys[whose] || strings.Contains(line, bad) {
			wrong = append(wrong, key+": "+line)
		}
		if honest.texts[key] == "" {
			note(key, "new "+line)
		}
	}
	for key, line := range honest.texts {
		method, _, _ := strings.Cut(key, " ")
		if got.texts[key] != line && got.errs[method] == nil {
			note(key, line)
		}
	}
	for method, lines := range changed {
		if len(lines) > 1 {
			wrong = append(wrong, method+" changed in more than a row: "+strings.Join(slices.Collect(maps.Keys(lines)), "; "))
		}
	}
	for method, err := range got.errs {
		if text := err.Error(); len(text) > maxText || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) && r != '\n' }) {
			wrong = append(wrong, fmt.Sprintf("the error of %s: %.1000q", method, text))
		}
	}
	return wrong
}

// maxText is longer than any error, including what a service may add to it.
const maxText = 1000

var requestedKeys = func() map[string]bool {
	all := make(map[string]bool)
	for _, t := range testTokens {
		all[whose(price.IDOf(t))] = true
	}
	return all
}()

// leavesOf returns the paths to all leaves.
func leavesOf(v any, way []any) (ways [][]any) {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			ways = append(ways, leavesOf(v[k], append(slices.Clone(way), k))...)
		}
	case []any:
		for i, e := range v {
			ways = append(ways, leavesOf(e, append(slices.Clone(way), i))...)
		}
	}
	if ways == nil {
		ways = [][]any{way}
	}
	return ways
}

// replace copies the values along the path.
func replace(v any, way []any, remove bool, by any) any {
	if len(way) == 0 {
		return by
	}
	switch v := v.(type) {
	case map[string]any:
		v, k := maps.Clone(v), way[0].(string)
		if v[k] = replace(v[k], way[1:], remove, by); remove && len(way) == 1 {
			delete(v, k)
		}
		return v
	case []any:
		v, i := slices.Clone(v), way[0].(int)
		if v[i] = replace(v[i], way[1:], remove, by); remove && len(way) == 1 {
			v = slices.Delete(v, i, i+1)
		}
		return v
	}
	return v
}

func decode(t testing.TB, b []byte, to any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err := d.Decode(to); err != nil {
		t.Fatal(err)
	}
}

func encode(t testing.TB, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
