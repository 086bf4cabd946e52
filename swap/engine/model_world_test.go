package engine

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"time"

	"swapkeep/chain"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
)

const (
	modelDepth = 3   // blocks until evidence is final, on both chains
	modelGwei  = 1e9 // wei
)

// A modelChain is a chain reduced to what the guarantees of engine and sender depend on:
// blocks with the state after each, a pool, reorgs, two hosts, the second of which may be
// behind, and lost answers.
type modelChain struct {
	net    chain.Network
	tokens [modelTokens]common.Address
	who    [2]common.Address
	rules  types.Signer

	blocks []modelBlock // by number; 0 is genesis
	pool   []*types.Transaction
	bids   []modelBid     // submitted to the dealer
	due    []modelPayment // waiting for a block
	salt   uint64
	base   uint64 // base fee, wei per gas
	l1     uint64 // wei that each transaction pays in addition
	rate   uint64 // per mille: the router's output per input

	send   string  // result of broadcasts: "", "lost", "gone", "refused", "odd"
	down   [2]bool // hosts that do not answer
	lag    int     // blocks that the second host is behind
	second bool    // single reads go to the second host
	blind  bool    // simulations show nothing
	hides  int     // the host that hides logs, from 1; 0 = neither
	liar   int     // the host that lies for the broker, from 1; 0 = neither
	about  string  // what it lies about; of modelLies
	flips  bool    // both hosts tell the engine that what succeeded failed, and the other way round

	reorged map[common.Hash]bool // transactions and bids that were final and were removed by a reorg
}

type modelBlock struct {
	hash     common.Hash
	time     time.Time
	state    modelState
	receipts []modelReceipt
	fills    []modelFill
	payments []modelPayment
}

// A modelReceipt is a transaction in a block.
type modelReceipt struct {
	tx      *types.Transaction
	from    int
	success bool
	gas     uint64
	paid    uint64 // wei, in total
	did     modelDone
}

func newModelChain(id uint64, who [2]common.Address, now time.Time) *modelChain {
	net, _ := chain.NetworkByID(id)
	net.Depth, net.GasCeiling = modelDepth, big.NewInt(5e16)
	c := &modelChain{net: net, who: who, rules: types.LatestSignerForChainID(new(big.Int).SetUint64(id)), base: 10 * modelGwei, rate: 1000, reorged: map[common.Hash]bool{}}
	c.tokens = [modelTokens]common.Address{usdc, usdt, net.WrappedNative}
	if net.L1Fee == chain.L1FeeOP {
		c.l1 = 1e13
	}
	genesis := modelBlock{hash: c.blockHash(), time: now}
	for i := range genesis.state {
		genesis.state[i].coin = 8e18
		for j := range modelTokens {
			genesis.state[i].tokens[j].balance = 2e18
		}
	}
	c.blocks = []modelBlock{genesis}
	return c
}

func (c *modelChain) blockHash() common.Hash {
	c.salt++
	return crypto.Keccak256Hash(fmt.Appendf(nil, "block %d of %d", c.salt, c.net.ID))
}

func (c *modelChain) head() int { return len(c.blocks) - 1 }

// state returns what the first host shows now.
func (c *modelChain) state() modelState { return c.blocks[c.head()].state }

func (c *modelChain) sender(tx *types.Transaction) int {
	from, err := types.Sender(c.rules, tx) // cached in tx
	i := slices.Index(c.who[:], from)
	if err != nil || i < 0 {
		panic("a transaction of nobody")
	}
	return i
}

func (c *modelChain) pooled(from int, nonce uint64) int {
	return slices.IndexFunc(c.pool, func(tx *types.Transaction) bool { return tx.Nonce() == nonce && c.sender(tx) == from })
}

func (c *modelChain) pendingNonce(from int) uint64 {
	n := c.state()[from].nonce
	for c.pooled(from, n) >= 0 {
		n++
	}
	return n
}

// find returns the receipt of a transaction as of block view, and its block.
func (c *modelChain) find(hash common.Hash, view int) (*modelReceipt, int) {
	for i := view; i > 0; i-- {
		for j := range c.blocks[i].receipts {
			if r := &c.blocks[i].receipts[j]; r.tx.Hash() == hash {
				return r, i
			}
		}
	}
	return nil, 0
}

// A node's answers to bytes that it does not queue.
var (
	errModelLow   = errors.New("nonce too low")
	errModelUnder = errors.New("replacement transaction underpriced")
	errModelFunds = fmt.Errorf("%w: insufficient funds for gas * price + value", chain.ErrRejected)
)

// add queues tx as a node would.
func (c *modelChain) add(tx *types.Transaction) error {
	from := c.sender(tx)
	me := c.state()[from]
	if tx.Nonce() < me.nonce {
		return errModelLow
	}
	if me.coin < mostOf(tx) {
		return errModelFunds
	}
	i := c.pooled(from, tx.Nonce())
	if i < 0 {
		c.pool = append(c.pool, tx)
		return nil
	}
	old := c.pool[i]
	switch {
	case old.Hash() == tx.Hash(): // already known
	case outbids(tx.GasFeeCap(), old.GasFeeCap()) && outbids(tx.GasTipCap(), old.GasTipCap()):
		c.pool[i] = tx
	default:
		return errModelUnder
	}
	return nil
}

func outbids(x, old *big.Int) bool {
	return new(big.Int).Mul(x, big.NewInt(100)).Cmp(new(big.Int).Mul(old, big.NewInt(110))) >= 0
}

// mostOf returns the most that tx can take from its account, in wei.
func mostOf(tx *types.Transaction) uint64 {
	return tx.Value().Uint64() + tx.Gas()*tx.GasFeeCap().Uint64()
}

// mine makes a block of everything that can run; with empty it ignores the pool.
func (c *modelChain) mine(now time.Time, empty bool) {
	last := c.blocks[c.head()]
	b := modelBlock{hash: c.blockHash(), time: last.time.Add(time.Second), state: last.state}
	if now.After(b.time) {
		b.time = now
	}
	c.payDue(&b)
	for progress := !empty; progress; {
		i := slices.IndexFunc(c.pool, func(tx *types.Transaction) bool { return c.include(&b, tx) })
		if progress = i >= 0; progress {
			c.pool = slices.Delete(c.pool, i, i+1)
		}
	}
	c.blocks = append(c.blocks, b)
	c.pool = slices.DeleteFunc(c.pool, func(tx *types.Transaction) bool { return tx.Nonce() < b.state[c.sender(tx)].nonce })
}

// include executes tx in b if it can.
func (c *modelChain) include(b *modelBlock, tx *types.Transaction) bool {
	from := c.sender(tx)
	me := &b.state[from]
	if tx.Nonce() != me.nonce || tx.GasFeeCap().Uint64() < c.base || me.coin < mostOf(tx) {
		return false
	}
	me.nonce++
	r := modelReceipt{tx: tx, from: from}
	trial := b.state
	did, err := c.execute(&trial, b.time, modelCall{from, *tx.To(), tx.Value().Uint64(), tx.Data(), false})
	r.success, r.gas = err == nil && did.gas <= tx.Gas(), min(max(did.gas, 21_000), tx.Gas())
	if r.success {
		b.state, r.did = trial, did
	}
	r.paid = r.gas*min(tx.GasFeeCap().Uint64(), c.base+tx.GasTipCap().Uint64()) + c.l1
	b.state[from].coin -= min(r.paid, b.state[from].coin)
	b.receipts = append(b.receipts, r)
	return true
}

// reorg replaces the last n blocks with empty ones. Their transactions return to the
// pool, unless lost. Final ones are never lost: bytes that nobody has and that may not be
// sent any more would leave a nonce open for good.
func (c *modelChain) reorg(now time.Time, n int, lost bool) {
	gone, again := c.blocks[len(c.blocks)-n:], []modelPayment{}
	c.blocks = slices.Clip(c.blocks[:len(c.blocks)-n])
	for i, b := range gone {
		for _, f := range b.fills {
			if n-i >= modelDepth {
				c.reorged[bidHash(f.bid.order)] = true
			}
		}
		for _, x := range b.payments {
			if n-i >= modelDepth {
				c.reorged[x.hash] = true
			}
			if c.reorged[x.hash] || !lost {
				again = append(again, x)
			}
		}
		for _, r := range b.receipts {
			if n-i >= modelDepth {
				c.reorged[r.tx.Hash()] = true
			}
			if j := c.pooled(r.from, r.tx.Nonce()); j >= 0 {
				c.pool = slices.Delete(c.pool, j, j+1)
			}
			if c.reorged[r.tx.Hash()] || !lost {
				c.pool = append(c.pool, r.tx)
			}
		}
	}
	for range n {
		c.mine(now, true)
	}
	c.due = again
}

// view returns the latest block that a host knows.
func (c *modelChain) view(host int) int {
	if host == 1 {
		return max(c.head()-c.lag, 0)
	}
	return c.head()
}

// reads returns the host that single reads ask; -1 = none answers.
func (c *modelChain) reads() int {
	order := []int{0, 1}
	if c.second {
		order = []int{1, 0}
	}
	for _, host := range order {
		if !c.down[host] {
			return host
		}
	}
	return -1
}
