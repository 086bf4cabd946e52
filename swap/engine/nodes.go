package engine

import (
	"context"
	"math/big"

	"swapkeep/chain"
	"swapkeep/swap/plan"

	"github.com/ethereum/go-ethereum/common"
)

// Nodes is what this package needs of the networks. *chain.MultiClient satisfies it.
type Nodes interface {
	plan.Nodes
	Balances(ctx context.Context, id uint64, account common.Address, tokens []common.Address) ([]*big.Int, error)
	Allowances(ctx context.Context, id uint64, owner common.Address, asked []chain.Grantee) ([]*big.Int, error)
	PermitAllowances(ctx context.Context, id uint64, permit2, owner common.Address, asked []chain.Grantee) ([]chain.PermitAllowance, error)
	// ReadsTransactions reports whether Evidence and Head answer for a network; the other
	// methods answer for the wallet's own only.
	ReadsTransactions(id uint64) bool
	Evidence(ctx context.Context, id uint64, tx common.Hash) (chain.Evidence, bool, error)
	CheckReceipt(ctx context.Context, ev chain.Evidence, logs bool) error
	Settled(ctx context.Context, id uint64) (b chain.Block, hosts []string, err error)
	Head(ctx context.Context, id uint64) (uint64, error)
	Logs(ctx context.Context, id uint64, f chain.LogFilter, from uint64) (chain.LogScan, error)
	CheckLogs(ctx context.Context, id, block uint64, hosts []string) error
	NonceBit(ctx context.Context, id uint64, contract, owner common.Address, nonce *big.Int, block uint64) (used bool, hosts []string, err error)
	BalanceDelta(ctx context.Context, id uint64, account common.Address, block uint64) (g chain.BalanceDelta, hosts []string, err error)
}
