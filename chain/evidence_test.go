package chain

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
)

// A claimedTx is what a lying or lagging node says about one transaction.
type claimedTx struct {
	head    uint64 // latest block
	block   uint64 // 0 = no receipt
	fork    byte   // distinguishes block hashes
	failed  bool
	amount  byte   // of the one log; 0 = no log
	nonce   uint64 // of the account, at any block
	orphan  bool   // the block is no longer canonical
	indexes bool   // receipts are still being indexed
	l1Fee   uint64
	gas     uint64 // in addition to a transfer's
	to      byte   // of the called address
	pruned  bool   // receipts of other transactions are gone
	value   byte   // sent along
	from    byte   // of the sender's address
	later   byte   // seconds, added to the block's time
	unnamed bool   // the transaction itself is not returned
}

var evidenceTx = common.HexToHash("0x01")

func claimedHash(block uint64, fork byte) common.Hash {
	return common.BytesToHash([]byte{fork, byte(block >> 16), byte(block >> 8), byte(block), 1})
}

func (c claimedTx) node(id uint64) *testNode {
	return &testNode{answer: func(ctx context.Context, method string, args []json.RawMessage) (any, error) {
		switch method {
		case "eth_blockNumber":
			return hexutil.Uint64(c.head), nil
		case "eth_getTransactionCount":
			return hexutil.Uint64(c.nonce), nil
		case "eth_getBlockByNumber":
			var number hexutil.Uint64
			if err := json.Unmarshal(args[0], &number); err != nil {
				return nil, err
			}
			fork := c.fork
			if c.orphan {
				fork++
			}
			at := hexutil.Uint64(1000*uint64(number) + uint64(c.later))
			return map[string]any{"number": number, "hash": claimedHash(uint64(number), fork), "timestamp": at, "transactions": []common.Hash{{2}}}, nil
		case "eth_getTransactionByHash":
			if c.unnamed {
				return nil, nil
			}
			return map[string]any{"hash": evidenceTx, "blockHash": claimedHash(c.block, c.fork), "from": common.Address{8 + c.from}, "value": hexutil.Uint64(c.value)}, nil
		case "eth_getTransactionReceipt":
			return c.receipt(args[0])
		}
		return constant(id)(ctx, method, args)
	}}
}

func (c claimedTx) receipt(arg json.RawMessage) (any, error) {
	var tx common.Hash
	if err := json.Unmarshal(arg, &tx); err != nil {
		return nil, err
	}
	switch {
	case c.indexes:
		return nil, &rpcError{Code: -32000, Message: "transaction indexing is in progress"}
	case tx != evidenceTx && c.pruned || tx == evidenceTx && c.block == 0:
		return nil, nil
	}
	status := uint64(1)
	if c.failed {
		status = 0
	}
	logs := []any{}
	hash := claimedHash(c.block, c.fork)
	if c.amount != 0 {
		logs = append(logs, map[string]any{
			"address": common.Address{9}, "topics": []common.Hash{TransferTopic, {}, {}}, "data": hexutil.Bytes(common.LeftPadBytes([]byte{c.amount}, 32)),
			"transactionHash": tx, "blockHash": hash, "blockNumber": hexutil.Uint64(c.block), "logIndex": "0x0", "transactionIndex": "0x0",
		})
	}
	return map[string]any{
		"transactionHash": tx, "blockHash": hash, "blockNumber": hexutil.Uint64(c.block), "transactionIndex": "0x0",
		"status": hexutil.Uint64(status), "gasUsed": hexutil.Uint64(21000 + c.gas), "cumulativeGasUsed": "0x5208", "effectiveGasPrice": "0x2",
		"logs": logs, "logsBloom": hexutil.Bytes(make([]byte, 256)), "to": common.Address{7 + c.to}, "l1Fee": hexutil.Uint64(c.l1Fee), "type": "0x2",
	}, nil
}

// TestEvidence checks what one, two and three endpoints prove at a depth of 3.
func TestEvidence(t *testing.T) {
	deep := claimedTx{head: 12, block: 10, amount: 5, l1Fee: 4}
	deeper := deep
	deeper.head = 14
	shallow := deep
	shallow.head = 11
	none := claimedTx{head: 12}
	reorged := deep
	reorged.orphan = true
	other, failed, lying := deep, deep, deep
	other.fork, failed.failed, lying.amount = 1, true, 6
	withoutL1, gas, to := deep, deep, deep
	withoutL1.l1Fee, gas.gas, to.to = 0, 1, 1
	value, from, later, unnamed := deep, deep, deep, deep
	value.value, from.from, later.later, unnamed.unnamed = 1, 1, 1, true
	indexing := claimedTx{head: 12, indexes: true}
	for _, tc := range []struct {
		name  string
		nodes []claimedTx
		ok    bool
		depth uint64
		is    error
	}{
		{"one", []claimedTx{deep}, true, 3, nil},
		{"one host, block not deep enough", []claimedTx{shallow}, false, 2, nil},
		{"one host, no receipt", []claimedTx{none}, false, 0, nil},
		{"one host, block reorganised", []claimedTx{reorged}, false, 0, nil},
		{"one host, still indexing", []claimedTx{indexing}, false, 0, errAny},
		{"two agree", []claimedTx{deep, deeper}, true, 3, nil},
		{"one host is ahead", []claimedTx{deeper, shallow}, false, 2, nil},
		{"one host lags", []claimedTx{deep, none}, false, 3, nil},
		{"one host is still indexing", []claimedTx{deep, indexing}, false, 3, errAny},
		{"other block", []claimedTx{deep, other}, false, 0, ErrDisagree},
		{"other outcome", []claimedTx{deep, failed}, false, 0, ErrDisagree},
		{"other log", []claimedTx{deep, lying}, false, 0, ErrDisagree},
		{"other gas", []claimedTx{deep, gas}, false, 0, ErrDisagree},
		{"other recipient", []claimedTx{deep, to}, false, 0, ErrDisagree},
		{"other value", []claimedTx{deep, value}, false, 0, ErrDisagree},
		{"other sender", []claimedTx{deep, from}, false, 0, ErrDisagree},
		{"other time", []claimedTx{deep, later}, false, 0, ErrDisagree},
		{"one does not know the transaction", []claimedTx{deep, unnamed}, false, 3, errAny},
		{"one leaves the L1 fee out", []claimedTx{withoutL1, deep}, true, 3, nil},
		{"the other leaves the L1 fee out", []claimedTx{deep, withoutL1}, true, 3, nil},
		{"two hosts against one", []claimedTx{lying, deep, deeper}, true, 3, nil},
		{"a third host decides while one lags", []claimedTx{deep, none, deep}, true, 3, nil},
		{"two hosts have no receipt", []claimedTx{none, none, deep}, false, 0, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var urls []string
			for _, n := range tc.nodes {
				urls = append(urls, n.node(10).serve(t))
			}
			h := newTestClient(t, 10, 3, urls...)
			ev, ok, err := h.Evidence(t.Context(), 10, evidenceTx)
			if ok != tc.ok || ev.Depth != tc.depth {
				t.Errorf("ok %v, depth %d, want %v, %d", ok, ev.Depth, tc.ok, tc.depth)
			}
			if (err != nil) != (tc.is != nil) || tc.is != nil && tc.is != errAny && !errors.Is(err, tc.is) {
				t.Errorf("error = %v, want %v", err, tc.is)
			}
			if ok && (len(ev.Hosts) != min(2, len(tc.nodes)) || ev.FeePaid.Int64() != 2*21000+4 || ev.To != (common.Address{7}) || ev.From != (common.Address{8}) || ev.Value == nil || ev.Time.Unix() != 10_000 || len(Transfers(ev.Logs)) != 1) {
				t.Errorf("evidence = %+v", ev)
			}
		})
	}
	if _, _, err := newTestClient(t, 10, 3, deep.node(10).serve(t)).Evidence(t.Context(), 1, evidenceTx); !errors.Is(err, ErrNoNetwork) {
		t.Errorf("no network: %v", err)
	}
}

// errAny stands for "some error" in a table.
var errAny = errors.New("any")

// TestEvidenceOneSource checks that two URLs of one host are one source, and that an
// endpoint that is down does not count as agreement.
func TestEvidenceOneSource(t *testing.T) {
	url := claimedTx{head: 12, block: 10}.node(10).serve(t)
	ev, ok, err := newTestClient(t, 10, 3, url+"/a", url+"/b").Evidence(t.Context(), 10, evidenceTx)
	if err != nil || !ok || len(ev.Hosts) != 1 {
		t.Errorf("two urls of one host: %v, %v, %v", ev.Hosts, ok, err)
	}
	for name, node := range map[string]claimedTx{"absent": {head: 12}, "there": {head: 12, block: 10}} {
		url := node.node(10).serve(t)
		_, ok, err = newTestClient(t, 10, 3, url+"/a", url+"/b", "http://127.0.0.1:1").Evidence(t.Context(), 10, evidenceTx)
		if err == nil || ok || errors.Is(err, ErrDisagree) {
			t.Errorf("%s, by one host twice while the other is down: %v, %v", name, ok, err)
		}
	}
	for _, spelling := range []string{"https://RPC.example/b", "https://rpc.example:443", "https://rpc.example."} {
		h, err := NewMultiClient([]Endpoint{{Chain: 10, URLs: []string{"https://rpc.example/a", spelling}}}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if h.pools[0].quorum() != 1 {
			t.Errorf("%s counts as another host", spelling)
		}
		h.Close()
	}
	ev, ok, err = newTestClient(t, 10, 3, url, "http://127.0.0.1:1").Evidence(t.Context(), 10, evidenceTx)
	if err == nil || ok || ev.Depth != 3 {
		t.Errorf("one is down: depth %d, %v, %v", ev.Depth, ok, err)
	}
}

// TestMalformedReceipts checks that a receipt that contradicts itself is no evidence.
func TestMalformedReceipts(t *testing.T) {
	for name, change := range map[string]func(r map[string]any){
		"another transaction": func(r map[string]any) { r["transactionHash"] = common.Hash{3} },
		"another transaction's log": func(r map[string]any) {
			r["logs"].([]any)[0].(map[string]any)["transactionHash"] = common.Hash{3}
		},
		"log of another block": func(r map[string]any) {
			r["logs"].([]any)[0].(map[string]any)["blockHash"] = common.Hash{3}
		},
		"no block":       func(r map[string]any) { delete(r, "blockNumber") },
		"no block hash":  func(r map[string]any) { delete(r, "blockHash") },
		"no status":      func(r map[string]any) { delete(r, "status"); r["root"] = "0x" },
		"strange status": func(r map[string]any) { r["status"] = "0x2" },
		"a log is null":  func(r map[string]any) { r["logs"] = []any{nil} },
		"status of text": func(r map[string]any) { r["status"] = "yes" },
	} {
		n := claimedTx{head: 12, block: 10, amount: 5}.node(10)
		n.set(nil, func(method string, _ []json.RawMessage, result any, err error) (any, error) {
			if r, ok := result.(map[string]any); ok && method == "eth_getTransactionReceipt" {
				change(r)
			}
			return result, err
		})
		ev, ok, err := newTestClient(t, 10, 3, n.serve(t)).Evidence(t.Context(), 10, evidenceTx)
		if ok || err == nil {
			t.Errorf("%s: %+v, %v, %v", name, ev, ok, err)
		}
	}
}

// TestReplacedAcrossHosts checks that Replaced reports a nonce as used by a foreign transaction
// only if two hosts, or the only one, show it used and none has a receipt of ours.
func TestReplacedAcrossHosts(t *testing.T) {
	used := claimedTx{head: 12, nonce: 6}
	unused := claimedTx{head: 12, nonce: 5}
	mined := claimedTx{head: 12, nonce: 6, block: 10}
	indexing := claimedTx{head: 12, nonce: 6, indexes: true}
	old := claimedTx{head: 3_000_000, nonce: 6}
	oldPruned := old
	oldPruned.pruned = true
	for _, tc := range []struct {
		name  string
		nodes []claimedTx
		want  bool
		fails bool
	}{
		{"used", []claimedTx{used}, true, false},
		{"unused", []claimedTx{unused}, false, false},
		{"ours", []claimedTx{mined}, false, false},
		{"indexing", []claimedTx{indexing}, false, true},
		{"both", []claimedTx{used, used}, true, false},
		{"one host of two", []claimedTx{used, unused}, false, false},
		{"one indexing", []claimedTx{used, indexing}, false, true},
		{"an old block", []claimedTx{old}, true, false},
		{"an old block, receipts pruned", []claimedTx{oldPruned}, false, true},
	} {
		var urls []string
		for _, n := range tc.nodes {
			urls = append(urls, n.node(10).serve(t))
		}
		hosts, err := newTestClient(t, 10, 3, urls...).Replaced(t.Context(), 10, common.Address{1}, 5, 2, []common.Hash{evidenceTx})
		want := 0
		if tc.want {
			want = min(2, len(urls))
		}
		if len(hosts) != want || (err != nil) != tc.fails {
			t.Errorf("%s: hosts %v, error %v; want %d hosts, an error: %t", tc.name, hosts, err, want, tc.fails)
		}
	}
}

func TestTransfers(t *testing.T) {
	token, from, to := common.Address{1}, common.Address{2}, common.Address{3}
	pad := func(a common.Address) common.Hash { return common.BytesToHash(a[:]) }
	good := &types.Log{Address: token, Topics: []common.Hash{TransferTopic, pad(from), pad(to)}, Data: common.LeftPadBytes([]byte{5}, 32)}
	nft := &types.Log{Address: token, Topics: []common.Hash{TransferTopic, pad(from), pad(to), {1}}}
	short := &types.Log{Address: token, Topics: good.Topics, Data: []byte{5}}
	got := Transfers([]*types.Log{nil, nft, short, good, {Address: token}})
	want := []Movement{{Token: token, From: from, To: to, Amount: big.NewInt(5)}}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("transfers = %v, want %v", got, want)
	}
}

// TestNodeTextIsPrintable checks that a node's text is made safe, since it ends up in logs
// and on screens.
func TestNodeTextIsPrintable(t *testing.T) {
	n := &testNode{answer: constant(1)}
	h := newTestClient(t, 1, 1, n.serve(t))
	n.set(nil, func(method string, _ []json.RawMessage, result any, err error) (any, error) {
		if method == "eth_blockNumber" {
			return nil, &rpcError{Code: -32000, Message: "bad\x1b[2Jnews\n" + strings.Repeat("x", 1<<16)}
		}
		return result, err
	})
	r, err := h.Reader(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	_, err = r.BlockNumber(t.Context())
	if err == nil || len(err.Error()) > 500 || strings.ContainsAny(err.Error(), "\x1b\n") {
		t.Errorf("error of %d bytes: %.80q", len(fmt.Sprint(err)), err)
	}
}
