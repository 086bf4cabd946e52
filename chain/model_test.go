package chain

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	bolt "go.etcd.io/bbolt"
	"pgregory.net/rapid"
)

const modelDepth = 3

// A modelChain is a chain reduced to what the sender's promise depends on:
// blocks, a pool, reorganisations, and replies that get lost.
type modelChain struct {
	mu     sync.Mutex
	blocks []modelBlock // by number; 0 is genesis
	pool   []*types.Transaction
	salt   uint64
	rules  types.Signer

	send    string          // how broadcasts fare: "", "lost", "gone", "refused", "odd"
	down    map[string]bool // hosts whose reads fail
	lag     uint64          // blocks that host b is behind
	arrived func(common.Hash)
}

type modelBlock struct {
	hash common.Hash
	txs  []*types.Transaction
}

func newModelChain() *modelChain {
	return &modelChain{
		blocks: []modelBlock{{hash: common.Hash{1}}}, rules: types.LatestSignerForChainID(big.NewInt(base)),
		down: map[string]bool{}, arrived: func(common.Hash) {},
	}
}

func (m *modelChain) sender(tx *types.Transaction) common.Address {
	from, err := types.Sender(m.rules, tx) // cached in tx
	if err != nil {
		panic(err)
	}
	return from
}

// nonceAt is the account's next nonce after block number.
func (m *modelChain) nonceAt(a common.Address, number int) (n uint64) {
	for _, b := range m.blocks[:number+1] {
		for _, tx := range b.txs {
			if m.sender(tx) == a {
				n++
			}
		}
	}
	return n
}

func (m *modelChain) head() int { return len(m.blocks) - 1 }

func (m *modelChain) pooled(a common.Address, nonce uint64) int {
	return slices.IndexFunc(m.pool, func(tx *types.Transaction) bool { return m.sender(tx) == a && tx.Nonce() == nonce })
}

func (m *modelChain) pendingNonce(a common.Address) uint64 {
	n := m.nonceAt(a, m.head())
	for m.pooled(a, n) >= 0 {
		n++
	}
	return n
}

func (m *modelChain) find(hash common.Hash) (tx *types.Transaction, block int) {
	for i, b := range m.blocks {
		for _, tx := range b.txs {
			if tx.Hash() == hash {
				return tx, i
			}
		}
	}
	return nil, -1
}

// add queues tx as a node would.
func (m *modelChain) add(tx *types.Transaction) error {
	m.arrived(tx.Hash())
	if tx.Nonce() < m.nonceAt(m.sender(tx), m.head()) {
		return errors.New("nonce too low")
	}
	i := m.pooled(m.sender(tx), tx.Nonce())
	if i < 0 {
		m.pool = append(m.pool, tx)
		return nil
	}
	old := m.pool[i]
	if old.Hash() == tx.Hash() {
		return errors.New("already known")
	}
	if atLeast110(tx.GasFeeCap(), old.GasFeeCap()) && atLeast110(tx.GasTipCap(), old.GasTipCap()) {
		m.pool[i] = tx
		return nil
	}
	return errors.New("replacement transaction underpriced")
}

func atLeast110(x, old *big.Int) bool {
	return new(big.Int).Mul(x, big.NewInt(100)).Cmp(new(big.Int).Mul(old, big.NewInt(110))) >= 0
}

// mine makes a block of all that can run; empty leaves the pool alone.
func (m *modelChain) mine(empty bool) {
	m.salt++
	b := modelBlock{hash: common.BytesToHash(binaryHash(m.salt))}
	m.blocks = append(m.blocks, b)
	for progress := !empty; progress; {
		progress = false
		for i, tx := range m.pool {
			if tx.Nonce() == m.nonceAt(m.sender(tx), m.head()) {
				m.pool = slices.Delete(m.pool, i, i+1)
				m.blocks[m.head()].txs = append(m.blocks[m.head()].txs, tx)
				progress = true
				break
			}
		}
	}
	m.pool = slices.DeleteFunc(m.pool, func(tx *types.Transaction) bool { return tx.Nonce() < m.nonceAt(m.sender(tx), m.head()) })
}

func binaryHash(n uint64) []byte { return []byte(fmt.Sprintf("block %016d", n)) }

// reorg takes n blocks back into the pool.
func (m *modelChain) reorg(n int) {
	gone := m.blocks[len(m.blocks)-n:]
	m.blocks = m.blocks[:len(m.blocks)-n]
	for _, b := range gone {
		for _, tx := range b.txs {
			if i := m.pooled(m.sender(tx), tx.Nonce()); i >= 0 {
				m.pool = slices.Delete(m.pool, i, i+1)
			}
			m.pool = append(m.pool, tx)
		}
	}
}

// RoundTrip makes the model a transport: host "a" is up to date, host "b" lags.
func (m *modelChain) RoundTrip(r *http.Request) (*http.Response, error) {
	host := r.URL.Hostname()[len("127.0.0."):]
	connected := func() { httptrace.ContextClientTrace(r.Context()).GotConn(httptrace.GotConnInfo{Reused: true}) }
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.down[host] {
		return nil, errors.New("connection refused")
	}
	n := &testNode{answer: func(_ context.Context, method string, args []json.RawMessage) (any, error) {
		if method == "eth_sendRawTransaction" {
			return m.broadcast(args[0])
		}
		view := m.head()
		if host == "2" {
			view = max(view-int(m.lag), 0)
		}
		return m.read(view, host == "1", method, args)
	}}
	w := httptest.NewRecorder()
	var err error
	n.set(func(_ http.ResponseWriter, method string) bool {
		if method == "eth_sendRawTransaction" && m.send == "gone" {
			err = errors.New("connection refused")
			return true
		}
		connected()
		return false
	}, func(method string, _ []json.RawMessage, result any, rerr error) (any, error) {
		if method == "eth_sendRawTransaction" && m.send == "lost" {
			err = errors.New("connection reset")
		}
		return result, rerr
	})
	n.ServeHTTP(w, r)
	if err != nil {
		return nil, err
	}
	return w.Result(), nil
}

func (m *modelChain) broadcast(arg json.RawMessage) (any, error) {
	var raw hexutil.Bytes
	if err := json.Unmarshal(arg, &raw); err != nil {
		return nil, err
	}
	tx := new(types.Transaction)
	if err := tx.UnmarshalBinary(raw); err != nil {
		return nil, err
	}
	switch m.send {
	case "refused":
		m.arrived(tx.Hash())
		return nil, errors.New("insufficient funds for gas * price + value")
	case "odd":
		m.arrived(tx.Hash())
		return nil, errors.New("something new")
	}
	if err := m.add(tx); err != nil {
		return nil, err
	}
	return tx.Hash(), nil
}

func (m *modelChain) read(view int, pool bool, method string, args []json.RawMessage) (any, error) {
	switch method {
	case "eth_chainId":
		return hexutil.Uint64(base), nil
	case "eth_blockNumber":
		return hexutil.Uint64(view), nil
	case "eth_estimateGas":
		return hexutil.Uint64(21000), nil
	case "eth_maxPriorityFeePerGas":
		return hexutil.Uint64(1e9), nil
	case "eth_call": // the L1 fee oracle, which a sandbox may lack
		return "0x", nil
	case "eth_getBlockByNumber":
		number := view
		var n hexutil.Uint64
		if json.Unmarshal(args[0], &n) == nil {
			number = int(n)
		}
		if number > view {
			return nil, nil
		}
		return map[string]any{"number": hexutil.Uint64(number), "hash": m.blocks[number].hash, "baseFeePerGas": "0x3b9aca00", "transactions": []common.Hash{}}, nil
	case "eth_getTransactionCount":
		var a common.Address
		var n hexutil.Uint64
		_ = json.Unmarshal(args[0], &a)
		switch {
		case string(args[1]) == `"pending"` && pool:
			return hexutil.Uint64(m.pendingNonce(a)), nil
		case json.Unmarshal(args[1], &n) == nil:
			return hexutil.Uint64(m.nonceAt(a, min(int(n), view))), nil
		}
		return hexutil.Uint64(m.nonceAt(a, view)), nil
	case "eth_getTransactionReceipt":
		var hash common.Hash
		_ = json.Unmarshal(args[0], &hash)
		tx, block := m.find(hash)
		if tx == nil || block > view {
			return nil, nil
		}
		return map[string]any{
			"transactionHash": hash, "blockHash": m.blocks[block].hash, "blockNumber": hexutil.Uint64(block), "transactionIndex": "0x0", "status": "0x1", "gasUsed": "0x5208",
			"cumulativeGasUsed": "0x5208", "effectiveGasPrice": "0x2", "logs": []any{}, "logsBloom": hexutil.Bytes(make([]byte, 256)), "type": "0x2", "to": tx.To(),
		}, nil
	}
	return nil, &rpcError{Code: -32601, Message: "method not found: " + method}
}

// A senderModel drives a Sender over a modelChain and knows what must hold.
type senderModel struct {
	t     *rapid.T
	chain *modelChain
	hub   *Hub
	db    *bolt.DB
	key   *testKey
	s     *Sender
	now   time.Time

	keys    []string
	foreign map[uint64]bool           // nonces that the other wallet ever used
	late    []common.Hash             // bytes that left after their last moment
	until   map[common.Hash]time.Time // of each attempt in the ledger
	crashAt string                    // the next point to crash at
}

func newSenderModel(t *rapid.T, outer *testing.T, dir string) *senderModel {
	m := &senderModel{t: t, chain: newModelChain(), now: time.Unix(1_800_000_000, 0), foreign: map[uint64]bool{}, until: map[common.Hash]time.Time{}}
	m.key = newTestKey(outer, "model")
	var err error
	m.hub, err = NewHub([]Endpoint{{Chain: base, URLs: []string{"http://127.0.0.1", "http://127.0.0.2"}, Depth: modelDepth}}, Options{Sandbox: true, HTTP: &http.Client{Transport: m.chain}})
	if err != nil {
		t.Fatal(err)
	}
	m.db, err = bolt.Open(filepath.Join(dir, fmt.Sprintf("%d.db", time.Now().UnixNano())), 0o600, &bolt.Options{NoSync: true, NoFreelistSync: true})
	if err != nil {
		t.Fatal(err)
	}
	m.chain.arrived = func(h common.Hash) {
		if until, ours := m.until[h]; ours && m.now.After(until) {
			m.late = append(m.late, h)
		}
	}
	m.restart()
	return m
}

// restart is what a crash leaves: the database and nothing else.
func (m *senderModel) restart() {
	s, err := NewSender(m.db, m.hub, m.key, SenderOptions{Rebroadcast: 10 * time.Second})
	if err != nil {
		m.t.Fatal(err)
	}
	s.now = func() time.Time { return m.now }
	s.onPoint = func(p point) {
		if p == afterJournal || p == afterCancelJournal {
			m.learn()
		}
		if pointNames[p] == m.crashAt {
			m.crashAt = ""
			panic(crash(pointNames[p]))
		}
	}
	m.s = s
}

// guard runs an action that may crash the process.
func (m *senderModel) guard(f func()) {
	if crashing(f) {
		m.restart()
	}
	m.crashAt = ""
}

// learn reads the last moments of all attempts from the ledger.
func (m *senderModel) learn() {
	for _, tx := range m.records() {
		for _, a := range tx.Attempts {
			m.until[a.Hash] = a.Until
		}
	}
}

func (m *senderModel) records() []*Tx {
	var all []*Tx
	for _, key := range m.keys {
		tx, err := m.s.Lookup(key)
		if err != nil {
			m.t.Fatal(err)
		}
		if tx != nil {
			all = append(all, tx)
		}
	}
	return all
}

func (m *senderModel) policy() Policy { return Policy{Until: m.now.Add(30 * time.Second)} }

func recipient(i int) common.Address { return common.BigToAddress(big.NewInt(int64(0xa000 + i))) }

func (m *senderModel) submit(i int) {
	call := Call{ChainID: base, From: m.key.addr, To: recipient(i), Value: big.NewInt(1)}
	before, err := m.s.Lookup(m.keys[i])
	if err != nil {
		m.t.Fatal(err)
	}
	m.guard(func() {
		tx, err := m.s.Submit(context.Background(), m.keys[i], call, m.policy())
		if errors.Is(err, ErrLedger) {
			m.t.Fatal(err)
		}
		if err == nil && tx == nil {
			m.t.Fatal("no record and no error")
		}
	})
	if tx, err := m.s.Lookup(m.keys[i]); err != nil {
		m.t.Fatal(err)
	} else if before == nil && tx != nil {
		m.checkNew(tx)
	}
}

// checkNew: all that a new record's nonce waits for can still happen. Nothing
// below it is left open, nor held by something that may no longer be sent.
func (m *senderModel) checkNew(tx *Tx) {
	used := m.stateNonce()
	m.chain.mu.Lock()
	defer m.chain.mu.Unlock()
	for n := used; n < tx.Nonce; n++ {
		if m.foreign[n] || m.chain.pooled(m.key.addr, n) >= 0 {
			continue
		}
		sendable := slices.ContainsFunc(m.records(), func(r *Tx) bool {
			return r.Nonce == n && r.State != TxRejected && (r.State.Final() || !m.now.After(r.Last().Until))
		})
		if !sendable {
			m.t.Fatalf("%s got nonce %d, behind %d which nothing can use", tx.Key, tx.Nonce, n)
		}
	}
}

func (m *senderModel) poll(key string) {
	m.guard(func() {
		if _, _, err := m.s.Poll(context.Background(), key); errors.Is(err, ErrLedger) || errors.Is(err, ErrDisagree) {
			m.t.Fatal(err)
		}
	})
}

func (m *senderModel) pollAll() {
	for _, key := range m.keys {
		m.poll(key)
	}
}

// spendElsewhere is another wallet that has the same key: it uses a nonce that
// is free, or one of ours for a better price.
func (m *senderModel) spendElsewhere(nonce uint64, price int64) {
	m.chain.mu.Lock()
	defer m.chain.mu.Unlock()
	fees := Fees{GasFeeCap: big.NewInt(price), GasTipCap: big.NewInt(price)}
	tx, err := m.key.SignTx(context.Background(), m.key.addr, unsigned(pay(base, m.key.addr, "0xfffe", 1), nonce, 21000, fees), big.NewInt(base))
	if err != nil {
		m.t.Fatal(err)
	}
	if m.chain.add(tx) == nil {
		m.foreign[nonce] = true
	}
}

func (m *senderModel) stateNonce() uint64 {
	m.chain.mu.Lock()
	defer m.chain.mu.Unlock()
	return m.chain.nonceAt(m.key.addr, m.chain.head())
}

// check is what must hold at any moment.
func (m *senderModel) check() {
	t := m.t
	m.learn()
	if len(m.late) > 0 {
		t.Fatalf("%d broadcasts after their last moment", len(m.late))
	}
	paid := map[common.Address]int{}
	m.chain.mu.Lock()
	for _, b := range m.chain.blocks {
		for _, tx := range b.txs {
			paid[*tx.To()]++
		}
	}
	m.chain.mu.Unlock()
	holders := map[uint64]string{}
	for _, tx := range m.records() {
		m.checkRecord(tx, paid[tx.Call.To])
		if tx.State == TxRejected {
			continue
		}
		if other, taken := holders[tx.Nonce]; taken {
			t.Fatalf("%s and %s both hold nonce %d", other, tx.Key, tx.Nonce)
		}
		holders[tx.Nonce] = tx.Key
	}
	m.checkGaps(holders)
}

// checkRecord: a call is paid at most once, carried by one attempt, and every
// verdict is what the chain shows.
func (m *senderModel) checkRecord(tx *Tx, paid int) {
	calls := 0
	for _, a := range tx.Attempts {
		if a.Kind == AttemptCall {
			calls++
		}
	}
	if calls != 1 || paid > 1 {
		m.t.Fatalf("%s: %d attempts carry the call, paid %d times", tx.Key, calls, paid)
	}
	want := map[TxState]int{TxMined: 1, TxCancelled: 0, TxReplaced: 0, TxRejected: 0}
	if n, final := want[tx.State]; final && n != paid {
		m.t.Fatalf("%s is %s, paid %d times", tx.Key, tx.State, paid)
	}
	if tx.State == TxReverted || tx.State == TxUnknown {
		m.t.Fatalf("%s is %s", tx.Key, tx.State)
	}
}

// checkGaps: every nonce below one that is held is used on the chain, held as
// well, or was left open by the other wallet or by a rejection.
func (m *senderModel) checkGaps(holders map[uint64]string) {
	returned := map[uint64]bool{}
	for _, tx := range m.records() {
		if tx.State == TxRejected {
			returned[tx.Nonce] = true
		}
	}
	for nonce, key := range holders {
		for n := m.stateNonce(); n < nonce; n++ {
			if holders[n] == "" && !m.foreign[n] && !returned[n] {
				m.t.Fatalf("%s holds nonce %d, but nothing holds %d", key, nonce, n)
			}
		}
	}
}

// finish stops all faults and sees every key to its end: what may no longer be
// sent is cancelled, nonces that the other wallet left open are used by it.
func (m *senderModel) finish() {
	m.chain.mu.Lock()
	m.chain.send, m.chain.lag = "", 0
	clear(m.chain.down)
	m.chain.mu.Unlock()
	for range 40 {
		m.now = m.now.Add(31 * time.Second)
		open := 0
		held := map[uint64]bool{}
		var last uint64
		for _, tx := range m.records() {
			if tx.State.Final() {
				continue
			}
			open++
			held[tx.Nonce], last = true, max(last, tx.Nonce)
			m.guard(func() {
				if _, err := m.s.Cancel(context.Background(), tx.Key, m.policy()); err != nil && !errors.Is(err, ErrNonceUsed) {
					m.t.Fatal(err)
				}
			})
			m.poll(tx.Key)
		}
		if open == 0 {
			return
		}
		for n := m.stateNonce(); n < last; n++ {
			if !held[n] {
				m.spendElsewhere(n, 1e12)
			}
		}
		m.chain.mu.Lock()
		m.chain.mine(false)
		m.chain.mu.Unlock()
		m.check()
	}
	m.t.Fatalf("not all keys came to an end: %+v", m.records())
}

// TestSenderModel runs random interleavings of everything that can happen to a
// transaction and checks the sender's promise after each step.
func TestSenderModel(t *testing.T) {
	dir := t.TempDir()
	for name, quick := range map[string]string{"rapid.steps": "40", "rapid.checks": "60"} {
		if f := flag.Lookup(name); f.Value.String() == f.DefValue {
			if err := f.Value.Set(quick); err != nil {
				t.Fatal(err)
			}
		}
	}
	steps, ends := 0, map[TxState]int{}
	rapid.Check(t, func(rt *rapid.T) {
		m := newSenderModel(rt, t, dir)
		defer m.db.Close()
		defer m.hub.Close()
		one := func(label string) string {
			if len(m.keys) == 0 {
				rt.Skip("no keys yet")
			}
			return rapid.SampledFrom(m.keys).Draw(rt, label)
		}
		with := func(f func()) {
			m.chain.mu.Lock()
			defer m.chain.mu.Unlock()
			f()
		}
		rt.Repeat(map[string]func(*rapid.T){
			"":        func(*rapid.T) { steps++; m.check() },
			"submit":  func(*rapid.T) { m.keys = append(m.keys, fmt.Sprintf("key/%d", len(m.keys))); m.submit(len(m.keys) - 1) },
			"repeat":  func(*rapid.T) { m.submit(slices.Index(m.keys, one("key"))) },
			"poll":    func(*rapid.T) { m.poll(one("key")) },
			"pollAll": func(*rapid.T) { m.pollAll() },
			"cancel": func(*rapid.T) {
				key := one("key")
				m.guard(func() {
					if _, err := m.s.Cancel(context.Background(), key, m.policy()); errors.Is(err, ErrLedger) {
						rt.Fatal(err)
					}
				})
			},
			"crash":   func(rt *rapid.T) { m.crashAt = rapid.SampledFrom(pointNames[:]).Draw(rt, "point") },
			"restart": func(*rapid.T) { m.restart() },
			"refusedAfterRestart": func(*rapid.T) { // proves nothing
				m.restart()
				with(func() { m.chain.send = "refused" })
				m.pollAll()
				with(func() { m.chain.send = "" })
			},
			"mine": func(rt *rapid.T) { empty := rapid.Bool().Draw(rt, "empty"); with(func() { m.chain.mine(empty) }) },
			"mineSome": func(*rapid.T) {
				with(func() {
					for range modelDepth {
						m.chain.mine(false)
					}
				})
			},
			"reorg": func(rt *rapid.T) {
				m.pollAll() // the worst moment: what was just seen goes
				with(func() {
					deepest := min(modelDepth-1, m.chain.head())
					if deepest == 0 {
						return
					}
					n := rapid.IntRange(1, deepest).Draw(rt, "blocks")
					m.chain.reorg(n)
					for range n {
						m.chain.mine(true)
					}
				})
			},
			"drop": func(*rapid.T) { with(func() { m.chain.pool = nil }) },
			"foreign": func(rt *rapid.T) {
				price := rapid.SampledFrom([]int64{1e9, 3e9, 1e11}).Draw(rt, "price")
				m.spendElsewhere(m.stateNonce()+uint64(rapid.IntRange(0, 1).Draw(rt, "ahead")), price)
			},
			"wait": func(rt *rapid.T) {
				m.now = m.now.Add(time.Duration(rapid.IntRange(1, 40).Draw(rt, "seconds")) * time.Second)
			},
			"faults": func(rt *rapid.T) {
				send := rapid.SampledFrom([]string{"", "", "", "lost", "gone", "refused", "odd"}).Draw(rt, "send")
				a, b := rapid.Bool().Draw(rt, "a down"), rapid.Bool().Draw(rt, "b down")
				lag := uint64(rapid.IntRange(0, 2).Draw(rt, "lag"))
				with(func() { m.chain.send, m.chain.lag, m.chain.down["1"], m.chain.down["2"] = send, lag, a && !b, b && !a })
			},
		})
		m.finish()
		for _, tx := range m.records() {
			ends[tx.State]++
		}
	})
	t.Logf("%d steps; ends: %v", steps, ends)
	for _, s := range []TxState{TxMined, TxCancelled, TxReplaced, TxRejected} {
		if steps > 20_000 && ends[s] == 0 {
			t.Errorf("no transaction ended %s: the model is too tame", s)
		}
	}
}
