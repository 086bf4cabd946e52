package engine

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"swapkeep/chain"
	"swapkeep/swap"
	"swapkeep/swap/journal"
	"swapkeep/swap/plan"
	"swapkeep/swap/proof"

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
	swap.Provider
	proof  func(swap.Order) swap.Proof
	claims func(swap.Order) (swap.Claim, error)
	asked  atomic.Int32
}

func (*scriptedProvider) Kind() swap.Kind { return swap.DEX }

func (*scriptedProvider) Pins() swap.Pins {
	return swap.Pins{{Chain: srcChain, Role: swap.Settlement, Address: fillsFor}, {Chain: dstChain, Role: swap.Settlement, Address: fillsFor}}
}

func (*scriptedProvider) Submit(context.Context, swap.Order) (string, error) { return "ref", nil }

func (s *scriptedProvider) Proof(o swap.Order) (swap.Proof, error) { return s.proof(o), nil }

func (s *scriptedProvider) Status(_ context.Context, o swap.Order) (swap.Claim, error) {
	s.asked.Add(1)
	return s.claims(o)
}

// A ledgerSender is a Sender whose transactions are on the ledger or not.
type ledgerSender struct {
	Sender
	hub          *chain.MultiClient
	sent         map[string]common.Hash
	nonceRecords []*chain.Tx // of the account, by nonce, from 0

	isolatedRecords []*chain.Tx // of any other account
	polls           int
}

func (p *ledgerSender) RecordsByNonce(_ uint64, from common.Address, first, count uint64) ([]*chain.Tx, error) {
	out, held := make([]*chain.Tx, count), p.nonceRecords
	if from != account {
		held = p.isolatedRecords
	}
	for i := range out {
		if n := int(first) + i; n < len(held) {
			out[i] = held[n]
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
	far      *ledger // of a network that is not the wallet's; nil = none
	hub      *chain.MultiClient
	receipts func() error // decides CheckReceipt instead of the ledgers; nil = they do
	db       *bolt.DB
	engine   *Engine
	provider *scriptedProvider
	sender   *ledgerSender
	now      time.Time
	logged   []string
	made     int

	depositLogs []*types.Log // of the deposits that are made
}

func newProofFixture(t *testing.T, hosts int) *proofFixture {
	t.Helper()
	oneGoroutine(t)
	return newLoopFixture(t, hosts)
}

// newLoopFixture is newProofFixture for a test that runs orders' loops.
func newLoopFixture(t *testing.T, hosts int) *proofFixture {
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
	c.provider = &scriptedProvider{proof: fillProof, claims: func(swap.Order) (swap.Claim, error) { return swap.Claim{State: swap.Settling}, nil }}
	c.sender = &ledgerSender{hub: c.hub, sent: map[string]common.Hash{}}
	c.restart()
	return c
}

// restart is the end of the process and its next start.
func (c *proofFixture) restart() {
	j, err := journal.Open(c.db)
	if err != nil {
		c.t.Fatal(err)
	}
	c.engine = &Engine{Journal: j, Providers: map[swap.Kind]swap.Provider{swap.DEX: c.provider}, Nodes: ledgerNodes{c.hub, c}, Planner: &plan.Planner{}, Sender: c.sender, Now: func() time.Time { return c.now },
		Unlocked: func() bool { return true }, IsLocked: func(error) bool { return false }, Pause: defaultPause, Notify: func(swap.Order) {},
		Log: func(_ swap.Order, err error) { c.logged = append(c.logged, err.Error()) }}
}

// lastSecond is the last second of a signed order.
func (c *proofFixture) lastSecond() time.Time { return c.src.blocks[10].time.Add(30 * time.Second) }

// order journals an order in Settling: a signed one unless change makes it another.
func (c *proofFixture) order(change func(*swap.Order)) string {
	c.t.Helper()
	c.made++
	out := big.NewInt(int64(1000))
	o := swap.Order{ID: fmt.Sprintf("%04d", c.made), Consent: swap.Consent{Request: uuid.NewString(), Digest: common.Hash{byte(c.made)},
		Terms: swap.Terms{Provider: swap.DEX, Account: account, SrcChain: srcChain, TokenIn: usdc, AmountIn: big.NewInt(5000), DstChain: srcChain, TokenOut: weth, Recipient: account,
			MinOut: out, Deadline: c.lastSecond(), RefundTo: account, GasCeiling: big.NewInt(1e17)},
		Offer: testOffer(),
		Plan:  swap.Plan{Settlement: swap.ByProvider, Steps: []swap.Step{{Kind: swap.TypedStep, Effect: swap.Effect{Kind: swap.Signed, Chain: srcChain}}}}}, Progress: swap.Progress{State: swap.Settling, Step: 1,
		Results: []swap.Result{{Signature: []byte{1}}}, SearchFrom: map[uint64]uint64{srcChain: 8, dstChain: 8}}, Created: c.now, Updated: c.now}
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
func (c *proofFixture) deposited(o *swap.Order) {
	o.Terms.DstChain, o.Terms.TokenOut = dstChain, outside
	o.Plan.Steps = []swap.Step{{Kind: swap.CallStep, Call: &chain.Call{ChainID: srcChain, From: account, To: fillsFor, Value: new(big.Int)}, Effect: swap.Effect{Kind: swap.Deposit, Chain: srcChain}}}
	hash := common.Hash{0xd0, byte(c.made)}
	c.src.mine(1, ledgerTx{hash: hash, from: account, to: fillsFor, logs: c.depositLogs})
	c.src.mine(ledgerDepth)
	c.dst.mineUntil(c.src.head().time)
	ev, ok, err := c.hub.Evidence(c.t.Context(), srcChain, hash)
	if err != nil || !ok {
		c.t.Fatal(ok, err)
	}
	o.Results, c.sender.sent[stepKey(*o, 0)] = []swap.Result{{Tx: hash, Evidence: &ev}}, hash
	c.now = c.dst.head().time
}

// pollOnce moves an order once.
func (c *proofFixture) pollOnce(id string) swap.Order {
	c.t.Helper()
	o, err := c.engine.Journal.Get(id)
	if err != nil {
		c.t.Fatal(err)
	}
	if o.State.Final() {
		return o
	}
	if _, err := moveOnce(c.t.Context(), c.engine, &o); err != nil {
		c.logged = append(c.logged, err.Error())
	}
	if o, err = c.engine.Journal.Get(id); err != nil {
		c.t.Fatal(err)
	}
	return o
}

// pollRepeatedly moves an order as often as may change anything, over a few minutes.
func (c *proofFixture) pollRepeatedly(id string) swap.Order {
	for range 6 {
		c.pollOnce(id)
		c.now = c.now.Add(absentTime / 2)
	}
	return c.pollOnce(id)
}

// fillProof is the proof of a signed order: the event with its digest, and its nonce.
func fillProof(o swap.Order) swap.Proof {
	return swap.Proof{Fill: []swap.LogPattern{{Address: fillsFor, Topics: []common.Hash{filledAs, o.Digest}}}, Ends: o.Terms.Deadline, Nonce: &swap.NonceBit{Contract: permit2, Owner: account, Nonce: big.NewInt(orderNonce)}}
}

// arrivalProof is the proof of a deposit.
func arrivalProof(o swap.Order) swap.Proof {
	return swap.Proof{
		Arrival: &swap.Arrival{Chain: o.Terms.DstChain, Token: o.Terms.TokenOut, To: o.Terms.Recipient, Least: o.Terms.MinOut, From: []common.Address{solver}},
		Refund:  &swap.Arrival{Chain: srcChain, Token: o.Terms.TokenIn, To: o.Terms.RefundTo, Least: big.NewInt(4900), From: []common.Address{solver}},
	}
}

// fill returns the transaction that fills order 1.
func fill(paid int64) ledgerTx {
	return ledgerTx{hash: common.Hash{0xaa}, from: solver, to: fillsFor,
		logs: []*types.Log{transferLog(weth, solver, account, paid), {Address: fillsFor, Topics: []common.Hash{filledAs, {1}}, Data: []byte{}}}}
}

func said(c swap.Claim) func(swap.Order) (swap.Claim, error) {
	return func(swap.Order) (swap.Claim, error) { return c, nil }
}

// wantVerdict compares an order with its expected verdict; by "" means that it is still open.
func (c *proofFixture) wantVerdict(o swap.Order, by string, sources swap.SourceCode) {
	c.t.Helper()
	if by == "" {
		if o.State.Final() || o.Verdict != nil {
			c.t.Errorf("ended %s by %s", o.State, o.Verdict.ProvenBy)
		}
		return
	}
	v := o.Verdict
	if v == nil || v.ProvenBy != by || v.State != o.State || v.Sources != sources {
		c.t.Errorf("%s %q with %+v, want one by %s of %q; logged %q", o.State, o.Condition, v, by, sources, c.logged)
	}
}

const bothAgree = swap.TwoHosts

// TestSignedOrders covers every end of a signed order, and the cases that are not one.
func TestSignedOrders(t *testing.T) {
	two := func(c *proofFixture) { c.src.mineFinal(fill(1000)) }
	for _, tc := range []struct {
		name string
		do   func(*proofFixture)
		by   string
		got  int64
	}{
		{"filled", two, swap.ProvenByFill, 1000},
		{"filled, and told", func(c *proofFixture) {
			c.provider.claims = said(swap.Claim{State: swap.Filled, Tx: c.src.mineFinal(fill(1001))})
		}, swap.ProvenByFill, 1001},
		{"filled with less than the contract enforces", func(c *proofFixture) { c.src.mineFinal(fill(999)) }, swap.ProvenByFill, 999},
		{"filled though called failed", func(c *proofFixture) { two(c); c.provider.claims = said(swap.Claim{State: swap.Failed}) }, swap.ProvenByFill, 1000},
		{"filled in its last second", func(c *proofFixture) { two(c); c.src.mineUntil(c.lastSecond()) }, swap.ProvenByFill, 1000},
		{"filled, and the nonce is used", func(c *proofFixture) { two(c); c.src.useNonce(orderNonce) }, swap.ProvenByFill, 1000},
		{"not deep enough", func(c *proofFixture) { c.src.mine(1, fill(1000)); c.src.mine(1) }, "", 0},
		{"taken back", func(c *proofFixture) { c.src.mine(1, fill(1000)); c.src.reorg(1); c.src.mine(ledgerDepth) }, "", 0},
		{"reverted", func(c *proofFixture) { x := fill(1000); x.failed = true; c.src.mineFinal(x) }, "", 0},
		{"another order's", func(c *proofFixture) { x := fill(1000); x.logs[1].Topics[1] = common.Hash{2}; c.src.mineFinal(x) }, "", 0},
		{"another contract's event", func(c *proofFixture) { x := fill(1000); x.logs[1].Address = stranger; c.src.mineFinal(x) }, "", 0},
		{"told and not there", func(c *proofFixture) { c.provider.claims = said(swap.Claim{State: swap.Filled, Tx: common.Hash{0xbb}}) }, "", 0},
		{"told with another's transaction", func(c *proofFixture) {
			c.provider.claims = said(swap.Claim{State: swap.Filled, Tx: c.src.mineFinal(ledgerTx{hash: common.Hash{0xbb}, from: solver, logs: []*types.Log{transferLog(weth, solver, account, 5000)}})})
		}, "", 0},
		{"told expired", func(c *proofFixture) { c.provider.claims = said(swap.Claim{State: swap.Expired}) }, "", 0},
		{"told cancelled", func(c *proofFixture) { c.provider.claims = said(swap.Claim{State: swap.Cancelled}) }, "", 0},
		{"silent", func(c *proofFixture) {
			c.provider.claims = func(swap.Order) (swap.Claim, error) { return swap.Claim{}, errors.New("down") }
			c.now = c.now.Add(time.Hour)
		}, "", 0},
		{"in its last second", func(c *proofFixture) { c.src.mineUntil(c.lastSecond().Add(-time.Second)) }, "", 0},
		{"the clock alone is late", func(c *proofFixture) { c.now = c.now.Add(time.Hour) }, "", 0},
		{"expired", func(c *proofFixture) { c.src.mineUntil(c.lastSecond()) }, swap.ProvenByAbsence, 0},
		{"expired, told filled", func(c *proofFixture) {
			c.src.mineUntil(c.lastSecond())
			c.provider.claims = said(swap.Claim{State: swap.Filled})
		}, swap.ProvenByAbsence, 0},
		{"late, and a host is down", func(c *proofFixture) { c.src.mineUntil(c.lastSecond()); c.src.hosts[1].down = true }, "", 0},
		{"late, and a host is behind", func(c *proofFixture) { c.src.mineUntil(c.lastSecond()); c.src.hosts[1].lag = 2 * ledgerDepth }, "", 0},
		{"filled, and a host hides it", func(c *proofFixture) { two(c); c.src.hosts[0].hideLogs = true; c.src.mineUntil(c.lastSecond()) }, swap.ProvenByFill, 1000},
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
		{"nonce used elsewhere", func(c *proofFixture) { c.src.useNonce(orderNonce) }, swap.ProvenByOrderNonceUsed, 0},
		{"nonce used elsewhere, long past the end", func(c *proofFixture) { c.src.useNonce(orderNonce); c.src.mineUntil(c.lastSecond()) }, swap.ProvenByOrderNonceUsed, 0},
		{"a neighbour's nonce", func(c *proofFixture) { c.src.useNonce(orderNonce + 1) }, "", 0},
		{"one host says that the nonce is used", func(c *proofFixture) { c.src.hosts[0].lie = allUsed }, "", 0},
		{"cancelled", func(c *proofFixture) { c.mineInvalidation(1, false); c.src.useNonce(orderNonce) }, swap.ProvenByInvalidated, 0},
		{"cancelled, and filled before", func(c *proofFixture) { two(c); c.mineInvalidation(1, false); c.src.useNonce(orderNonce) }, swap.ProvenByFill, 1000},
		{"the cancelling call failed", func(c *proofFixture) { c.mineInvalidation(1, true) }, "", 0},
		{"the cancelling call failed and the end came", func(c *proofFixture) { c.mineInvalidation(1, true); c.src.mineUntil(c.lastSecond()) }, swap.ProvenByAbsence, 0},
		{"the cancelling call succeeded and the nonce is free", func(c *proofFixture) { c.mineInvalidation(1, false) }, "", 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := newProofFixture(t, 2)
			id := c.order(nil)
			tc.do(c)
			o := c.pollRepeatedly(id)
			c.wantVerdict(o, tc.by, bothAgree)
			if tc.got > 0 && (o.Verdict == nil || o.Verdict.Received == nil || o.Verdict.Received.Amount.Int64() != tc.got || o.Verdict.BelowMinimum != (tc.got < 1000) || len(o.Verdict.Logs) != 1) {
				t.Errorf("verdict %+v", o.Verdict)
			}
			if a := tc.by == swap.ProvenByAbsence || tc.by == swap.ProvenByOrderNonceUsed || tc.by == swap.ProvenByInvalidated; a && (o.Verdict == nil || o.Verdict.Absence == nil || o.Verdict.Absence.From != 8 || len(o.Verdict.Absence.Hosts) != 2) {
				t.Errorf("verdict %+v", o.Verdict)
			}
		})
	}
}

// mineInvalidation mines the call that invalidates an order.
func (c *proofFixture) mineInvalidation(order int, failed bool) {
	hash := common.Hash{0xcc}
	c.sender.sent[invalidateKey(swap.Order{ID: fmt.Sprintf("%04d", order)})] = hash
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

// TestAbsenceIsConfirmedTwice checks that absence is believed only if it is confirmed a
// minute later: a host that was behind with its logs may have them by then.
func TestAbsenceIsConfirmedTwice(t *testing.T) {
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
	c.wantVerdict(c.pollOnce(id), swap.ProvenByFill, bothAgree)
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
				expires, fills := c.order(nil), c.order(func(o *swap.Order) { o.Plan.Steps[0].Effect.Chain = srcChain })
				x := fill(1000)
				x.hash, x.logs[1].Topics[1] = common.Hash{0xab}, common.Hash{2}
				c.src.mineFinal(x)
				c.src.mineUntil(c.lastSecond())
				spoil(c.src.hosts[which])
				absent, filled := c.pollRepeatedly(expires), c.pollRepeatedly(fills)
				c.wantVerdict(absent, swap.ProvenByAbsence, bothAgree)
				c.wantVerdict(filled, swap.ProvenByFill, bothAgree)
				if c.t.Failed() {
					return
				}
				if a, f := absent.Verdict.Absence.Hosts, filled.Verdict.Evidence.Hosts; len(a) != 2 || len(f) != 2 {
					t.Errorf("the spoiled host counts: absence by %q, fill by %q", a, f)
				}
			})
		}
	}
}

// TestOneSource checks that with one host the verdict says so.
func TestOneSource(t *testing.T) {
	c := newProofFixture(t, 1)
	id, other := c.order(nil), c.order(nil)
	c.src.mineFinal(fill(1000))
	c.wantVerdict(c.pollRepeatedly(id), swap.ProvenByFill, swap.OneHost)
	c.src.mineUntil(c.lastSecond())
	c.wantVerdict(c.pollRepeatedly(other), swap.ProvenByAbsence, swap.OneHost)
}

// TestExactTransfers covers an order that is proven by two exact transfers and the
// settlement contract's event, all in one transaction.
func TestExactTransfers(t *testing.T) {
	exact := func(o swap.Order) swap.Proof {
		return swap.Proof{Ends: o.Terms.Deadline, Fill: []swap.LogPattern{
			{Address: weth, Topics: []common.Hash{transferTopic, proof.TopicOf(solver), proof.TopicOf(account)}, Amount: big.NewInt(1000)},
			{Address: usdc, Topics: []common.Hash{transferTopic, proof.TopicOf(account), {}}, Amount: big.NewInt(5000), AtLeast: true},
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
		{"all", [][]*types.Log{{out(1000), in(5000), event()}}, swap.ProvenByFill},
		{"in any order, among others", [][]*types.Log{{event(), in(7), in(5001), out(3), out(1000)}}, swap.ProvenByFill},
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
	p := func(n int64) swap.LogPattern {
		return swap.LogPattern{Address: weth, Topics: []common.Hash{transferTopic, {}, {}}, Amount: big.NewInt(n), AtLeast: true}
	}
	for _, tc := range []struct {
		patterns []swap.LogPattern
		logs     []*types.Log
		want     []int
	}{
		{[]swap.LogPattern{p(1)}, []*types.Log{a, b}, []int{0}},
		{[]swap.LogPattern{p(1), p(9)}, []*types.Log{b, a}, []int{0, 1}},
		{[]swap.LogPattern{p(1), p(1)}, []*types.Log{nil, a, b}, []int{1, 2}},
		{[]swap.LogPattern{p(1), p(1), p(1)}, []*types.Log{a, b}, nil},
		{[]swap.LogPattern{p(9), p(9)}, []*types.Log{a, b}, nil},
		{nil, []*types.Log{a}, nil},
	} {
		if got, ok := proof.MatchAll(tc.patterns, tc.logs); ok != (tc.want != nil) || ok && !slices.Equal(got, tc.want) {
			t.Errorf("%d patterns on %d logs: %v, %v, want %v", len(tc.patterns), len(tc.logs), got, ok, tc.want)
		}
	}
}

// TestIndistinguishableOrders checks that indistinguishable orders each end by their own fill.
func TestIndistinguishableOrders(t *testing.T) {
	c := newProofFixture(t, 2)
	c.provider.proof = func(o swap.Order) swap.Proof {
		return swap.Proof{Ends: o.Terms.Deadline, Fill: []swap.LogPattern{{Address: weth, Topics: []common.Hash{transferTopic, proof.TopicOf(solver), proof.TopicOf(account)}, Amount: big.NewInt(1000)}}}
	}
	first, second := c.order(nil), c.order(nil)
	pay := func(n byte) common.Hash {
		return c.src.mineFinal(ledgerTx{hash: common.Hash{0xaa, n}, from: solver, to: fillsFor, logs: []*types.Log{transferLog(weth, solver, account, 1000)}})
	}
	tx := pay(1)
	c.provider.claims = said(swap.Claim{State: swap.Filled, Tx: tx})
	c.wantVerdict(c.pollRepeatedly(first), swap.ProvenByFill, bothAgree)
	c.wantVerdict(c.pollRepeatedly(second), "", "")
	other := pay(2)
	o := c.pollRepeatedly(second)
	if c.wantVerdict(o, swap.ProvenByFill, bothAgree); o.Verdict == nil || o.Verdict.Evidence.Tx != other {
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

// moveOnce makes one move of an order outside its loop.
func moveOnce(ctx context.Context, e *Engine, o *swap.Order) (advanced bool, err error) {
	e.mu.Lock()
	p := e.inProgress(o.ID)
	e.mu.Unlock()
	return e.move(ctx, p, o)
}
