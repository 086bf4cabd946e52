// Package messages holds the English words for the codes of an order's state, its causes and
// its proofs, and the brands of the providers, so that the terminal says what the popup says.
package messages

import (
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
)

//go:embed en/states.json en/order.json en/errors.json
var files embed.FS

var texts = parse()

func parse() map[string]string {
	all := map[string]string{}
	for _, name := range []string{"en/states.json", "en/order.json", "en/errors.json"} {
		raw, err := files.ReadFile(name)
		if err != nil {
			panic(err)
		}
		var words map[string]string
		if err := json.Unmarshal(raw, &words); err != nil {
			panic(fmt.Sprintf("messages/%s: %v", name, err))
		}
		maps.Copy(all, words)
	}
	return all
}

// State, Condition, Source and Trusted return the words for a code of the wire's vocabularies
// OrderState, Condition, VerdictSource and Trusted; a code of a newer daemon is returned as it
// is.
func State(code string) string { return lookUp("state_", code) }

// Condition is described at [State].
func Condition(code string) string { return lookUp("condition_", code) }

// Source is described at [State].
func Source(code string) string { return lookUp("source_", code) }

// Trusted is described at [State].
func Trusted(code string) string { return lookUp("trusted_", code) }

func lookUp(prefix, code string) string {
	if w, ok := texts[prefix+code]; ok {
		return w
	}
	return code
}

// ProvenBy returns the words for a code of the wire's vocabulary ProvenBy. An order that its
// user did not cancel was withdrawn by the wallet. ok is false for a newer daemon's code.
func ProvenBy(code string, cancelled bool, provider string) (words string, ok bool) {
	if code == "withdrawn" && !cancelled {
		code = "refused"
	}
	return Text("order_by_"+code, Brand(provider))
}

var placeholder = regexp.MustCompile(`\$[$1-9]`)

// Text returns a message with $1 to $9 replaced by the values. ok is false if there is no such
// message.
func Text(key string, values ...string) (text string, ok bool) {
	text, ok = texts[key]
	return placeholder.ReplaceAllStringFunc(text, func(p string) string {
		switch n := int(p[1] - '0'); {
		case p == "$$":
			return "$"
		case n <= len(values):
			return values[n-1]
		}
		return ""
	}), ok
}
