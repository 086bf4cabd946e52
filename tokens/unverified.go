package tokens

import "github.com/ethereum/go-ethereum/common"

// Unverified returns a token as an outside service describes it, cleaned for display, with
// list as its list; ok is false if it cannot be shown. It is not verified: it is for
// people to choose from, and identified by its address alone.
func Unverified(chain uint64, address common.Address, symbol, name string, decimals uint64, list string) (t Token, ok bool) {
	t = Token{Chain: chain, Address: address, Symbol: clean(symbol, maxSymbol), Name: clean(name, maxName), List: list}
	if t.Symbol == "" || t.Name == "" || decimals > MaxDecimals || address == nativePlaceholder {
		return Token{}, false
	}
	t.Decimals = uint8(decimals)
	return t, true
}
