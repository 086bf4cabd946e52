// Package messages holds the English words for the codes of an order's state, and the brands
// of the providers, so that the terminal says what the popup says.
package messages

import (
	_ "embed"
	"encoding/json"
	"fmt"
)

//go:embed en/states.json
var statesJSON []byte

var states = parse()

func parse() (words map[string]string) {
	if err := json.Unmarshal(statesJSON, &words); err != nil {
		panic(fmt.Sprintf("messages/en/states.json: %v", err))
	}
	return words
}

// State, Condition, Source and Trusted return the words for a code of the wire's vocabularies
// OrderState, Condition, VerdictSource and Trusted; a code of a newer daemon is returned as it is.
func State(code string) string { return lookUp("state_", code) }

// Condition is described at [State].
func Condition(code string) string { return lookUp("condition_", code) }

// Source is described at [State].
func Source(code string) string { return lookUp("source_", code) }

// Trusted is described at [State].
func Trusted(code string) string { return lookUp("trusted_", code) }

func lookUp(prefix, code string) string {
	if w, ok := states[prefix+code]; ok {
		return w
	}
	return code
}
