// Package chain talks to EVM networks. It holds their parameters, reads them through RPC
// endpoints whose chain id is checked, prices and simulates calls, gathers evidence of
// what was mined, and sends transactions through a [Sender] that survives a crash at any
// point without ever paying twice.
package chain

import (
	"bytes"
	"context"
	"errors"
	"math/big"
	"time"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
)

// Native is the token address that stands for a network's native coin.
var Native = common.Address{}

// Errors that callers handle. Any other error of this package is temporary or internal
// and says nothing about what happened on the chain.
var (
	// ErrNoNetwork means the chain is not supported or has no RPC endpoint.
	ErrNoNetwork = errors.New("network not configured")
	// ErrNetworkEnded means the chain was shut down: there is no gas price to watch.
	ErrNetworkEnded = errors.New("the network was shut down")
	// ErrWrongChain means an endpoint answered with another chain id and is not used.
	ErrWrongChain = errors.New("rpc endpoint serves another chain")
	// ErrUnreachable means no endpoint of the network answered, or fewer hosts than the
	// quorum.
	ErrUnreachable = errors.New("cannot reach the network: too few RPC endpoints answered")
	// ErrNode means a node was reached and answered with an error.
	ErrNode = errors.New("the network's node refused to answer")
	// ErrWouldRevert means a node executed the call and it failed.
	ErrWouldRevert = errors.New("call would revert")
	// ErrCeiling means a transaction could cost more than its policy allows.
	ErrCeiling = errors.New("gas cost above the ceiling")
	// ErrExpired means the policy's deadline for signing has passed.
	ErrExpired = errors.New("too late to sign")
	// ErrRejected means every node that was reached refused the transaction without
	// queueing it. From [Sender.Submit] it also means that no node can have the bytes:
	// the nonce is free again.
	ErrRejected = errors.New("transaction rejected")
	// ErrLedger means the ledger of signed transactions cannot be read or written.
	// Nothing was signed or broadcast after the failure; nothing may be.
	ErrLedger = errors.New("transaction ledger unavailable")
	// ErrKeyReused means the key already belongs to another call.
	ErrKeyReused = errors.New("key already used for another call")
	// ErrNonceBlocked means an earlier transaction of the account is past its deadline
	// for broadcasting and still holds its nonce: wait for its end or cancel it.
	ErrNonceBlocked = errors.New("an earlier transaction holds the nonce before this one")
	// ErrNonceUsed means the nonce of the transaction to cancel or speed up is already
	// used on the chain: wait for the outcome.
	ErrNonceUsed = errors.New("too late: the transaction's nonce is used")
	// ErrEnded means the transaction to speed up is already final.
	ErrEnded = errors.New("transaction has ended")
	// ErrCancelling means a cancelling transaction holds the nonce, so the call must not
	// be sped up.
	ErrCancelling = errors.New("transaction is being cancelled")
	// ErrAttempts means the most attempts allowed for one nonce were signed: wait for the
	// outcome.
	ErrAttempts = errors.New("too many attempts on one nonce")
	// ErrDisagree means RPC endpoints contradict each other about a transaction, or about
	// what decides whether one is signed.
	ErrDisagree = errors.New("rpc endpoints disagree")
	// ErrFunds means the account cannot pay the value that a call sends.
	ErrFunds = errors.New("insufficient funds for the value sent")
)

// A Call is an unsigned transaction: what to do, without nonce and fees.
type Call struct {
	ChainID uint64         `json:"chainId"`
	From    common.Address `json:"from"`
	To      common.Address `json:"to"`
	Value   *big.Int       `json:"value"` // wei; never nil in a checked call
	Data    []byte         `json:"data,omitempty"`
	Gas     uint64         `json:"gas,omitempty"` // gas limit; 0 = estimate
}

// SameAs reports whether d does the same as c, whatever its gas limit.
func (c Call) SameAs(d Call) bool {
	return c.ChainID == d.ChainID && c.From == d.From && c.To == d.To && c.Value.Cmp(d.Value) == 0 && bytes.Equal(c.Data, d.Data)
}

// Msg returns c as the argument of eth_call and eth_estimateGas.
func (c Call) Msg() ethereum.CallMsg {
	return ethereum.CallMsg{From: c.From, To: &c.To, Value: c.Value, Data: c.Data, Gas: c.Gas}
}

// A Signer signs transactions for the accounts it holds; *keys.Vault is one. An error
// means that nothing was signed.
type Signer interface {
	SignTx(ctx context.Context, from common.Address, tx *types.Transaction, chainID *big.Int) (*types.Transaction, error)
}

// Fees are prices per unit of gas, in wei.
type Fees struct {
	BaseFee   *big.Int `json:"baseFee"`
	GasFeeCap *big.Int `json:"gasFeeCap"`
	GasTipCap *big.Int `json:"gasTipCap"`
	Legacy    bool     `json:"legacy,omitempty"` // GasFeeCap is the gas price
}

// A Cost is what a call's own transaction costs, in wei, without the value it sends.
type Cost struct {
	Gas      uint64   `json:"gas"` // gas limit
	Fees     Fees     `json:"fees"`
	Tier     Tier     `json:"tier,omitempty"` // of Fees
	Expected *big.Int `json:"expected"`       // at the current base fee
	L1       *big.Int `json:"l1"`             // fee for data posted to L1; zero elsewhere
	Max      *big.Int `json:"max"`            // upper bound of the gas and L1 fees
}

// A Movement is a transfer seen in a simulation or a receipt. Token is Native for the
// network's native coin. A mint comes from the zero address, a burn goes to it.
type Movement struct {
	Token  common.Address `json:"token"`
	From   common.Address `json:"from"`
	To     common.Address `json:"to"`
	Amount *big.Int       `json:"amount"`       // base units; 1 for an ERC-721 token
	ID     *big.Int       `json:"id,omitempty"` // token id, ERC-721 and ERC-1155 only
}

// A Grant is an allowance event seen in a simulation: an Approval of ERC-20 or Permit2,
// or an NFT's Approval or ApprovalForAll, which have a nil Amount.
type Grant struct {
	Token   common.Address `json:"token"`
	Owner   common.Address `json:"owner"`
	Spender common.Address `json:"spender"`
	Amount  *big.Int       `json:"amount,omitempty"`
	Via     common.Address `json:"via,omitzero"` // the Permit2 contract that holds the allowance; zero = the token itself
}

// A Simulation is what a node says calls would do on top of its latest block.
type Simulation struct {
	Method    string     `json:"method"` // eth_simulateV1 or eth_call
	Shown     bool       `json:"shown"`  // Movements and Grants are complete; false for eth_call
	Movements []Movement `json:"movements,omitempty"`
	Grants    []Grant    `json:"grants,omitempty"`
	GasUsed   []uint64   `json:"gasUsed,omitempty"` // one per call
	Block     uint64     `json:"block"`
}

// Evidence is what RPC hosts show of one mined transaction.
type Evidence struct {
	Chain     uint64         `json:"chainId"`
	Tx        common.Hash    `json:"tx"`
	Block     uint64         `json:"block"`
	BlockHash common.Hash    `json:"blockHash"`
	Success   bool           `json:"success"`
	Depth     uint64         `json:"depth"` // confirmations, its own block included
	GasUsed   uint64         `json:"gasUsed"`
	FeePaid   *big.Int       `json:"feePaid"` // wei
	Hosts     []string       `json:"hosts"`   // RPC hosts that agree
	To        common.Address `json:"to"`
	Time      time.Time      `json:"time,omitzero"` // of the block
	// From, Value (wei), InputEnd and InputSize are the transaction's own; set only at the
	// network's depth. InputEnd is the last 32 bytes of its input, zero if that is shorter.
	From      common.Address `json:"from,omitzero"`
	Value     *big.Int       `json:"value,omitempty"`
	InputEnd  common.Hash    `json:"inputEnd,omitzero"`
	InputSize int            `json:"inputSize,omitempty"` // bytes
	Logs      []*types.Log   `json:"-"`
}

// A Policy bounds what the sender may do for one key.
type Policy struct {
	// Ceiling is the most the transaction's gas may cost, in wei, without the value it
	// sends; nil = unlimited.
	Ceiling *big.Int `json:"ceiling,omitempty"`
	// Until is the deadline for signing and broadcasting the bytes. Later they are only
	// watched.
	Until time.Time `json:"until"`
	// Tier selects the fees of one signature; empty = Normal for a call, Fast for its
	// speed-up and cancel. It is not recorded.
	Tier Tier `json:"-"`
}

// A Reader reads one network through its endpoints, whose chain id is checked, and fails
// over between them. Its model is *ethclient.Client.
//
// TransactionReceipt returns ethereum.NotFound only when every endpoint does.
// SendTransaction may be repeated with the same bytes: nil means a node has them,
// [ErrRejected] that every node that was reached refused them and queued nothing; any
// other error leaves the outcome open, and receipts decide.
type Reader interface {
	ethereum.BlockNumberReader
	ethereum.ContractCaller
	ethereum.GasEstimator
	ethereum.GasPricer
	ethereum.GasPricer1559
	BalanceAt(ctx context.Context, account common.Address, block *big.Int) (*big.Int, error)
	CodeAt(ctx context.Context, account common.Address, block *big.Int) ([]byte, error)
	NonceAt(ctx context.Context, account common.Address, block *big.Int) (uint64, error)
	PendingNonceAt(ctx context.Context, account common.Address) (uint64, error)
	HeaderByNumber(ctx context.Context, number *big.Int) (*types.Header, error)
	SendTransaction(ctx context.Context, tx *types.Transaction) error
	SpreadTransaction(ctx context.Context, tx *types.Transaction) error
	TransactionReceipt(ctx context.Context, hash common.Hash) (*types.Receipt, error)
}
