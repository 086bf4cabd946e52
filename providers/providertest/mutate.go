package providertest

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// A mutation is another value in a node's place. With sameForm only the value's meaning
// distinguishes it from an honest one. With idle it means the same: the value in another
// notation, or an unknown field next to the known ones.
type mutation struct {
	kind        string
	value       any
	remove      bool
	sameForm    bool
	sameMeaning bool
}

func (m mutation) String() string {
	if shown := fmt.Sprintf("%.80v", m.value); m.sameForm {
		return m.kind + " (" + shown + ")"
	}
	return m.kind
}

// Attacker is the address that lies put in place of others.
const Attacker = "0xBadBadBadBadBadBadBadBadBadBadBadBadBad0"

var (
	decimalForm = regexp.MustCompile(`^[0-9]+$`)
	addressForm = regexp.MustCompile(`^(0x)?[0-9a-fA-F]{40}$`)
	hexForm     = regexp.MustCompile(`^0x([0-9a-fA-F]{2})*$`)
)

// mutations are all the lies about a node's value.
func mutations(v any) []mutation {
	out := []mutation{{kind: "removed", remove: true}}
	for _, m := range slices.Concat([]mutation{
		{kind: "null"}, {kind: "true", value: true}, {kind: "a number", value: json.Number("7")}, {kind: "a string", value: "lie"},
		{kind: "an object", value: map[string]any{"lie": true}}, {kind: "an array", value: []any{"lie"}},
	}, ofForm(v)) {
		if !reflect.DeepEqual(m.value, v) {
			out = append(out, m)
		}
	}
	return out
}

// ofForm are the mutations that depend on the value.
func ofForm(v any) []mutation {
	switch v := v.(type) {
	case json.Number:
		return append(numbers(v.String(), func(s string) any { return json.Number(s) }), mutation{kind: "as a string", value: v.String(), sameMeaning: true})
	case string:
		return texts(v)
	case bool:
		return []mutation{{kind: "flipped", value: !v, sameForm: true}}
	case nil:
		return []mutation{{kind: "something", value: map[string]any{"amount": "1"}, sameForm: true}}
	case []any:
		return []mutation{
			{kind: "emptied", value: []any{}}, {kind: "doubled", value: append(append([]any{}, v...), v...)}, {kind: "filled", value: append(slices.Clone(v), "lie"), sameForm: len(v) == 0},
		}
	case map[string]any:
		return append(ofNames(v), mutation{kind: "emptied", value: map[string]any{}})
	}
	return nil
}

// Kinds of lie about the names of an object's members.
const (
	oneMore   = "with a field more"
	nameTwice = "with a name twice"
	caseTwice = "with a name in another case beside it"
)

// ofNames are the mutations of an object's names. Doubled names have equal values: the
// duplication itself is the lie.
func ofNames(v map[string]any) []mutation {
	more := maps.Clone(v)
	more["lie"] = "lie"
	out := []mutation{{kind: oneMore, value: more, sameMeaning: true}}
	names := slices.Sorted(maps.Keys(v))
	if len(names) == 0 {
		return out
	}
	out = append(out, mutation{kind: nameTwice, value: withCopy(v, names[0], names[0])})
	for _, name := range names {
		if other := strings.ToUpper(name); other != name {
			return append(out, mutation{kind: caseTwice, value: withCopy(v, other, name)})
		}
	}
	return out
}

// withCopy adds a member's value to the object under another name.
func withCopy(v map[string]any, name, of string) json.RawMessage {
	rest, errRest := json.Marshal(v)
	first, errFirst := json.Marshal(map[string]any{name: v[of]})
	if errRest != nil || errFirst != nil {
		panic("it came from JSON")
	}
	return slices.Concat(first[:len(first)-1], []byte(","), rest[1:])
}

// numbers are other numbers in the same notation.
func numbers(s string, as func(string) any) []mutation {
	var out []mutation
	add := func(kind, v string) {
		if v != s && v != "-0" {
			out = append(out, mutation{kind: kind, value: as(v), sameForm: true})
		}
	}
	if n, ok := new(big.Int).SetString(s, 10); ok {
		add("one more", new(big.Int).Add(n, big.NewInt(1)).String())
		add("one less", new(big.Int).Sub(n, big.NewInt(1)).String())
		add("doubled", new(big.Int).Lsh(n, 1).String())
	} else {
		add("a little more", s+"1")
	}
	add("negative", "-"+strings.TrimPrefix(s, "-"))
	add("zero", "0")
	add("huge", "1"+strings.Repeat("0", 80))
	add("of 256 bits", new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(1)).String())
	add("fraction", "0.5")
	return out
}

// texts are other strings of the same kind.
func texts(s string) []mutation {
	same := func(kind string, v any) mutation { return mutation{kind: kind, value: v, sameForm: true} }
	out := []mutation{{kind: "emptied", value: ""}, {kind: "with a space", value: " " + s}, {kind: "with a mark", value: s + "\u202e"}}
	switch {
	case addressForm.MatchString(s):
		return append(append(out, addresses(s)...), mutation{kind: "lower case", value: strings.ToLower(s), sameMeaning: true}, mutation{kind: "cut", value: s[:len(s)-1]})
	case decimalForm.MatchString(s):
		out = append(out, numbers(s, func(s string) any { return s })...)
		n, _ := new(big.Int).SetString(s, 10)
		return append(out, mutation{kind: "as a number", value: json.Number(n.String()), sameMeaning: true}, mutation{kind: "in hex", value: "0x" + n.Text(16), sameForm: true, sameMeaning: true},
			mutation{kind: "with a sign", value: "+" + s, sameMeaning: true}, mutation{kind: "with an exponent", value: s + "e1"}, mutation{kind: "grouped", value: s + "_0"})
	case hexForm.MatchString(s):
		return append(out, same("nothing", "0x"), same("one byte more", s+"00"), same("doubled", s+s[2:]), same("one", "0x01"),
			mutation{kind: "half a byte less", value: s[:max(len(s)-1, 1)]})
	}
	return append(out, same("changed", s+"x"), same("another case", strings.ToLower(s)+"y"), same("quoted", `"`+s+`<script>`))
}

// addresses are addresses other than s.
func addresses(s string) (out []mutation) {
	for kind, v := range map[string]string{
		"the attacker": Attacker, "the zero address": "0x" + strings.Repeat("0", 40),
		"the caller constant": "0x" + strings.Repeat("0", 39) + "1", "the router constant": "0x" + strings.Repeat("0", 39) + "2",
	} {
		if !strings.EqualFold(v, s) {
			out = append(out, mutation{kind: kind, value: v, sameForm: true})
		}
	}
	return out
}
