// Package tokens knows what a token is: its identity (chain and address), how
// many decimals it has, which list names it, and what to call it on a screen.
//
// Known tokens come from three sources, the earlier ones going before the later:
// the built-in list, whose tokens alone are verified; lists that the user has
// configured, in the format of tokenlists.org; and single tokens that were
// imported by their address. The chain's own coin is a token of the built-in
// list at the zero address, and of no other source.
package tokens

import (
	"bytes"

	"github.com/ethereum/go-ethereum/common"
)

// Native is the address that stands for a chain's own coin.
var Native = common.Address{}

// placeholder is another address that stands for a chain's own coin, used by
// many services. No contract is there.
var placeholder = common.HexToAddress("0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE")

// MaxDecimals is the most decimals of a token that is taken.
const MaxDecimals = 36

// Told is who told a token's decimals, which say what an amount of it looks like.
type Told uint8

// Least trusted first: what nobody vouches for is a list's word.
const (
	ByList    Told = iota // a list of the user's, or a provider
	ByOneHost             // its contract, by the word of one host
	ByHosts               // its contract, by the word of two
	ByUs                  // the built-in list
)

// Confirmed is true of decimals that no single stranger can have made up.
func (t Told) Confirmed() bool { return t >= ByHosts }

func byHosts(n int) Told {
	if n > 1 {
		return ByHosts
	}
	return ByOneHost
}

// A Token is one asset on one chain. Symbol and Name are fit for a screen.
type Token struct {
	Chain    uint64
	Address  common.Address
	Symbol   string
	Name     string
	Decimals uint8
	Told     Told
	Verified bool   // on the built-in list
	List     string // name of the list it is on; "" = on none
	Imported bool   // imported by its address; may be removed
}

// An id is a token's identity: an address means nothing on another chain.
type id struct {
	chain   uint64
	address common.Address
}

func (t Token) id() id { return id{t.Chain, t.Address} }

// compare orders identities.
func (a id) compare(b id) int {
	switch {
	case a.chain < b.chain:
		return -1
	case a.chain > b.chain:
		return 1
	}
	return bytes.Compare(a.address[:], b.address[:])
}
