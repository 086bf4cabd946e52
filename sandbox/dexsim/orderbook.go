package dexsim

import (
	"context"
	"errors"
	"math/big"
	"slices"
	"sync"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
)

// An order is an order that the service accepted. The fields after the blank line change
// and are guarded by the order book's mutex.
type order struct {
	id          common.Hash
	market      *market
	kind        *dutchKind
	terms       dutchOrder
	quoteID     string
	signature   []byte
	data        cosignerData
	cosignature []byte
	encoded     []byte // cosigned
	created     int64  // Unix seconds
	block       uint64 // head when it was posted

	outcome   Outcome
	sent      common.Hash // the filler's latest transaction
	lastError string      // the filler's latest error
}

// maxOrders limits the order book.
const maxOrders = 10_000

var errFull = errors.New("the simulator's order book is full: reset it")

// An orderBook holds orders by their hash, oldest first. The zero value is empty.
type orderBook struct {
	mu   sync.Mutex
	all  []*order
	byID map[common.Hash]*order
}

func (b *orderBook) add(o *order) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.byID[o.id] != nil {
		return nil // the same order, posted twice concurrently
	}
	if len(b.all) >= maxOrders {
		return errFull
	}
	if b.byID == nil {
		b.byID = map[common.Hash]*order{}
	}
	b.all, b.byID[o.id] = append(b.all, o), o
	return nil
}

func (b *orderBook) find(id common.Hash) *order {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.byID[id]
}

// list returns the orders for which wanted returns true; nil means all.
func (b *orderBook) list(wanted func(*order) bool) []*order {
	b.mu.Lock()
	defer b.mu.Unlock()
	some := slices.Clone(b.all)
	if wanted != nil {
		some = slices.DeleteFunc(some, func(o *order) bool { return !wanted(o) })
	}
	return some
}

func (b *orderBook) forget() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.all, b.byID = nil, nil
}

// progress is the part of an order that changes.
type progress struct {
	outcome   Outcome
	sent      common.Hash
	lastError string
}

func (b *orderBook) progress(o *order) progress {
	b.mu.Lock()
	defer b.mu.Unlock()
	return progress{o.outcome, o.sent, o.lastError}
}

// update changes an order under the lock.
func (b *orderBook) update(o *order, change func(*order)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	change(o)
}

// A orderStatus is an order's status and, if it is filled, the transaction and the amounts.
type orderStatus struct {
	status string
	tx     common.Hash
	in     *big.Int
	outs   []*big.Int
}

// fillTopic is the topic of the reactors' event Fill(bytes32 indexed orderHash, address
// indexed filler, address indexed swapper, uint256 nonce).
var fillTopic = crypto.Keccak256Hash([]byte("Fill(bytes32,address,address,uint256)"))

// statusOnChain returns an order's true status on the chain.
func (s *Server) statusOnChain(ctx context.Context, o *order) (orderStatus, error) {
	fill, err := o.filled(ctx)
	if err != nil || fill.status != "" {
		return fill, err
	}
	for _, step := range []func(*order, context.Context) (string, error){(*order).cancelled, (*order).expired, (*order).unfunded} {
		status, err := step(o, ctx)
		if err != nil {
			return orderStatus{}, err
		}
		if status != "" { // check again, as the real service does: it may have been filled meanwhile
			if fill, err = o.filled(ctx); err == nil && fill.status == "" {
				fill.status = status
			}
			return fill, err
		}
	}
	return orderStatus{status: "open"}, nil
}

// filled looks for the reactor's Fill event.
func (o *order) filled(ctx context.Context) (orderStatus, error) {
	logs, err := o.market.Client.FilterLogs(ctx, ethereum.FilterQuery{
		FromBlock: new(big.Int).SetUint64(o.block), Addresses: []common.Address{o.terms.common().Reactor},
		Topics: [][]common.Hash{{fillTopic}, {o.id}},
	})
	if err != nil || len(logs) == 0 {
		return orderStatus{}, err
	}
	header, err := o.market.Client.HeaderByHash(ctx, logs[0].BlockHash)
	if err != nil {
		return orderStatus{}, err
	}
	in, outs := o.terms.at(o.data, blockTime{header.Number.Uint64(), header.Time})
	return orderStatus{"filled", logs[0].TxHash, in, outs}, nil
}

// cancelled checks whether the nonce has been used.
func (o *order) cancelled(ctx context.Context) (string, error) {
	info := o.terms.common()
	word, bit := new(big.Int).Rsh(info.Nonce, 8), int(info.Nonce.Uint64()&0xff)
	out, err := o.market.read(ctx, o.market.Contracts.Permit2, o.market.abis.permit2, "nonceBitmap", info.Swapper, word)
	if err != nil || out[0].(*big.Int).Bit(bit) == 0 {
		return "", err
	}
	return "cancelled", nil
}

func (o *order) expired(ctx context.Context) (string, error) {
	now, err := o.market.Now(ctx)
	if err != nil || now.Unix() <= o.terms.common().Deadline.Int64() {
		return "", err
	}
	return "expired", nil
}

// unfunded checks whether the swapper's balance, and its allowance to Permit2, cover the
// order's maximum input.
func (o *order) unfunded(ctx context.Context) (string, error) {
	token, maximum := o.terms.maxInput()
	swapper := o.terms.common().Swapper
	balance, err := o.market.read(ctx, token, o.market.abis.erc20, "balanceOf", swapper)
	if err != nil {
		return "", err
	}
	allowed, err := o.market.read(ctx, token, o.market.abis.erc20, "allowance", swapper, o.market.Contracts.Permit2)
	if err != nil {
		return "", err
	}
	if balance[0].(*big.Int).Cmp(maximum) < 0 || allowed[0].(*big.Int).Cmp(maximum) < 0 {
		return "insufficient-funds", nil
	}
	return "", nil
}

// openOrders counts a swapper's open orders.
func (s *Server) openOrders(ctx context.Context, swapper common.Address) (int, error) {
	open := 0
	for _, o := range s.orders.list(func(o *order) bool { return o.terms.common().Swapper == swapper }) {
		now, err := s.statusOnChain(ctx, o)
		if err != nil {
			return 0, err
		}
		if now.status == "open" || now.status == "insufficient-funds" {
			open++
		}
	}
	return open, nil
}

// otherFill returns the fill of another order on the same chain, the latest if there
// are several.
func (s *Server) otherFill(ctx context.Context, o *order) (orderStatus, bool) {
	others := s.orders.list(func(other *order) bool { return other != o && other.market == o.market })
	slices.Reverse(others)
	for _, other := range others {
		if fill, err := other.filled(ctx); err == nil && fill.status != "" {
			return fill, true
		}
	}
	return orderStatus{}, false
}
