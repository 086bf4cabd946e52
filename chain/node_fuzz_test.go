package chain

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
)

// A script is a node, without a network, that answers each method with given bytes: the
// value of "result", or a whole member if they begin with a quote.
type script map[string]string

func (s script) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	var batch []json.RawMessage
	answer := s["batch"]
	if json.Unmarshal(body, &batch) != nil {
		var asked struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		if err := json.Unmarshal(body, &asked); err != nil {
			return nil, err
		}
		member := s[asked.Method]
		if !strings.HasPrefix(member, `"error":`) {
			member = `"result":` + member
		}
		answer = fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, asked.ID, member)
	}
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(answer)), Header: http.Header{}}, nil
}

// secretPath is an access key, which many endpoint URLs contain.
const secretPath = "0f7c-access-key"

// scripted returns an endpoint of chain 1 that answers from s.
func scripted(t testing.TB, s script) *endpoint {
	t.Helper()
	s["eth_chainId"] = `"0x1"`
	e, err := newEndpoint(1, &url.URL{Scheme: "https", Host: "node.example", Path: "/" + secretPath}, &http.Client{Transport: s}, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.rpc.Close)
	return e
}

// checkShown checks that an error can be logged and shown, whatever a node sent.
func checkShown(t *testing.T, err error) {
	t.Helper()
	text := err.Error()
	if n := len([]rune(text)); n > 2*maxErrorText {
		t.Fatalf("%d runes: %.200s", n, text)
	}
	if i := strings.IndexFunc(text, func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }); i >= 0 {
		t.Fatalf("%q has %q", text, text[i:])
	}
	if strings.Contains(text, secretPath) {
		t.Fatalf("%q tells where the endpoint is", text)
	}
}

var (
	minedTx    = common.Hash{7}
	minedBlock = common.Hash{8}
)

// honest returns an honest node's answers about a mined transaction.
func honest(ev Evidence, status uint64) script {
	logs := ev.Logs
	if logs == nil {
		logs = []*types.Log{}
	}
	text := func(v any) string {
		b, err := json.Marshal(v)
		if err != nil {
			panic(err) // built above
		}
		return string(b)
	}
	return script{
		"eth_blockNumber": text(hexutil.Uint64(ev.Block + ev.Depth - 1)),
		"eth_getTransactionReceipt": text(map[string]any{
			"transactionHash": ev.Tx, "blockHash": ev.BlockHash, "blockNumber": hexutil.Uint64(ev.Block), "status": hexutil.Uint64(status), "gasUsed": hexutil.Uint64(ev.GasUsed),
			"cumulativeGasUsed": "0x1", "logsBloom": types.Bloom{}, "logs": logs, "to": ev.To, "effectiveGasPrice": "0x0", "l1Fee": (*hexutil.Big)(ev.FeePaid),
		}),
		"eth_getBlockByNumber":     text(map[string]any{"number": hexutil.Uint64(ev.Block), "hash": ev.BlockHash, "timestamp": hexutil.Uint64(ev.Time.Unix()), "transactions": []common.Hash{ev.Tx}}),
		"eth_getTransactionByHash": text(map[string]any{"hash": ev.Tx, "blockHash": ev.BlockHash, "from": ev.From, "value": (*hexutil.Big)(ev.Value)}),
	}
}

// FuzzEvidence checks that, whatever a node says of a transaction, accepted evidence is
// about it and its canonical block, can be stored, and equals what an honest node's
// answers give. The same answers are no evidence about another transaction.
func FuzzEvidence(f *testing.F) {
	ev := Evidence{
		Chain: 1, Tx: minedTx, Block: 5, BlockHash: minedBlock, Depth: 4, GasUsed: 21000, FeePaid: big.NewInt(1e14), To: common.Address{1}, Time: time.Unix(1700000000, 0), From: common.Address{2}, Value: big.NewInt(9),
		Logs: []*types.Log{{Address: common.Address{3}, Topics: []common.Hash{TransferTopic, {1}, {2}}, Data: words(9), TxHash: minedTx, BlockHash: minedBlock, BlockNumber: 5}},
	}
	good := honest(ev, 1)
	add := func(s script, latest uint64) {
		f.Add([]byte(s["eth_getTransactionReceipt"]), []byte(s["eth_getBlockByNumber"]), []byte(s["eth_getTransactionByHash"]), latest)
	}
	for _, latest := range []uint64{0, 4, 5, 8, 1<<64 - 1} {
		add(good, latest)
	}
	add(honest(ev, 0), 8)
	for _, lie := range [][3]string{
		{"eth_getTransactionReceipt", `"status":"0x1"`, `"status":null`}, {"eth_getTransactionReceipt", `"status":"0x1"`, `"status":"0x2"`}, {"eth_getTransactionReceipt", `"status":"0x1"`, `"status":"0x0","Status":"0x1"`},
		{"eth_getTransactionReceipt", `"removed":false`, `"removed":true`}, {"eth_getTransactionReceipt", `"blockNumber":"0x5","cumulativeGasUsed"`, `"blockNumber":"-0x5","cumulativeGasUsed"`}, {"eth_getTransactionReceipt", `"l1Fee":"0x5af3107a4000"`, `"l1Fee":"0x` + strings.Repeat("f", 64) + `"`},
		{"eth_getBlockByNumber", `"0x6553f100"`, `"0xffffffffffffffff"`}, {"eth_getBlockByNumber", minedBlock.Hex(), minedTx.Hex()},
		{"eth_getTransactionByHash", `"value":"0x9"`, `"value":null`}, {"eth_getTransactionByHash", minedBlock.Hex(), minedTx.Hex()},
	} {
		s := honest(ev, 1)
		if s[lie[0]] = strings.Replace(good[lie[0]], lie[1], lie[2], 1); s[lie[0]] == good[lie[0]] {
			f.Fatalf("%s has no %s", good[lie[0]], lie[1])
		}
		add(s, 8)
	}
	f.Add([]byte("null"), []byte("null"), []byte("null"), uint64(8))
	network := Network{ID: 1, Depth: 3, L1Fee: L1FeeOP}
	f.Fuzz(func(t *testing.T, receipt, block, tx []byte, latest uint64) {
		s := script{
			"eth_blockNumber": string(must(json.Marshal(hexutil.Uint64(latest)))), "eth_getTransactionReceipt": string(receipt),
			"eth_getBlockByNumber": string(block), "eth_getTransactionByHash": string(tx),
		}
		got, mined, err := scripted(t, s).evidence(t.Context(), minedTx, network)
		if err != nil {
			checkShown(t, err)
		}
		if err != nil || !mined {
			return
		}
		checkEvidence(t, got, latest, network)
		status := uint64(0)
		if got.Success {
			status = 1
		}
		full := got
		if full.Value == nil { // not asked for below the depth
			full.Value = new(big.Int)
		}
		again, mined, err := scripted(t, honest(full, status)).evidence(t.Context(), minedTx, network)
		if err != nil || !mined || !sameOutcome(got, again) || got.FeePaid.Cmp(again.FeePaid) != 0 || got.Depth != again.Depth || got.Block != again.Block {
			t.Fatalf("taken for %+v, and an honest word on it for %+v, %v", got, again, err)
		}
		if other, mined, err := scripted(t, s).evidence(t.Context(), common.Hash{0xee}, network); err == nil && mined {
			t.Fatalf("the same words are evidence on another transaction: %+v", other)
		}
	})
}

// checkEvidence checks the bounds of one endpoint's evidence.
func checkEvidence(t *testing.T, ev Evidence, latest uint64, n Network) {
	t.Helper()
	deep := ev.Depth >= n.Depth
	switch {
	case ev.Tx != minedTx, ev.BlockHash == common.Hash{}, ev.Block > latest, ev.Depth != latest-ev.Block+1:
		t.Fatalf("not of the transaction, or out of the chain: %+v", ev)
	case deep != (ev.Value != nil), deep && (ev.From == common.Address{} || ev.Value.Sign() < 0 || ev.Value.BitLen() > 256):
		t.Fatalf("at depth %d from %s, %v wei", ev.Depth, ev.From, ev.Value)
	case ev.FeePaid.Sign() < 0, ev.FeePaid.BitLen() > 64+maxPriceBits+1, ev.Time.Year() > 9999:
		t.Fatalf("paid %s at %s", ev.FeePaid, ev.Time)
	}
	for _, l := range ev.Logs {
		if l == nil || l.TxHash != minedTx || l.BlockHash != ev.BlockHash || l.Removed {
			t.Fatalf("a log of another: %+v", l)
		}
	}
	var stored Evidence
	if err := json.Unmarshal(must(json.Marshal(ev)), &stored); err != nil || stored.FeePaid.Cmp(ev.FeePaid) != 0 || stored.Success != ev.Success || !stored.Time.Equal(ev.Time) {
		t.Fatalf("%+v is stored as %+v: %v", ev, stored, err)
	}
}

func must(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}

// FuzzNodeError checks that whatever a node answers in place of a result can be shown,
// and that only known wording ends a transaction or a plan.
func FuzzNodeError(f *testing.F) {
	for _, seed := range []string{
		`{"code":3,"message":"execution reverted","data":"0x08c379a00000000000000000000000000000000000000000000000000000000000000020000000000000000000000000000000000000000000000000000000000000000474696d6500000000000000000000000000000000000000000000000000000000"}`,
		`{"code":3,"message":"execution reverted","data":"0x4e487b710000000000000000000000000000000000000000000000000000000000000011"}`,
		`{"code":-32000,"message":"execution reverted","data":"0xdeadbeef00"}`, `{"code":-32000,"message":"nonce too low"}`, `{"code":-32000,"message":"Already Known"}`,
		`{"code":-32000,"message":"insufficient funds for gas * price + value"}`, `{"code":-32005,"message":"rate limit"}`, `{"code":-32601,"message":"the method does not exist/is not available"}`,
		`{"code":1e400,"message":"x"}`, `{"code":"3","message":7}`, `null`, `{}`, `"text"`, `{"message":"\u202Egnirts\u0000\r\n"}`, `{"code":3,"data":{"a":[]}}`,
		`{"code":3,"message":"` + strings.Repeat("long ", 200) + `","data":"0x"}`, `{"code":` + strings.Repeat("9", 900) + `}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, reply []byte) {
		e := scripted(t, script{"eth_call": `"error":` + string(reply)})
		var out hexutil.Bytes
		_, err := e.do(t.Context(), func(ctx context.Context) error { return e.rpc.CallContext(ctx, &out, "eth_call") })
		if err == nil {
			t.Fatalf("%s is read as the result %s", reply, out)
		}
		checkShown(t, err)
		checkShown(t, wouldRevert(err))
		var ne *nodeError
		isAnswer := errors.As(err, &ne)
		switch v := broadcastVerdict(err); {
		case v == ambiguous:
		case !isAnswer:
			t.Fatalf("%v is no answer, and is judged %d", err, v)
		case !slices.ContainsFunc(answers[:], func(a struct {
			verdict verdict
			text    string
			nodes   string
		}) bool {
			return a.verdict == v && strings.Contains(strings.ToLower(ne.text), a.text)
		}):
			t.Fatalf("%q is judged %d without a word for it", ne.text, v)
		}
		if reason, ok := reverted(err); ok && (!isAnswer || ne.code != 3 && ne.code != -32015 && !containsAny(ne.text, revertTexts)) {
			t.Fatalf("%v is read as a revert: %s", err, reason)
		}
	})
}

// FuzzQuantity checks that a decoded number is the one that the node wrote.
func FuzzQuantity(f *testing.F) {
	for _, seed := range []string{
		`"0x0"`, `"0x1"`, `"0xFFffffffffffffff"`, `"0x10000000000000000"`, `"0x` + strings.Repeat("f", 64) + `"`, `"0x1` + strings.Repeat("0", 64) + `"`,
		`"0x"`, `"0x00"`, `"0x01"`, `"1"`, `1`, `1.5`, `-1`, `"-0x1"`, `null`, `[]`, `{}`, `"0X1"`, `"\u0030x1"`, `"0x1 "`, `"0x1","result":"0x2"`,
	} {
		f.Add([]byte(seed))
	}
	account := common.Address{1}
	f.Fuzz(func(t *testing.T, reply []byte) {
		s := script{}
		for _, m := range []string{"eth_blockNumber", "eth_getTransactionCount", "eth_getBalance", "eth_gasPrice"} {
			s[m] = string(reply)
		}
		e := scripted(t, s)
		var text string
		isText := json.Unmarshal(reply, &text) == nil
		check := func(what string, n *big.Int, err error) {
			t.Helper()
			switch {
			case err != nil:
				checkShown(t, e.redactURL(err))
			case n == nil || n.Sign() < 0 || n.BitLen() > 256:
				t.Fatalf("%s: %s is read as %v", what, reply, n)
			case isText && !strings.EqualFold(text, hexutil.EncodeBig(n)) && (text != "" || n.Sign() != 0): // go-ethereum decodes an empty string as zero
				t.Fatalf("%s: %s is read as %s", what, reply, n)
			}
		}
		height, err := e.height(t.Context())
		check("height", new(big.Int).SetUint64(height), err)
		balance, err := e.eth.BalanceAt(t.Context(), account, nil)
		check("balance", balance, err)
		price, err := e.eth.SuggestGasPrice(t.Context())
		check("gas price", price, err)
		n, err := e.nonces(t.Context(), account)
		check("nonces", new(big.Int).SetUint64(n.Latest), err)
		if err == nil && (n.Next < n.Latest || n.Highest != n.Next || n.Block != height) {
			t.Fatalf("%s is read as %+v", reply, n)
		}
		depth, err := e.settled(t.Context(), Network{Depth: 12})
		if err == nil && depth > height {
			t.Fatalf("block %d of %d is settled", depth, height)
		}
	})
}

// FuzzHead checks that an accepted block has a hash and a time that can be stored, has
// the requested number where that matters, and prices gas within the bounds.
func FuzzHead(f *testing.F) {
	for _, seed := range []string{
		string(must(json.Marshal(map[string]any{"number": "0x5", "hash": minedBlock, "timestamp": "0x6553f100", "baseFeePerGas": "0x3b9aca00", "transactions": []common.Hash{minedTx}}))),
		`{"number":"0x5","hash":"` + minedBlock.Hex() + `","timestamp":"0xffffffffffffffff","baseFeePerGas":"0x` + strings.Repeat("f", 64) + `"}`,
		`{"number":"0x6","hash":"` + minedBlock.Hex() + `"}`, `{"number":"0x5"}`, `{"number":null,"hash":null}`, `null`, `[]`, `{"transactions":[{}]}`, `{"hash":"0x07"}`,
	} {
		f.Add([]byte(seed))
	}
	market := networks[slices.IndexFunc(networks, func(n Network) bool { return n.Fee == FeeMarket })]
	f.Fuzz(func(t *testing.T, reply []byte) {
		e := scripted(t, script{"eth_getBlockByNumber": string(reply), "eth_feeHistory": `"error":{"code":-32601,"message":"no"}`, "eth_maxPriorityFeePerGas": `"0x7"`})
		b, err := e.at(t.Context(), 5)
		switch {
		case err != nil:
			checkShown(t, err)
		case b.Number != 5 || b.Hash == common.Hash{}:
			t.Fatalf("%s is read as %+v", reply, b)
		default:
			var again Block
			if err := json.Unmarshal(must(json.Marshal(b)), &again); err != nil || again != b {
				t.Fatalf("%+v is stored as %+v: %v", b, again, err)
			}
		}
		var h head
		_, err = e.do(t.Context(), func(ctx context.Context) (err error) { h, err = e.latest(ctx); return err })
		if err != nil {
			return
		}
		g, err := e.priceAt(t.Context(), market, h)
		if err != nil {
			checkShown(t, err)
			return
		}
		if h.BaseFee == nil || g.BaseFee.BitLen() > maxPriceBits || g.Time.Year() > 9999 {
			t.Fatalf("%s prices gas as %+v", reply, g)
		}
		checkTiers(t, market, *g)
	})
}

// FuzzUsed checks that an account counts as used if, and only if, a node that answered
// about all of them says so.
func FuzzUsed(f *testing.F) {
	for _, seed := range []string{
		`[{"jsonrpc":"2.0","id":1,"result":"0x0"},{"jsonrpc":"2.0","id":2,"result":"0x0"},{"jsonrpc":"2.0","id":3,"result":"0x1"},{"jsonrpc":"2.0","id":4,"result":"0x0"}]`,
		`[{"jsonrpc":"2.0","id":4,"result":"0x7"},{"jsonrpc":"2.0","id":3,"result":"0x0"},{"jsonrpc":"2.0","id":2,"result":"0x0"},{"jsonrpc":"2.0","id":1,"result":"0x0"}]`,
		`[{"id":1,"result":"0x0"},{"id":1,"result":"0x1"}]`, `[{"id":1,"result":null},{"id":2},{"id":3,"result":"0x"},{"id":4,"result":"-0x1"}]`, `[{"id":1,"error":{"code":1,"message":"no batch"}}]`,
		`[]`, `null`, `{}`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"batch"}}`, `[null]`, `[[]]`, `[{"jsonrpc":"2.0","id":1,"result":"0x0"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, reply []byte) {
		used, err := active(t.Context(), scripted(t, script{"batch": string(reply)}), []common.Address{{1}, {2}})
		if err != nil {
			return
		}
		var list []struct {
			ID     json.RawMessage `json:"id"`
			Result json.RawMessage `json:"result"`
		}
		if err := json.NewDecoder(bytes.NewReader(reply)).Decode(&list); err != nil || len(used) != 2 {
			t.Fatalf("%s says %v: %v", reply, used, err)
		}
		zero := func(id string) bool { // whether every answer with that id is zero
			return !slices.ContainsFunc(list, func(a struct {
				ID     json.RawMessage `json:"id"`
				Result json.RawMessage `json:"result"`
			}) bool {
				return string(a.ID) == id && string(a.Result) != `"0x0"`
			})
		}
		for i, ids := range [][2]string{{"1", "2"}, {"3", "4"}} {
			if none := zero(ids[0]) && zero(ids[1]); none == used[i] && none {
				t.Fatalf("%s says of account %d that it is used: %v", reply, i+1, used[i])
			}
		}
	})
}

// FuzzSimulation checks that a simulation taken as complete has every call's success and
// its own coin in it, and is read the same after it is written again.
func FuzzSimulation(f *testing.F) {
	from, to := common.Address{1}, common.Address{2}
	native := common.HexToAddress("0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE")
	call := func(status uint64, logs ...simulatedLog) simulatedCall {
		return simulatedCall{ReturnData: hexutil.Bytes{}, Status: hexutil.Uint64(status), GasUsed: 21000, Logs: append([]simulatedLog{}, logs...)}
	}
	sends := simulatedLog{native, []common.Hash{TransferTopic, common.BytesToHash(from[:]), common.BytesToHash(to[:])}, words(9)}
	for _, blocks := range [][]simulatedBlock{
		{{5, []simulatedCall{call(1, sends)}}}, {{5, []simulatedCall{call(1)}}}, {{0, []simulatedCall{call(1, sends)}}}, {{5, nil}}, {},
		{{5, []simulatedCall{call(0, sends)}}}, {{5, []simulatedCall{call(1, sends, simulatedLog{native, []common.Hash{TransferTopic}, words(1)})}}},
	} {
		f.Add(must(json.Marshal(blocks)))
	}
	f.Add([]byte(`[{"number":"0x5","calls":[{"status":"0x0","gasUsed":"0x1","returnData":"0x08c379a0","error":{"code":3,"message":"execution reverted\u0007","data":"0xdeadbeef"}}]}]`))
	f.Add([]byte(`[{"number":"0x5","calls":[{"status":"0x1","gasUsed":"0x1","returnData":"0x","error":{"code":3,"message":"out of gas"}}]}]`))
	f.Add([]byte(`[null]`))
	calls := []Call{{ChainID: 1, From: from, To: to, Value: big.NewInt(9)}}
	n := Network{ID: 1, WrappedNative: common.Address{3}}
	f.Fuzz(func(t *testing.T, reply []byte) {
		sim, err := scripted(t, script{"eth_simulateV1": string(reply)}).simulate(t.Context(), n, calls)
		if err != nil {
			checkShown(t, err)
			if sim.Shown || len(sim.Movements) > 0 {
				t.Fatalf("%+v beside %v", sim, err)
			}
			return
		}
		var blocks []simulatedBlock
		if err := json.Unmarshal(reply, &blocks); err != nil {
			t.Fatal(err)
		}
		one := blocks[0].Calls[0]
		if one.Status != 1 || one.Error != nil {
			t.Fatalf("%s is read as a success: %+v", reply, sim)
		}
		if sim.Shown && !showsValue(calls[0], sim.Movements) || len(sim.GasUsed) != 1 || len(sim.Movements)+len(sim.Grants) > maxBatch*len(one.Logs) {
			t.Fatalf("%s is read as %+v", reply, sim)
		}
		for _, m := range sim.Movements {
			if m.Amount == nil || m.Amount.Sign() < 0 || m.Amount.BitLen() > 256 {
				t.Fatalf("movement %+v", m)
			}
		}
		again, err := scripted(t, script{"eth_simulateV1": string(must(json.Marshal(blocks)))}).simulate(t.Context(), n, calls)
		if a, b := must(json.Marshal(sim)), must(json.Marshal(again)); err != nil || !bytes.Equal(a, b) {
			t.Fatalf("%s, then %s: %v", a, b, err)
		}
	})
}

// FuzzWords checks that amount decodes exactly one word, firstWord the first of several,
// and each to the number that was written.
func FuzzWords(f *testing.F) {
	for _, seed := range [][]byte{nil, {1}, words(0), words(1), words(18), words(256), words(1, 2), words(7, 8, 9, 10), bytes.Repeat([]byte{0xff}, 32), words(5)[:31], append(words(5), 0), bytes.Repeat([]byte{0xff}, 128)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, out []byte) {
		if n := amount(out); (n != nil) != (len(out) == 32) || n != nil && !bytes.Equal(word(n), out) {
			t.Fatalf("%x is read as %v", out, n)
		}
		if all := amounts([][]byte{out, nil}, amount); (all[0] != nil) != (len(out) == 32) || all[1] != nil {
			t.Fatalf("%x is read as %v", out, all)
		}
		if n := firstWord(out); (n != nil) != (len(out) >= 32) || n != nil && !bytes.Equal(word(n), out[:32]) {
			t.Fatalf("%x begins with %v", out, n)
		}
	})
}
