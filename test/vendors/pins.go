//go:build vendors

package vendors

import (
	"sync"
	"testing"
)

// Pins holds everything that the packages know by name, in lower case.
type Pins struct {
	Addresses map[uint64]map[string]string // by chain and name
	Tokens    map[string]Token             // by "chain:address"
	Hashes    map[string]string            // signatures by selector or topic
}

// A Token is a token list's entry.
type Token struct {
	Symbol   string
	Decimals uint8
	Aave     bool // from the Aave address book, whose symbols are its own names
}

var known struct {
	sync.Once
	Pins
}

// Known returns what the packages know. It asks them once in a process.
func Known(t *testing.T) Pins {
	t.Helper()
	known.Do(func() { RunScript(t, "pins.cjs", nil, &known.Pins) })
	if len(known.Addresses) == 0 || len(known.Tokens) == 0 || len(known.Hashes) == 0 {
		t.Fatal("the packages know nothing")
	}
	return known.Pins
}
