package chain

import (
	"context"
	"encoding/json"
	"errors"
	"math/big"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/params"
	"github.com/ethereum/go-ethereum/trie"
	"github.com/holiman/uint256"
)

var (
	noteTaker = common.Address{0x10, 9} // emits its calldata as a log with one topic
	failing   = common.Address{0x11, 9}
)

// A receiptWorld is a real chain with a block of several types of transactions, served by hosts
// that a test can make lie.
type receiptWorld struct {
	*testChain
	key   *testKey
	block uint64
	txs   []common.Hash // of that block, in its order
	hosts []*testNode
	hub   *MultiClient
}

const receiptDepth = 3

// newReceiptWorld returns one with so many transactions in the block before.
func newReceiptWorld(t *testing.T, hosts int, before uint64) *receiptWorld {
	t.Helper()
	w := &receiptWorld{key: newTestKey(t, "receipts")}
	alloc := funded(w.key.addr)
	alloc[noteTaker], alloc[failing] = types.Account{Code: logCode(1), Balance: new(big.Int)}, types.Account{Code: revertCode, Balance: new(big.Int)}
	w.testChain = newTestChain(t, base, alloc)
	head, err := w.Client().HeaderByNumber(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	id, price, tip := big.NewInt(base), new(big.Int).Mul(head.BaseFee, big.NewInt(2)), big.NewInt(params.GWei)
	price.Add(price, tip)
	word := func(n byte) []byte { return append(common.Hash{0xee}.Bytes(), common.Hash{31: n}.Bytes()...) }
	auth, err := types.SignSetCode(newTestKey(t, "authority").key, types.SetCodeAuthorization{ChainID: *uint256.NewInt(base), Address: noteTaker})
	if err != nil {
		t.Fatal(err)
	}
	send := func(d types.TxData) common.Hash {
		tx, err := w.key.SignTx(t.Context(), w.key.addr, types.NewTx(d), id)
		if err == nil {
			err = w.Client().SendTransaction(t.Context(), tx)
		}
		if err != nil {
			t.Fatal(err)
		}
		return tx.Hash()
	}
	for n := range before {
		send(&types.LegacyTx{Nonce: n, To: &noteTaker, Gas: 100_000, GasPrice: price, Data: word(5)})
	}
	w.Commit()
	for _, d := range []types.TxData{
		&types.LegacyTx{Nonce: before, To: &noteTaker, Gas: 100_000, GasPrice: price, Data: word(5)},
		&types.AccessListTx{ChainID: id, Nonce: before + 1, To: &noteTaker, Gas: 100_000, GasPrice: price, Data: word(7), AccessList: types.AccessList{{Address: noteTaker, StorageKeys: []common.Hash{{1}}}}},
		&types.DynamicFeeTx{ChainID: id, Nonce: before + 2, To: &failing, Gas: 100_000, GasFeeCap: price, GasTipCap: tip},
		&types.DynamicFeeTx{ChainID: id, Nonce: before + 3, To: &common.Address{0x12}, Gas: 21_000, GasFeeCap: price, GasTipCap: tip, Value: big.NewInt(9)},
		&types.DynamicFeeTx{ChainID: id, Nonce: before + 4, Gas: 100_000, GasFeeCap: price, GasTipCap: tip, Data: []byte{0}},
		&types.SetCodeTx{ChainID: uint256.NewInt(base), Nonce: before + 5, To: noteTaker, Gas: 200_000, GasFeeCap: uint256.MustFromBig(price), GasTipCap: uint256.MustFromBig(tip), Value: new(uint256.Int), Data: word(9), AuthList: []types.SetCodeAuthorization{auth}},
	} {
		w.txs = append(w.txs, send(d))
	}
	for range receiptDepth {
		w.Commit()
	}
	w.block = head.Number.Uint64() + 2
	var urls []string
	for range hosts {
		n := &testNode{answer: w.answer}
		w.hosts, urls = append(w.hosts, n), append(urls, n.serve(t))
	}
	w.hub = newTestClient(t, base, receiptDepth, urls...)
	return w
}

// evidence returns what the hosts agree on about transaction i of the block.
func (w *receiptWorld) evidence(t *testing.T, i int) Evidence {
	t.Helper()
	ev, ok, err := w.hub.Evidence(t.Context(), base, w.txs[i])
	if err != nil || !ok || ev.Block != w.block {
		t.Fatal(ev, ok, err)
	}
	return ev
}

// TestCheckReceipt checks receipts of real blocks, of every type of transaction.
func TestCheckReceipt(t *testing.T) {
	w := newReceiptWorld(t, 2, 0)
	for i := range w.txs {
		ev := w.evidence(t, i)
		if ev.Success == (i == 2) {
			t.Errorf("transaction %d: success %t", i, ev.Success)
		}
		if err := w.hub.CheckReceipt(t.Context(), ev, true); err != nil {
			t.Errorf("transaction %d: %v", i, err)
		}
		ev.Logs = nil
		if err := w.hub.CheckReceipt(t.Context(), ev, false); err != nil {
			t.Errorf("transaction %d without logs: %v", i, err)
		}
	}
	foreign := w.evidence(t, 0)
	if foreign.Chain = 39; !errors.Is(w.hub.CheckReceipt(t.Context(), foreign, true), ErrNotRecomputable) {
		t.Error("a network without a row")
	}
}

// A jsonLie changes the decoded answer to a method.
type jsonLie func(method string, v any) any

// object returns v as an object; an empty one if it is none.
func object(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

// inReceipt returns a lie about one transaction's receipt, alone and among the block's.
func inReceipt(tx common.Hash, change func(r map[string]any)) jsonLie {
	return func(method string, v any) any {
		switch list, _ := v.([]any); {
		case method == "eth_getTransactionReceipt" && object(v)["transactionHash"] == tx.Hex():
			change(object(v))
		case method == "eth_getBlockReceipts":
			for _, r := range list {
				if object(r)["transactionHash"] == tx.Hex() {
					change(object(r))
				}
			}
		}
		return v
	}
}

// lieAlike makes every host tell the same lie.
func (w *receiptWorld) lieAlike(lie jsonLie) {
	for _, h := range w.hosts {
		h.set(nil, func(method string, _ []json.RawMessage, result any, err error) (any, error) {
			raw, _ := result.(json.RawMessage)
			var v any
			if err != nil || json.Unmarshal(raw, &v) != nil {
				return result, err
			}
			return lie(method, v), nil
		})
	}
}

// TestForgedReceipts checks that two hosts that tell the same lie are refused, and named.
func TestForgedReceipts(t *testing.T) {
	w := newReceiptWorld(t, 2, 0)
	honest := w.evidence(t, 0)
	flip := func(r map[string]any) { r["status"] = map[any]string{"0x1": "0x0", "0x0": "0x1"}[r["status"]] }
	only := func(method string, lie jsonLie) jsonLie {
		return func(m string, v any) any {
			if m == method {
				return lie(m, v)
			}
			return v
		}
	}
	in := func(method string, number uint64, change func(b map[string]any)) jsonLie {
		return only(method, func(_ string, v any) any {
			if object(v)["number"] == hexutil.EncodeUint64(number) {
				change(object(v))
			}
			return v
		})
	}
	both := func(lies ...jsonLie) jsonLie {
		return func(m string, v any) any {
			for _, lie := range lies {
				v = lie(m, v)
			}
			return v
		}
	}
	// another returns the content of another transaction's receipt under this one's name.
	another := func(i, j int) jsonLie {
		var theirs json.RawMessage
		raw, err := w.answer(t.Context(), "eth_getTransactionReceipt", []json.RawMessage{json.RawMessage(`"` + w.txs[j].Hex() + `"`)})
		if err == nil {
			theirs = raw.(json.RawMessage)
		}
		return only("eth_getTransactionReceipt", func(_ string, v any) any {
			if object(v)["transactionHash"] != w.txs[i].Hex() {
				return v
			}
			var r any
			if err := json.Unmarshal([]byte(strings.ReplaceAll(string(theirs), w.txs[j].Hex(), w.txs[i].Hex())), &r); err != nil {
				t.Error(err)
			}
			object(r)["to"] = object(v)["to"]
			return r
		})
	}
	swapped := func(v any, i, j int) any {
		list := v.([]any)
		list[i], list[j] = list[j], list[i]
		return list
	}
	for name, c := range map[string]struct {
		tx  int
		lie jsonLie
	}{
		"success, by the receipt alone":        {0, only("eth_getTransactionReceipt", inReceipt(w.txs[0], flip))},
		"success, by the block's receipts too": {0, inReceipt(w.txs[0], flip)},
		"a failure that was none":              {2, inReceipt(w.txs[2], flip)},
		"a dropped log":                        {0, inReceipt(w.txs[0], func(r map[string]any) { r["logs"] = []any{} })},
		"another amount": {0, inReceipt(w.txs[0], func(r map[string]any) {
			object(r["logs"].([]any)[0])["data"] = common.Hash{31: 99}.Hex()
		})},
		"two receipts in each other's place": {0, both(another(0, 2), only("eth_getBlockReceipts", func(_ string, v any) any { return swapped(v, 0, 2) }))},
		"two receipts under each other's name": {0, both(another(0, 2), only("eth_getBlockReceipts", func(_ string, v any) any {
			list := v.([]any)
			object(list[0])["transactionHash"], object(list[2])["transactionHash"] = object(list[2])["transactionHash"], object(list[0])["transactionHash"]
			return v
		}))},
		"two transactions of one type in each other's place": {3, both(another(3, 2), in("eth_getBlockByHash", w.block, func(b map[string]any) {
			if list, ok := b["transactions"].([]any); ok {
				swapped(list, 2, 3)
			}
		}))},
		"a root that is not in the hash": {0, both(inReceipt(w.txs[0], flip), in("eth_getBlockByHash", w.block, func(b map[string]any) { b["receiptsRoot"] = common.Hash{1}.Hex() }))},
		"another value":                  {3, only("eth_getTransactionByHash", func(_ string, v any) any { object(v)["value"] = "0x63"; return v })},
		"another sender":                 {3, only("eth_getTransactionByHash", func(_ string, v any) any { object(v)["from"] = common.Address{7}.Hex(); return v })},
		"another end of its input": {3, only("eth_getTransactionByHash", func(_ string, v any) any {
			object(v)["input"] = "0x00" + strings.Repeat("7", 64)
			return v
		})},
		"the whole input, cut to its end": {0, only("eth_getTransactionByHash", func(_ string, v any) any {
			in := object(v)["input"].(string)
			object(v)["input"] = "0x" + in[max(2, len(in)-64):]
			return v
		})},
		"another recipient":                     {3, only("eth_getTransactionReceipt", inReceipt(w.txs[3], func(r map[string]any) { r["to"] = common.Address{7}.Hex() }))},
		"another time":                          {0, in("eth_getBlockByNumber", w.block, func(b map[string]any) { b["timestamp"] = "0x1" })},
		"a block above that has another parent": {0, in("eth_getBlockByHash", w.block+1, func(b map[string]any) { b["parentHash"] = common.Hash{1}.Hex() })},
	} {
		t.Run(name, func(t *testing.T) {
			w.lieAlike(c.lie)
			defer w.lieAlike(func(_ string, v any) any { return v })
			ev := w.evidence(t, c.tx) // the lie is believed
			var forged *ForgedError
			if err := w.hub.CheckReceipt(t.Context(), ev, true); !errors.As(err, &forged) || len(forged.Hosts) != 2 {
				t.Errorf("%v about %+v", err, ev)
			}
		})
	}
	if err := w.hub.CheckReceipt(t.Context(), honest, true); err != nil {
		t.Errorf("honest again: %v", err)
	}
}

// forging returns an answer function of hosts that show a block, and of the blocks above as many
// as told, with a flipped receipt and hashes that fit.
func (w *receiptWorld) forging(t *testing.T, above int) rpcFunc {
	t.Helper()
	var receipts types.Receipts
	raw, err := w.answer(t.Context(), "eth_getBlockReceipts", []json.RawMessage{json.RawMessage(`"` + hexutil.EncodeUint64(w.block) + `"`)})
	if err == nil {
		err = json.Unmarshal(raw.(json.RawMessage), &receipts)
	}
	if err != nil {
		t.Fatal(err)
	}
	receipts[0].Status = types.ReceiptStatusFailed
	var was, now []string
	parent := common.Hash{}
	for i := range uint64(above + 1) {
		h, err := w.Client().HeaderByNumber(t.Context(), new(big.Int).SetUint64(w.block+i))
		if err != nil {
			t.Fatal(err)
		}
		was = append(was, h.Hash().Hex())
		if i == 0 {
			was = append(was, h.ReceiptHash.Hex())
			h.ReceiptHash = types.DeriveSha(receipts, trie.NewStackTrie(nil))
		} else {
			h.ParentHash = parent
		}
		parent = h.Hash()
		now = append(now, parent.Hex())
		if i == 0 {
			now = append(now, h.ReceiptHash.Hex())
		}
	}
	replace := func(text string, from, to []string) string {
		for i := range from {
			text = strings.ReplaceAll(text, from[i], to[i])
		}
		return text
	}
	flip := inReceipt(w.txs[0], func(r map[string]any) { r["status"] = "0x0" })
	return func(ctx context.Context, method string, args []json.RawMessage) (any, error) {
		args = slices.Clone(args)
		for i := range args {
			args[i] = json.RawMessage(replace(string(args[i]), now, was))
		}
		result, err := w.answer(ctx, method, args)
		raw, _ := result.(json.RawMessage)
		var v any
		if err != nil || json.Unmarshal(raw, &v) != nil {
			return result, err
		}
		if n, err := hexutil.DecodeUint64(str(object(v)["number"])); err == nil && n > w.block+uint64(above) {
			return result, nil // it has its true parent
		}
		text, err := json.Marshal(flip(method, v))
		return json.RawMessage(replace(string(text), was, now)), err
	}
}

func str(v any) string {
	s, _ := v.(string)
	return s
}

// TestForgedBlock checks that a block with a hash of its own is refused unless the whole chain
// above it is forged too: then two hosts are believed, as docs/security.md says.
func TestForgedBlock(t *testing.T) {
	w := newReceiptWorld(t, 2, 0)
	for above := range receiptDepth {
		answer := w.forging(t, above)
		for _, h := range w.hosts {
			h.mu.Lock()
			h.answer = answer
			h.mu.Unlock()
		}
		ev := w.evidence(t, 0)
		if ev.Success {
			t.Fatal("the lie is not believed")
		}
		err := w.hub.CheckReceipt(t.Context(), ev, true)
		if whole := above == receiptDepth-1; whole != (err == nil) || !whole && !errors.As(err, new(*ForgedError)) {
			t.Errorf("with %d forged blocks above: %v", above, err)
		}
	}
}

// TestReceiptsOfOneHost checks that one host that serves the receipts is enough, and which
// answers only delay.
func TestReceiptsOfOneHost(t *testing.T) {
	missing := func(methods ...string) func(string, []json.RawMessage, any, error) (any, error) {
		return func(method string, _ []json.RawMessage, result any, err error) (any, error) {
			if slices.Contains(methods, method) {
				return nil, &rpcError{Code: -32601, Message: "method not found"}
			}
			return result, err
		}
	}
	altered := func(method, from, to string) func(string, []json.RawMessage, any, error) (any, error) {
		return func(m string, _ []json.RawMessage, result any, err error) (any, error) {
			if raw, ok := result.(json.RawMessage); ok && m == method {
				return json.RawMessage(strings.Replace(string(raw), from, to, 1)), err
			}
			return result, err
		}
	}
	forbidden := func(w http.ResponseWriter, method string) bool {
		if method == "eth_getBlockReceipts" {
			http.Error(w, "not in your plan", http.StatusForbidden)
		}
		return method == "eth_getBlockReceipts"
	}
	lies := altered("eth_getBlockReceipts", `"status":"0x1"`, `"status":"0x0"`)
	for name, c := range map[string]struct {
		first, second func(string, []json.RawMessage, any, error) (any, error)
		before        func(http.ResponseWriter, string) bool
		want          string // "", "forged" or "later"
	}{
		"the first lacks the method":  {missing("eth_getBlockReceipts", "eth_getTransactionReceipt"), nil, nil, ""},
		"the first forges":            {lies, nil, nil, ""},
		"one by one":                  {missing("eth_getBlockReceipts"), missing("eth_getBlockReceipts"), nil, ""},
		"one by one, after a refusal": {nil, nil, forbidden, ""},
		"both forge":                  {lies, lies, nil, "forged"},
		"one forges, the other lacks": {lies, missing("eth_getBlockByHash"), nil, "forged"},
		"neither has the block":       {missing("eth_getBlockByHash"), missing("eth_getBlockByHash"), nil, "later"},
		"a header with a new member": {altered("eth_getBlockByHash", `"gasLimit"`, `"aNewMember":"0x1","gasLimit":"0x1","was"`),
			altered("eth_getBlockByHash", `"gasLimit"`, `"aNewMember":"0x1","gasLimit":"0x1","was"`), nil, "later"},
		"a new type of transaction": {altered("eth_getBlockByHash", `"type":"0x1"`, `"type":"0x55"`), altered("eth_getBlockByHash", `"type":"0x1"`, `"type":"0x55"`), nil, "later"},
		"a receipt without status":  {altered("eth_getBlockReceipts", `"status":"0x1"`, `"root":"0x1"`), altered("eth_getBlockReceipts", `"status":"0x1"`, `"root":"0x1"`), nil, "later"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newReceiptWorld(t, 2, 0)
			ev := w.evidence(t, 0)
			w.hosts[0].set(c.before, c.first)
			w.hosts[1].set(c.before, c.second)
			err := w.hub.CheckReceipt(t.Context(), ev, true)
			got := ""
			switch {
			case errors.As(err, new(*ForgedError)):
				got = "forged"
			case err != nil:
				got = "later"
			}
			if got != c.want {
				t.Errorf("%v, want %q", err, c.want)
			}
			if name == "the first forges" {
				if first := w.hub.pools[0].order()[0].host; first == ev.Hosts[0] {
					t.Error("the forger is asked first again")
				}
				if h := w.hub.Health(); !strings.Contains(h[0].Failure, "forged") || h[1].Failure != "" {
					t.Errorf("health %+v", h)
				}
			}
		})
	}
}

// TestNewEncoding checks that receipts that never give their root are not called forged.
func TestNewEncoding(t *testing.T) {
	for before, forged := range []bool{true, false} { // an empty block's root is always right
		w := newReceiptWorld(t, 2, uint64(before))
		ev := w.evidence(t, 0)
		w.lieAlike(func(method string, v any) any {
			if list, ok := v.([]any); ok && method == "eth_getBlockReceipts" {
				for _, r := range list {
					object(r)["cumulativeGasUsed"] = "0x1"
				}
			}
			return v
		})
		if err := w.hub.CheckReceipt(t.Context(), ev, true); err == nil || errors.As(err, new(*ForgedError)) != forged {
			t.Errorf("with %d transactions before: %v", before, err)
		}
	}
}

// TestRecomputeRows checks that there is a row with a reason for every network.
func TestRecomputeRows(t *testing.T) {
	seen := map[uint64]bool{}
	for _, r := range recomputeRows {
		if seen[r.id] || r.why == "" {
			t.Errorf("row of %d twice, or without a reason", r.id)
		}
		seen[r.id] = true
	}
	for _, n := range Networks() {
		if !seen[n.ID] {
			t.Errorf("no row of %d", n.ID)
		}
	}
}
