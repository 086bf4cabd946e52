//go:build vendors

package vendors

import (
	"sync"
	"testing"
)

// Pins is all that the packages know by name, in lower case.
type Pins struct {
	Addresses map[uint64]map[string]string // by chain and name
	Tokens    map[string]Token             // by "chain:address"
	Hashes    map[string]string            // signatures by selector or topic
}

// A Token is what a list says of it.
type Token struct {
	Symbol   string
	Decimals uint8
	Aave     bool // by its address book, whose symbols are its own names
}

var known struct {
	sync.Once
	Pins
}

// Known asks the packages once in a process.
func Known(t *testing.T) Pins {
	t.Helper()
	known.Do(func() { Ask(t, "pins.cjs", nil, &known.Pins) })
	if len(known.Addresses) == 0 || len(known.Tokens) == 0 || len(known.Hashes) == 0 {
		t.Fatal("the packages know nothing")
	}
	return known.Pins
}
