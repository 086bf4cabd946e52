// Package tokens knows what a token is: its identity (chain and address), its decimals,
// the list that names it, and its name on a screen.
//
// Known tokens come from three sources, the earlier taking precedence: the built-in list;
// lists that the user configured, in the format of tokenlists.org; and single tokens
// imported by address. The tokens of the built-in list are recognized; the part of it that
// was chosen by hand is verified too. A chain's native coin is a token of that part at the
// zero address, and comes from no other source.
package tokens

import (
	"bytes"

	"github.com/ethereum/go-ethereum/common"
)

// Native is the address that stands for a chain's native coin.
var Native = common.Address{}

// nativePlaceholder is another address that stands for a chain's native coin, used by many
// services. No contract is there.
var nativePlaceholder = common.HexToAddress("0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE")

// MaxDecimals is the most decimals that a token may have.
const MaxDecimals = 36

// DecimalsSource says who told a token's decimals, which determine what an amount of it looks like.
type DecimalsSource uint8

// The sources of decimals, least trusted first. The zero value is a list.
const (
	FromList    DecimalsSource = iota // a list of the user's, or a provider
	FromOneHost                       // its contract, according to one host
	FromHosts                         // its contract, according to two hosts that agree
	FromBuiltin                       // the built-in list: chosen by hand, or the same on two published lists
)

// Confirmed reports whether no single outside party can have made the decimals up.
func (t DecimalsSource) Confirmed() bool { return t >= FromHosts }

func sourceOfHosts(n int) DecimalsSource {
	if n > 1 {
		return FromHosts
	}
	return FromOneHost
}

// A Token is one asset on one chain. Symbol and Name are cleaned for display.
type Token struct {
	Chain        uint64
	Address      common.Address
	Symbol       string
	Name         string
	Decimals     uint8
	DecimalsFrom DecimalsSource
	// Recognized: on the built-in list, so that it is what its symbol says.
	Recognized bool
	// Verified: on the part of the built-in list chosen by hand, whose market prices are good
	// enough to show values by.
	Verified bool
	// Par is what the currency of a stable coin of the built-in list is at most worth, in
	// millionths of a US dollar; 0 = no such coin.
	Par      uint64
	List     string // name of the list it is on; "" = on none
	Mark     string // name of the drawing that ships with the extension; "" = none
	Imported bool   // imported by its address; may be removed
}

// An id is a token's identity: the same address means nothing on another chain.
type id struct {
	chain   uint64
	address common.Address
}

func (t Token) id() id { return id{t.Chain, t.Address} }

// compare orders identities by chain, then by address.
func (a id) compare(b id) int {
	switch {
	case a.chain < b.chain:
		return -1
	case a.chain > b.chain:
		return 1
	}
	return bytes.Compare(a.address[:], b.address[:])
}
