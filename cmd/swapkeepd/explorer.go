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
	exploreTime   = 15 * time.Second // for all networks together, per call
	exploreTokens = 32               // queried on each network
)

// An explorer checks on every configured network whether accounts were used, for the
// vault, which has no access to networks, that still runs: by their nonce, native coin, or a built-in
// token. It is filled in before the first request is served.
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

// Explore queries all networks in parallel. It returns the used accounts and the failed
// networks.
func (e *explorer) LookUp(ctx context.Context, accounts []common.Address) ([]bool, []uint64) {
	ctx, cancel := context.WithTimeout(ctx, exploreTime)
	defer cancel()
	var mu sync.Mutex
	used, silent := make([]bool, len(accounts)), []uint64{}
	var all sync.WaitGroup
	for _, n := range e.networks.Networks() {
		if n.HasEnded() {
			continue
		}
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

// builtin returns the verified tokens. A contract from a user's list could report a
// balance for any account.
func (e *explorer) builtin(id uint64) (addresses []common.Address) {
	for _, t := range e.tokens.On(id) {
		if t.Verified && t.Address != tokens.Native && len(addresses) < exploreTokens {
			addresses = append(addresses, t.Address)
		}
	}
	return addresses
}
