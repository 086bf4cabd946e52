package swap

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"swapkeep/chain"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/google/uuid"
	bolt "go.etcd.io/bbolt"
)

// Addresses and topics of the proof tests.
var (
	fillsFor = common.HexToAddress("0x1100000000000000000000000000000000000011")
	solver   = common.HexToAddress("0x2200000000000000000000000000000000000022")
	stranger = common.HexToAddress("0x3300000000000000000000000000000000000033")
	outside  = common.HexToAddress("0x4400000000000000000000000000000000000044") // a token on the destination chain
	filledAs = common.Hash{0xf1}
)

const (
	srcChain, dstChain = 1, 10
	noRPC              = 59144 // a destination without an RPC endpoint
	orderNonce         = 300
)

// A scriptedProvider is a provider whose proofs and claims a test sets.
type scriptedProvider struct {
	Provider
	proof  func(Order) Proof
	claims func(Order) (Claim, error)
	asked  atomic.Int32
}

func (*scriptedProvider) Kind() Kind { return DEX }
func (*scriptedProvider) Pins() Pins {
	return Pins{{srcChain, Settlement, fillsFor}, {dstChain, Settlement, fillsFor}}
}
func (*scriptedProvider) Submit(context.Context, Order) (string, error) { return "ref", nil }
func (s *scriptedProvider) Proof(o Order) (Proof, error)                { return s.proof(o), nil }
func (s *scriptedProvider) Status(_ context.Context, o Order) (Claim, error) {
	s.asked.Add(1)
	return s.claims(o)
}

// A ledgerSender is a Sender whose transactions are on the ledger or not.
type ledgerSender struct {
	Sender
	hub          *chain.MultiClient
	sent         map[string]common.Hash
	nonceRecords []*chain.Tx // by nonce, from 0
	polls        int
}

func (p *ledgerSender) RecordsByNonce(_ uint64, _ common.Address, first, count uint64) ([]*chain.Tx, error) {
	out := make([]*chain.Tx, count)
	for i := range out {
		if n := int(first) + i; n < len(p.nonceRecords) {
			out[i] = p.nonceRecords[n]
		}
	}
	return out, nil
}

func (p *ledgerSender) Lookup(key string) (*chain.Tx, error) {
	if _, ok := p.sent[key]; !ok {
		return nil, nil
	}
	return &chain.Tx{Key: key}, nil
}

func (p *ledgerSender) Poll(ctx context.Context, key string) (chain.Tx, *chain.Evidence, error) {
	p.polls++
	ev, ok, err := p.hub.Evidence(ctx, srcChain, p.sent[key])
	if err != nil || !ok {
		return chain.Tx{Key: key}, nil, err
	}
	if !ev.Success {
		return chain.Tx{Key: key, State: chain.TxReverted}, &ev, nil
	}
	return chain.Tx{Key: key, State: chain.TxMined}, &ev, nil
}

// A proofFixture is an engine that only proves, on two ledgers and with its own clock.
type proofFixture struct {
	t        *testing.T
	src, dst *ledger
	hub      *chain.MultiClient
	db       *bolt.DB
	engine   *Engine
	provider *scriptedProvider
	sender   *ledgerSender
	now      time.Time
	logged   []string
	made     int
}

func newProofFixture(t *testing.T, hosts int) *proofFixture {
	t.Helper()
	start := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	c := &proofFixture{t: t, now: start}
	var first, second []string
	c.src, first = newLedger(t, srcChain, hosts, start)
	c.dst, second = newLedger(t, dstChain, hosts, start)
	var err error
	c.hub, err = chain.NewMultiClient([]chain.Endpoint{{Chain: srcChain, URLs: first, Depth: ledgerDepth}, {Chain: dstChain, URLs: second, Depth: ledgerDepth}}, chain.Options{Sandbox: true, Timeout: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.hub.Close)
	if c.db, err = bolt.Open(filepath.Join(t.TempDir(), "orders.db"), 0o600, &bolt.Options{Timeout: time.Second, NoSync: true}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.db.Close() })
	c.provider = &scriptedProvider{proof: fillProof, claims: func(Order) (Claim, error) { return Claim{State: Settling}, nil }}
	c.sender = &ledgerSender{hub: c.hub, sent: map[string]common.Hash{}}
	c.restart()
	return c
}

// restart is the end of the process and its next start.
func (c *proofFixture) restart() {
	j, err := OpenJournal(c.db)
	if err != nil {
		c.t.Fatal(err)
	}
	c.engine = &Engine{Journal: j, Providers: map[Kind]Provider{DEX: c.provider}, Nodes: c.hub, Sender: c.sender, Now: func() time.Time { return c.now },
		Unlocked: func() bool { return true }, IsLocked: func(error) bool { return false }, Pause: Pause, Notify: func(Order) {},
		Log: func(_ Order, err error) { c.logged = append(c.logged, err.Error()) }}
}

// lastSecond is the last second of a signed order.
func (c *proofFixture) lastSecond() time.Time { return c.src.blocks[10].time.Add(30 * time.Second) }

// order journals an order in Settling: a signed one unless change makes it another.
func (c *proofFixture) order(change func(*Order)) string {
	c.t.Helper()
	c.made++
	out := big.NewInt(int64(1000))
	o := Order{ID: fmt.Sprintf("%04d", c.made), Request: uuid.NewString(), Digest: common.Hash{byte(c.made)}, State: Settling, Step: 1, Created: c.now, Updated: c.now,
		Terms: Terms{Provider: DEX, Account: account, SrcChain: srcChain, TokenIn: usdc, AmountIn: big.NewInt(5000), DstChain: srcChain, TokenOut: weth, Recipient: account,
			MinOut: out, Deadline: c.lastSecond(), RefundTo: account, GasCeiling: big.NewInt(1e17)},
		Offer:   testOffer(),
		Plan:    Plan{Settlement: ByProvider, Steps: []Step{{Kind: TypedStep, Effect: Effect{Kind: Signed, Chain: srcChain}}}},
		Results: []Result{{Signature: []byte{1}}}, SearchFrom: map[uint64]uint64{srcChain: 8, dstChain: 8}}
	if change != nil {
		change(&o)
	}
	if _, made, err := c.engine.Journal.Create(o, o.Digest); err != nil || !made {
		c.t.Fatal(made, err)
	}
	return o.ID
}

// deposited makes o an order whose input was deposited on the source chain, for a token
// on the destination.
func (c *proofFixture) deposited(o *Order) {
	o.Terms.DstChain, o.Terms.TokenOut = dstChain, outside
	o.Plan.Steps = []Step{{Kind: CallStep, Call: &chain.Call{ChainID: srcChain, From: account, To: fillsFor, Value: new(big.Int)}, Effect: Effect{Kind: Deposit, Chain: srcChain}}}
	hash := common.Hash{0xd0, byte(c.made)}
	c.src.mine(1, ledgerTx{hash: hash, from: account, to: fillsFor})
	c.src.mine(ledgerDepth)
	c.dst.mineUntil(c.src.head().time)
	ev, ok, err := c.hub.Evidence(c.t.Context(), srcChain, hash)
	if err != nil || !ok {
		c.t.Fatal(ok, err)
	}
	o.Results, c.sender.sent[stepKey(*o, 0)] = []Result{{Tx: hash, Evidence: &ev}}, hash
	c.now = c.dst.head().time
}

// pollOnce moves an order once.
func (c *proofFixture) pollOnce(id string) Order {
	c.t.Helper()
	o, err := c.engine.Journal.Get(id)
	if err != nil {
		c.t.Fatal(err)
	}
	if o.State.Final() {
		return o
	}
	if _, err := c.engine.move(c.t.Context(), &o); err != nil {
		c.logged = append(c.logged, err.Error())
	}
	if o, err = c.engine.Journal.Get(id); err != nil {
		c.t.Fatal(err)
	}
	return o
}

// pollRepeatedly moves an order as often as may change anything, over a few minutes.
func (c *proofFixture) pollRepeatedly(id string) Order {
	for range 6 {
		c.pollOnce(id)
		c.now = c.now.Add(absentTime / 2)
	}
	return c.pollOnce(id)
}

// fillProof is the proof of a signed order: the event with its digest, and its nonce.
func fillProof(o Order) Proof {
	return Proof{Fill: []LogPattern{{Address: fillsFor, Topics: []common.Hash{filledAs, o.Digest}}}, Ends: o.Terms.Deadline, Nonce: &NonceBit{permit2, account, big.NewInt(orderNonce)}}
}

// arrivalProof is the proof of a deposit.
func arrivalProof(o Order) Proof {
	return Proof{
		Arrival: &Arrival{Chain: o.Terms.DstChain, Token: o.Terms.TokenOut, To: o.Terms.Recipient, Least: o.Terms.MinOut, From: []common.Address{solver}},
		Refund:  &Arrival{Chain: srcChain, Token: o.Terms.TokenIn, To: o.Terms.RefundTo, Least: big.NewInt(4900), From: []common.Address{solver}},
	}
}

// fill returns the transaction that fills order 1.
func fill(paid int64) ledgerTx {
	return ledgerTx{hash: common.Hash{0xaa}, from: solver, to: fillsFor,
		logs: []*types.Log{transferLog(weth, solver, account, paid), {Address: fillsFor, Topics: []common.Hash{filledAs, {1}}, Data: []byte{}}}}
}

func said(c Claim) func(Order) (Claim, error) {
	return func(Order) (Claim, error) { return c, nil }
}

// wantVerdict compares an order with its expected verdict; by "" means that it is still open.
func (c *proofFixture) wantVerdict(o Order, by string, sources string) {
	c.t.Helper()
	if by == "" {
		if o.State.Final() || o.Verdict != nil {
			c.t.Errorf("ended %s by %s", o.State, o.Verdict.By)
		}
		return
	}
	v := o.Verdict
	if v == nil || v.By != by || v.State != o.State || v.Sources != sources || v.Means() == "" {
		c.t.Errorf("%s %q with %+v, want one by %s of %q; logged %q", o.State, o.Condition, v, by, sources, c.logged)
	}
}

const bothAgree = "2 sources agree"

// TestSignedOrders covers every end of a signed order, and the cases that are not one.
func TestSignedOrders(t *testing.T) {
	two := func(c *proofFixture) { c.src.mineFinal(fill(1000)) }
	for _, tc := range []struct {
		name string
		do   func(*proofFixture)
		by   string
		got  int64
	}{
		{"filled", two, byFill, 1000},
		{"filled, and told", func(c *proofFixture) { c.provider.claims = said(Claim{State: Filled, Tx: c.src.mineFinal(fill(1001))}) }, byFill, 1001},
		{"filled with less than the contract enforces", func(c *proofFixture) { c.src.mineFinal(fill(999)) }, byFill, 999},
		{"filled though called failed", func(c *proofFixture) { two(c); c.provider.claims = said(Claim{State: Failed}) }, byFill, 1000},
		{"filled in its last second", func(c *proofFixture) { two(c); c.src.mineUntil(c.lastSecond()) }, byFill, 1000},
		{"filled, and the nonce is used", func(c *proofFixture) { two(c); c.src.useNonce(orderNonce) }, byFill, 1000},
		{"not deep enough", func(c *proofFixture) { c.src.mine(1, fill(1000)); c.src.mine(1) }, "", 0},
		{"taken back", func(c *proofFixture) { c.src.mine(1, fill(1000)); c.src.reorg(1); c.src.mine(ledgerDepth) }, "", 0},
		{"reverted", func(c *proofFixture) { x := fill(1000); x.failed = true; c.src.mineFinal(x) }, "", 0},
		{"another order's", func(c *proofFixture) { x := fill(1000); x.logs[1].Topics[1] = common.Hash{2}; c.src.mineFinal(x) }, "", 0},
		{"another contract's event", func(c *proofFixture) { x := fill(1000); x.logs[1].Address = stranger; c.src.mineFinal(x) }, "", 0},
		{"told and not there", func(c *proofFixture) { c.provider.claims = said(Claim{State: Filled, Tx: common.Hash{0xbb}}) }, "", 0},
		{"told with another's transaction", func(c *proofFixture) {
			c.provider.claims = said(Claim{State: Filled, Tx: c.src.mineFinal(ledgerTx{hash: common.Hash{0xbb}, from: solver, logs: []*types.Log{transferLog(weth, solver, account, 5000)}})})
		}, "", 0},
		{"told expired", func(c *proofFixture) { c.provider.claims = said(Claim{State: Expired}) }, "", 0},
		{"told cancelled", func(c *proofFixture) { c.provider.claims = said(Claim{State: Cancelled}) }, "", 0},
		{"silent", func(c *proofFixture) {
			c.provider.claims = func(Order) (Claim, error) { return Claim{}, errors.New("down") }
			c.now = c.now.Add(time.Hour)
		}, "", 0},
		{"in its last second", func(c *proofFixture) { c.src.mineUntil(c.lastSecond().Add(-time.Second)) }, "", 0},
		{"the clock alone is late", func(c *proofFixture) { c.now = c.now.Add(time.Hour) }, "", 0},
		{"expired", func(c *proofFixture) { c.src.mineUntil(c.lastSecond()) }, byAbsence, 0},
		{"expired, told filled", func(c *proofFixture) { c.src.mineUntil(c.lastSecond()); c.provider.claims = said(Claim{State: Filled}) }, byAbsence, 0},
		{"late, and a host is down", func(c *proofFixture) { c.src.mineUntil(c.lastSecond()); c.src.hosts[1].down = true }, "", 0},
		{"late, and a host is behind", func(c *proofFixture) { c.src.mineUntil(c.lastSecond()); c.src.hosts[1].lag = 2 * ledgerDepth }, "", 0},
		{"filled, and a host hides it", func(c *proofFixture) { two(c); c.src.hosts[0].hideLogs = true; c.src.mineUntil(c.lastSecond()) }, byFill, 1000},
		{"filled, and a host denies it", func(c *proofFixture) { two(c); c.src.hosts[0].lie = denies; c.src.mineUntil(c.lastSecond()) }, "", 0},
		{"late, and a host invents a fill", func(c *proofFixture) { c.src.mineUntil(c.lastSecond()); c.src.hosts[0].lie = inventsFill(c.src) }, "", 0},
		{"late, and a host is on a fork", func(c *proofFixture) { c.src.mineUntil(c.lastSecond()); c.src.hosts[0].lie = onAFork }, "", 0},
		{"early, and a host lies about the time", func(c *proofFixture) {
			c.src.mineUntil(c.lastSecond().Add(-10 * time.Second))
			c.src.hosts[0].lie = inTheFuture
		}, "", 0},
		{"early, and the other host lies about the time", func(c *proofFixture) {
			c.src.mineUntil(c.lastSecond().Add(-10 * time.Second))
			c.src.hosts[1].lie = inTheFuture
		}, "", 0},
		{"nonce used elsewhere", func(c *proofFixture) { c.src.useNonce(orderNonce) }, byUsedNonce, 0},
		{"nonce used elsewhere, long past the end", func(c *proofFixture) { c.src.useNonce(orderNonce); c.src.mineUntil(c.lastSecond()) }, byUsedNonce, 0},
		{"a neighbour's nonce", func(c *proofFixture) { c.src.useNonce(orderNonce + 1) }, "", 0},
		{"one host says that the nonce is used", func(c *proofFixture) { c.src.hosts[0].lie = allUsed }, "", 0},
		{"cancelled", func(c *proofFixture) { c.mineInvalidation(1, false); c.src.useNonce(orderNonce) }, byVoid, 0},
		{"cancelled, and filled before", func(c *proofFixture) { two(c); c.mineInvalidation(1, false); c.src.useNonce(orderNonce) }, byFill, 1000},
		{"the cancelling call failed", func(c *proofFixture) { c.mineInvalidation(1, true) }, "", 0},
		{"the cancelling call failed and the end came", func(c *proofFixture) { c.mineInvalidation(1, true); c.src.mineUntil(c.lastSecond()) }, byAbsence, 0},
		{"the cancelling call succeeded and the nonce is free", func(c *proofFixture) { c.mineInvalidation(1, false) }, "", 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := newProofFixture(t, 2)
			id := c.order(nil)
			tc.do(c)
			o := c.pollRepeatedly(id)
			c.wantVerdict(o, tc.by, bothAgree)
			if tc.got > 0 && (o.Verdict == nil || o.Verdict.Received == nil || o.Verdict.Received.Amount.Int64() != tc.got || o.Verdict.Short != (tc.got < 1000) || len(o.Verdict.Logs) != 1) {
				t.Errorf("verdict %+v", o.Verdict)
			}
			if a := tc.by == byAbsence || tc.by == byUsedNonce || tc.by == byVoid; a && (o.Verdict == nil || o.Verdict.Absence == nil || o.Verdict.Absence.From != 8 || len(o.Verdict.Absence.Hosts) != 2) {
				t.Errorf("verdict %+v", o.Verdict)
			}
		})
	}
}

// mineInvalidation mines the call that invalidates an order.
func (c *proofFixture) mineInvalidation(order int, failed bool) {
	hash := common.Hash{0xcc}
	c.sender.sent[invalidateKey(Order{ID: fmt.Sprintf("%04d", order)})] = hash
	c.src.mineFinal(ledgerTx{hash: hash, from: account, to: permit2, failed: failed})
}

// Lies of one host.
func denies(method string, result any) any {
	if method == "eth_getTransactionReceipt" || method == "eth_getTransactionByHash" {
		return nil
	}
	if method == "eth_getLogs" {
		return []any{}
	}
	return result
}

func onAFork(method string, result any) any {
	if b, ok := result.(map[string]any); ok && method == "eth_getBlockByNumber" {
		b["hash"] = common.Hash{0xee}
	}
	return result
}

func inTheFuture(method string, result any) any {
	if b, ok := result.(map[string]any); ok && method == "eth_getBlockByNumber" {
		b["timestamp"] = "0xffffffff"
	}
	return result
}

func allUsed(method string, result any) any {
	if method == "eth_call" {
		return common.Hash{0: 0xff, 1: 0xff, 2: 0xff, 3: 0xff, 31: 0xff, 30: 0xff, 29: 0xff, 28: 0xff, 27: 0xff, 26: 0xff, 25: 0xff}
	}
	return result
}

// inventsFill shows the event and the receipt of a fill that never happened.
func inventsFill(l *ledger) func(string, any) any {
	x := fill(1000)
	at := uint64(12)
	for _, log := range x.logs {
		log.TxHash, log.BlockHash, log.BlockNumber = x.hash, l.blocks[at].hash, at
	}
	return func(method string, result any) any {
		switch method {
		case "eth_getLogs":
			return x.logs[1:]
		case "eth_getTransactionByHash":
			return map[string]any{"hash": x.hash, "blockHash": l.blocks[at].hash, "from": solver, "value": "0x0"}
		case "eth_getTransactionReceipt":
			return map[string]any{"transactionHash": x.hash, "blockHash": l.blocks[at].hash, "blockNumber": "0xc", "transactionIndex": "0x0", "status": "0x1", "gasUsed": "0x5208",
				"cumulativeGasUsed": "0x5208", "effectiveGasPrice": "0x2", "logs": x.logs, "logsBloom": "0x" + strings.Repeat("00", 256), "type": "0x2", "to": fillsFor}
		}
		return result
	}
}

// TestAbsenceIsLookedAtTwice checks that absence is believed only if it is confirmed a
// minute later: a host that was behind with its logs may have them by then.
func TestAbsenceIsLookedAtTwice(t *testing.T) {
	c := newProofFixture(t, 2)
	id := c.order(nil)
	c.src.mineFinal(fill(1000))
	c.src.mineUntil(c.lastSecond())
	c.src.hosts[0].hideLogs, c.src.hosts[1].hideLogs = true, true
	for range 5 {
		c.wantVerdict(c.pollOnce(id), "", "")
		c.now = c.now.Add(time.Second)
	}
	c.src.hosts[0].hideLogs, c.src.hosts[1].hideLogs = false, false
	c.now = c.now.Add(absentTime)
	c.wantVerdict(c.pollOnce(id), byFill, bothAgree)
}

// TestThreeHosts checks that one of three hosts that lies or is down neither causes nor
// delays a verdict.
func TestThreeHosts(t *testing.T) {
	for name, spoil := range map[string]func(*ledgerHost){
		"down":    func(h *ledgerHost) { h.down = true },
		"behind":  func(h *ledgerHost) { h.lag = 1000 },
		"denies":  func(h *ledgerHost) { h.lie = denies },
		"fork":    func(h *ledgerHost) { h.lie = onAFork },
		"future":  func(h *ledgerHost) { h.lie = inTheFuture },
		"all bit": func(h *ledgerHost) { h.lie = allUsed },
		"invents": func(h *ledgerHost) { h.lie = inventsFill(h.l) },
	} {
		for which := range 3 {
			t.Run(fmt.Sprintf("%s %d", name, which), func(t *testing.T) {
				c := newProofFixture(t, 3)
				expires, fills := c.order(nil), c.order(func(o *Order) { o.Plan.Steps[0].Effect.Chain = srcChain })
				x := fill(1000)
				x.hash, x.logs[1].Topics[1] = common.Hash{0xab}, common.Hash{2}
				c.src.mineFinal(x)
				c.src.mineUntil(c.lastSecond())
				spoil(c.src.hosts[which])
				c.wantVerdict(c.pollRepeatedly(expires), byAbsence, bothAgree)
				c.wantVerdict(c.pollRepeatedly(fills), byFill, bothAgree)
			})
		}
	}
}

// TestOneSource checks that with one host the verdict says so.
func TestOneSource(t *testing.T) {
	c := newProofFixture(t, 1)
	id, other := c.order(nil), c.order(nil)
	c.src.mineFinal(fill(1000))
	c.wantVerdict(c.pollRepeatedly(id), byFill, "one source")
	c.src.mineUntil(c.lastSecond())
	c.wantVerdict(c.pollRepeatedly(other), byAbsence, "one source")
}

// TestExactTransfers covers an order that is proven by two exact transfers and the
// settlement contract's event, all in one transaction.
func TestExactTransfers(t *testing.T) {
	exact := func(o Order) Proof {
		return Proof{Ends: o.Terms.Deadline, Fill: []LogPattern{
			{Address: weth, Topics: []common.Hash{transferTopic, topicOf(solver), topicOf(account)}, Amount: big.NewInt(1000)},
			{Address: usdc, Topics: []common.Hash{transferTopic, topicOf(account), {}}, Amount: big.NewInt(5000), AtLeast: true},
			{Address: fillsFor, Topics: []common.Hash{filledAs}},
		}}
	}
	event := func() *types.Log {
		return &types.Log{Address: fillsFor, Topics: []common.Hash{filledAs}, Data: []byte{}}
	}
	out, in := func(n int64) *types.Log { return transferLog(weth, solver, account, n) }, func(n int64) *types.Log { return transferLog(usdc, account, solver, n) }
	for _, tc := range []struct {
		name string
		logs [][]*types.Log // by transaction
		by   string
	}{
		{"all", [][]*types.Log{{out(1000), in(5000), event()}}, byFill},
		{"in any order, among others", [][]*types.Log{{event(), in(7), in(5001), out(3), out(1000)}}, byFill},
		{"in two transactions", [][]*types.Log{{out(1000), event()}, {in(5000), event()}}, ""},
		{"more than exact", [][]*types.Log{{out(1001), in(5000), event()}}, ""},
		{"less taken", [][]*types.Log{{out(1000), in(4999), event()}}, ""},
		{"without the event", [][]*types.Log{{out(1000), in(5000)}}, ""},
	} {
		c := newProofFixture(t, 2)
		c.provider.proof = exact
		id := c.order(nil)
		for i, logs := range tc.logs {
			c.src.mineFinal(ledgerTx{hash: common.Hash{0xaa, byte(i)}, from: solver, to: fillsFor, logs: logs})
		}
		o := c.pollRepeatedly(id)
		t.Log(tc.name)
		c.wantVerdict(o, tc.by, bothAgree)
	}
}

// TestMatchAll checks that each pattern gets its own log, even if several match several.
func TestMatchAll(t *testing.T) {
	a, b := transferLog(weth, solver, account, 5), transferLog(weth, solver, account, 9)
	p := func(n int64) LogPattern {
		return LogPattern{Address: weth, Topics: []common.Hash{transferTopic, {}, {}}, Amount: big.NewInt(n), AtLeast: true}
	}
	for _, tc := range []struct {
		patterns []LogPattern
		logs     []*types.Log
		want     []int
	}{
		{[]LogPattern{p(1)}, []*types.Log{a, b}, []int{0}},
		{[]LogPattern{p(1), p(9)}, []*types.Log{b, a}, []int{0, 1}},
		{[]LogPattern{p(1), p(1)}, []*types.Log{nil, a, b}, []int{1, 2}},
		{[]LogPattern{p(1), p(1), p(1)}, []*types.Log{a, b}, nil},
		{[]LogPattern{p(9), p(9)}, []*types.Log{a, b}, nil},
		{nil, []*types.Log{a}, nil},
	} {
		if got, ok := matchAll(tc.patterns, tc.logs); ok != (tc.want != nil) || ok && !slices.Equal(got, tc.want) {
			t.Errorf("%d patterns on %d logs: %v, %v, want %v", len(tc.patterns), len(tc.logs), got, ok, tc.want)
		}
	}
}

// TestProofsAreChecked refuses proofs that other transactions could satisfy.
func TestProofsAreChecked(t *testing.T) {
	o := Order{Terms: Terms{Account: account, SrcChain: srcChain, DstChain: dstChain, TokenIn: usdc, TokenOut: outside, Recipient: account, RefundTo: account, MinOut: big.NewInt(1000)}}
	for name, change := range map[string]func(*Proof){
		"nothing":               func(p *Proof) { *p = Proof{} },
		"a fill and an arrival": func(p *Proof) { p.Fill = fillProof(o).Fill },
		"a nonce of a deposit":  func(p *Proof) { p.Nonce = fillProof(o).Nonce },
		"another's nonce":       func(p *Proof) { *p = fillProof(o); p.Nonce.Owner = solver },
		"no nonce":              func(p *Proof) { *p = fillProof(o); p.Nonce.Nonce = nil },
		"an event of anybody":   func(p *Proof) { *p = fillProof(o); p.Fill[0].Address = common.Address{} },
		"any event":             func(p *Proof) { *p = fillProof(o); p.Fill[0].Topics[0] = common.Hash{} },
		"no topic":              func(p *Proof) { *p = fillProof(o); p.Fill[0].Topics = nil },
		"a refund of an order":  func(p *Proof) { q := fillProof(o); q.Refund = p.Refund; *p = q },
		"a trace of a deposit":  func(p *Proof) { p.Trace = fillProof(o).Fill },
		"a trace of anybody":    func(p *Proof) { *p = fillProof(o); p.Trace = []LogPattern{{Topics: []common.Hash{filledAs, {}}}} },
		"a trace of nothing":    func(p *Proof) { *p = fillProof(o); p.Trace = []LogPattern{{Address: fillsFor}} },
		"another's trace": func(p *Proof) {
			*p = fillProof(o)
			p.Trace = []LogPattern{{Address: fillsFor, Topics: []common.Hash{filledAs, {9}}}}
		},
		"a narrower trace": func(p *Proof) {
			*p = fillProof(o)
			p.Trace = []LogPattern{{Address: fillsFor, Topics: p.Fill[0].Topics, Amount: big.NewInt(1)}}
		},
		"less than the floor":     func(p *Proof) { p.Arrival.Least = big.NewInt(999) },
		"no amount":               func(p *Proof) { p.Arrival.Least = nil },
		"nothing arrives":         func(p *Proof) { p.Refund.Least = new(big.Int) },
		"another recipient":       func(p *Proof) { p.Arrival.To = solver },
		"another token":           func(p *Proof) { p.Arrival.Token = usdc },
		"another chain":           func(p *Proof) { p.Arrival.Chain = srcChain },
		"a refund elsewhere":      func(p *Proof) { p.Refund.Chain = dstChain },
		"a refund to another":     func(p *Proof) { p.Refund.To = solver },
		"a filler that is us":     func(p *Proof) { p.Arrival.From = []common.Address{account} },
		"a filler that is nobody": func(p *Proof) { p.Refund.From = []common.Address{{}} },
	} {
		p := arrivalProof(o)
		if err := p.check(o.Terms); err != nil {
			t.Fatal(err)
		}
		if change(&p); p.check(o.Terms) == nil {
			t.Errorf("%s is a proof", name)
		}
	}
}

// TestTableOfProofs checks that every proof is in the table once, with an end.
func TestTableOfProofs(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range Proofs() {
		if seen[r.By] || !r.End.Final() || r.Means == "" || r.Of == "" || verdictBy(r.By).State != r.End {
			t.Errorf("row %+v", r)
		}
		seen[r.By] = true
	}
	for _, r := range UnprovenEnds() {
		if o := (Order{State: Settling, Condition: r.Condition}); !o.unproven() || r.Means == "" {
			t.Errorf("report %+v", r)
		}
	}
	ends := slices.Sorted(maps.Keys(map[State]bool{Filled: true, Refunded: true, Failed: true, Expired: true, Cancelled: true}))
	for _, end := range ends {
		if !slices.ContainsFunc(Proofs(), func(r ProofRow) bool { return r.End == end }) {
			t.Errorf("nothing proves %s", end)
		}
	}
	if (Verdict{By: "older"}).Means() != "" {
		t.Error("a row that is not there has a meaning")
	}
}

// TestTwinOrders checks that indistinguishable orders each end by their own fill.
func TestTwinOrders(t *testing.T) {
	c := newProofFixture(t, 2)
	c.provider.proof = func(o Order) Proof {
		return Proof{Ends: o.Terms.Deadline, Fill: []LogPattern{{Address: weth, Topics: []common.Hash{transferTopic, topicOf(solver), topicOf(account)}, Amount: big.NewInt(1000)}}}
	}
	first, second := c.order(nil), c.order(nil)
	pay := func(n byte) common.Hash {
		return c.src.mineFinal(ledgerTx{hash: common.Hash{0xaa, n}, from: solver, to: fillsFor, logs: []*types.Log{transferLog(weth, solver, account, 1000)}})
	}
	tx := pay(1)
	c.provider.claims = said(Claim{State: Filled, Tx: tx})
	c.wantVerdict(c.pollRepeatedly(first), byFill, bothAgree)
	c.wantVerdict(c.pollRepeatedly(second), "", "")
	other := pay(2)
	o := c.pollRepeatedly(second)
	if c.wantVerdict(o, byFill, bothAgree); o.Verdict == nil || o.Verdict.Evidence.Tx != other {
		t.Errorf("verdict %+v", o.Verdict)
	}
}

// TestTooSoon checks that a clock that was set back does not prolong a wait.
func TestTooSoon(t *testing.T) {
	start := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	then := start
	for _, c := range []struct {
		now  time.Duration
		want bool
	}{{0, true}, {absentTime - 1, true}, {absentTime, false}, {-3 * time.Hour, true}, {-3*time.Hour + absentTime - 1, true}, {-3*time.Hour + absentTime, false}} {
		if got := tooSoon(&then, start.Add(c.now)); got != c.want {
			t.Errorf("at %s: %t", c.now, got)
		}
	}
}
