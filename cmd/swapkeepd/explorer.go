package main

import (
	"context"
	"slices"
	"sync"
	"time"

	"swapkeep/chain"
	"swapkeep/keys"
	"swapkeep/tokens"

	"github.com/ethereum/go-ethereum/common"
)

const (
	exploreTime   = 15 * time.Second // of one network, for some accounts
	exploreTokens = 32               // looked up on one network
)

// An explorer looks for uses of accounts on every configured network, for the
// vault, which knows none: a nonce, native coins, or one of the built-in tokens.
// It is filled in before the first request is served.
type explorer struct {
	networks interface {
		Networks() []chain.Network
		Used(ctx context.Context, id uint64, accounts, tokens []common.Address) ([]bool, error)
	}
	tokens interface {
		On(chain uint64) []tokens.Token
	}
}

var _ keys.Explorer = (*explorer)(nil)

// Explore asks all networks at once.
func (e *explorer) Explore(ctx context.Context, accounts []common.Address) ([]bool, []uint64) {
	ctx, cancel := context.WithTimeout(ctx, exploreTime)
	defer cancel()
	var mu sync.Mutex
	used, silent := make([]bool, len(accounts)), []uint64{}
	var all sync.WaitGroup
	for _, n := range e.networks.Networks() {
		all.Go(func() {
			seen, err := e.networks.Used(ctx, n.ID, accounts, e.builtin(n.ID))
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				silent = append(silent, n.ID)
				return
			}
			for i, u := range seen {
				used[i] = used[i] || u
			}
		})
	}
	all.Wait()
	slices.Sort(silent)
	return used, silent
}

// builtin are the tokens of the built-in list: what a stranger's list names
// could report a balance to anyone.
func (e *explorer) builtin(id uint64) (addresses []common.Address) {
	for _, t := range e.tokens.On(id) {
		if t.Verified && t.Address != tokens.Native && len(addresses) < exploreTokens {
			addresses = append(addresses, t.Address)
		}
	}
	return addresses
}
