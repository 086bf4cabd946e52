// Package plan asks providers for offers, ranks them, and turns an offer into the plan that
// a user is asked to accept: built by its provider, decoded from its bytes, completed with
// the wallet's own steps, checked against the terms, simulated, and compared with our
// own prices. It signs and sends nothing, and keeps offers and plans only in memory: orders are
// executed and stored by swap/engine.
package plan

import (
	"context"
	"math/big"
	"time"

	"swapkeep/chain"
	"swapkeep/swap"
	"swapkeep/swap/journal"

	"github.com/ethereum/go-ethereum/common"
)

// Nodes is what plans need to read from the networks. *chain.MultiClient satisfies it.
type Nodes interface {
	Network(id uint64) (chain.Network, error)
	Balance(ctx context.Context, id uint64, account, token common.Address) (*big.Int, error)
	Allowance(ctx context.Context, id uint64, token, owner, spender common.Address) (*big.Int, error)
	AgreedAllowances(ctx context.Context, id uint64, owner common.Address, asked []chain.Grantee) ([]*big.Int, error)
	AgreedPermits(ctx context.Context, id uint64, permit2, owner common.Address, asked []chain.Grantee) ([]chain.PermitAllowance, error)
	Cost(ctx context.Context, c chain.Call) (chain.Cost, error)
	Simulate(ctx context.Context, calls []chain.Call) (chain.Simulation, error)
	Simulations(ctx context.Context, calls []chain.Call) ([]chain.Simulation, error)
	IsContract(ctx context.Context, id uint64, a common.Address) (bool, error)
	Nonces(ctx context.Context, id uint64, account common.Address) (chain.Nonces, error)
}

// A Pricer returns how much of token out an amount of token in is worth, each on its
// chain, from our own sources: never the provider's, nor a pool that an offer may use. An
// error means unknown.
type Pricer interface {
	Out(ctx context.Context, src uint64, in common.Address, dst uint64, out common.Address, amount *big.Int) (*big.Int, error)
	// Worth returns what an amount is worth in wei of its network's coin. It may rest on
	// weaker prices than Out, since only the gas guard's share is computed by it.
	Worth(ctx context.Context, chainID uint64, token common.Address, amount *big.Int) (*big.Int, error)
}

// Orders tells what the account's other orders claim. Amounts are base units.
type Orders interface {
	// Promised returns what signed open orders may still take of a token at now.
	Promised(chainID uint64, account, token common.Address, now time.Time) (*big.Int, error)
	// Grants returns the allowances that orders of the account were given, each with the
	// last such order's id.
	Grants(account common.Address, chainID uint64) (map[swap.Grant]string, error)
	// AcceptedUses returns what open orders need of an allowance. Orders whose records are
	// not as their users accepted them do not count.
	AcceptedUses(k journal.AllowanceKey) ([]journal.Use, error)
}

// A Planner makes plans and judges them. It has no state of its own. Nodes, Orders, Pricer
// and Now are required.
type Planner struct {
	Providers map[swap.Kind]swap.Provider // those that are asked for offers
	Nodes     Nodes
	Orders    Orders
	Pricer    Pricer
	Fees      swap.FeeConfig
	Now       func() time.Time

	// GasPrice returns what a unit of gas is expected to cost now, in wei; nil = offers
	// are ranked without gas.
	GasPrice func(ctx context.Context, chainID uint64) (*big.Int, error)
	// Decimals reports whether a token's decimals are known from more than a list, a
	// provider or one host; nil = this is not checked.
	Decimals func(chainID uint64, token common.Address) bool
	// Tokens returns the wallet's own tokens on a network: what a contract may take of
	// them is checked before an opaque call to it; nil = only those of earlier orders.
	Tokens func(chainID uint64) []common.Address
	// Recognize returns what the wallet's lists say of a token on any chain, also on one
	// that is no network of the wallet; nil = no list has any token.
	Recognize func(ctx context.Context, chainID uint64, token common.Address) swap.Recognition
	// AwaitPrices waits a short while for the first prices before a plan is prepared, if
	// there are none yet; nil = no wait.
	AwaitPrices func(ctx context.Context)
	// Isolated hands out isolated accounts; nil = a provider that needs one has no offers.
	Isolated IsolatedAccounts
	// Lines says in lines what a review asks; nil = reviews have none.
	Lines func(swap.Review) []swap.Line
	// Keep stores answers of providers that were refused; nil = none is stored.
	Keep AnswerKeeper
}
