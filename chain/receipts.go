package chain

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
)

// ErrNotRecomputable means that this version cannot recompute the network's receipts.
var ErrNotRecomputable = errors.New("the network's receipts cannot be recomputed")

// A ForgedError means that hosts showed what a block's own hash, or the chain above it,
// contradicts.
type ForgedError struct {
	Hosts []string
	chain uint64
	what  string
}

func (e *ForgedError) Error() string {
	return fmt.Sprintf("chain %d: %s: forged: %s", e.chain, strings.Join(e.Hosts, ", "), e.what)
}

// CheckReceipt checks evidence, by which something is about to become final, against what its
// block's hash commits to: it recomputes the header's hash, the roots of the transactions and of
// the receipts, compares the transaction and its receipt with ev, and follows the parents' hashes
// down from the block at the network's depth, which a quorum of hosts shows alike. logs says that
// ev has its logs; stored evidence has none.
//
// One host is enough for all but that last block, since nothing that it shows depends on its
// word. It may be repeated. Errors: [ErrNotRecomputable], a [ForgedError]; any other is temporary:
// it says that no host serves what is needed, or in a form that is not known here.
func (h *MultiClient) CheckReceipt(ctx context.Context, ev Evidence, logs bool) error {
	if !recomputable(ev.Chain) {
		return fmt.Errorf("chain %d: %w", ev.Chain, ErrNotRecomputable)
	}
	p, err := h.readingPool(ev.Chain)
	if err != nil {
		return err
	}
	b, err := fromAny(p, func(e *endpoint) (*fullBlock, error) { return e.wholeBlock(ctx, ev.BlockHash, true) })
	if err != nil {
		return err
	}
	if wrong := b.contradiction(ev, logs); wrong != "" {
		return p.forged(ev.Hosts, fmt.Sprintf("of transaction %s: %s", ev.Tx, wrong))
	}
	return p.checkAncestor(ctx, ev)
}

// maxAncestry bounds how many blocks above the evidence are read, however deep it must be.
const maxAncestry = 64

// checkAncestor checks that the block at the network's depth above ev has ev's block among its
// ancestors.
func (p *pool) checkAncestor(ctx context.Context, ev Evidence) error {
	top := ev.Block + max(min(p.network.Depth, maxAncestry), 1) - 1
	hash, _, err := quorumReadEqual(ctx, p, p.order(), fmt.Sprintf("block %d", top), func(ctx context.Context, e *endpoint) (common.Hash, error) {
		b, err := e.at(ctx, top)
		return b.Hash, err
	})
	if err != nil {
		return err
	}
	for n := top; n > ev.Block; n-- {
		b, err := fromAny(p, func(e *endpoint) (*fullBlock, error) { return e.blockByHash(ctx, hash, false) })
		if err != nil {
			return err
		}
		if b.header.Number.Uint64() != n {
			return p.forged(ev.Hosts, fmt.Sprintf("block %s is not number %d", hash, n))
		}
		hash = b.header.ParentHash
	}
	if hash != ev.BlockHash {
		return p.forged(ev.Hosts, fmt.Sprintf("block %d does not descend from block %s of transaction %s", top, ev.BlockHash, ev.Tx))
	}
	return nil
}

// fromAny returns what the first endpoint shows that can show it. If none can, one that
// contradicts itself decides the error: nothing may become final then.
func fromAny[T any](p *pool, ask func(*endpoint) (T, error)) (T, error) {
	var none T
	var forgers []string
	var errs []error
	for _, e := range p.order() {
		v, err := ask(e)
		if err == nil {
			_ = p.forged(forgers, "what another host shows otherwise")
			return v, nil
		}
		if errors.Is(err, errContradiction) {
			forgers = append(forgers, e.host)
		}
		errs = append(errs, err)
	}
	err := errors.Join(errs...)
	if len(forgers) > 0 {
		return none, p.forged(forgers, strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	return none, fmt.Errorf("chain %d: %w", p.network.ID, err)
}

// forged returns a ForgedError about hosts, which are not trusted for a while.
func (p *pool) forged(hosts []string, what string) error {
	err := &ForgedError{Hosts: hosts, chain: p.network.ID, what: what}
	for _, e := range p.endpoints {
		if slices.Contains(hosts, e.host) {
			e.distrust(err)
		}
	}
	return err
}

// blockByHash asks e for the block with that hash; without txs it has its header alone.
func (e *endpoint) blockByHash(ctx context.Context, hash common.Hash, txs bool) (*fullBlock, error) {
	var raw json.RawMessage
	_, err := e.do(ctx, func(ctx context.Context) error {
		return e.rpc.CallContext(ctx, &raw, "eth_getBlockByHash", hash, txs)
	})
	switch {
	case err != nil:
		return nil, err
	case string(raw) == "null":
		return nil, fmt.Errorf("%s has no block %s", e.host, hash)
	case txs:
		return readBlock(raw, hash)
	}
	header, err := readHeader(raw, hash)
	return &fullBlock{header: header}, err
}

// wholeBlock asks e for the block with that hash and its receipts. If the receipts do not give
// the root, the block before tells, once, whether e's receipts ever do: if they do not either,
// the network may have a new encoding.
func (e *endpoint) wholeBlock(ctx context.Context, hash common.Hash, first bool) (*fullBlock, error) {
	b, err := e.blockByHash(ctx, hash, true)
	if err != nil {
		return nil, err
	}
	list, err := e.blockReceipts(ctx, b)
	if err != nil {
		return nil, err
	}
	err = b.setReceipts(list)
	if first && errors.Is(err, errContradiction) {
		if _, before := e.wholeBlock(ctx, b.header.ParentHash, false); before != nil {
			return nil, fmt.Errorf("%s: receipts of two blocks: %w", e.host, errForm)
		}
	}
	return b, err
}

// refusesMethod reports whether an endpoint may answer another method than the one it refused.
func refusesMethod(err error) bool {
	var status *statusError
	return isAnswer(err) || errors.As(err, &status) && status.status == http.StatusForbidden
}

// Bounds of reading a block's receipts one by one.
const (
	maxSingleReceipts = 100
	singleReceiptTime = 30 * time.Second
)

// allReceipts asks e for all receipts of a block at once.
func (e *endpoint) allReceipts(ctx context.Context, block *big.Int) (list []blockReceipt, err error) {
	_, err = e.do(ctx, func(ctx context.Context) error {
		list = nil
		return e.rpc.CallContext(ctx, &list, "eth_getBlockReceipts", hexutil.EncodeBig(block))
	})
	return list, err
}

// blockReceipts asks e for b's receipts: all at once or, where e refuses that and b is small,
// one by one.
func (e *endpoint) blockReceipts(ctx context.Context, b *fullBlock) ([]blockReceipt, error) {
	if len(b.txs) == 0 {
		return nil, nil
	}
	list, err := e.allReceipts(ctx, b.header.Number)
	if err == nil && len(list) == 0 {
		err = fmt.Errorf("%s has no receipts of block %s", e.host, b.header.Number)
	}
	if err == nil || len(b.txs) > maxSingleReceipts || !refusesMethod(err) {
		return list, err
	}
	ctx, cancel := context.WithTimeout(ctx, singleReceiptTime)
	defer cancel()
	for _, t := range b.txs {
		var r *blockReceipt
		_, err := e.do(ctx, func(ctx context.Context) error {
			r = nil
			return e.rpc.CallContext(ctx, &r, "eth_getTransactionReceipt", t.hash)
		})
		if err == nil && r == nil {
			err = fmt.Errorf("%s has no receipt of transaction %s", e.host, t.hash)
		}
		if err != nil {
			return nil, err
		}
		list = append(list, *r)
	}
	return list, nil
}
