package chain

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"time"

	"swapkeep/internal/clock"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
)

// Evidence returns what became of tx, and whether that is proven: mined in a canonical
// block as deep as the network asks, with two hosts agreeing where two are configured.
// Unproven evidence with a Block shows the depth so far. An error says nothing about tx;
// ErrDisagree must be resolved by a person.
func (h *MultiClient) Evidence(ctx context.Context, id uint64, tx common.Hash) (Evidence, bool, error) {
	p, err := h.readingPool(id)
	if err != nil {
		return Evidence{}, false, err
	}
	var seen []Evidence
	var errs []error
	absent := make(map[string]bool) // hosts that do not know it
	for _, e := range p.order() {
		ev, mined, err := e.evidence(ctx, tx, p.network)
		switch {
		case err != nil:
			errs = append(errs, err)
		case !mined:
			absent[e.host] = true
		default:
			seen = append(seen, ev)
		}
		if agreed, ok := agreement(p, seen); ok {
			return agreed, agreed.Depth >= p.network.Depth, nil
		}
		if len(absent) >= p.quorum() {
			return Evidence{}, false, nil
		}
	}
	return p.unproven(seen, errs)
}

// agreement returns the evidence that a quorum of hosts agrees on, with their lowest
// depth and their highest fee: some nodes leave the L1 part out, and what remains of a
// ceiling must not be overstated.
func agreement(p *pool, seen []Evidence) (Evidence, bool) {
	for _, a := range seen {
		agreed, hosts := a, make(map[string]bool)
		agreed.Hosts = nil
		for _, b := range seen {
			if !sameOutcome(a, b) || hosts[b.Hosts[0]] {
				continue
			}
			hosts[b.Hosts[0]] = true
			agreed.Hosts = append(agreed.Hosts, b.Hosts[0])
			agreed.Depth = min(agreed.Depth, b.Depth)
			if agreed.Value == nil {
				agreed.From, agreed.Value, agreed.InputEnd, agreed.InputSize = b.From, b.Value, b.InputEnd, b.InputSize
			}
			if b.FeePaid.Cmp(agreed.FeePaid) > 0 {
				agreed.FeePaid = b.FeePaid
			}
		}
		if len(agreed.Hosts) >= p.quorum() {
			return agreed, true
		}
	}
	return Evidence{}, false
}

// sameOutcome compares everything that hosts must agree on about a transaction.
func sameOutcome(a, b Evidence) bool {
	return a.BlockHash == b.BlockHash && a.Time.Equal(b.Time) && a.Success == b.Success && a.GasUsed == b.GasUsed && a.To == b.To && samePayment(a, b) && sameLogs(a.Logs, b.Logs)
}

// samePayment compares what only evidence at depth has.
func samePayment(a, b Evidence) bool {
	return a.Value == nil || b.Value == nil || a.From == b.From && a.Value.Cmp(b.Value) == 0 && a.InputEnd == b.InputEnd && a.InputSize == b.InputSize
}

// sameLogs compares the content of logs, not their indexes.
func sameLogs(a, b []*types.Log) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Address != b[i].Address || len(a[i].Topics) != len(b[i].Topics) || !bytes.Equal(a[i].Data, b[i].Data) {
			return false
		}
		for j := range a[i].Topics {
			if a[i].Topics[j] != b[i].Topics[j] {
				return false
			}
		}
	}
	return true
}

// unproven combines answers without agreement. Hosts that still differ about blocks at
// depth will not agree by waiting: ErrDisagree.
func (p *pool) unproven(seen []Evidence, errs []error) (Evidence, bool, error) {
	deep := make(map[string]bool) // hosts
	for _, ev := range seen {
		if ev.Depth >= p.network.Depth {
			deep[ev.Hosts[0]] = true
		}
	}
	if len(deep) > 1 {
		return Evidence{}, false, fmt.Errorf("chain %d: %w about transaction %s", p.network.ID, ErrDisagree, seen[0].Tx)
	}
	var partial Evidence
	if len(seen) > 0 {
		partial = seen[0]
	}
	if len(errs) > 0 {
		return partial, false, p.failure(errs)
	}
	return partial, false, nil
}

// A minedReceipt is a receipt with the members that types.Receipt leaves out.
type minedReceipt struct {
	types.Receipt
	to      common.Address
	outcome *hexutil.Uint64 // status; nil = the node left it out
	l1Fee   *big.Int        // OP stack: paid in addition to gas
}

func (r *minedReceipt) UnmarshalJSON(b []byte) error {
	if err := r.Receipt.UnmarshalJSON(b); err != nil {
		return err
	}
	var more struct {
		To     *common.Address `json:"to"`
		Status *hexutil.Uint64 `json:"status"`
		L1Fee  *hexutil.Big    `json:"l1Fee"`
	}
	if err := json.Unmarshal(b, &more); err != nil {
		return err
	}
	if more.To != nil {
		r.to = *more.To
	}
	r.outcome, r.l1Fee = more.Status, new(big.Int)
	if more.L1Fee != nil {
		r.l1Fee = more.L1Fee.ToInt()
	}
	return nil
}

// receipt asks e for tx's receipt; ethereum.NotFound if there is none.
func (e *endpoint) receipt(ctx context.Context, tx common.Hash) (*minedReceipt, error) {
	var r *minedReceipt
	_, err := e.do(ctx, func(ctx context.Context) error {
		r = nil
		if err := e.rpc.CallContext(ctx, &r, "eth_getTransactionReceipt", tx); err != nil {
			return err
		}
		if r == nil {
			return ethereum.NotFound
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return r, r.check(e.host, tx)
}

// check refuses a receipt that contradicts itself, has an impossible fee, or does not say
// whether the transaction succeeded.
func (r *minedReceipt) check(host string, tx common.Hash) error {
	if r.TxHash != tx || r.BlockNumber == nil || !r.BlockNumber.IsUint64() || r.BlockHash == (common.Hash{}) {
		return fmt.Errorf("%s: malformed receipt of transaction %s", host, tx)
	}
	if r.EffectiveGasPrice != nil && r.EffectiveGasPrice.BitLen() > maxPriceBits || r.l1Fee.BitLen() > maxPriceBits {
		return fmt.Errorf("%s: receipt of transaction %s with an absurd fee", host, tx)
	}
	if r.outcome == nil || *r.outcome > hexutil.Uint64(types.ReceiptStatusSuccessful) {
		return fmt.Errorf("%s: receipt of transaction %s without a status", host, tx)
	}
	for _, l := range r.Logs {
		if l == nil || l.Removed || l.TxHash != tx || l.BlockHash != r.BlockHash {
			return fmt.Errorf("%s: receipt of transaction %s carries another's log", host, tx)
		}
	}
	return nil
}

// evidence is one endpoint's answer about tx. mined is false for a transaction that the
// endpoint does not know or whose block it no longer counts as canonical. A reported L1
// fee is ignored where the network charges none on top of gas.
func (e *endpoint) evidence(ctx context.Context, tx common.Hash, n Network) (ev Evidence, mined bool, err error) {
	r, err := e.receipt(ctx, tx)
	if errors.Is(err, ethereum.NotFound) {
		return Evidence{}, false, nil
	}
	if err != nil {
		return Evidence{}, false, err
	}
	number := r.BlockNumber.Uint64()
	final, err := e.finalized(ctx, n) // before the block: the one shown then is the one that is final
	if err != nil {
		return Evidence{}, false, err
	}
	latest, canonical, err := e.latestAndBlock(ctx, number)
	if err != nil {
		return Evidence{}, false, err
	}
	if canonical.Hash != r.BlockHash || latest < number {
		return Evidence{}, false, nil
	}
	depth := depthOf(n, number, latest, final, blockTime(canonical.Time))
	paid := new(big.Int).SetUint64(r.GasUsed)
	if r.EffectiveGasPrice != nil {
		paid.Mul(paid, r.EffectiveGasPrice)
	} else {
		paid.SetUint64(0)
	}
	if n.L1Fee == L1FeeOP {
		paid.Add(paid, r.l1Fee)
	}
	ev = Evidence{
		Chain: e.chain, Tx: tx, Block: number, BlockHash: r.BlockHash, Success: r.Status == types.ReceiptStatusSuccessful,
		Depth: depth, GasUsed: r.GasUsed, FeePaid: paid, Hosts: []string{e.host}, To: r.to, Time: blockTime(canonical.Time), Logs: r.Logs,
	}
	if ev.Depth >= n.Depth {
		err = e.addPayment(ctx, &ev)
	}
	return ev, err == nil, err
}

// addPayment adds what only the transaction itself shows, which must be in ev's block.
func (e *endpoint) addPayment(ctx context.Context, ev *Evidence) error {
	var t *struct {
		Hash      common.Hash    `json:"hash"`
		BlockHash common.Hash    `json:"blockHash"`
		From      common.Address `json:"from"`
		Value     *hexutil.Big   `json:"value"`
		Input     hexutil.Bytes  `json:"input"`
	}
	_, err := e.do(ctx, func(ctx context.Context) error {
		t = nil
		return e.rpc.CallContext(ctx, &t, "eth_getTransactionByHash", ev.Tx)
	})
	switch {
	case err != nil:
		return err
	case t == nil || t.Hash != ev.Tx || t.BlockHash != ev.BlockHash || t.Value == nil || t.From == common.Address{}:
		return fmt.Errorf("%s: malformed transaction %s", e.host, ev.Tx)
	}
	ev.From, ev.Value, ev.InputSize, ev.InputEnd = t.From, t.Value.ToInt(), len(t.Input), inputEnd(t.Input)
	return nil
}

// inputEnd returns the last 32 bytes of a transaction's input, zero if it is shorter.
func inputEnd(input []byte) common.Hash {
	if n := len(input); n >= common.HashLength {
		return common.Hash(input[n-common.HashLength:])
	}
	return common.Hash{}
}

// depthOf returns how deep a block counts as: less than n asks for if it is not final or too young.
func depthOf(n Network, number, latest, final uint64, made time.Time) uint64 {
	depth := latest - number + 1
	if number > final || n.MinAge > 0 && clock.Now().Sub(made) < n.MinAge {
		return min(depth, n.Depth-1)
	}
	return depth
}

// latestAndBlock returns e's latest block number, then its canonical block of that number: in
// this order the depth is never overstated.
func (e *endpoint) latestAndBlock(ctx context.Context, number uint64) (latest uint64, b head, err error) {
	_, err = e.do(ctx, func(ctx context.Context) (err error) {
		if latest, err = e.eth.BlockNumber(ctx); err != nil {
			return err
		}
		b, err = e.block(ctx, hexutil.EncodeUint64(number))
		return err
	})
	return latest, b, err
}

// Replaced returns the hosts that show account's nonce used at depth by a transaction
// that is not ours: two where two are configured, none if that is not proven. since is a
// block before which none of our transactions can have been mined.
func (h *MultiClient) Replaced(ctx context.Context, id uint64, account common.Address, nonce, since uint64, ours []common.Hash) ([]string, error) {
	p, err := h.pool(id)
	if err != nil {
		return nil, err
	}
	hostsByVerdict := make(map[bool][]string)
	var errs []error
	for _, e := range p.order() {
		replaced, err := e.replaced(ctx, p.network, account, nonce, since, ours)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if !slices.Contains(hostsByVerdict[replaced], e.host) {
			hostsByVerdict[replaced] = append(hostsByVerdict[replaced], e.host)
		}
		switch {
		case len(hostsByVerdict[true]) >= p.quorum():
			return hostsByVerdict[true], nil
		case len(hostsByVerdict[false]) >= p.quorum():
			return nil, nil
		}
	}
	if len(errs) > 0 {
		return nil, p.failure(errs)
	}
	return nil, nil
}

// replaced is one endpoint's answer. The nonce is read before the receipts: if it was
// used at depth by then and none of ours has a receipt afterwards, another transaction
// used it.
func (e *endpoint) replaced(ctx context.Context, n Network, account common.Address, nonce, since uint64, ours []common.Hash) (bool, error) {
	deep, err := e.settled(ctx, n)
	if err != nil {
		return false, err
	}
	var used uint64
	_, err = e.do(ctx, func(ctx context.Context) (err error) {
		used, err = e.eth.NonceAt(ctx, account, new(big.Int).SetUint64(deep))
		return err
	})
	if err != nil || used <= nonce {
		return false, err
	}
	for _, tx := range ours {
		if _, err := e.receipt(ctx, tx); !errors.Is(err, ethereum.NotFound) {
			return false, err // nil: one of ours is mined after all
		}
	}
	return true, e.checkReceiptHistory(ctx, since, deep)
}

// receiptHorizon is well inside the number of blocks that endpoints keep receipts of:
// go-ethereum keeps 2,350,000 unless configured otherwise, others fewer.
const receiptHorizon = 100_000

// checkReceiptHistory checks that a missing receipt means something: if since is receiptHorizon blocks
// back, e must still have a receipt of a transaction mined about then.
func (e *endpoint) checkReceiptHistory(ctx context.Context, since, latest uint64) error {
	if latest-min(since, latest) < receiptHorizon {
		return nil
	}
	for number := since; number < since+64; number++ {
		_, b, err := e.latestAndBlock(ctx, number)
		if err != nil {
			return err
		}
		if len(b.Transactions) == 0 {
			continue
		}
		if _, err := e.receipt(ctx, b.Transactions[0]); errors.Is(err, ethereum.NotFound) {
			return fmt.Errorf("%s no longer has receipts of block %d; configure an rpc endpoint with full history", e.host, number)
		} else if err != nil {
			return err
		}
		return nil
	}
	return fmt.Errorf("%s shows no transactions after block %d to compare with", e.host, since)
}
