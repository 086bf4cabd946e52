package secretscan

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf16"
)

// A needle is one form of one secret, or half of it.
type needle struct {
	secret, form string
	bytes        []byte
}

func (n needle) at(b []byte) bool { return bytes.HasPrefix(b, n.bytes) }

// encodings lists the common ways to write bytes down. Each gives one or more spellings. Halves
// of a spelling are searched for too, because messages truncate text.
var encodings = []struct {
	name  string
	spell func(value []byte) []string
}{
	{"it is", func(v []byte) []string { return []string{string(v)} }},
	{"hex", func(v []byte) []string { return []string{hex.EncodeToString(v)} }},
	{"hex in capitals", func(v []byte) []string { return []string{strings.ToUpper(hex.EncodeToString(v))} }},
	{"base64", func(v []byte) []string { return inBase64(base64.RawStdEncoding, v) }},
	{"base64 for addresses", func(v []byte) []string { return inBase64(base64.RawURLEncoding, v) }},
	{"text in JSON", func(v []byte) []string { return []string{inJSON(v)} }},
	{"a Go string", func(v []byte) []string { return []string{inner(strconv.Quote(string(v)))} }},
	{"a part of an address", func(v []byte) []string { return []string{url.QueryEscape(string(v)), url.PathEscape(string(v))} }},
	{"numbers", func(v []byte) []string { return []string{inNumbers(v, " "), inNumbers(v, ","), inNumbers(v, ", ")} }},
	{"UTF-16", func(v []byte) []string { return []string{inUTF16(v)} }},
	{"its bytes from the last to the first", func(v []byte) []string { return []string{string(reversed(v))} }},
}

// onlyKind names the forms that make sense for just one kind of secret.
var onlyKind = map[string]kind{"UTF-16": text, "its bytes from the last to the first": key}

func needlesOf(s Secret) (all []needle) {
	known := map[string]bool{}
	for _, f := range encodings {
		if kind, special := onlyKind[f.name]; special && (kind == key) != (s.kind == key) {
			continue
		}
		for _, spelling := range f.spell(s.value) {
			for _, part := range halves(spelling) {
				if len(part) >= minSecretBytes && !known[part] {
					known[part] = true
					all = append(all, needle{s.name, f.name, []byte(part)})
				}
			}
		}
	}
	return all
}

// minHalfBytes is how many bytes a half must have to be searched for on its own.
const minHalfBytes = 12

// halves returns both halves of a spelling, or the whole of a short one.
func halves(spelling string) []string {
	half := len(spelling) / 2
	if half < minHalfBytes {
		return []string{spelling}
	}
	return []string{spelling[:half], spelling[half:]}
}

// inBase64 returns, for each of the three possible alignments, the part of a value's
// encoding that does not depend on the bytes before and after it.
func inBase64(e *base64.Encoding, v []byte) (all []string) {
	for before := range 3 {
		whole := e.EncodeToString(append(make([]byte, before), v...))
		first, last := (before*8+5)/6, (before+len(v))*8/6
		all = append(all, whole[first:last])
	}
	return all
}

func inJSON(v []byte) string {
	b, err := json.Marshal(string(v))
	if err != nil { // cannot happen for a string
		return string(v)
	}
	return inner(string(b))
}

func inner(quoted string) string { return quoted[1 : len(quoted)-1] }

func inNumbers(v []byte, between string) string {
	all := make([]string, len(v))
	for i, b := range v {
		all[i] = strconv.Itoa(int(b))
	}
	return strings.Join(all, between)
}

// inUTF16 returns text as browsers often store it.
func inUTF16(v []byte) string {
	var b strings.Builder
	for _, unit := range utf16.Encode([]rune(string(v))) {
		b.WriteByte(byte(unit))
		b.WriteByte(byte(unit >> 8))
	}
	return b.String()
}

func reversed(v []byte) []byte {
	out := make([]byte, len(v))
	for i, b := range v {
		out[len(v)-1-i] = b
	}
	return out
}
