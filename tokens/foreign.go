package tokens

import "github.com/ethereum/go-ethereum/common"

// Foreign is a token as an outside service describes it, made fit for a screen, and
// said to be on that list; ok is false for what cannot be shown as one. Nobody here
// vouches for it: it is for people to choose from, and known by its address alone.
func Foreign(chain uint64, address common.Address, symbol, name string, decimals uint64, list string) (t Token, ok bool) {
	t = Token{Chain: chain, Address: address, Symbol: clean(symbol, maxSymbol), Name: clean(name, maxName), List: list}
	if t.Symbol == "" || t.Name == "" || decimals > MaxDecimals || address == placeholder {
		return Token{}, false
	}
	t.Decimals = uint8(decimals)
	return t, true
}
