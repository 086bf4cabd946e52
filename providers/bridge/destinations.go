package bridge

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"swapkeep/providers/wire"
	"swapkeep/rest"
	"swapkeep/swap"
	"swapkeep/tokens"

	"github.com/ethereum/go-ethereum/common"
)

// maxTokens is how many tokens of a chain are kept; the featured ones come first.
const maxTokens = 500

// A chainDisplay is what an element of GET /chains has for display.
type chainDisplay struct {
	Name         string            `json:"name"`
	DisplayName  string            `json:"displayName"`
	Explorer     string            `json:"explorerUrl"`
	TokenSupport string            `json:"tokenSupport"`
	Currency     json.RawMessage   `json:"currency"`
	Featured     []json.RawMessage `json:"featuredTokens"`
	ERC20        []json.RawMessage `json:"erc20Currencies"`
}

// A currencyReply is a currency of the list.
type currencyReply struct {
	Symbol   string        `json:"symbol"`
	Name     string        `json:"name"`
	Address  *wire.Address `json:"address"`
	Decimals *wire.Number  `json:"decimals"`
	Bridged  bool          `json:"supportsBridging"`
}

// readDisplay reads what is for display. It decides nothing: what cannot be read, or is not fit
// for a screen, is left out.
func (l *listedChain) readDisplay(id uint64, raw []byte) {
	var f chainDisplay
	var form *json.UnmarshalTypeError
	if err := rest.DecodeRow(raw, &f); err != nil && !errors.As(err, &form) { // fields of another type stay empty
		f = chainDisplay{}
	}
	l.display = swap.Destination{ChainID: id, Name: cmp.Or(tokens.CleanName(f.DisplayName), tokens.CleanName(f.Name), fmt.Sprintf("chain %d", id)), Explorer: explorer(f.Explorer)}
	if coin, ok := f.token(f.Currency, id); ok && coin.Address == nativeCoin {
		l.tokens = append(l.tokens, coin)
		l.display.Symbol, l.display.Decimals = coin.Symbol, coin.Decimals
	}
	for _, raw := range slices.Concat(f.Featured, f.ERC20) {
		if len(l.tokens) == maxTokens {
			return
		}
		t, ok := f.token(raw, id)
		if ok && !slices.ContainsFunc(l.tokens, func(o tokens.Token) bool { return o.Address == t.Address }) {
			l.tokens = append(l.tokens, t)
		}
	}
}

// token reads a currency that can be received. On a chain with limited support only bridged
// ones can; elsewhere the solver swaps into the others.
func (f chainDisplay) token(raw []byte, id uint64) (tokens.Token, bool) {
	var c currencyReply
	if rest.DecodeRow(raw, &c) != nil || c.Address == nil || c.Decimals == nil || !c.Decimals.IsUint64() || f.TokenSupport == "Limited" && !c.Bridged {
		return tokens.Token{}, false
	}
	return tokens.Unverified(id, c.Address.Address, c.Symbol, c.Name, c.Decimals.Uint64(), string(swap.Bridge))
}

// explorer returns the URL of a block explorer that a window may open, or "".
func explorer(text string) string {
	if text != wire.Printable(text) || rest.CheckBase(text, rest.PublicOnly) != nil {
		return ""
	}
	return text
}

// checkReceives refuses a chain that may not receive now.
func (l listedChain) checkReceives(id uint64) error {
	if err := checkDestination(id); err != nil {
		return err
	}
	if want := depositoryOf(id); !l.open || want != (common.Address{}) && want != l.depository {
		return unserved("dstChainId", id)
	}
	return nil
}

// Destinations returns the EVM chains that may receive now, in order of their ids. What it
// says of them is the API's claim. It may be repeated.
func (p *Provider) Destinations(ctx context.Context) ([]swap.Destination, error) {
	list, err := p.chains.get(ctx)
	if err != nil {
		return nil, err
	}
	var out []swap.Destination
	for id, l := range list {
		if l.checkReceives(id) == nil {
			out = append(out, l.display)
		}
	}
	slices.SortFunc(out, func(a, b swap.Destination) int { return cmp.Compare(a.ChainID, b.ChainID) })
	return out, nil
}

// Tokens lists what can be received on a chain, for people to choose from: its native coin
// and what the API features there. Any other token can be received by its address. All of
// it is the API's claim. It may be repeated.
func (p *Provider) Tokens(ctx context.Context, chainID uint64) ([]tokens.Token, error) {
	list, err := p.chains.get(ctx)
	if err != nil {
		return nil, err
	}
	l := list[chainID] // a chain that is missing is not open
	if err := l.checkReceives(chainID); err != nil {
		return nil, err
	}
	return slices.Clone(l.tokens), nil
}
