package intent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"time"

	"swapkeep/providers/wire"
	"swapkeep/rest"
	"swapkeep/swap"
	"swapkeep/tokens"
)

const (
	// maxTokens is how many tokens of a network are requested; the best come first.
	maxTokens = 500
	// listTime is how long a list is cached, failTime how long an error is.
	listTime, failTime = 10 * time.Minute, 15 * time.Second
)

// tokenListCache caches one token list per network.
type tokenListCache struct {
	fetching chan struct{} // held during a request, so that concurrent callers cause only one

	mu    sync.Mutex
	lists map[uint64]cachedList
}

func newTokenListCache() tokenListCache {
	return tokenListCache{fetching: make(chan struct{}, 1), lists: map[uint64]cachedList{}}
}

func (s *tokenListCache) get(chainID uint64, now time.Time) (cachedList, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	kept, ok := s.lists[chainID]
	return kept, ok && now.Before(kept.until)
}

type cachedList struct {
	until  time.Time
	tokens []tokens.Token
	err    error
}

// tokenReply is one token of GET /v1/tokens.
type tokenReply struct {
	Address    string       `json:"address"`
	ChainID    uint64       `json:"chainId"`
	Symbol     string       `json:"symbol"`
	Name       string       `json:"name"`
	Decimals   *wire.Number `json:"decimals"`
	Extensions struct {
		IsRiskToken bool `json:"isRiskToken"`
	} `json:"extensions"`
}

// Tokens lists the tokens that the provider trades on a chain that it reaches, for display.
// All of it is the provider's unverified data. It may be repeated: a list is cached for ten
// minutes.
func (p *Provider) Tokens(ctx context.Context, chainID uint64) ([]tokens.Token, error) {
	if _, err := receivingChainID(chainID); err != nil {
		return nil, err
	}
	if kept, ok := p.tokenLists.get(chainID, p.now()); ok {
		return slices.Clone(kept.tokens), kept.err
	}
	select {
	case p.tokenLists.fetching <- struct{}{}:
		defer func() { <-p.tokenLists.fetching }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if kept, ok := p.tokenLists.get(chainID, p.now()); ok { // another caller fetched it meanwhile
		return slices.Clone(kept.tokens), kept.err
	}
	list, err := p.list(ctx, chainID)
	if errors.Is(err, context.Canceled) {
		return nil, err
	}
	now := p.now()
	kept := cachedList{now.Add(listTime), list, err}
	if err != nil {
		kept.until = now.Add(failTime)
	}
	p.tokenLists.mu.Lock()
	p.tokenLists.lists[chainID] = kept
	p.tokenLists.mu.Unlock()
	return slices.Clone(list), err
}

func (p *Provider) list(ctx context.Context, chainID uint64) ([]tokens.Token, error) {
	reply, err := p.tokens.Do(ctx, rest.Call{
		Method: http.MethodGet, Path: "/v1/tokens", Query: url.Values{"chainIds": {strconv.FormatUint(chainID, 10)}, "limit": {strconv.Itoa(maxTokens)}},
	})
	if err != nil {
		return nil, service.Refusal(err)
	}
	return readTokens(reply.Body, chainID)
}

// readTokens accepts both forms of the API: an envelope, and the plain array of live
// replies, which may have other chains' tokens too. It leaves out what is no EVM token of
// the chain, and what the provider marks as risky.
func readTokens(raw []byte, chainID uint64) ([]tokens.Token, error) {
	var rows []json.RawMessage
	if bytes.HasPrefix(bytes.TrimSpace(raw), []byte("[")) {
		if err := service.Read("tokens", raw, &rows); err != nil {
			return nil, garbage("tokens", err)
		}
	} else {
		var r struct {
			Data *[]json.RawMessage `json:"data"`
			Name string             `json:"name"`
		}
		err := service.Read("tokens", raw, &r)
		switch {
		case err == nil && r.Data == nil && r.Name != "":
			return nil, failure(r.Name)
		case err != nil || r.Data == nil:
			return nil, garbage("tokens", err)
		}
		rows = *r.Data
	}
	var out []tokens.Token
	for _, row := range rows {
		if t, ok := readToken(row, chainID); ok && len(out) < maxTokens && !slices.ContainsFunc(out, func(o tokens.Token) bool { return o.Address == t.Address }) {
			out = append(out, t)
		}
	}
	return out, nil
}

func readToken(raw []byte, chainID uint64) (tokens.Token, bool) {
	var t tokenReply
	if rest.DecodeRow(raw, &t) != nil || t.ChainID != chainID || t.Extensions.IsRiskToken || t.Decimals == nil || !t.Decimals.IsUint64() {
		return tokens.Token{}, false
	}
	a, err := wire.ParseAddress(t.Address)
	if err != nil {
		return tokens.Token{}, false
	}
	return tokens.Unverified(chainID, tokenOf(a), t.Symbol, t.Name, t.Decimals.Uint64(), string(swap.Intent))
}
