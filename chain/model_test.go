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
	"os"
	"path/filepath"
	"slices"
	"strings"
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

// A modelChain is a chain reduced to what the sender's guarantee depends on: blocks, a
// pool, reorgs, and replies that get lost.
type modelChain struct {
	id     uint64
	mu     sync.Mutex
	blocks []modelBlock // by number; 0 is genesis
	pool   []*types.Transaction
	salt   uint64
	rules  types.Signer

	send    string          // what happens to broadcasts: "", "lost", "gone", "refused", "odd"
	down    map[string]bool // hosts whose reads fail
	lag     uint64          // blocks that host b lags by
	liar    string          // the host that adds 2 to every transaction count
	arrived func(common.Hash)
}

type modelBlock struct {
	hash common.Hash
	txs  []*types.Transaction
}

func newModelChain(id uint64) *modelChain {
	return &modelChain{
		id: id, blocks: []modelBlock{{hash: common.Hash{1}}}, rules: types.LatestSignerForChainID(new(big.Int).SetUint64(id)),
		down: map[string]bool{}, arrived: func(common.Hash) {},
	}
}

// hosts returns the chain's two hosts: the first is up to date, the second lags.
func (m *modelChain) hosts() (a, b string) {
	return fmt.Sprintf("127.%d.%d.1", m.id>>8, m.id&0xff), fmt.Sprintf("127.%d.%d.2", m.id>>8, m.id&0xff)
}

// with changes the chain between two requests.
func (m *modelChain) with(f func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f()
}

func (m *modelChain) sender(tx *types.Transaction) common.Address {
	from, err := types.Sender(m.rules, tx) // cached in tx
	if err != nil {
		panic(err)
	}
	return from
}

// nonceAt returns the account's next nonce after block number.
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

// mine makes a block of all transactions that can run, or an empty one.
func (m *modelChain) mine(empty bool) {
	m.salt++
	b := modelBlock{hash: common.BytesToHash(blockName(m.id, m.salt))}
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

func blockName(chain, n uint64) []byte { return []byte(fmt.Sprintf("block %d/%d", chain, n)) }

// reorg returns the transactions of the last n blocks to the pool.
func (m *modelChain) reorg(n int) {
	dropped := m.blocks[len(m.blocks)-n:]
	m.blocks = m.blocks[:len(m.blocks)-n]
	for _, b := range dropped {
		for _, tx := range b.txs {
			if i := m.pooled(m.sender(tx), tx.Nonce()); i >= 0 {
				m.pool = slices.Delete(m.pool, i, i+1)
			}
			m.pool = append(m.pool, tx)
		}
	}
}

// A modelNet is the HTTP transport to all chains.
type modelNet []*modelChain

func (n modelNet) RoundTrip(r *http.Request) (*http.Response, error) {
	for _, m := range n {
		if a, b := m.hosts(); r.URL.Hostname() == a || r.URL.Hostname() == b {
			return m.roundTrip(r)
		}
	}
	return nil, errors.New("no such host")
}

func (m *modelChain) roundTrip(r *http.Request) (*http.Response, error) {
	host := r.URL.Hostname()
	a, b := m.hosts()
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
		if host == b {
			view = max(view-int(m.lag), 0)
		}
		result, err := m.read(view, host == a || m.lag == 0, method, args) // a lagging host also learns late what is pending
		if n, counts := result.(hexutil.Uint64); counts && method == "eth_getTransactionCount" && host == m.liar {
			return n + 2, err
		}
		return result, err
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
		return hexutil.Uint64(m.id), nil
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
	case "eth_getTransactionByHash":
		var hash common.Hash
		_ = json.Unmarshal(args[0], &hash)
		tx, block := m.find(hash)
		if tx == nil || block > view {
			return nil, nil
		}
		return map[string]any{"hash": hash, "blockHash": m.blocks[block].hash, "from": m.sender(tx), "value": (*hexutil.Big)(tx.Value())}, nil
	}
	return nil, &rpcError{Code: -32601, Message: "method not found: " + method}
}

// A lane is one account on one chain: the sender works on it one transaction at a time.
type lane struct {
	chain *modelChain
	key   *testKey
	// foreign are the nonces that another wallet with the same key ever used.
	foreign map[uint64]bool
}

// testKeys sign for several accounts.
type testKeys []*testKey

func (ks testKeys) SignTx(ctx context.Context, from common.Address, tx *types.Transaction, id *big.Int) (*types.Transaction, error) {
	i := slices.IndexFunc(ks, func(k *testKey) bool { return k.addr == from })
	return ks[i].SignTx(ctx, from, tx, id)
}

// A senderModel drives a Sender over two chains with two accounts, and checks what must
// hold.
type senderModel struct {
	t    *rapid.T
	net  modelNet
	hub  *MultiClient
	db   *bolt.DB
	keys testKeys
	s    *Sender
	now  time.Time

	lanes   [4]*lane
	orders  []string                  // keys of the calls; the nth is of lane n % 4
	late    []common.Hash             // bytes that were sent after their deadline
	until   map[common.Hash]time.Time // deadline of each attempt in the ledger
	crashAt string                    // the next point to crash at
	atPoint func(point)               // called at every point
}

func newSenderModel(t *rapid.T, outer *testing.T, dir string) *senderModel {
	m := &senderModel{
		t: t, net: modelNet{newModelChain(base), newModelChain(1)}, keys: testKeys{newTestKey(outer, "model"), newTestKey(outer, "model too")},
		now: time.Unix(1_800_000_000, 0), until: map[common.Hash]time.Time{},
	}
	var endpoints []Endpoint
	for i, c := range m.net {
		a, b := c.hosts()
		endpoints = append(endpoints, Endpoint{Chain: c.id, URLs: []string{"http://" + a, "http://" + b}, Depth: modelDepth})
		c.arrived = func(h common.Hash) {
			if until, ours := m.until[h]; ours && m.now.After(until) {
				m.late = append(m.late, h)
			}
		}
		for j, key := range m.keys {
			m.lanes[2*i+j] = &lane{chain: c, key: key, foreign: map[uint64]bool{}}
		}
	}
	var err error
	m.hub, err = NewMultiClient(endpoints, Options{Sandbox: true, HTTP: &http.Client{Transport: m.net}})
	if err != nil {
		t.Fatal(err)
	}
	m.db, err = bolt.Open(filepath.Join(dir, fmt.Sprintf("%d.db", time.Now().UnixNano())), 0o600, &bolt.Options{NoSync: true, NoFreelistSync: true})
	if err != nil {
		t.Fatal(err)
	}
	m.restart()
	return m
}

// close ends the model and removes its file.
func (m *senderModel) close() {
	m.hub.Close()
	path := m.db.Path()
	_ = m.db.Close()
	_ = os.Remove(path)
}

// restart makes a new Sender from what a crash leaves, which is the database alone.
func (m *senderModel) restart() {
	s, err := NewSender(m.db, m.hub, m.keys, SenderOptions{Rebroadcast: 10 * time.Second})
	if err != nil {
		m.t.Fatal(err)
	}
	s.now = func() time.Time { return m.now }
	s.sleep = func(_ context.Context, d time.Duration) error {
		m.now = m.now.Add(d)
		return nil
	}
	s.onPoint = func(p point) {
		if p == afterJournal || p == afterBumpJournal || p == afterCancelJournal {
			m.learn()
		}
		if pointNames[p] == m.crashAt {
			m.crashAt = ""
			panic(crash(pointNames[p]))
		}
		if f := m.atPoint; f != nil {
			f(p)
		}
	}
	m.s = s
}

// guard runs an action that may crash the process, and then restarts it.
func (m *senderModel) guard(f func()) {
	if crashing(f) {
		m.restart()
	}
	m.crashAt, m.atPoint = "", nil
}

// learn reads the deadlines of all attempts from the ledger.
func (m *senderModel) learn() {
	for _, tx := range m.records() {
		for _, a := range tx.Attempts {
			m.until[a.Hash] = a.Until
		}
	}
}

// records returns the whole ledger: the orders' records and the fillers'.
func (m *senderModel) records() []*Tx {
	var all []*Tx
	err := m.db.View(func(b *bolt.Tx) error {
		return b.Bucket(txBucket).ForEach(func(_, v []byte) error {
			tx, err := decodeTx(v)
			all = append(all, tx)
			return err
		})
	})
	if err != nil {
		m.t.Fatal(err)
	}
	return all
}

func (l *lane) owns(tx *Tx) bool { return tx.Call.ChainID == l.chain.id && tx.Call.From == l.key.addr }

// nonceHolders returns the records that hold the nonces of l.
func (m *senderModel) nonceHolders(l *lane) map[uint64]*Tx {
	byNonce := map[uint64]*Tx{}
	for _, tx := range m.records() {
		if !l.owns(tx) || tx.State == TxRejected {
			continue
		}
		if other := byNonce[tx.Nonce]; other != nil {
			m.t.Fatalf("%s and %s both hold nonce %d", other.Key, tx.Key, tx.Nonce)
		}
		byNonce[tx.Nonce] = tx
	}
	return byNonce
}

func (l *lane) stateNonce() (n uint64) {
	l.chain.with(func() { n = l.chain.nonceAt(l.key.addr, l.chain.head()) })
	return n
}

func (m *senderModel) policy() Policy { return Policy{Until: m.now.Add(30 * time.Second)} }

// modelCeiling is exceeded by the sixteenth or so speed-up.
var modelCeiling = big.NewInt(5e14)

func (m *senderModel) capped() Policy {
	p := m.policy()
	p.Ceiling = modelCeiling
	return p
}

func recipient(i int) common.Address { return common.BigToAddress(big.NewInt(int64(0xa000 + i))) }

func (m *senderModel) laneOf(i int) *lane { return m.lanes[i%len(m.lanes)] }

func (m *senderModel) callOf(i int) Call {
	l := m.laneOf(i)
	return Call{ChainID: l.chain.id, From: l.key.addr, To: recipient(i), Value: big.NewInt(1)}
}

// another adds an order and returns its index.
func (m *senderModel) another() (i int) {
	m.orders = append(m.orders, fmt.Sprintf("key/%d", len(m.orders)))
	return len(m.orders) - 1
}

func (m *senderModel) submit(i int) {
	before, err := m.s.Lookup(m.orders[i])
	if err != nil {
		m.t.Fatal(err)
	}
	m.guard(func() {
		tx, err := m.s.Submit(context.Background(), m.orders[i], m.callOf(i), m.capped())
		if errors.Is(err, ErrLedger) {
			m.t.Fatal(err)
		}
		if err == nil && tx == nil {
			m.t.Fatal("no record and no error")
		}
	})
	if tx, err := m.s.Lookup(m.orders[i]); err != nil {
		m.t.Fatal(err)
	} else if before == nil && tx != nil {
		m.checkNew(m.laneOf(i), tx)
	}
}

// refusedInFront submits a call that all nodes refuse, and another one of the same
// account just before the refusal: that one must not be left behind a gap.
func (m *senderModel) refusedInFront() {
	m.crashAt = "" // the other one runs concurrently
	first := m.another()
	for range len(m.lanes) - 1 {
		m.another()
	}
	second := m.another()
	c := m.laneOf(first).chain
	c.with(func() { c.send = "refused" })
	var behind sync.WaitGroup
	m.atPoint = func(p point) {
		if p != afterJournal {
			return
		}
		m.atPoint = func(p point) {
			if p == afterReject {
				c.with(func() { c.send = "" })
			}
		}
		behind.Go(func() { _, _ = m.s.Submit(context.Background(), m.orders[second], m.callOf(second), m.capped()) })
	}
	m.guard(func() {
		defer behind.Wait()
		_, _ = m.s.Submit(context.Background(), m.orders[first], m.callOf(first), m.capped())
	})
	behind.Wait()
	c.with(func() { c.send = "" })
}

// checkNew checks that all a new record's nonce waits for can still happen: no nonce
// below it is open, or held by something that may no longer be sent.
func (m *senderModel) checkNew(l *lane, tx *Tx) {
	used, byNonce := l.stateNonce(), m.nonceHolders(l)
	l.chain.with(func() {
		for n := used; n < tx.Nonce; n++ {
			if l.foreign[n] || l.chain.pooled(l.key.addr, n) >= 0 {
				continue
			}
			if r := byNonce[n]; r == nil || !r.State.Final() && m.now.After(r.Last().Until) {
				m.t.Fatalf("%s got nonce %d, behind %d which nothing can use", tx.Key, tx.Nonce, n)
			}
		}
	})
}

func (m *senderModel) poll(key string) {
	m.guard(func() {
		if _, _, err := m.s.Poll(context.Background(), key); errors.Is(err, ErrLedger) || errors.Is(err, ErrDisagree) {
			m.t.Fatal(err)
		}
	})
}

func (m *senderModel) pollAll() {
	for _, key := range m.orders {
		m.poll(key)
	}
}

// bump accepts any documented refusal, but the speed-up must not pay more than allowed or
// revive a cancelled call.
func (m *senderModel) bump(key string) {
	before, err := m.s.Lookup(key)
	if err != nil {
		m.t.Fatal(err)
	}
	m.guard(func() {
		tx, err := m.s.Bump(context.Background(), key, m.capped())
		switch {
		case errors.Is(err, ErrLedger):
			m.t.Fatal(err)
		case err == nil && (before == nil || before.State.Final() || before.Last().Kind == AttemptCancel || tx.Last().Kind != AttemptBump && !tx.State.Final()):
			m.t.Fatalf("speed-up of %+v gave %+v", before, tx)
		}
	})
}

// spendElsewhere acts as another wallet with the same key: it uses a free nonce, or
// outbids one of ours.
func (m *senderModel) spendElsewhere(l *lane, nonce uint64, price int64) {
	fees := Fees{GasFeeCap: big.NewInt(price), GasTipCap: big.NewInt(price)}
	id := l.chain.id
	tx, err := types.SignTx(unsigned(pay(id, l.key.addr, "0xfffe", 1), nonce, 21000, fees), l.chain.rules, l.key.key)
	if err != nil {
		m.t.Fatal(err)
	}
	l.chain.with(func() {
		if l.chain.add(tx) == nil {
			l.foreign[nonce] = true
		}
	})
}

// check checks what must hold at any moment.
func (m *senderModel) check() {
	m.learn()
	if len(m.late) > 0 {
		m.t.Fatalf("%d broadcasts after their last moment", len(m.late))
	}
	paid := map[common.Address]int{}
	for _, c := range m.net {
		c.with(func() {
			for _, b := range c.blocks {
				for _, tx := range b.txs {
					paid[*tx.To()]++
				}
			}
		})
	}
	for _, tx := range m.records() {
		m.checkRecord(tx, paid[tx.Call.To])
	}
	for _, l := range m.lanes {
		m.checkGaps(l)
	}
}

// checkRecord checks that a call is paid at most once, whichever attempt carried it, that
// every attempt outbids those before it and stays below the ceiling, and that every final
// state is what the chain shows.
func (m *senderModel) checkRecord(tx *Tx, paid int) {
	kinds := map[AttemptKind]int{}
	for i, a := range tx.Attempts {
		kinds[a.Kind]++
		if a.Kind == AttemptBump && tx.Attempts[i-1].Kind == AttemptCancel {
			m.t.Fatalf("%s: sped up after its cancel", tx.Key)
		}
		if i > 0 && (!outbids(a.FeeCap, tx.Attempts[i-1].FeeCap) || !outbids(a.TipCap, tx.Attempts[i-1].TipCap)) {
			m.t.Fatalf("%s: attempt %d does not outbid the one before", tx.Key, i+1)
		}
		if maxCost := new(big.Int).Mul(a.FeeCap.ToInt(), big.NewInt(25200)); a.Kind != AttemptCancel && maxCost.Cmp(modelCeiling) > 0 {
			m.t.Fatalf("%s: attempt %d may cost %s", tx.Key, i+1, maxCost)
		}
	}
	if strings.HasPrefix(tx.Key, gapPrefix) {
		if kinds[AttemptCall]+kinds[AttemptBump] > 0 || tx.State == TxMined {
			m.t.Fatalf("%s: %v, %s", tx.Key, kinds, tx.State)
		}
		return
	}
	if kinds[AttemptCall] != 1 || kinds[AttemptBump] > maxBumps || paid > 1 {
		m.t.Fatalf("%s: %v, paid %d times", tx.Key, kinds, paid)
	}
	want := map[TxState]int{TxMined: 1, TxCancelled: 0, TxReplaced: 0, TxRejected: 0}
	if n, final := want[tx.State]; final && n != paid {
		m.t.Fatalf("%s is %s, paid %d times", tx.Key, tx.State, paid)
	}
	if tx.State == TxReverted || tx.State == TxUnknown {
		m.t.Fatalf("%s is %s", tx.Key, tx.State)
	}
}

func outbids(x, old *hexutil.Big) bool {
	return new(big.Int).Mul(x.ToInt(), big.NewInt(1000)).Cmp(new(big.Int).Mul(old.ToInt(), big.NewInt(1125))) >= 0
}

// checkGaps checks that every nonce below one that is held is used on the chain, held as
// well, or was left open by the other wallet.
func (m *senderModel) checkGaps(l *lane) {
	byNonce, used := m.nonceHolders(l), l.stateNonce()
	for nonce, tx := range byNonce {
		for n := used; n < nonce; n++ {
			if byNonce[n] == nil && !l.foreign[n] {
				m.t.Fatalf("%s holds nonce %d, but nothing holds %d", tx.Key, nonce, n)
			}
		}
	}
}

// finish stops all faults and follows every order to its end. What may no longer be sent
// is cancelled; the sender has to find the nonces that the other wallet left open.
func (m *senderModel) finish() {
	m.lock(false)
	for _, c := range m.net {
		c.with(func() { c.send, c.lag, c.liar, c.down = "", 0, "", map[string]bool{} })
	}
	for range 60 {
		m.now = m.now.Add(31 * time.Second)
		open := 0
		for _, key := range m.orders {
			tx, err := m.s.Lookup(key)
			if err != nil {
				m.t.Fatal(err)
			}
			if tx == nil || tx.State.Final() {
				continue
			}
			open++
			m.guard(func() {
				if _, err := m.s.Cancel(context.Background(), key, m.policy()); err != nil && !errors.Is(err, ErrNonceUsed) {
					m.t.Fatal(err)
				}
			})
			m.poll(key)
		}
		if open == 0 {
			return
		}
		for _, c := range m.net {
			c.with(func() { c.mine(false) })
		}
		m.check()
	}
	m.t.Fatalf("not all orders came to an end: %+v", m.records())
}

// lock makes the keys refuse to sign, or sign again.
func (m *senderModel) lock(locked bool) {
	for _, k := range m.keys {
		k.mu.Lock()
		k.fail = nil
		if locked {
			k.fail = errors.New("locked")
		}
		k.mu.Unlock()
	}
}

// modelActions returns everything that can happen to m.
func modelActions(m *senderModel, steps *int) map[string]func(*rapid.T) {
	one := func(rt *rapid.T) int {
		if len(m.orders) == 0 {
			rt.Skip("no orders yet")
		}
		return rapid.IntRange(0, len(m.orders)-1).Draw(rt, "order")
	}
	chain := func(rt *rapid.T) *modelChain { return rapid.SampledFrom(m.net).Draw(rt, "chain") }
	return map[string]func(*rapid.T){
		"":       func(*rapid.T) { *steps++; m.check() },
		"submit": func(*rapid.T) { m.submit(m.another()) },
		"repeat": func(rt *rapid.T) { m.submit(one(rt)) },
		"poll":   func(rt *rapid.T) { m.poll(m.orders[one(rt)]) },
		"pollAll": func(*rapid.T) {
			m.pollAll()
		},
		"cancel": func(rt *rapid.T) {
			key := m.orders[one(rt)]
			m.guard(func() {
				if _, err := m.s.Cancel(context.Background(), key, m.policy()); errors.Is(err, ErrLedger) {
					rt.Fatal(err)
				}
			})
		},
		"bump":           func(rt *rapid.T) { m.bump(m.orders[one(rt)]) },
		"refusedInFront": func(*rapid.T) { m.refusedInFront() },
		"crash":          func(rt *rapid.T) { m.crashAt = rapid.SampledFrom(pointNames[:]).Draw(rt, "point") },
		"restart":        func(*rapid.T) { m.restart() },
		"lock":           func(rt *rapid.T) { m.lock(rapid.Bool().Draw(rt, "locked")) },
		"refusedAfterRestart": func(rt *rapid.T) { // which proves nothing
			m.restart()
			c := chain(rt)
			c.with(func() { c.send = "refused" })
			m.pollAll()
			c.with(func() { c.send = "" })
		},
		"mine": func(rt *rapid.T) {
			c, empty := chain(rt), rapid.Bool().Draw(rt, "empty")
			c.with(func() { c.mine(empty) })
		},
		"mineSome": func(*rapid.T) {
			for _, c := range m.net {
				for range modelDepth {
					c.with(func() { c.mine(false) })
				}
			}
		},
		"reorg": func(rt *rapid.T) {
			m.pollAll() // the worst moment: what was just seen disappears
			c := chain(rt)
			deepest := 0
			c.with(func() { deepest = min(modelDepth-1, c.head()) })
			if deepest == 0 {
				return
			}
			n := rapid.IntRange(1, deepest).Draw(rt, "blocks")
			c.with(func() {
				c.reorg(n)
				for range n {
					c.mine(true)
				}
			})
		},
		"drop": func(rt *rapid.T) {
			c := chain(rt)
			c.with(func() { c.pool = nil })
		},
		"foreign": func(rt *rapid.T) {
			l := rapid.SampledFrom(m.lanes[:]).Draw(rt, "lane")
			price := rapid.SampledFrom([]int64{1e9, 3e9, 1e11}).Draw(rt, "price")
			m.spendElsewhere(l, l.stateNonce()+uint64(rapid.IntRange(0, 1).Draw(rt, "ahead")), price)
		},
		"wait": func(rt *rapid.T) {
			m.now = m.now.Add(time.Duration(rapid.IntRange(1, 40).Draw(rt, "seconds")) * time.Second)
		},
		"faults": func(rt *rapid.T) {
			c := chain(rt)
			a, b := c.hosts()
			send := rapid.SampledFrom([]string{"", "", "", "lost", "gone", "refused", "odd"}).Draw(rt, "send")
			down := rapid.SampledFrom([]string{"", "", a, b}).Draw(rt, "down")
			liar := rapid.SampledFrom([]string{"", "", a, b}).Draw(rt, "liar")
			lag := uint64(rapid.IntRange(0, 2).Draw(rt, "lag"))
			c.with(func() { c.send, c.lag, c.liar, c.down = send, lag, liar, map[string]bool{down: true} })
		},
	}
}

// TestSenderModel runs random interleavings of everything that can happen to a
// transaction and checks the sender's guarantee after each step. It is short by default;
// `-rapid.checks=2500 -rapid.steps=40` makes 100,000 steps.
func TestSenderModel(t *testing.T) {
	dir := t.TempDir()
	for name, quick := range map[string]string{"rapid.steps": "40", "rapid.checks": "25"} {
		if f := flag.Lookup(name); f.Value.String() == f.DefValue {
			if err := f.Value.Set(quick); err != nil {
				t.Fatal(err)
			}
		}
	}
	steps, ends, attempts := 0, map[TxState]int{}, map[AttemptKind]int{}
	rapid.Check(t, func(rt *rapid.T) {
		m := newSenderModel(rt, t, dir)
		defer m.close()
		rt.Repeat(modelActions(m, &steps))
		m.finish()
		for _, tx := range m.records() {
			ends[tx.State]++
			for _, a := range tx.Attempts {
				attempts[a.Kind]++
			}
			if strings.HasPrefix(tx.Key, gapPrefix) {
				attempts["gap"]++
			}
		}
	})
	t.Logf("%d steps; ends: %v; attempts: %v", steps, ends, attempts)
	if steps < 20_000 {
		return
	}
	for _, s := range []TxState{TxMined, TxCancelled, TxReplaced, TxRejected} {
		if ends[s] == 0 {
			t.Errorf("no transaction ended %s: the model is too tame", s)
		}
	}
	for _, k := range []AttemptKind{AttemptBump, AttemptCancel, "gap"} {
		if attempts[k] == 0 {
			t.Errorf("no attempt was a %s: the model is too tame", k)
		}
	}
}
