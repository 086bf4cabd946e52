package dex

import (
	"errors"
	"net/http"
	"sync"
	"time"

	"swapkeep/rest"
)

// noAuctionErrors lists the API's refusals of a request with an auction after which one
// without it may succeed, and for how long to remember that the chain has no auctions.
var noAuctionErrors = map[string]time.Duration{
	"UniswapXNotSupportedOnChainError": time.Hour,
	"QuoteAmountTooLowError":           0, // auctions have a minimum amount, pools have not
}

// dropAuction reports whether a failed request is worth repeating without its auction. It
// remembers chains that have none.
func (p *Provider) dropAuction(chainID uint64, err error) bool {
	var e *rest.Error
	if !errors.As(err, &e) || e.Status != http.StatusNotFound {
		return false
	}
	remembered, ok := noAuctionErrors[e.Code]
	if remembered > 0 {
		p.noAuctions.add(chainID, p.now().Add(remembered))
	}
	return ok
}

// chainsWithoutAuctions remembers for a while on which chains the API has no auctions. It has at
// most one entry per deployment.
type chainsWithoutAuctions struct {
	mu    sync.Mutex
	until map[uint64]time.Time
}

func (c *chainsWithoutAuctions) add(chainID uint64, until time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.until == nil {
		c.until = map[uint64]time.Time{}
	}
	c.until[chainID] = until
}

func (c *chainsWithoutAuctions) has(chainID uint64, now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return now.Before(c.until[chainID])
}

// auctioned reports whether a routing is the auction that is requested.
func (pr tokenPair) auctioned(routing string) bool {
	return pr.auction != nil && pr.auction.routing == routing
}
