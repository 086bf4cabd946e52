package pricesim

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/ethereum/go-ethereum/common"

	"swapkeep/sandbox/market"
	"swapkeep/sandbox/network"
)

// A token is a token that the services know.
type token struct {
	Chain    uint64         `json:"chain"`
	Address  common.Address `json:"address"` // zero = the native coin
	Symbol   string         `json:"symbol"`
	Name     string         `json:"name"`
	Decimals uint8          `json:"decimals"`

	asset market.Asset
}

// tokensJSON is the wallet's built-in list.
//
//go:embed tokens.json
var tokensJSON []byte

type place struct {
	chain   uint64
	address common.Address
}

// tokens are all tokens, in a fixed order; places looks them up by address.
var tokens, places = load()

func load() (all []token, places map[place]token) {
	if err := json.Unmarshal(tokensJSON, &all); err != nil {
		panic(fmt.Sprintf("tokens.json: %v", err))
	}
	for _, n := range network.All() {
		all = append(all, token{Chain: n.ID, Symbol: n.Native, Name: n.Native, Decimals: 18})
		for _, t := range append([]network.Token{n.Wrapped}, n.Tokens...) {
			all = append(all, token{Chain: n.ID, Address: t.Address, Symbol: t.Symbol, Name: t.Name, Decimals: t.Decimals})
		}
	}
	places = map[place]token{}
	kept := all[:0]
	for _, t := range all {
		at := place{t.Chain, t.Address}
		if _, twice := places[at]; twice {
			continue // the first row wins
		}
		var ok bool
		if t.asset, ok = market.BySymbol(t.Symbol); !ok {
			panic("nobody says what " + t.Symbol + " is worth")
		}
		places[at] = t
		kept = append(kept, t)
	}
	return kept, places
}

// tokenAt looks up a token by its address, in any letter case.
func tokenAt(chain uint64, address string) (token, bool) {
	if !common.IsHexAddress(address) {
		return token{}, false
	}
	t, ok := places[place{chain, common.HexToAddress(address)}]
	return t, ok
}

// native reports whether the token is the chain's native coin.
func (t token) native() bool { return t.Address == common.Address{} }

// holders returns a number of holders. It is invented and fixed.
func (t token) holders() int64 {
	at := new(uint64)
	for _, b := range t.Address {
		*at = *at*257 + uint64(b)
	}
	return int64(1_000 + (*at^t.Chain)*0x9e3779b97f4a7c15>>32%900_000)
}

// supply returns the supply in whole tokens, such that the market capitalisation is right
// at the starting price.
func (t token) supply() int64 { return max(1, t.asset.Cap()*1_000_000/t.asset.Start()) }

// onChain lists a chain's tokens without the native coin, by descending market
// capitalisation.
func onChain(chain uint64) (all []token) {
	for _, t := range tokens {
		if t.Chain == chain && !t.native() {
			all = append(all, t)
		}
	}
	slices.SortStableFunc(all, func(a, b token) int { return int(min(max(b.asset.Cap()-a.asset.Cap(), -1), 1)) })
	return all
}
