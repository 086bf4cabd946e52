package providertest

import (
	"encoding/json"
	"math/big"
	"regexp"
	"slices"
	"strings"
)

// A mutation is another value in a node's place. sameForm marks those that only
// understanding the value can tell from an honest one.
type mutation struct {
	name     string
	value    any
	remove   bool
	sameForm bool
}

// Attacker is the address that lies put in place of others.
const Attacker = "0xBadBadBadBadBadBadBadBadBadBadBadBadBad0"

var (
	decimalForm = regexp.MustCompile(`^[0-9]+$`)
	addressForm = regexp.MustCompile(`^(0x)?[0-9a-fA-F]{40}$`)
	hexForm     = regexp.MustCompile(`^0x([0-9a-fA-F]{2})*$`)
)

// mutations are all ways in which a node is lied about.
func mutations(v any) []mutation {
	out := []mutation{{name: "removed", remove: true}}
	for name, other := range map[string]any{
		"null": nil, "true": true, "a number": json.Number("7"), "a string": "lie", "an object": map[string]any{"lie": true}, "an array": []any{"lie"},
	} {
		out = append(out, mutation{name: name, value: other})
	}
	switch v := v.(type) {
	case json.Number:
		out = append(out, numbers(v.String(), func(s string) any { return json.Number(s) })...)
		out = append(out, mutation{name: "as a string", value: v.String()})
	case string:
		out = append(out, texts(v)...)
	case bool:
		out = append(out, mutation{name: "flipped", value: !v, sameForm: true})
	case nil:
		out = append(out, mutation{name: "something", value: map[string]any{"amount": "1"}, sameForm: true})
	case []any:
		out = append(out, mutation{name: "emptied", value: []any{}}, mutation{name: "doubled", value: slices.Concat(v, v)},
			mutation{name: "filled", value: append(slices.Clone(v), "lie"), sameForm: len(v) == 0})
	case map[string]any:
		more := map[string]any{"lie": "lie"}
		for k, e := range v {
			more[k] = e
		}
		out = append(out, mutation{name: "with a field more", value: more}, mutation{name: "emptied", value: map[string]any{}})
	}
	return out
}

// numbers are other numbers in the same notation.
func numbers(s string, as func(string) any) []mutation {
	var out []mutation
	add := func(name, v string) {
		if v != s {
			out = append(out, mutation{name: name + " " + v, value: as(v), sameForm: true})
		}
	}
	if n, ok := new(big.Int).SetString(s, 10); ok {
		add("one more", new(big.Int).Add(n, big.NewInt(1)).String())
		add("one less", new(big.Int).Sub(n, big.NewInt(1)).String())
		add("doubled", new(big.Int).Lsh(n, 1).String())
		add("negative", "-"+n.String())
	} else {
		add("ten times", s+"1")
		add("negative", "-"+s)
	}
	add("zero", "0")
	add("huge", "1"+strings.Repeat("0", 80))
	add("of 256 bits", new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(1)).String())
	add("fraction", "0.5")
	return out
}

// texts are other strings of the same kind.
func texts(s string) []mutation {
	same := func(name string, v any) mutation { return mutation{name: name, value: v, sameForm: true} }
	out := []mutation{{name: "emptied", value: ""}, {name: "with a space", value: " " + s}, {name: "with a mark", value: s + "\u202e"}}
	switch {
	case addressForm.MatchString(s):
		return append(out, same("the attacker", Attacker), same("the zero address", "0x"+strings.Repeat("0", 40)),
			same("the caller constant", "0x"+strings.Repeat("0", 39)+"1"), same("the router constant", "0x"+strings.Repeat("0", 39)+"2"),
			mutation{name: "lower case", value: strings.ToLower(s)}, mutation{name: "cut", value: s[:len(s)-1]})
	case decimalForm.MatchString(s):
		out = append(out, numbers(s, func(s string) any { return s })...)
		n, _ := new(big.Int).SetString(s, 10)
		return append(out, mutation{name: "as a number", value: json.Number(n.String())}, same("in hex", "0x"+n.Text(16)),
			mutation{name: "with an exponent", value: s + "e1"}, mutation{name: "with a sign", value: "+" + s}, mutation{name: "grouped", value: s + "_0"})
	case hexForm.MatchString(s):
		return append(out, same("nothing", "0x"), same("one byte more", s+"00"), same("doubled", s+s[2:]), same("one", "0x01"),
			mutation{name: "half a byte less", value: s[:max(len(s)-1, 1)]})
	}
	return append(out, same("changed", s+"x"), same("another case", strings.ToLower(s)+"y"), same("quoted", `"`+s+`<script>`))
}
