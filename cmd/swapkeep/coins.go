package main

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"swapkeep/cmd/internal/amount"
	"swapkeep/host/protocol"
)

// An tokenID identifies a token by chain and address, never by its symbol.
type tokenID struct {
	chain   uint64
	address protocol.Address
}

// loadNetworks fetches the networks unless they are loaded.
func (l *daemonConn) loadNetworks(ctx context.Context) error {
	if l.networks != nil {
		return nil
	}
	all, err := ask[protocol.NetworksResult](ctx, l, "networks.list", protocol.None{})
	if err != nil {
		return err
	}
	l.active, l.networks = all.Active, map[uint64]protocol.Network{}
	for _, n := range all.Networks {
		l.networks[n.ChainID] = n
	}
	return nil
}

// network finds a network by chain id, name or an unambiguous prefix of its name; "" is
// the active network.
func (l *daemonConn) network(ctx context.Context, wanted string) (protocol.Network, error) {
	if err := l.loadNetworks(ctx); err != nil {
		return protocol.Network{}, err
	}
	if wanted == "" {
		return l.networks[l.active], nil
	}
	if id, err := strconv.ParseUint(wanted, 10, 64); err == nil {
		if n, ok := l.networks[id]; ok {
			return n, nil
		}
	}
	var begin []protocol.Network
	for _, n := range l.networks {
		switch {
		case strings.EqualFold(n.Name, wanted):
			return n, nil
		case len(n.Name) > len(wanted) && strings.EqualFold(n.Name[:len(wanted)], wanted):
			begin = append(begin, n)
		}
	}
	if len(begin) == 1 {
		return begin[0], nil
	}
	return protocol.Network{}, unknownNetwork(wanted, l.networkNames())
}

// networkNames returns the names of the wallet's networks by chain id.
func (l *daemonConn) networkNames() map[uint64]string {
	names := map[uint64]string{}
	for id, n := range l.networks {
		names[id] = n.Name
	}
	return names
}

// nameOf returns a network's name, with the chain id if it is not one of the wallet's.
func (l *daemonConn) nameOf(chain uint64) string {
	id := strconv.FormatUint(chain, 10)
	if n, ok := l.networks[chain]; ok {
		return n.Name
	}
	if name := cmp.Or(protocol.NetworkNames[chain], l.destinationNames[chain]); name != "" {
		return name + " (chain " + id + ")"
	}
	return "chain " + id
}

// native returns the network's native coin.
func native(n protocol.Network) amount.Coin {
	return amount.Coin{Symbol: n.Symbol, Decimals: n.Decimals}
}

// token finds a token of a network by symbol or address. If verified and unverified
// tokens share a symbol, only the verified ones count.
func (l *daemonConn) token(ctx context.Context, chain uint64, wanted string) (protocol.Token, error) {
	found, err := ask[protocol.SearchResult](ctx, l, "tokens.search", protocol.SearchParams{Query: wanted, ChainID: chain, Limit: protocol.PageMax})
	if err != nil {
		return protocol.Token{}, err
	}
	return l.tokenOf(ctx, chain, wanted, found.Tokens)
}

// tokenOf picks the token with that symbol or address from found.
func (l *daemonConn) tokenOf(ctx context.Context, chain uint64, wanted string, found []protocol.Token) (protocol.Token, error) {
	address, notAddress := protocol.ParseAddress(wanted)
	if notAddress != nil && strings.HasPrefix(wanted, "0x") {
		return protocol.Token{}, usageError{fmt.Errorf("%q %w", wanted, notAddress)}
	}
	var named []protocol.Token
	for _, t := range found {
		if t.Address == address || notAddress != nil && strings.EqualFold(t.Symbol, wanted) {
			named = append(named, t)
		}
	}
	if verified := verifiedOf(named); len(verified) > 0 {
		named = verified
	}
	if len(named) == 1 {
		l.tokens[tokenID{chain, named[0].Address}] = named[0]
		return named[0], nil
	}
	return protocol.Token{}, l.unresolvedToken(ctx, chain, wanted, named)
}

// checkSymbol refuses an unverified token given by its symbol where nobody sees the warning,
// because any extension can import a token and any token can have any symbol.
func (t *terminal) checkSymbol(token protocol.Token, wanted string) error {
	if token.Verified || strings.EqualFold(wanted, string(token.Address)) || t.interactive() && !t.json {
		return nil
	}
	return usageError{fmt.Errorf("%s is not verified, and any token can use that symbol; in a script use its address: %s", wanted, token.Address)}
}

func verifiedOf(tokens []protocol.Token) (out []protocol.Token) {
	for _, t := range tokens {
		if t.Verified {
			out = append(out, t)
		}
	}
	return out
}

// unresolvedToken returns the error for a name that matches no token or several.
func (l *daemonConn) unresolvedToken(ctx context.Context, chain uint64, wanted string, named []protocol.Token) error {
	if err := l.loadNetworks(ctx); err != nil {
		return err
	}
	if len(named) == 0 {
		e := protocol.Newf("token_unknown", "unknown token %s on %s", wanted, l.nameOf(chain))
		e.Remedy = "search with swapkeep tokens search, or import it by its address: swapkeep tokens import ADDRESS"
		return e
	}
	e := protocol.Newf("token_unknown", "%d tokens on %s have the symbol %s", len(named), l.nameOf(chain), wanted)
	e.Remedy = "use the address of one:"
	for _, t := range named {
		e.Remedy += " " + string(t.Address)
	}
	return e
}

// coin returns how amounts of a token are formatted. Amounts of an unknown token are in
// base units.
func (l *daemonConn) coin(ctx context.Context, chain uint64, address protocol.Address) (amount.Coin, error) {
	t, err := l.tokenByAddress(ctx, chain, address)
	if err != nil {
		return amount.Coin{}, err
	}
	return coinOf(t), nil
}

func coinOf(t protocol.Token) amount.Coin {
	if t.Symbol == "" {
		return amount.Coin{Symbol: "base units of " + string(t.Address)}
	}
	return amount.Coin{Symbol: t.Symbol, Decimals: t.Decimals}
}

// tokenByAddress returns a token by its address; an unknown token has chain and address only.
func (l *daemonConn) tokenByAddress(ctx context.Context, chain uint64, address protocol.Address) (protocol.Token, error) {
	id := tokenID{chain, address}
	if t, ok := l.tokens[id]; ok {
		return t, nil
	}
	t := protocol.Token{ChainID: chain, Address: address}
	found, err := ask[protocol.SearchResult](ctx, l, "tokens.search", protocol.SearchParams{Query: string(address), ChainID: chain})
	switch {
	case isUnknownNetwork(err): // a destination may be a network that only a provider supports
		found.Tokens = l.tradedTokens(ctx, chain, nil)
	case err != nil:
		return t, err
	}
	for _, f := range found.Tokens {
		if f.Address == address {
			t = f
		}
	}
	l.tokens[id] = t
	return t, nil
}

// account finds one of the user's accounts by address or name. Without a name it is the
// only account, or the one that the user chooses at the terminal.
func (l *daemonConn) account(ctx context.Context, wanted string) (protocol.Account, error) {
	got, err := ask[protocol.AccountsResult](ctx, l, "keys.accounts", protocol.None{})
	if err != nil {
		return protocol.Account{}, err
	}
	all := got.Accounts
	switch {
	case len(all) == 0:
		return protocol.Account{}, noWallet()
	case wanted == "" && len(all) == 1:
		return all[0], nil
	case wanted == "" && l.t.interactive() && !l.t.json:
		return l.chooseAccount(ctx, all)
	case wanted == "":
		return protocol.Account{}, usageError{fmt.Errorf("there are %d accounts; choose one with --account", len(all))}
	}
	var named []protocol.Account
	for _, a := range all {
		if strings.EqualFold(string(a.Address), wanted) {
			return a, nil
		}
		if strings.EqualFold(a.Name, wanted) {
			named = append(named, a)
		}
	}
	switch len(named) {
	case 0:
		return protocol.Account{}, protocol.Newf("unknown_account", "unknown account %s", wanted)
	case 1:
		return named[0], nil
	}
	return protocol.Account{}, usageError{fmt.Errorf("%d accounts have the name %s; use an address", len(named), wanted)}
}

func (l *daemonConn) chooseAccount(ctx context.Context, all []protocol.Account) (protocol.Account, error) {
	rows := make([][]string, 0, len(all))
	for i, a := range all {
		rows = append(rows, []string{strconv.Itoa(i + 1), a.Name, string(a.Address)})
	}
	l.t.talk.Table(accountColumns, rows)
	n, err := l.t.choose(ctx, "Which account", len(all))
	if err != nil {
		return protocol.Account{}, err
	}
	return all[n], nil
}
