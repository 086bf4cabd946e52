package bridgesim_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"net/http"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"

	"swapkeep/sandbox"
	"swapkeep/sandbox/bridgesim"
	"swapkeep/sandbox/operator"
	"swapkeep/sandbox/sandboxtest"
)

var native = common.Address{}

// fields is a JSON object.
type fields = map[string]any

// shared is the sandbox of the tests, with chains 1, 8453 and 42161. It mines a block for
// each transaction and no others.
var shared struct {
	once sync.Once
	box  *sandbox.Sandbox
	err  error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if shared.box != nil {
		if err := shared.box.Close(); err != nil {
			fmt.Fprintln(os.Stderr, "close the sandbox:", err)
			code = 1
		}
	}
	os.Exit(code)
}

// testKey is the API key of the tests' sandbox.
const testKey = "a-key"

// start resets the shared sandbox and removes the delay between the states of an order.
func start(t testing.TB) *sandbox.Sandbox {
	t.Helper()
	shared.once.Do(func() {
		shared.box, shared.err = sandbox.Start(context.Background(), sandbox.Options{Chains: []uint64{1, 8453, 42161}, Period: -1, Instant: true, BridgeKey: testKey})
	})
	if shared.err != nil {
		t.Fatalf("start the sandbox: %v", shared.err)
	}
	shared.box.Reset()
	set(t, shared.box, func(o *bridgesim.Settings) { o.PaceMS = 0 })
	return shared.box
}

// set changes the simulator's settings.
func set(t testing.TB, s *sandbox.Sandbox, change func(*bridgesim.Settings)) {
	t.Helper()
	settings := s.Bridge().Settings()
	change(&settings)
	if err := s.Bridge().Set(settings); err != nil {
		t.Fatal(err)
	}
}

// ask sends a request as the wallet's adapter would.
func ask(t testing.TB, s *sandbox.Sandbox, method, path string, body any, header ...string) (int, []byte) {
	t.Helper()
	return sandboxtest.Ask(t, method, s.BaseURL("bridge")+path, body, append([]string{"x-api-key", testKey}, header...)...)
}

func mustAsk[T any](t testing.TB, s *sandbox.Sandbox, method, path string, body any) T {
	t.Helper()
	return sandboxtest.MustAsk[T](t, method, s.BaseURL("bridge")+path, body, "x-api-key", testKey)
}

type transaction struct {
	From    common.Address `json:"from"`
	To      common.Address `json:"to"`
	Data    hexutil.Bytes  `json:"data"`
	Value   string         `json:"value"`
	ChainID uint64         `json:"chainId"`
}

type quoteReply struct {
	RequestID common.Hash `json:"requestId"`
	Steps     []struct {
		ID    string
		Kind  string
		Items []struct{ Data json.RawMessage }
	}
	Details struct {
		Operation   string
		CurrencyOut struct{ Amount, MinimumAmount string }
	}
	Protocol struct {
		V2 struct {
			OrderID        common.Hash `json:"orderId"`
			PaymentDetails struct{ Depository common.Address }
		}
	}
}

func (q quoteReply) ids() []string {
	var ids []string
	for _, s := range q.Steps {
		ids = append(ids, s.ID)
	}
	return ids
}

func (q quoteReply) transaction(t testing.TB, i int) transaction {
	t.Helper()
	var tx transaction
	if err := json.Unmarshal(q.Steps[i].Items[0].Data, &tx); err != nil {
		t.Fatal(err)
	}
	return tx
}

// A leg is one side of a swap; symbol "" is the native coin.
type leg struct {
	chain  uint64
	symbol string
}

func (l leg) address(t testing.TB, s *sandbox.Sandbox) common.Address {
	t.Helper()
	return sandboxtest.Token(t, s.Chain(l.chain), l.symbol)
}

// request returns a quote request of account 0, with a refund address.
func request(t testing.TB, s *sandbox.Sandbox, in, out leg, amount *big.Int, more fields) fields {
	t.Helper()
	me := s.Accounts()[0].Address
	body := fields{
		"user": me, "recipient": me, "refundTo": me, "originChainId": in.chain, "destinationChainId": out.chain,
		"originCurrency": in.address(t, s), "destinationCurrency": out.address(t, s),
		"amount": amount.String(), "tradeType": "EXACT_INPUT", "slippageTolerance": "50",
	}
	maps.Copy(body, more)
	maps.DeleteFunc(body, func(_ string, v any) bool { return v == nil })
	return body
}

func quote(t testing.TB, s *sandbox.Sandbox, in, out leg, amount *big.Int, more fields) quoteReply {
	t.Helper()
	return mustAsk[quoteReply](t, s, http.MethodPost, "/quote/v2", request(t, s, in, out, amount, more))
}

// execute signs and sends the transaction of a step and waits for its receipt.
func execute(t testing.TB, s *sandbox.Sandbox, tx transaction) *types.Receipt {
	t.Helper()
	c, a := s.Chain(tx.ChainID), s.Accounts()[0]
	if tx.From != a.Address {
		t.Fatalf("transaction from %s", tx.From)
	}
	value, ok := new(big.Int).SetString(tx.Value, 10)
	if !ok {
		t.Fatalf("value %q", tx.Value)
	}
	chain := operator.Chain{Network: c.Network, Client: c.Client(), MinTip: c.MinTip, WithMiningPaused: c.WithMiningPaused}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	hash, err := operator.NewAccount(a.Key).Send(ctx, chain, operator.Call{To: tx.To, Value: value, Data: tx.Data, Gas: 500_000})
	if err != nil {
		t.Fatal(err)
	}
	receipt, err := chain.WaitMined(ctx, hash) // in the latest block, which a test may reorganise away
	if err != nil {
		t.Fatal(err)
	}
	return receipt
}

// executeAll executes the steps of a quote and returns the last receipt.
func executeAll(t testing.TB, s *sandbox.Sandbox, q quoteReply) *types.Receipt {
	t.Helper()
	var last *types.Receipt
	for i := range q.Steps {
		if last = execute(t, s, q.transaction(t, i)); last.Status != types.ReceiptStatusSuccessful {
			t.Fatalf("step %s reverted", q.Steps[i].ID)
		}
	}
	return last
}

type status struct {
	Status           string
	Details          string
	InTxHashes       []common.Hash
	TxHashes         []common.Hash
	FailReason       string
	RefundFailReason string
}

func statusOf(t testing.TB, s *sandbox.Sandbox, request common.Hash) status {
	t.Helper()
	return mustAsk[status](t, s, http.MethodGet, "/intents/status/v3?requestId="+request.Hex(), nil)
}

// follow polls until the order has the status. It returns the response and the statuses
// seen on the way.
func follow(t testing.TB, s *sandbox.Sandbox, request common.Hash, until string) (status, []string) {
	t.Helper()
	var seen []string
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(3 * time.Millisecond) {
		now := statusOf(t, s, request)
		if len(seen) == 0 || seen[len(seen)-1] != now.Status {
			seen = append(seen, now.Status)
		}
		if now.Status == until {
			return now, seen
		}
	}
	t.Fatalf("never %s: %v; %+v", until, seen, s.Bridge().Orders())
	return status{}, nil
}

// balance returns a balance in base units; in wei for the native coin.
func balance(t testing.TB, s *sandbox.Sandbox, at leg, of common.Address) *big.Int {
	t.Helper()
	return sandboxtest.Balance(t, s.Chain(at.chain), of, at.address(t, s))
}

// paid returns the payer, payee and amount of a transaction's only transfer.
func paid(t testing.TB, s *sandbox.Sandbox, at leg, tx common.Hash) (from, to common.Address, amount *big.Int) {
	t.Helper()
	client := s.Chain(at.chain).Client()
	receipt, err := client.TransactionReceipt(t.Context(), tx)
	if err != nil || receipt.Status != types.ReceiptStatusSuccessful {
		t.Fatalf("receipt of %s: %+v, %v", tx, receipt, err)
	}
	transfer := crypto.Keccak256Hash([]byte("Transfer(address,address,uint256)"))
	for _, l := range receipt.Logs {
		if l.Address == at.address(t, s) && l.Topics[0] == transfer {
			return common.BytesToAddress(l.Topics[1][:]), common.BytesToAddress(l.Topics[2][:]), new(big.Int).SetBytes(l.Data)
		}
	}
	sent, _, err := client.TransactionByHash(t.Context(), tx)
	if err != nil {
		t.Fatal(err)
	}
	from, err = types.Sender(types.LatestSignerForChainID(sent.ChainId()), sent)
	if err != nil {
		t.Fatal(err)
	}
	return from, *sent.To(), sent.Value()
}

func number(t testing.TB, s string) *big.Int {
	t.Helper()
	n, ok := new(big.Int).SetString(s, 10)
	if !ok {
		t.Fatalf("number %q", s)
	}
	return n
}

// example reads a recorded request or response.
func example(t testing.TB, name string) any {
	t.Helper()
	return sandboxtest.Example(t, "testdata/"+name+".json")
}

// without removes members at any depth.
func without(v any, names ...string) any {
	switch v := v.(type) {
	case fields:
		for name, member := range v {
			if slices.Contains(names, name) {
				delete(v, name)
			} else {
				v[name] = without(member, names...)
			}
		}
	case []any:
		for i := range v {
			v[i] = without(v[i], names...)
		}
	}
	return v
}
