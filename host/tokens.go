package host

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"swapkeep/host/protocol"
	"swapkeep/tokens"

	"github.com/ethereum/go-ethereum/common"
)

func (c *call) tokensList(ctx context.Context, p *protocol.TokensParams) (any, error) {
	if p.Provider != "" {
		return c.tokensTraded(ctx, p)
	}
	id, err := c.s.chainOr(p.ChainID)
	if err != nil {
		return nil, err
	}
	page, cursor, err := cutPage(c.s.Tokens.On(id), p.Cursor, p.Limit)
	return protocol.TokensResult{Tokens: list(page, c.s.tokenOf), Cursor: cursor}, err
}

// tokensTraded lists the tokens that a provider says it trades. For tokens known here it
// uses the local data.
func (c *call) tokensTraded(ctx context.Context, p *protocol.TokensParams) (any, error) {
	kind, err := kindOf(p.Provider)
	if err != nil {
		return nil, err
	}
	id := p.ChainID
	if id == 0 {
		if id, err = c.s.activeNetwork(); err != nil {
			return nil, err
		}
	}
	traded, err := c.s.Swaps.Tokens(ctx, kind, id)
	if err != nil {
		return nil, err
	}
	for i, t := range traded {
		if known, ok := c.s.Tokens.Lookup(t.Chain, t.Address); ok {
			traded[i] = known
		}
	}
	page, cursor, err := cutPage(traded, p.Cursor, p.Limit)
	return protocol.TokensResult{Tokens: list(page, c.s.tokenOf), Cursor: cursor}, err
}

func (c *call) tokensSearch(_ context.Context, p *protocol.SearchParams) (any, error) {
	id, err := c.s.chainOr(p.ChainID)
	if err != nil {
		return nil, err
	}
	found := c.s.Tokens.Search(id, p.Query)
	page, cursor, err := cutPage(found, p.Cursor, p.Limit)
	if err != nil {
		return nil, err
	}
	out := protocol.SearchResult{Tokens: list(page, c.s.tokenOf), Cursor: cursor}
	if len(found) == 0 {
		out.Importable = importable(p.Query)
	}
	return out, nil
}

// importable returns the query as an address, or "". An address with a wrong checksum is
// mistyped, so it is not offered.
func importable(query string) protocol.Address {
	query = strings.TrimSpace(query)
	if digits, ok := strings.CutPrefix(strings.ToLower(query), "0x"); ok && query[2:] == strings.ToUpper(digits) {
		query = "0x" + digits // all upper case has no checksum
	}
	a, err := protocol.ParseAddress(query)
	if err != nil || a == protocol.Native {
		return ""
	}
	return a
}

func (c *call) tokensImport(ctx context.Context, p *protocol.ImportTokenParams) (any, error) {
	id, err := c.s.chainOr(p.ChainID)
	if err != nil {
		return nil, err
	}
	look := c.s.Tokens.Import
	if p.Preview {
		look = c.s.Tokens.Preview
	}
	t, known, err := look(ctx, id, evmAddress(p.Address))
	if err != nil {
		return nil, err
	}
	if !known && !p.Preview {
		c.s.broadcast("tokens.changed", protocol.TokensChanged{ChainID: id})
	}
	return protocol.ImportTokenResult{Token: c.s.tokenOf(t), Known: known}, nil
}

func (c *call) tokensRemove(_ context.Context, p *protocol.RemoveTokenParams) (any, error) {
	id, err := c.s.chainOr(p.ChainID)
	if err != nil {
		return nil, err
	}
	if _, known := c.s.Tokens.Lookup(id, evmAddress(p.Address)); !known {
		return nil, protocol.New("token_unknown", "").With("token", string(p.Address))
	}
	removed, err := c.s.Tokens.Remove(id, evmAddress(p.Address))
	if err != nil {
		return nil, err
	}
	if removed {
		c.s.broadcast("tokens.changed", protocol.TokensChanged{ChainID: id})
	}
	return protocol.RemoveTokenResult{Removed: removed}, nil
}

// Bounds of an answer without requested tokens. Token lists are from third parties: they
// may name more tokens than a node can be asked about, and contracts that report a
// balance for everybody.
const (
	maxBalances        = 500  // shown, including zero balances
	maxNonzeroBalances = 900  // shown in total: these fit one message
	maxBalancesRead    = 5000 // balances read
)

func (c *call) tokensBalances(ctx context.Context, p *protocol.BalancesParams) (any, error) {
	id, err := c.s.chainOr(p.ChainID)
	if err != nil {
		return nil, err
	}
	asked, omitted := list(p.Tokens, evmAddress), 0
	if len(asked) == 0 {
		asked, omitted = tokensToRead(c.s.Tokens.On(id))
	}
	amounts, err := c.s.Networks.Balances(ctx, id, evmAddress(p.Account), asked)
	if err != nil {
		return nil, err
	}
	if len(amounts) != len(asked) {
		return nil, fmt.Errorf("balances of %d tokens: got %d", len(asked), len(amounts))
	}
	holdings := make([]holding, 0, len(asked))
	for i, token := range asked {
		if h := (holding{token, amounts[i]}); !p.WithBalance || h.rank() < zeroBalanceRank || c.s.unread(id, h) {
			holdings = append(holdings, h)
		}
	}
	if len(p.Tokens) == 0 {
		all := len(holdings)
		holdings = balancesToShow(holdings)
		omitted += all - len(holdings)
	}
	out := protocol.BalancesResult{ChainID: id, Account: p.Account, Omitted: omitted}
	out.Balances = list(holdings, func(h holding) protocol.Balance { return c.s.balanceOf(id, h) })
	return out, nil
}

// tokensIncoming answers for the wallet's own accounts alone: the look is kept on disk.
func (c *call) tokensIncoming(ctx context.Context, p *protocol.IncomingParams) (any, error) {
	id, err := c.s.chainOr(p.ChainID)
	if err != nil {
		return nil, err
	}
	if err := c.ownAccount(ctx, p.Account); err != nil {
		return nil, err
	}
	found, err := c.s.Tokens.Incoming(ctx, id, evmAddress(p.Account))
	if err != nil && len(found) == 0 {
		return nil, err
	}
	return protocol.IncomingResult{ChainID: id, Account: p.Account, Tokens: list(found, c.s.tokenOf)}, nil
}

// tokensToRead returns the tokens whose balances are read, recognized and imported ones first,
// and the number omitted.
func tokensToRead(known []tokens.Token) (asked []common.Address, omitted int) {
	known = slices.Clone(known)
	slices.SortStableFunc(known, func(a, b tokens.Token) int { return trustRank(a) - trustRank(b) })
	omitted = max(0, len(known)-maxBalancesRead)
	return list(known[:len(known)-omitted], func(t tokens.Token) common.Address { return t.Address }), omitted
}

func trustRank(t tokens.Token) int {
	if t.Recognized || t.Imported {
		return 0
	}
	return 1
}

// balancesToShow returns the nonzero holdings and some others.
func balancesToShow(holdings []holding) []holding {
	slices.SortStableFunc(holdings, func(a, b holding) int { return a.rank() - b.rank() })
	some := slices.IndexFunc(holdings, func(h holding) bool { return h.rank() == zeroBalanceRank })
	if some < 0 {
		some = len(holdings)
	}
	return holdings[:min(len(holdings), max(maxBalances, min(some, maxNonzeroBalances)))]
}

// A holding is an account's balance of a token; nil: the contract returned none.
type holding struct {
	token  common.Address
	amount *big.Int
}

// zeroBalanceRank is the rank of a zero balance.
const zeroBalanceRank = 2

// rank is the display order of holdings.
func (h holding) rank() int {
	switch {
	case h.token == tokens.Native:
		return 0
	case h.amount != nil && h.amount.Sign() > 0:
		return 1
	}
	return zeroBalanceRank
}

// unread reports whether the contract of a verified or imported token returned no
// balance, in which case the account may hold some.
func (s *Server) unread(chain uint64, h holding) bool {
	if h.amount != nil {
		return false
	}
	t, known := s.Tokens.Lookup(chain, h.token)
	return known && (t.Verified || t.Imported)
}

func (s *Server) balanceOf(chain uint64, h holding) protocol.Balance {
	out := protocol.Balance{Token: addressOf(h.token), Amount: amountOf(h.amount)}
	if t, known := s.Tokens.Lookup(chain, h.token); known {
		w := s.tokenOf(t)
		out.Known = &w
	}
	return out
}

// tokenOf returns a token for the wire, where verified means that it is on the built-in list.
// Whether its market price is good enough to show values by is decided here alone.
func (s *Server) tokenOf(t tokens.Token) protocol.Token {
	out := protocol.Token{
		ChainID: t.Chain, Address: addressOf(t.Address), Symbol: t.Symbol, Name: t.Name, Decimals: int(t.Decimals),
		Verified: t.Recognized, List: t.List, Mark: t.Mark, Imported: t.Imported,
	}
	if of, ok := s.Tokens.Imitated(t); ok {
		out.Imitates = addressOf(of)
	}
	return out
}
