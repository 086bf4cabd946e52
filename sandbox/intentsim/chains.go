package intentsim

import (
	"context"
	"fmt"
	"math/big"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/common"

	"swapkeep/sandbox/eip55"
	"swapkeep/sandbox/network"
	"swapkeep/sandbox/operator"
)

// native is the token address of a chain's native coin, nativeToo an alias for it.
var (
	native    common.Address
	nativeToo = common.HexToAddress("0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE")
)

// A chain is a chain of the table with the layout of its deposit contract.
type chain struct {
	operator.Chain
	layout Layout
}

// served reports whether the API knows the chain.
func (c *chain) served() bool { return c.IntentDeposit() != (common.Address{}) }

// chain looks up a chain that the API serves.
func (s *Server) chain(id uint64) (*chain, error) {
	i := slices.IndexFunc(s.chains, func(c *chain) bool { return c.ID == id && c.served() })
	if i < 0 {
		return nil, errChain(id)
	}
	return s.chains[i], nil
}

// coins returns the chain's tokens, the native coin first.
func (c *chain) coins() []network.Token {
	coin := c.Wrapped
	coin.Address, coin.Symbol, coin.Name = native, c.Native, c.Native
	return append([]network.Token{coin, c.Wrapped}, c.Tokens...)
}

// coin looks up a token by a well-formed address.
func (c *chain) coin(address string) (network.Token, error) {
	at := common.HexToAddress(address)
	if at == nativeToo {
		at = native
	}
	coins := c.coins()
	i := slices.IndexFunc(coins, func(t network.Token) bool { return t.Address == at })
	if i < 0 {
		return network.Token{}, errToken(address)
	}
	return coins[i], nil
}

// now returns the API's time for quotes on a chain: its clock, or the chain's time if
// that has been shifted ahead.
func (s *Server) now(ctx context.Context, c *chain) (time.Time, error) {
	now, err := c.Now(ctx)
	return now.Add(time.Duration(s.Settings().ClockSeconds) * time.Second), err
}

// balance returns an account's balance of a coin, in base units.
func (s *Server) balance(ctx context.Context, c *chain, coin, of common.Address) (*big.Int, error) {
	if coin == native {
		return c.Client.BalanceAt(ctx, of, nil)
	}
	return s.view(ctx, c, coin, "balanceOf", of)
}

// view calls a token's view method that returns one number.
func (s *Server) view(ctx context.Context, c *chain, token common.Address, method string, args ...any) (*big.Int, error) {
	data, err := s.tokens.Pack(method, args...)
	if err != nil {
		return nil, err
	}
	out, err := c.Client.CallContract(ctx, ethereum.CallMsg{To: &token, Data: data}, nil)
	if err != nil {
		return nil, fmt.Errorf("%s of %s: %w", method, token, err)
	}
	return new(big.Int).SetBytes(out), nil
}

// A tokenReply describes a token.
type tokenReply struct {
	ID         string        `json:"id"`
	Address    eip55.Address `json:"address"`
	ChainID    uint64        `json:"chainId"`
	Name       string        `json:"name"`
	Symbol     string        `json:"symbol"`
	Decimals   uint8         `json:"decimals"`
	LogoURI    string        `json:"logoURI"`
	Extensions extensions    `json:"extensions"`
}

type extensions struct {
	Price struct {
		USD string `json:"usd"`
	} `json:"price"`
	IsRiskToken bool `json:"isRiskToken"`
}

func (c *chain) describe(t network.Token) tokenReply {
	r := tokenReply{
		ID:      fmt.Sprintf("%d-%s", c.ID, lower(t.Address)),
		Address: eip55.Address(t.Address), ChainID: c.ID, Name: t.Name, Symbol: t.Symbol, Decimals: t.Decimals,
		LogoURI: "https://example.invalid/" + strings.ToLower(t.Symbol) + ".png",
	}
	r.Extensions.Price.USD = fmt.Sprintf("%d.%06d", t.MicroUSD/1_000_000, t.MicroUSD%1_000_000)
	return r
}

func lower(a common.Address) string { return strings.ToLower(a.Hex()) }

// Page sizes of the token list.
const (
	usualTokens = 50
	maxTokens   = 2000
	topOfChain  = 5
	maxCursor   = 1 << 30
)

// tokensReply is the documented response; the last page has no cursor.
type tokensReply struct {
	Data   []tokenReply `json:"data"`
	Cursor int          `json:"cursor,omitempty"`
}

// listTokens answers GET /v1/tokens. Like the API, it ignores unknown parameters, such as
// chainId.
func (s *Server) listTokens(_ []byte, r *http.Request) (any, error) {
	q := &query{Values: r.URL.Query()}
	limit, cursor := q.number("limit", usualTokens, 1, maxTokens), q.number("cursor", 0, 0, maxCursor)
	all, err := s.findTokens(q)
	if err != nil {
		return nil, err
	}
	var reply tokensReply
	if reply.Data, reply.Cursor = page(all, cursor, limit); s.Settings().FlatTokens {
		return reply.Data, nil
	}
	return reply, nil
}

// page returns a page of a list and the cursor of the next page; 0 = none.
func page[T any](all []T, cursor, limit int) ([]T, int) {
	next := min(cursor+limit, len(all))
	part := all[min(cursor, len(all)):next]
	if next == len(all) {
		next = 0
	}
	return part, next
}

// searchTokens answers GET /v1/tokens/search.
func (s *Server) searchTokens(_ []byte, r *http.Request) (any, error) {
	all, err := s.findTokens(&query{Values: r.URL.Query()})
	return tokensReply{Data: all}, err
}

// topTokens answers GET /v1/tokens/top: the first tokens of each chain, as a plain array.
func (s *Server) topTokens(_ []byte, r *http.Request) (any, error) {
	all, err := s.findTokens(&query{Values: url.Values{"chainIds": r.URL.Query()["chainIds"]}})
	if err != nil {
		return nil, err
	}
	top, ofChain := []tokenReply{}, map[uint64]int{}
	for _, t := range all {
		if ofChain[t.ChainID]++; ofChain[t.ChainID] <= topOfChain {
			top = append(top, t)
		}
	}
	return top, nil
}

// findTokens returns the tokens that match q, chainIds, addresses and symbols.
func (s *Server) findTokens(q *query) ([]tokenReply, error) {
	ids, addresses, symbols, part := q.chains("chainIds"), q.list("addresses"), q.list("symbols"), q.Get("q")
	if err := q.err(); err != nil {
		return nil, err
	}
	found := []tokenReply{}
	for _, c := range s.chains {
		if !c.served() || (ids != nil && !slices.Contains(ids, c.ID)) {
			continue
		}
		for _, t := range c.coins() {
			if among(addresses, t.Address.Hex()) && among(symbols, t.Symbol) && (part == "" || within(part, t.Symbol, t.Name, t.Address.Hex())) {
				found = append(found, c.describe(t))
			}
		}
	}
	return found, nil
}

// among reports whether a list is empty or contains the value, ignoring case.
func among(list []string, value string) bool {
	return len(list) == 0 || slices.ContainsFunc(list, func(item string) bool { return strings.EqualFold(item, value) })
}

func within(part string, values ...string) bool {
	return slices.ContainsFunc(values, func(v string) bool { return strings.Contains(strings.ToLower(v), strings.ToLower(part)) })
}

// chainReply describes a chain. Optional members are omitted if they do not apply.
type chainReply struct {
	Type      string        `json:"type"`
	ID        uint64        `json:"id"`
	Name      string        `json:"name"`
	Currency  currency      `json:"nativeCurrency"`
	RPCURLs   rpcURLs       `json:"rpcUrls"`
	Explorers *explorerList `json:"blockExplorers,omitempty"`
}

type currency struct {
	Name     string `json:"name,omitempty"`
	Symbol   string `json:"symbol"`
	Decimals int    `json:"decimals"`
}

type rpcURLs struct {
	Default struct {
		HTTP []string `json:"http"`
	} `json:"default"`
}

type explorerList struct {
	Default struct {
		Name   string `json:"name"`
		URL    string `json:"url"`
		APIURL string `json:"apiUrl"`
	} `json:"default"`
}

// listChains answers GET /v1/chains, which includes a non-EVM chain. Its URLs lead
// nowhere, as no wallet may use a provider's node.
func (s *Server) listChains([]byte, *http.Request) (any, error) {
	var all []chainReply
	for _, c := range s.chains {
		if !c.served() {
			continue
		}
		r := chainReply{Type: "eip155", ID: c.ID, Name: c.Name, Currency: currency{c.Native, c.Native, 18}, Explorers: &explorerList{}}
		r.RPCURLs.Default.HTTP = []string{fmt.Sprintf("https://rpc-%d.example.invalid", c.ID)}
		r.Explorers.Default.Name = c.Name
		r.Explorers.Default.URL = fmt.Sprintf("https://explorer-%d.example.invalid", c.ID)
		r.Explorers.Default.APIURL = r.Explorers.Default.URL + "/api"
		all = append(all, r)
	}
	solana := chainReply{Type: "solana", ID: 20011000000, Name: "Solana", Currency: currency{"", "SOL", 9}}
	solana.RPCURLs.Default.HTTP = []string{"https://solana.example.invalid"}
	return append(all, solana), nil
}
