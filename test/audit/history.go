package audit

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/rpc"

	"swapkeep/sandbox"
)

// Events of tokens.
var (
	transferred = common.HexToHash("0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef") // Transfer(address,address,uint256)
	wrapped     = common.HexToHash("0xe1fffcc4923d04b559f4d29a8bfc6cda04eb5b0d3c460751c2402c5c5cc9109c") // Deposit(address,uint256)
	unwrapped   = common.HexToHash("0x7fcf532c15f0a6db0bd6d0e038bea71d30d808c7d98cb3bf7268a95bf5081b65") // Withdrawal(address,uint256)
)

// A chainHistory is the history of some accounts on a chain, read past the daemon's endpoint.
type chainHistory struct {
	chain    *sandbox.Chain // nil: nothing is read
	ID       uint64
	Permit2  common.Address
	Wrapped  common.Address // the native coin as a token
	accounts []common.Address
	since    uint64 // the last block before it begins
	stop     context.CancelFunc
	done     sync.WaitGroup

	next     uint64                        // next block to read
	balances map[common.Address][]*big.Int // native balances, for each block from since on
	blocks   []*blockRecord
	before   map[holding]*big.Int // balances of the network's tokens, at the last block before it begins
	after    map[holding]*big.Int // the same, at the end
	err      error
}

// A holding is what an account holds of a token.
type holding struct{ account, token common.Address }

// A blockRecord is one block.
type blockRecord struct {
	number uint64
	txs    types.Transactions
	found  []*types.Receipt
}

// record begins a history at the current block, and leaves out blocks until they are deep
// enough that no reorg replaces them, or finish.
func record(c *sandbox.Chain, accounts []common.Address, depth uint64) *chainHistory {
	ctx, stop := context.WithCancel(context.Background())
	since := c.Head().Number.Uint64()
	h := &chainHistory{chain: c, ID: c.ID, Permit2: c.Network.Contracts.Permit2, Wrapped: c.Network.Wrapped.Address, accounts: accounts, since: since, next: since, stop: stop, balances: map[common.Address][]*big.Int{}}
	h.before, h.err = h.holdings(since)
	h.done.Go(func() {
		for tick := time.NewTicker(time.Second); ; {
			select {
			case <-ctx.Done():
				tick.Stop()
				return
			case <-tick.C:
			}
			if head := h.chain.Head().Number.Uint64(); head > depth && h.err == nil {
				h.err = h.readTo(head - depth)
			}
		}
	})
	return h
}

// close stops the reading.
func (h *chainHistory) close() {
	if h.stop == nil {
		return
	}
	h.stop()
	h.done.Wait()
}

// finish reads up to the head; no more reorgs may follow.
func (h *chainHistory) finish() error {
	if h.chain == nil {
		return nil
	}
	h.close()
	if h.err != nil {
		return h.err
	}
	head := h.chain.Head().Number.Uint64()
	if h.err = h.readTo(head); h.err == nil {
		h.after, h.err = h.holdings(head)
	}
	return h.err
}

// holdings reads the accounts' balances of the network's tokens after a block.
func (h *chainHistory) holdings(block uint64) (map[holding]*big.Int, error) {
	all := map[holding]*big.Int{}
	for _, t := range append([]sandbox.Token{h.chain.Network.Wrapped}, h.chain.Network.Tokens...) {
		for _, a := range h.accounts {
			call := ethereum.CallMsg{To: &t.Address, Data: slices.Concat(common.FromHex("0x70a08231"), word(a))} // balanceOf(address)
			out, err := h.chain.Client().CallContract(context.Background(), call, new(big.Int).SetUint64(block))
			if err != nil || len(out) != 32 {
				return nil, fmt.Errorf("chain %d: balance of %s: %d bytes, %w", h.ID, t.Symbol, len(out), err)
			}
			all[holding{a, t.Address}] = new(big.Int).SetBytes(out)
		}
	}
	return all, nil
}

func (h *chainHistory) readTo(head uint64) error {
	ctx := context.Background()
	for ; h.next <= head; h.next++ {
		at := new(big.Int).SetUint64(h.next)
		for _, a := range h.accounts {
			b, err := h.chain.Client().BalanceAt(ctx, a, at)
			if err != nil {
				return fmt.Errorf("chain %d, block %d: %w", h.chain.ID, h.next, err)
			}
			h.balances[a] = append(h.balances[a], b)
		}
		if h.next == h.since {
			continue
		}
		block, err := h.chain.Client().BlockByNumber(ctx, at)
		if err != nil {
			return err
		}
		p := &blockRecord{number: h.next, txs: block.Transactions()}
		if len(p.txs) > 0 {
			if p.found, err = h.chain.Client().BlockReceipts(ctx, rpc.BlockNumberOrHashWithHash(block.Hash(), false)); err != nil {
				return err
			}
		}
		h.blocks = append(h.blocks, p)
	}
	return nil
}

// balance returns the native balance after a block.
func (h *chainHistory) balance(a common.Address, block uint64) *big.Int {
	return h.balances[a][block-h.since]
}

// A movement is one amount of a token that an account received or sent, by a log.
type movement struct {
	chain   uint64
	account common.Address
	token   common.Address
	amount  *big.Int // received; negative: sent
	tx      common.Hash
	block   uint64
}

// An ownTx is a transaction of one of the accounts.
type ownTx struct {
	chain   uint64
	account common.Address
	block   uint64
	tx      *types.Transaction
	receipt *types.Receipt
}

// cost returns what it cost in the native coin: fee and value.
func (o ownTx) cost() *big.Int {
	fee := new(big.Int).Mul(o.receipt.EffectiveGasPrice, new(big.Int).SetUint64(o.receipt.GasUsed))
	if o.receipt.Status == types.ReceiptStatusSuccessful {
		fee.Add(fee, o.tx.Value())
	}
	return fee
}

// accountEvents returns everything in the blocks that concerns the accounts.
func (h *chainHistory) accountEvents() (moves []movement, owns []ownTx, grants map[Grant]common.Hash, err error) {
	grants = map[Grant]common.Hash{}
	mine := map[common.Address]bool{}
	for _, a := range h.accounts {
		mine[a] = true
	}
	signer := types.LatestSignerForChainID(new(big.Int).SetUint64(h.ID))
	for _, p := range h.blocks {
		for i, tx := range p.txs {
			from, err := types.Sender(signer, tx)
			if err != nil {
				return nil, nil, nil, err
			}
			if mine[from] {
				owns = append(owns, ownTx{h.ID, from, p.number, tx, p.found[i]})
			}
			for _, l := range p.found[i].Logs {
				moves = append(moves, h.moves(l, mine)...)
				if g, ok := grantIn(h.ID, h.Permit2, l, mine); ok {
					grants[g] = tx.Hash()
				}
			}
		}
	}
	return moves, owns, grants, nil
}

func addressOf(topic common.Hash) common.Address { return common.BytesToAddress(topic[12:]) }

// moves returns what the accounts received and sent by a log.
func (h *chainHistory) moves(l *types.Log, mine map[common.Address]bool) (all []movement) {
	if len(l.Topics) == 0 || len(l.Data) != 32 {
		return nil
	}
	amount := new(big.Int).SetBytes(l.Data)
	note := func(a common.Address, n *big.Int) {
		if mine[a] && n.Sign() != 0 {
			all = append(all, movement{h.ID, a, l.Address, n, l.TxHash, l.BlockNumber})
		}
	}
	coin := l.Address == h.Wrapped
	switch {
	case l.Topics[0] == transferred && len(l.Topics) == 3:
		note(addressOf(l.Topics[1]), new(big.Int).Neg(amount))
		note(addressOf(l.Topics[2]), amount)
	case l.Topics[0] == wrapped && len(l.Topics) == 2 && coin:
		note(addressOf(l.Topics[1]), amount)
	case l.Topics[0] == unwrapped && len(l.Topics) == 2 && coin:
		note(addressOf(l.Topics[1]), new(big.Int).Neg(amount))
	}
	return all
}
