package engine

import (
	"context"
	"encoding/json"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"swapkeep/chain"
	"swapkeep/swap/proof"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
)

// A ledger is a chain reduced to transactions and their logs, served over real HTTP by
// hosts that can each be wrong in their own way.
type ledger struct {
	id uint64

	mu     sync.Mutex
	blocks []ledgerBlock // by number; 0 is genesis
	salt   byte
	hosts  []*ledgerHost
}

type ledgerBlock struct {
	hash       common.Hash
	time       time.Time
	txs        []ledgerTx
	usedNonces map[string]bool // nonces used in this block
}

// A ledgerTx is a transaction with the properties that a test needs.
type ledgerTx struct {
	hash              common.Hash
	from, to          common.Address
	value             int64
	failed            bool
	logs              []*types.Log
	internalTransfers map[common.Address]int64 // native coin besides value
	input             []byte
}

// A ledgerHost is one RPC host of a ledger.
type ledgerHost struct {
	l        *ledger
	lag      int
	down     bool
	hideLogs bool // eth_getLogs returns nothing
	logLag   int  // blocks by which eth_getLogs is behind
	lie      func(method string, result any) any
}

// newLedger returns a chain with a few blocks, one per second, and the URLs of its hosts.
func newLedger(t *testing.T, id uint64, hosts int, start time.Time) (*ledger, []string) {
	t.Helper()
	l := &ledger{id: id}
	l.blocks = []ledgerBlock{{hash: l.newHash(), time: start}}
	var urls []string
	for range hosts {
		h := &ledgerHost{l: l}
		server := httptest.NewServer(h)
		t.Cleanup(server.Close)
		l.hosts, urls = append(l.hosts, h), append(urls, server.URL)
	}
	l.mine(10)
	return l, urls
}

func (l *ledger) newHash() common.Hash {
	l.salt++
	return crypto.Keccak256Hash([]byte{l.salt, byte(l.id), byte(len(l.blocks))})
}

// mine adds n empty blocks, or n blocks with txs.
func (l *ledger) mine(n int, txs ...ledgerTx) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for range n {
		l.add(txs)
	}
}

func (l *ledger) add(txs []ledgerTx) {
	b := ledgerBlock{hash: l.newHash(), time: l.blocks[len(l.blocks)-1].time.Add(time.Second), txs: txs}
	for i, tx := range txs {
		for _, log := range tx.logs {
			log.TxHash, log.BlockHash, log.BlockNumber, log.TxIndex = tx.hash, b.hash, uint64(len(l.blocks)), uint(i)
		}
	}
	l.blocks = append(l.blocks, b)
}

// mineFinal mines tx in a block of its own, and enough blocks for it to be final.
func (l *ledger) mineFinal(tx ledgerTx) common.Hash {
	l.mine(1, tx)
	l.mine(ledgerDepth)
	return tx.hash
}

// ledgerDepth is the depth at which a block is final, counting itself.
const ledgerDepth = 3

// mineUntil mines until a block later than at is final.
func (l *ledger) mineUntil(at time.Time) {
	for !l.head().time.After(at) {
		l.mine(1)
	}
	l.mine(ledgerDepth - 1)
}

func (l *ledger) head() ledgerBlock {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.blocks[len(l.blocks)-1]
}

func (l *ledger) number() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return uint64(len(l.blocks) - 1)
}

// useNonce marks an unordered nonce as used, in a block of its own.
func (l *ledger) useNonce(nonce int64) {
	l.mine(1)
	l.mu.Lock()
	l.blocks[len(l.blocks)-1].usedNonces = map[string]bool{big.NewInt(nonce).String(): true}
	l.mu.Unlock()
	l.mine(ledgerDepth)
}

// reorg replaces the last n blocks with empty ones.
func (l *ledger) reorg(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.blocks = l.blocks[:len(l.blocks)-n]
	for range n {
		l.add(nil)
	}
}

// transferTopic is the topic of the ERC-20 Transfer event (EIP-20).
var transferTopic = crypto.Keccak256Hash([]byte("Transfer(address,address,uint256)"))

// transferLog returns the log of an ERC-20 transfer.
func transferLog(token, from, to common.Address, amount int64) *types.Log {
	return &types.Log{Address: token, Topics: []common.Hash{transferTopic, proof.TopicOf(from), proof.TopicOf(to)}, Data: common.BigToHash(big.NewInt(amount)).Bytes()}
}

// ledgerNodes holds evidence against the ledgers themselves: nothing can be recomputed from
// made-up hashes. The recomputing is tested in package chain, on a real EVM.
type ledgerNodes struct {
	*chain.MultiClient
	c *proofFixture
}

func (n ledgerNodes) CheckReceipt(_ context.Context, ev chain.Evidence, logs bool) error {
	if n.c.receipts != nil {
		return n.c.receipts()
	}
	for _, l := range []*ledger{n.c.src, n.c.dst, n.c.far} {
		if l != nil && l.id == ev.Chain && l.has(ev, logs) {
			return nil
		}
	}
	return &chain.ForgedError{Hosts: ev.Hosts}
}

// has reports whether ev is true.
func (l *ledger) has(ev chain.Evidence, logs bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if ev.Block >= uint64(len(l.blocks)) || l.blocks[ev.Block].hash != ev.BlockHash {
		return false
	}
	b := l.blocks[ev.Block]
	i := slices.IndexFunc(b.txs, func(tx ledgerTx) bool { return tx.hash == ev.Tx })
	if i < 0 {
		return false
	}
	tx, emitted := b.txs[i], b.txs[i].logs
	if tx.failed {
		emitted = nil
	}
	same := slices.EqualFunc(emitted, ev.Logs, func(a, b *types.Log) bool {
		return a.Address == b.Address && slices.Equal(a.Topics, b.Topics) && slices.Equal(a.Data, b.Data)
	})
	return tx.failed != ev.Success && tx.from == ev.From && tx.to == ev.To && big.NewInt(tx.value).Cmp(ev.Value) == 0 && len(tx.input) == ev.InputSize && (same || !logs)
}

func (h *ledgerHost) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var req struct {
		ID     json.RawMessage   `json:"id"`
		Method string            `json:"method"`
		Params []json.RawMessage `json:"params"`
	}
	h.l.mu.Lock()
	defer h.l.mu.Unlock()
	if json.NewDecoder(io.LimitReader(r.Body, 1<<20)).Decode(&req) != nil || h.down {
		http.Error(w, "gone", http.StatusBadGateway)
		return
	}
	result := h.answer(req.Method, req.Params)
	if h.lie != nil {
		result = h.lie(req.Method, result)
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"jsonrpc": "2.0", "id": req.ID, "result": result})
}

// view returns the blocks that h knows.
func (h *ledgerHost) view() []ledgerBlock { return h.l.blocks[:max(len(h.l.blocks)-h.lag, 1)] }

func numberIn(arg json.RawMessage) int {
	var n hexutil.Uint64
	_ = json.Unmarshal(arg, &n)
	return int(n)
}

func (h *ledgerHost) answer(method string, args []json.RawMessage) any {
	blocks := h.view()
	switch method {
	case "eth_chainId":
		return hexutil.Uint64(h.l.id)
	case "eth_blockNumber":
		return hexutil.Uint64(len(blocks) - 1)
	case "eth_getBlockByNumber":
		n := numberIn(args[0])
		if string(args[0]) == `"latest"` {
			n = len(blocks) - 1
		}
		if n >= len(blocks) {
			return nil
		}
		return map[string]any{"number": hexutil.Uint64(n), "hash": blocks[n].hash, "timestamp": hexutil.Uint64(blocks[n].time.Unix()), "transactions": blocks[n].hashes()}
	case "eth_getTransactionReceipt", "eth_getTransactionByHash":
		return h.transaction(method, args[0])
	case "eth_getLogs":
		return h.logs(args[0])
	case "eth_call":
		return h.bitmap(args)
	case "eth_getTransactionCount":
		return h.nonce(args)
	case "eth_getBalance":
		return h.balance(args)
	}
	return nil
}

func (h *ledgerHost) transaction(method string, arg json.RawMessage) any {
	var hash common.Hash
	_ = json.Unmarshal(arg, &hash)
	for n, b := range h.view() {
		for _, tx := range b.txs {
			switch {
			case tx.hash != hash:
				continue
			case method == "eth_getTransactionByHash":
				return map[string]any{"hash": hash, "blockHash": b.hash, "from": tx.from, "value": hexutil.Uint64(tx.value), "input": hexutil.Bytes(tx.input)}
			}
			logs, status := append([]*types.Log{}, tx.logs...), uint64(1)
			if tx.failed {
				logs, status = []*types.Log{}, 0
			}
			return map[string]any{
				"transactionHash": hash, "blockHash": b.hash, "blockNumber": hexutil.Uint64(n), "transactionIndex": "0x0", "status": hexutil.Uint64(status), "gasUsed": "0x5208",
				"cumulativeGasUsed": "0x5208", "effectiveGasPrice": "0x2", "logs": logs, "logsBloom": hexutil.Bytes(make([]byte, 256)), "type": "0x2", "from": tx.from, "to": tx.to,
			}
		}
	}
	return nil
}

func (h *ledgerHost) logs(arg json.RawMessage) any {
	var f struct {
		FromBlock, ToBlock hexutil.Uint64
		Address            *common.Address
		Topics             [][]common.Hash
	}
	_ = json.Unmarshal(arg, &f)
	found := []*types.Log{}
	blocks := h.view()
	for n, b := range blocks[:max(len(blocks)-h.logLag, 1)] {
		for _, tx := range b.txs {
			for _, log := range tx.logs {
				ok := n >= int(f.FromBlock) && n <= int(f.ToBlock) && !h.hideLogs && !tx.failed && (f.Address == nil || *f.Address == log.Address) && len(log.Topics) >= len(f.Topics)
				for i, some := range f.Topics {
					ok = ok && (len(some) == 0 || slices.Contains(some, log.Topics[i]))
				}
				if ok {
					found = append(found, log)
				}
			}
		}
	}
	return found
}

func (b ledgerBlock) hashes() []common.Hash {
	all := []common.Hash{}
	for _, tx := range b.txs {
		all = append(all, tx.hash)
	}
	return all
}

// nonce returns an account's transaction count.
func (h *ledgerHost) nonce(args []json.RawMessage) any {
	var a common.Address
	_ = json.Unmarshal(args[0], &a)
	at, sent := numberIn(args[1]), 0
	for n, b := range h.view() {
		for _, tx := range b.txs {
			if n <= at && tx.from == a {
				sent++
			}
		}
	}
	return hexutil.Uint64(sent)
}

// bitmap answers nonceBitmap for any owner and the words with small nonces.
func (h *ledgerHost) bitmap(args []json.RawMessage) any {
	var call struct {
		Data, Input hexutil.Bytes
	}
	_ = json.Unmarshal(args[0], &call)
	data := append(call.Data, call.Input...)
	at := numberIn(args[1])
	word := new(big.Int).Lsh(new(big.Int).SetBytes(data[36:]), 8)
	sum := new(big.Int)
	for n, b := range h.view() {
		for text := range b.usedNonces {
			nonce, _ := new(big.Int).SetString(text, 10)
			if bit := new(big.Int).Sub(nonce, word); n <= at && bit.Sign() >= 0 && bit.BitLen() <= 8 {
				sum.SetBit(sum, int(bit.Int64()), 1)
			}
		}
	}
	return hexutil.Bytes(common.BigToHash(sum).Bytes())
}

func (h *ledgerHost) balance(args []json.RawMessage) any {
	var a common.Address
	_ = json.Unmarshal(args[0], &a)
	at := numberIn(args[1])
	sum := int64(1e18)
	for n, b := range h.view() {
		for _, tx := range b.txs {
			if n > at {
				continue
			}
			if tx.from == a {
				sum -= 2 * 21000
			}
			if tx.failed {
				continue
			}
			if tx.to == a {
				sum += tx.value
			}
			if tx.from == a {
				sum -= tx.value
			}
			sum += tx.internalTransfers[a]
		}
	}
	return hexutil.Uint64(sum)
}
