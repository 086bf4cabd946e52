package gaslesssim

import (
	"context"
	"math/big"

	"github.com/ethereum/go-ethereum/common"

	"swapkeep/sandbox/network"
	"swapkeep/sandbox/operator"
)

// A protocol is one of the provider's two ways to trade.
type protocol struct {
	name    string // in settings and targets of faults
	path    string // where its paths begin
	version string
	scheme  func(n network.Gasless) scheme
	payer   func(s *Server) *operator.Account // who settles, from its own balance
	tune    func(s *Settings) *Behaviour

	// Error codes that differ between the two.
	onToken, onLiquidity, onPermit, onSignature int
	// leastUSD is the smallest trade, in millionths of a US dollar.
	leastUSD int64
	// firm protocols pay what they quoted, the others at least that less the
	// slippage.
	firm bool

	// toSign is what the taker signs, in the API's form.
	toSign func(q *quote) any
	// reply is the answer to a quote request around what is common to both.
	reply func(s *Server, q *quote, r quoteReply) (any, error)
	// digest asks the settlement contract for the hash that the taker signs.
	digest func(ctx context.Context, s *Server, q *quote) (common.Hash, error)
	// call settles an order from the payer, who pays so much, fees included.
	call func(s *Server, o *order, paid *big.Int) (operator.Call, error)
	// shortBy is what the payer pays where the contract must refuse it.
	shortBy func(q *quote) *big.Int
}

// A scheme is where a protocol's contracts stand on a chain.
type scheme struct {
	settlement common.Address
	spender    common.Address // that users approve
}

// protocols are both.
func protocols() []*protocol { return []*protocol{jam, rfq} }

// offered reports whether the chain has the protocol and runs here.
func (p *protocol) offered(c operator.Chain) bool {
	n := c.Gasless()
	return c.Runs() && n.Name != "" && p.scheme(n).settlement != (common.Address{})
}
