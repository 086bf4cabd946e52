package intentsim_test

import (
	"context"
	"encoding/json"
	"math/big"
	"net/http"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"

	"swapkeep/sandbox"
	"swapkeep/sandbox/intentsim"
	"swapkeep/sandbox/operator"
	"swapkeep/sandbox/sandboxtest"
	"swapkeep/test/await"
)

var (
	native   = common.Address{}
	receiver = common.HexToAddress("0x70997970C51812dc3A010C7d01b50e0d17dc79C8")
	// elsewhere is a recipient without a balance.
	elsewhere = common.HexToAddress("0x00000000000000000000000000000000DeaDBeef")
)

// world is the sandbox of all tests that leave its chains usable for others. It starts
// with the first of them.
var world *sandbox.Sandbox

func TestMain(m *testing.M) {
	code := m.Run()
	if world != nil {
		_ = world.Close()
	}
	os.Exit(code)
}

// shared returns that sandbox after a reset; only chain state is left from earlier tests.
func shared(t *testing.T) *sandbox.Sandbox {
	t.Helper()
	if world == nil {
		var err error
		if world, err = sandbox.Start(context.WithoutCancel(t.Context()), sandbox.Options{Chains: []uint64{1, 8453, 42161}, Period: -1, Instant: true}); err != nil {
			t.Fatal(err)
		}
	}
	world.Reset()
	return swift(t, world)
}

// start starts a sandbox that mines a block for each transaction.
func start(t *testing.T, chains ...uint64) *sandbox.Sandbox {
	t.Helper()
	return swift(t, sandboxtest.StartWith(t, sandbox.Options{Chains: chains, Period: -1, Instant: true}))
}

// swift makes orders proceed without delay.
func swift(t *testing.T, s *sandbox.Sandbox) *sandbox.Sandbox {
	t.Helper()
	set(t, s, func(c *intentsim.Settings) { c.PacePercent = 0 })
	return s
}

func set(t *testing.T, s *sandbox.Sandbox, change func(*intentsim.Settings)) {
	t.Helper()
	settings := s.Intent().Settings()
	change(&settings)
	if err := s.Intent().Set(settings); err != nil {
		t.Fatal(err)
	}
}

// fields is a JSON object.
type fields = map[string]any

// request sends a request as the wallet's adapter would.
func request(t *testing.T, s *sandbox.Sandbox, method, path string, body any) *http.Response {
	t.Helper()
	return sandboxtest.Send(t, method, s.IntentURL()+path, body)
}

func ask(t *testing.T, s *sandbox.Sandbox, method, path string, body any) (int, []byte) {
	t.Helper()
	return sandboxtest.Ask(t, method, s.IntentURL()+path, body)
}

func mustAsk[T any](t *testing.T, s *sandbox.Sandbox, method, path string, body any) T {
	t.Helper()
	return sandboxtest.MustAsk[T](t, method, s.IntentURL()+path, body)
}

type quotesReply struct {
	QuoteID string       `json:"quoteId"`
	Routes  []routeReply `json:"routes"`
}

type routeReply struct {
	QuoteID        string   `json:"quoteId"`
	RouteID        string   `json:"routeId"`
	Type           string   `json:"type"`
	DepositMethods []string `json:"depositMethods"`
	Quote          struct {
		AmountIn, AmountOut, MinAmountOut string
		ExpectedDurationSeconds           int64
		ValidBefore, QuoteExpiresAt       int64
		Tags                              []string
	} `json:"quote"`
}

func (q quotesReply) route(t *testing.T, id string) routeReply {
	t.Helper()
	i := slices.IndexFunc(q.Routes, func(r routeReply) bool { return r.RouteID == id })
	if i < 0 {
		t.Fatalf("no route of %s in %+v", id, q)
	}
	return q.Routes[i]
}

// quoteRequest returns a quote request of account 0 from a token on one chain to one on
// another.
func quoteRequest(s *sandbox.Sandbox, from uint64, in common.Address, to uint64, out common.Address, amount *big.Int, more fields) fields {
	me := s.Accounts()[0].Address
	body := fields{
		"tradeType": "EXACT_INPUT", "fromChainId": from, "fromToken": in.Hex(), "toChainId": to, "toToken": out.Hex(), "amount": amount.String(),
		"fromAddress": me.Hex(), "recipient": elsewhere.Hex(), "refundTo": me.Hex(), "depositMethods": []string{"CONTRACT_CALL"}, "slippageTolerance": 0.005,
	}
	for name, value := range more {
		if body[name] = value; value == nil {
			delete(body, name)
		}
	}
	return body
}

type action struct {
	Type    string `json:"type"`
	Request struct {
		Method string            `json:"method"`
		Params []json.RawMessage `json:"params"`
	} `json:"request"`
	WaitForReceipt bool  `json:"waitForReceipt"`
	Deposit        *bool `json:"deposit"`
}

func (a action) isDeposit() bool { return a.Deposit != nil && *a.Deposit }

func (a action) transaction(t *testing.T) transaction {
	t.Helper()
	var tx transaction
	if err := json.Unmarshal(a.Request.Params[0], &tx); err != nil {
		t.Fatal(err)
	}
	return tx
}

type buildReply struct {
	Kind      string   `json:"kind"`
	Approvals []action `json:"approvals"`
}

type transaction struct {
	From    common.Address  `json:"from"`
	To      common.Address  `json:"to"`
	Data    hexutil.Bytes   `json:"data"`
	Value   *hexutil.Big    `json:"value"`
	Gas     string          `json:"gas"`
	ChainID json.RawMessage `json:"chainId"`
}

func buildRequest(s *sandbox.Sandbox, quoteID, routeID string, more fields) fields {
	body := fields{"from": s.Accounts()[0].Address.Hex(), "quoteId": quoteID, "routeId": routeID, "depositMethod": "CONTRACT_CALL"}
	for name, value := range more {
		body[name] = value
	}
	return body
}

// execute carries out a plan and returns the receipt of its deposit.
func execute(t *testing.T, s *sandbox.Sandbox, chain uint64, plan buildReply) *types.Receipt {
	t.Helper()
	var last *types.Receipt
	for _, a := range plan.Approvals {
		if a.Request.Method != "eth_sendTransaction" {
			continue
		}
		if receipt := transact(t, s, chain, a.transaction(t)); a.isDeposit() {
			last = receipt
		} else if receipt.Status != types.ReceiptStatusSuccessful {
			t.Fatalf("the approval %s reverted", receipt.TxHash)
		}
	}
	if last == nil {
		t.Fatal("the plan has no deposit")
	}
	return last
}

// transact signs and sends a transaction of account 0 and waits for its receipt.
func transact(t *testing.T, s *sandbox.Sandbox, chain uint64, tx transaction) *types.Receipt {
	t.Helper()
	c, a := s.Chain(chain), s.Accounts()[0]
	if tx.From != a.Address {
		t.Fatalf("transaction from %s", tx.From)
	}
	return sandboxtest.Transact(t, c, a, operator.Call{To: tx.To, Value: tx.Value.ToInt(), Data: tx.Data, Gas: 500_000})
}

type submitReply struct {
	OrderID string `json:"orderId"`
	TxHash  string `json:"txHash"`
}

func submitRequest(quoteID, routeID string, tx common.Hash) fields {
	return fields{"quoteId": quoteID, "routeId": routeID, "txHash": tx.Hex()}
}

type chainTx struct {
	TxHash  common.Hash `json:"txHash"`
	ChainID uint64      `json:"chainId"`
	Amount  string      `json:"amount"`
}

type order struct {
	ID             string             `json:"id"`
	Status         string             `json:"status"`
	DepositTxHash  common.Hash        `json:"depositTxHash"`
	DestAmount     string             `json:"destAmount"`
	Transactions   map[string]chainTx `json:"transactions"`
	StepsCompleted []string           `json:"stepsCompleted"`
}

// swap quotes, builds, deposits and submits. It returns the order's id, the quote and the
// receipt of the deposit.
func swap(t *testing.T, s *sandbox.Sandbox, body fields, routeID string) (orderID string, q quotesReply, deposit *types.Receipt) {
	t.Helper()
	q = mustAsk[quotesReply](t, s, http.MethodPost, "/v1/quotes", body)
	plan := mustAsk[buildReply](t, s, http.MethodPost, "/v1/deposit/build", buildRequest(s, q.QuoteID, routeID, nil))
	deposit = execute(t, s, body["fromChainId"].(uint64), plan)
	return mustAsk[submitReply](t, s, http.MethodPut, "/v1/deposit/submit", submitRequest(q.QuoteID, routeID, deposit.TxHash)).OrderID, q, deposit
}

// awaitStatus polls an order until it has the status.
func awaitStatus(t *testing.T, s *sandbox.Sandbox, id, status string) (o order) {
	t.Helper()
	if !await.Holds(20*time.Second, func() bool {
		o = mustAsk[order](t, s, http.MethodGet, "/v1/orders/by-id/"+id, nil)
		return o.Status == status
	}) {
		t.Fatalf("the order is %s, not %s", o.Status, status)
	}
	return o
}

// over waits until the solver has finished all orders.
func over(t *testing.T, s *sandbox.Sandbox) (orders []intentsim.Order) {
	t.Helper()
	if !await.Holds(20*time.Second, func() bool {
		orders = s.Intent().Orders()
		return !slices.ContainsFunc(orders, func(o intentsim.Order) bool { return !o.Over })
	}) {
		t.Fatalf("not over: %+v", orders)
	}
	return orders
}

func token(t *testing.T, s *sandbox.Sandbox, chain uint64, symbol string) common.Address {
	t.Helper()
	return sandboxtest.Token(t, s.Chain(chain), symbol)
}

// example reads a recorded body.
func example(t *testing.T, file string) any {
	t.Helper()
	return sandboxtest.Example(t, "testdata/"+file)
}
