// Package chain talks to EVM networks: it knows their parameters, reads them
// through checked RPC endpoints, prices and simulates calls, gathers evidence
// of what was mined, and sends transactions through a [Sender] that survives a
// crash at any point without ever paying twice.
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

// Native is the token address that stands for a network's own coin.
var Native = common.Address{}

// Errors a caller decides on. Every other error of this package is temporary
// or internal: it says nothing about what happened on the chain.
var (
	// ErrNoNetwork means the chain is not one of ours or has no RPC endpoint.
	ErrNoNetwork = errors.New("network not configured")
	// ErrWrongChain means an endpoint answered with another chain id; it is not used.
	ErrWrongChain = errors.New("rpc endpoint serves another chain")
	// ErrUnreachable means no endpoint of the network answered, or fewer hosts than
	// must agree.
	ErrUnreachable = errors.New("too few rpc endpoints answered")
	// ErrNode means that a node was reached and answered with an error.
	ErrNode = errors.New("the network's node refused to answer")
	// ErrWouldRevert means a node executed the call and it failed.
	ErrWouldRevert = errors.New("call would revert")
	// ErrCeiling means a transaction would cost more than its policy allows.
	ErrCeiling = errors.New("gas cost above the ceiling")
	// ErrExpired means the policy's last moment for signing has passed.
	ErrExpired = errors.New("too late to sign")
	// ErrRejected means every node refused the transaction before queueing it,
	// and it can never have left the process: its nonce is free again.
	ErrRejected = errors.New("transaction rejected")
	// ErrLedger means the record of signed transactions cannot be read or
	// written. Nothing was signed or broadcast after it; nothing may be.
	ErrLedger = errors.New("transaction ledger unavailable")
	// ErrKeyReused means a key already stands for another call.
	ErrKeyReused = errors.New("key already used for another call")
	// ErrNonceBlocked means an earlier transaction of the account may no longer
	// be broadcast and still holds its nonce: wait for its end or cancel it.
	ErrNonceBlocked = errors.New("an earlier transaction holds the nonce before this one")
	// ErrNonceUsed means the chain already used the nonce of what was to be
	// cancelled or sped up: the outcome is on its way.
	ErrNonceUsed = errors.New("too late: the transaction's nonce is used")
	// ErrEnded means the transaction that was to be sped up has come to its end.
	ErrEnded = errors.New("transaction has ended")
	// ErrCancelling means a cancelling transaction holds the nonce: the call
	// must not be offered for more than that.
	ErrCancelling = errors.New("transaction is being cancelled")
	// ErrAttempts means so many attempts were signed for one nonce that there
	// will be no more: the outcome must be waited for.
	ErrAttempts = errors.New("too many attempts on one nonce")
	// ErrDisagree means RPC endpoints tell different stories about one transaction, or
	// about what decides whether one is signed.
	ErrDisagree = errors.New("rpc endpoints disagree")
	// ErrFunds means the account cannot pay the value that a call sends.
	ErrFunds = errors.New("insufficient funds for the value sent")
)

// A Call is an unsigned transaction: what to do, without nonce or fee.
type Call struct {
	ChainID uint64         `json:"chainId"`
	From    common.Address `json:"from"`
	To      common.Address `json:"to"`
	Value   *big.Int       `json:"value"` // wei; never nil in a checked call
	Data    []byte         `json:"data,omitempty"`
	Gas     uint64         `json:"gas,omitempty"` // limit; 0 = estimate
}

// Does reports whether d does the same, with whatever gas.
func (c Call) Does(d Call) bool {
	return c.ChainID == d.ChainID && c.From == d.From && c.To == d.To && c.Value.Cmp(d.Value) == 0 && bytes.Equal(c.Data, d.Data)
}

// Msg is c in the form that nodes execute.
func (c Call) Msg() ethereum.CallMsg {
	return ethereum.CallMsg{From: c.From, To: &c.To, Value: c.Value, Data: c.Data, Gas: c.Gas}
}

// A Signer signs transactions for the accounts it holds. *keys.Vault is one.
// An error means that nothing was signed.
type Signer interface {
	SignTx(ctx context.Context, from common.Address, tx *types.Transaction, chainID *big.Int) (*types.Transaction, error)
}

// Fees are what one unit of gas may cost, in wei.
type Fees struct {
	BaseFee   *big.Int `json:"baseFee"`
	GasFeeCap *big.Int `json:"gasFeeCap"`
	GasTipCap *big.Int `json:"gasTipCap"`
	Legacy    bool     `json:"legacy,omitempty"` // GasFeeCap is the gas price
}

// A Cost is the price of a call's own transaction, in wei.
type Cost struct {
	Gas      uint64   `json:"gas"` // limit
	Fees     Fees     `json:"fees"`
	Tier     Tier     `json:"tier,omitempty"` // that the fees are of
	Expected *big.Int `json:"expected"`       // at the present base fee
	L1       *big.Int `json:"l1"`             // part paid for data on L1; zero elsewhere
	Max      *big.Int `json:"max"`            // most the gas can cost; the value sent is not in it
}

// A Movement is a transfer seen in a simulation or a receipt. Token is Native
// for the network's own coin. Minting comes from the zero address, burning goes
// to it.
type Movement struct {
	Token  common.Address `json:"token"`
	From   common.Address `json:"from"`
	To     common.Address `json:"to"`
	Amount *big.Int       `json:"amount"`       // base units; 1 for an ERC-721 token
	ID     *big.Int       `json:"id,omitempty"` // token id, ERC-721 and ERC-1155 only
}

// A Grant is an allowance event seen in a simulation: ERC-20 or Permit2
// Approval, NFT Approval (Amount nil) or ApprovalForAll (Amount nil).
type Grant struct {
	Token   common.Address `json:"token"`
	Owner   common.Address `json:"owner"`
	Spender common.Address `json:"spender"`
	Amount  *big.Int       `json:"amount,omitempty"`
	Via     common.Address `json:"via,omitzero"` // the Permit2 contract that keeps it; zero = the token itself
}

// A Simulation is what a node says calls would do on top of its latest block.
type Simulation struct {
	Method    string     `json:"method"` // eth_simulateV1 or eth_call
	Shown     bool       `json:"shown"`  // Movements and Grants are complete; false for eth_call
	Movements []Movement `json:"movements,omitempty"`
	Grants    []Grant    `json:"grants,omitempty"`
	GasUsed   []uint64   `json:"gasUsed,omitempty"` // by call
	Block     uint64     `json:"block"`
}

// Evidence is what the chain says of one mined transaction, at depth.
type Evidence struct {
	Chain     uint64         `json:"chainId"`
	Tx        common.Hash    `json:"tx"`
	Block     uint64         `json:"block"`
	BlockHash common.Hash    `json:"blockHash"`
	Success   bool           `json:"success"`
	Depth     uint64         `json:"depth"` // blocks on top, its own included
	GasUsed   uint64         `json:"gasUsed"`
	FeePaid   *big.Int       `json:"feePaid"` // wei
	Hosts     []string       `json:"hosts"`   // RPC hosts that agree; one host = "one source"
	To        common.Address `json:"to"`
	Time      time.Time      `json:"time,omitzero"` // of the block
	// From and Value (wei) are the transaction's own. Only evidence at depth has them.
	From  common.Address `json:"from,omitzero"`
	Value *big.Int       `json:"value,omitempty"`
	Logs  []*types.Log   `json:"-"`
}

// A Policy bounds what the sender may do for one key.
type Policy struct {
	// Ceiling is the most the transaction's gas may cost, in wei, the value it
	// sends not included; nil = no bound.
	Ceiling *big.Int `json:"ceiling,omitempty"`
	// Until is the last moment at which the bytes may be signed or broadcast.
	// Later they are only watched.
	Until time.Time `json:"until"`
	// Tier is what is offered; empty = Normal for a call, Fast for its speed-up
	// and cancel. It is a wish for one signature and no part of the record.
	Tier Tier `json:"-"`
}

// A Reader is one network's endpoints, checked for the chain id, failing over
// between them on reads. *ethclient.Client is the model.
//
// TransactionReceipt returns ethereum.NotFound only when every endpoint says
// so. SendTransaction may be repeated with the same bytes: nil means a node has
// them, [ErrRejected] that every node that was reached refused them and queued
// nothing; any other error leaves the outcome open, and receipts decide.
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
