package gaslesssim

import (
	"context"
	"math/big"

	"github.com/ethereum/go-ethereum/common"

	"swapkeep/sandbox/network"
	"swapkeep/sandbox/operator"
)

// A protocol is one of the provider's two protocols.
type protocol struct {
	name       string // in settings and fault targets
	path       string // first segment of its paths
	version    string
	deployment func(n network.Gasless) deployment
	payer      func(s *Server) *operator.Account // settles from its own balance
	behaviour  func(s *Settings) *Behaviour

	// Error codes that differ between the two.
	onToken, onLiquidity, onPermit, onSignature int
	// minUSD is the minimum value of a trade, in millionths of a US dollar.
	minUSD int64
	// firm protocols pay exactly the quoted amount; others may pay less by the slippage.
	firm bool

	// toSign returns the message that the taker signs, in the API's form.
	toSign func(q *quote) any
	// reply returns the response to a quote request, given the common part.
	reply func(s *Server, q *quote, r quoteReply) (any, error)
	// digest gets the hash that the taker signs from the settlement contract.
	digest func(ctx context.Context, s *Server, q *quote) (common.Hash, error)
	// call returns the payer's call that settles an order for paid, fees included.
	call func(s *Server, o *order, paid *big.Int) (operator.Call, error)
	// shortBy returns a payment that the contract must refuse as too low.
	shortBy func(q *quote) *big.Int
}

// A deployment holds the addresses of a protocol's contracts on a chain.
type deployment struct {
	settlement common.Address
	spender    common.Address // approved by users
}

// protocols returns both protocols.
func protocols() []*protocol { return []*protocol{jam, rfq} }

// offered reports whether the chain is running and has the protocol.
func (p *protocol) offered(c operator.Chain) bool {
	n := c.Gasless()
	return c.IsRunning() && n.Name != "" && p.deployment(n).settlement != (common.Address{})
}
