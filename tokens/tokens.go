// Package tokens knows what a token is: its identity (chain and address), how
// many decimals it has, and whether a list we trust names it.
package tokens

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/ethereum/go-ethereum/common"
)

// A Token is one asset on one chain. The zero address is the chain's own coin.
type Token struct {
	Chain    uint64         `json:"chainId"`
	Address  common.Address `json:"address"`
	Symbol   string         `json:"symbol"`
	Name     string         `json:"name"`
	Decimals uint8          `json:"decimals"`
	Verified bool           `json:"verified"` // named by the built-in list
}

//go:embed seed.json
var seed []byte

// A List is a set of tokens without duplicates, in the order of its source.
type List struct {
	tokens []Token
	byID   map[id]int
}

type id struct {
	chain   uint64
	address common.Address
}

// Builtin is the list that is compiled in.
func Builtin() *List {
	l, err := parse(seed)
	if err != nil {
		panic(err) // the seed is our own, and tested
	}
	return l
}

// parse reads a list and refuses what could not be told apart or displayed.
func parse(b []byte) (*List, error) {
	var rows []Token
	if err := json.Unmarshal(b, &rows); err != nil {
		return nil, fmt.Errorf("token list: %w", err)
	}
	l := &List{byID: map[id]int{}}
	for _, t := range rows {
		key := id{t.Chain, t.Address}
		_, twice := l.byID[key]
		switch {
		case twice:
			return nil, fmt.Errorf("token list: %s on chain %d stands twice", t.Address, t.Chain)
		case t.Chain == 0 || t.Symbol == "" || t.Name == "" || len(t.Symbol) > 32 || len(t.Name) > 128 || t.Decimals > 36:
			return nil, fmt.Errorf("token list: %s on chain %d is incomplete", t.Address, t.Chain)
		}
		t.Verified = true
		l.byID[key] = len(l.tokens)
		l.tokens = append(l.tokens, t)
	}
	return l, nil
}

// Lookup finds a token by identity.
func (l *List) Lookup(chain uint64, address common.Address) (Token, bool) {
	i, ok := l.byID[id{chain, address}]
	if !ok {
		return Token{}, false
	}
	return l.tokens[i], true
}

// On lists a chain's tokens whose symbol, name or address holds the query,
// without regard to case; an empty query is every token.
func (l *List) On(chain uint64, query string) []Token {
	q := strings.ToLower(query)
	out := slices.Clone(l.tokens)
	return slices.DeleteFunc(out, func(t Token) bool {
		text := strings.ToLower(t.Symbol + "\x00" + t.Name + "\x00" + t.Address.Hex())
		return t.Chain != chain || !strings.Contains(text, q)
	})
}
