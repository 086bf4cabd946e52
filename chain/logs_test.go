package chain

import (
	"context"
	"encoding/json"
	"errors"
	"math/big"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
)

// A loggingChain has a contract that emits its calldata as a log: a topic and a word of
// data.
type loggingChain struct {
	*testChain
	t   *testing.T
	key *testKey
	n   uint64 // nonce
}

var logger = common.HexToAddress("0xaa000000000000000000000000000000000000aa")

func newLoggingChain(t *testing.T) *loggingChain {
	k := newTestKey(t, "logs")
	alloc := funded(k.addr)
	alloc[logger] = types.Account{Code: common.FromHex("6020355f525f3560205fa100"), Balance: common.Big0}
	// nonceBitmap reads the slot that its second argument names.
	alloc[bitmap] = types.Account{Code: common.FromHex("602435545f5260205ff3"), Balance: common.Big0, Storage: map[common.Hash]common.Hash{{31: 2}: {31: 0b100}}}
	return &loggingChain{testChain: newTestChain(t, 1, alloc), t: t, key: k}
}

// send mines a transaction in a block of its own.
func (c *loggingChain) send(to common.Address, value int64, data []byte) common.Hash {
	c.t.Helper()
	tx, err := c.key.SignTx(c.t.Context(), c.key.addr, types.NewTx(&types.DynamicFeeTx{
		ChainID: big.NewInt(1), Nonce: c.n, GasTipCap: big.NewInt(1e9), GasFeeCap: big.NewInt(1e10), Gas: 100_000, To: &to, Value: big.NewInt(value), Data: data,
	}), big.NewInt(1))
	if err == nil {
		err = c.Client().SendTransaction(c.t.Context(), tx)
	}
	if err != nil {
		c.t.Fatal(err)
	}
	c.n++
	c.Commit()
	return tx.Hash()
}

func (c *loggingChain) log(topic common.Hash, word byte) common.Hash {
	return c.send(logger, 0, slices.Concat(topic[:], common.Hash{31: word}.Bytes()))
}

func (c *loggingChain) mine(n int) {
	for range n {
		c.Commit()
	}
}

// host serves another node of the same chain, which may lie.
func (c *loggingChain) host(rewrite func(method string, args []json.RawMessage, result any, err error) (any, error)) string {
	n := &testNode{answer: c.answer}
	n.set(nil, rewrite)
	return n.serve(c.t)
}

// behind serves a node that lags by so many blocks.
func (c *loggingChain) behind(by uint64) string {
	n := &testNode{}
	n.answer = func(ctx context.Context, method string, args []json.RawMessage) (any, error) {
		result, err := c.answer(ctx, method, args)
		if method != "eth_blockNumber" || err != nil {
			return result, err
		}
		var at hexutil.Uint64
		if err := json.Unmarshal(result.(json.RawMessage), &at); err != nil {
			return nil, err
		}
		return at - hexutil.Uint64(min(by, uint64(at))), nil
	}
	return n.serve(c.t)
}

func hides(method string, _ []json.RawMessage, result any, err error) (any, error) {
	if method == "eth_getLogs" {
		return []any{}, nil
	}
	return result, err
}

// forks returns another hash for every block.
func forks(method string, _ []json.RawMessage, result any, err error) (any, error) {
	var b map[string]any
	if raw, ok := result.(json.RawMessage); ok && method == "eth_getBlockByNumber" && json.Unmarshal(raw, &b) == nil {
		b["hash"] = common.Hash{9}
		return b, err
	}
	return result, err
}

// invents returns a log that was not asked for.
func invents(method string, _ []json.RawMessage, result any, err error) (any, error) {
	if method == "eth_getLogs" {
		return []any{&types.Log{Address: common.Address{7}, Topics: []common.Hash{{1}}, TxHash: common.Hash{1}, BlockNumber: 2, Data: []byte{}}}, nil
	}
	return result, err
}

func fails(string, []json.RawMessage, any, error) (any, error) {
	return nil, &rpcError{Code: -32000, Message: "header not found"}
}

// TestLogs checks what one search finds, and how far two hosts agree on it, at depth 3.
func TestLogs(t *testing.T) {
	c := newLoggingChain(t)
	wanted, other := common.Hash{1}, common.Hash{2}
	c.mine(4)
	tx := c.log(wanted, 5)
	c.log(other, 5)
	c.mine(8)
	head, err := c.Client().BlockNumber(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	settled := head - 2
	honest := func() string { return c.host(nil) }
	for _, tc := range []struct {
		name    string
		hosts   []string
		through uint64
		sources int
		found   bool
		is      error
	}{
		{"one source", []string{honest()}, settled, 1, true, nil},
		{"two agree", []string{honest(), honest()}, settled, 2, true, nil},
		{"one host is behind", []string{honest(), c.behind(3)}, settled - 3, 2, true, nil},
		{"one host is far behind", []string{honest(), c.behind(1000)}, 0, 0, true, nil},
		{"one of three hosts is far behind", []string{honest(), c.behind(1000), honest()}, settled, 2, true, nil},
		{"one host hides the log", []string{c.host(hides), honest()}, settled, 2, true, nil},
		{"both hosts hide the log", []string{c.host(hides), c.host(hides)}, settled, 2, false, nil},
		{"one host is on a fork", []string{honest(), c.host(forks)}, 0, 0, true, ErrDisagree},
		{"two hosts against one on a fork", []string{honest(), c.host(forks), honest()}, settled, 2, true, nil},
		{"one host invents a log", []string{c.host(invents), honest()}, 0, 0, true, errAny},
		{"two hosts against one that invents a log", []string{c.host(invents), honest(), honest()}, settled, 2, true, nil},
		{"one host is down", []string{honest(), "http://127.0.0.1:1"}, 0, 0, true, errAny},
		{"one host refuses", []string{honest(), c.host(fails)}, 0, 0, true, errAny},
		{"two hosts agree, a third is down", []string{"http://127.0.0.1:1", honest(), honest()}, settled, 2, true, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			h := newTestClient(t, 1, 3, tc.hosts...)
			s, err := h.Logs(t.Context(), 1, LogFilter{Address: logger, Topics: [][]common.Hash{{wanted}}}, 0)
			if (err != nil) != (tc.is != nil) || tc.is != nil && tc.is != errAny && !errors.Is(err, tc.is) {
				t.Errorf("error = %v, want %v", err, tc.is)
			}
			if s.From != 1 || s.Through.Number != tc.through || len(s.Hosts) != tc.sources {
				t.Errorf("from %d through %d by %v, want %d by %d", s.From, s.Through.Number, s.Hosts, tc.through, tc.sources)
			}
			if found := len(s.Logs) == 1 && s.Logs[0].TxHash == tx; found != tc.found || len(s.Logs) > 1 {
				t.Errorf("logs = %v", s.Logs)
			}
		})
	}
	for name, f := range map[string]LogFilter{
		"another topic":      {Address: logger, Topics: [][]common.Hash{{{3}}}},
		"another contract":   {Address: common.Address{1}, Topics: [][]common.Hash{{wanted}}},
		"more topics":        {Address: logger, Topics: [][]common.Hash{{wanted}, {wanted}}},
		"a later beginning":  {Address: logger, Topics: [][]common.Hash{{wanted}}},
		"nothing to look at": {Address: logger, Topics: [][]common.Hash{{wanted}}},
	} {
		from := map[string]uint64{"a later beginning": settled - 2, "nothing to look at": head + 5}[name]
		s, err := newTestClient(t, 1, 3, honest(), honest()).Logs(t.Context(), 1, f, from)
		if err != nil || len(s.Logs) != 0 || (s.Through.Number == settled) != (from <= settled) {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
	}
	s, err := newTestClient(t, 1, 3, honest()).Logs(t.Context(), 1, LogFilter{Topics: [][]common.Hash{{wanted, other}}}, 0)
	if err != nil || len(s.Logs) != 2 || s.Logs[0].BlockNumber >= s.Logs[1].BlockNumber {
		t.Errorf("either topic of any contract: %+v, %v", s.Logs, err)
	}
	if _, err := newTestClient(t, 1, 3, honest()).Logs(t.Context(), 10, LogFilter{}, 0); !errors.Is(err, ErrNoNetwork) {
		t.Errorf("no network: %v", err)
	}
}

// TestLogsInParts checks that a node that limits the range of blocks is asked in parts,
// in as many searches as that takes, without missing a log.
func TestLogsInParts(t *testing.T) {
	c := newLoggingChain(t)
	var want []common.Hash
	for i := range 12 {
		want = append(want, c.log(common.Hash{1}, byte(i)))
		c.mine(6)
	}
	for name, status := range map[string]int{"says so": 0, "bad request": http.StatusBadRequest, "too large": http.StatusRequestEntityTooLarge} {
		t.Run(name, func(t *testing.T) {
			n := &testNode{answer: c.answer}
			var wide atomic.Bool // the last request was too wide
			n.answer = func(ctx context.Context, method string, args []json.RawMessage) (any, error) {
				var f struct{ FromBlock, ToBlock hexutil.Uint64 }
				if method == "eth_getLogs" && json.Unmarshal(args[0], &f) == nil && f.ToBlock-f.FromBlock >= 3 {
					wide.Store(true)
					return nil, &rpcError{Code: -32000, Message: "block range too large"}
				}
				return c.answer(ctx, method, args)
			}
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				answer := httptest.NewRecorder()
				wide.Store(false)
				if n.ServeHTTP(answer, r); wide.Load() && status != 0 {
					w.WriteHeader(status)
				}
				_, _ = w.Write(answer.Body.Bytes())
			}))
			t.Cleanup(server.Close)
			h := newTestClient(t, 1, 2, server.URL)
			var got []common.Hash
			from, looks := uint64(1), 0
			for ; looks < 50; looks++ {
				before := n.count("eth_getLogs")
				s, err := h.Logs(t.Context(), 1, LogFilter{Address: logger}, from)
				if err != nil {
					t.Fatal(err)
				}
				if asked := n.count("eth_getLogs") - before; asked > maxLogRequests {
					t.Fatalf("%d requests in one look", asked)
				}
				if s.Through.Number < from {
					break
				}
				for _, l := range s.Logs {
					got = append(got, l.TxHash)
				}
				from = s.Through.Number + 1
			}
			if !slices.Equal(got, want) || looks < 2 {
				t.Errorf("%d of %d logs in %d looks", len(got), len(want), looks)
			}
		})
	}
}

// TestLogWidth checks that the width narrows at once, and widens after patience
// successes.
func TestLogWidth(t *testing.T) {
	var w logWidth
	if w.get() != widestLogs {
		t.Error("the log range begins narrow")
	}
	w.narrower(1)
	if w.get() != 1 {
		t.Errorf("below one block: %d", w.get())
	}
	for range 200 * widenAfter {
		w.wider()
	}
	if w.get() != widestLogs {
		t.Errorf("stays at %d", w.get())
	}
	w.narrower(100)
	for range widenAfter - 1 {
		w.wider()
	}
	if w.get() != 50 {
		t.Errorf("widened to %d without patience", w.get())
	}
}

// TestSettled checks the last block that a quorum of hosts shows alike, at depth 3.
func TestSettled(t *testing.T) {
	c := newLoggingChain(t)
	c.mine(9)
	head, err := c.Client().HeaderByNumber(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	settled := head.Number.Uint64() - 2
	honest := func() string { return c.host(nil) }
	twice := honest()
	for _, tc := range []struct {
		name  string
		hosts []string
		want  uint64 // 0 = none
		is    error
	}{
		{"one", []string{honest()}, settled, nil},
		{"two", []string{honest(), honest()}, settled, nil},
		{"one host behind", []string{honest(), c.behind(2)}, settled - 2, nil},
		{"a fork", []string{honest(), c.host(forks)}, 0, ErrDisagree},
		{"two hosts against one on a fork", []string{c.host(forks), honest(), honest()}, settled, nil},
		{"one host down", []string{honest(), "http://127.0.0.1:1"}, 0, ErrUnreachable},
		{"two urls of one host, and another host that is down", []string{twice + "/a", twice + "/b", "http://127.0.0.1:1"}, 0, ErrUnreachable},
	} {
		b, hosts, err := newTestClient(t, 1, 3, tc.hosts...).Settled(t.Context(), 1)
		if b.Number != tc.want || !errors.Is(err, tc.is) || (len(hosts) == min(2, len(tc.hosts))) != (tc.is == nil) {
			t.Errorf("%s: %+v by %v, %v", tc.name, b, hosts, err)
		}
		if tc.want == settled && (b.Time.IsZero() || b.Hash == common.Hash{}) {
			t.Errorf("%s: %+v", tc.name, b)
		}
	}
}

// TestHead checks that the highest of the asked hosts' latest blocks is returned, not the
// one they agree on.
func TestHead(t *testing.T) {
	c := newLoggingChain(t)
	c.mine(9)
	head, err := c.Client().HeaderByNumber(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	latest, honest, down := head.Number.Uint64(), c.host(nil), "http://127.0.0.1:1"
	for _, tc := range []struct {
		name  string
		hosts []string
		want  uint64 // 0 = none
		is    error
	}{
		{"one", []string{honest}, latest, nil},
		{"one host behind", []string{c.behind(2), honest}, latest, nil},
		{"first one host behind, then the other", []string{honest, c.behind(2)}, latest, nil},
		{"one host down", []string{honest, down}, 0, ErrUnreachable},
		{"one host of three down", []string{down, honest, c.behind(2)}, latest, nil},
	} {
		if got, err := newTestClient(t, 1, 3, tc.hosts...).Head(t.Context(), 1); got != tc.want || !errors.Is(err, tc.is) {
			t.Errorf("%s: %d, %v", tc.name, got, err)
		}
	}
}

var bitmap = common.HexToAddress("0xbb000000000000000000000000000000000000bb")

// TestNonceBit checks that nonce 514 is used (word 2, bit 2) and its neighbours are not.
func TestNonceBit(t *testing.T) {
	c := newLoggingChain(t)
	c.mine(3)
	flips := c.host(func(method string, _ []json.RawMessage, result any, err error) (any, error) {
		if method == "eth_call" {
			return hexutil.Bytes(common.Hash{31: 0xff}.Bytes()), nil
		}
		return result, err
	})
	empty := c.host(func(method string, _ []json.RawMessage, result any, err error) (any, error) {
		if method == "eth_call" {
			return "0x", nil
		}
		return result, err
	})
	honest := func() string { return c.host(nil) }
	for _, tc := range []struct {
		name  string
		nonce int64
		hosts []string
		used  bool
		is    error
	}{
		{"used", 514, []string{honest(), honest()}, true, nil},
		{"one source", 514, []string{honest()}, true, nil},
		{"the next", 515, []string{honest(), honest()}, false, nil},
		{"another word", 2, []string{honest(), honest()}, false, nil},
		{"one host lies", 515, []string{flips, honest()}, false, ErrDisagree},
		{"two hosts against one", 515, []string{flips, honest(), honest()}, false, nil},
		{"one host is down", 514, []string{honest(), "http://127.0.0.1:1"}, false, ErrUnreachable},
		{"no such contract", 514, []string{honest(), empty}, false, errAny},
	} {
		used, hosts, err := newTestClient(t, 1, 3, tc.hosts...).NonceBit(t.Context(), 1, bitmap, common.Address{1}, big.NewInt(tc.nonce), 2)
		if used != tc.used || (err != nil) != (tc.is != nil) || tc.is != nil && tc.is != errAny && !errors.Is(err, tc.is) {
			t.Errorf("%s: %v by %v, %v", tc.name, used, hosts, err)
		}
		if err == nil && len(hosts) != min(2, len(tc.hosts)) {
			t.Errorf("%s: by %v", tc.name, hosts)
		}
	}
	h := newTestClient(t, 1, 3, honest())
	for _, bad := range []*big.Int{big.NewInt(-1), new(big.Int).Lsh(common.Big1, 256)} {
		if _, _, err := h.NonceBit(t.Context(), 1, bitmap, common.Address{1}, bad, 2); err == nil {
			t.Errorf("nonce %s is one", bad)
		}
	}
	if _, _, err := h.NonceBit(t.Context(), 1, bitmap, common.Address{1}, common.Big1, 1000); err == nil {
		t.Error("the state of a block that is not there")
	}
}

// TestBalanceDelta checks how an account's native balance changed in one block.
func TestBalanceDelta(t *testing.T) {
	c := newLoggingChain(t)
	c.mine(2)
	c.send(common.Address{0xcc}, 700, nil)
	block, err := c.Client().BlockNumber(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c.mine(3)
	lies := c.host(func(method string, _ []json.RawMessage, result any, err error) (any, error) {
		if method == "eth_getBalance" {
			return "0x5", nil
		}
		return result, err
	})
	honest := func() string { return c.host(nil) }
	h := newTestClient(t, 1, 3, honest(), honest())
	for at, want := range map[uint64]int64{block - 1: 0, block: 700, block + 1: 0} {
		if got, hosts, err := h.BalanceDelta(t.Context(), 1, common.Address{0xcc}, at); err != nil || got.Amount.Int64() != want || got.Sent != 0 || len(hosts) != 2 {
			t.Errorf("block %d: %v by %v, %v", at, got, hosts, err)
		}
	}
	if got, _, err := h.BalanceDelta(t.Context(), 1, c.key.addr, block); err != nil || got.Amount.Sign() >= 0 || got.Sent != 1 {
		t.Errorf("who paid gained %v, %v", got, err)
	}
	if _, _, err := h.BalanceDelta(t.Context(), 1, c.key.addr, 0); err == nil {
		t.Error("there is a block before the first")
	}
	if _, _, err := newTestClient(t, 1, 3, honest(), lies).BalanceDelta(t.Context(), 1, common.Address{0xcc}, block); !errors.Is(err, ErrDisagree) {
		t.Errorf("one lies: %v", err)
	}
	if got, _, err := newTestClient(t, 1, 3, lies, honest(), honest()).BalanceDelta(t.Context(), 1, common.Address{0xcc}, block); err != nil || got.Amount.Int64() != 700 {
		t.Errorf("two against one: %v, %v", got, err)
	}
}

// TestShowsLogs checks that a host that has a receipt and does not show its logs is
// refused, and that none is where there is nothing to compare.
func TestShowsLogs(t *testing.T) {
	c := newLoggingChain(t)
	hosts := func(h *MultiClient) (names []string) {
		for _, e := range h.pools[0].endpoints {
			names = append(names, e.host)
		}
		return names
	}
	honest, late := newTestClient(t, 1, 3, c.host(nil), c.host(nil)), newTestClient(t, 1, 3, c.host(nil), c.host(hides))
	shows := func(h *MultiClient, block uint64) error { return h.CheckLogs(t.Context(), 1, block, hosts(h)) }
	c.send(common.Address{0xcc}, 700, nil) // without a log
	if err := errors.Join(shows(honest, 1), shows(late, 1)); err != nil {
		t.Errorf("nothing to compare: %v", err)
	}
	c.log(common.Hash{1}, 1)
	c.send(common.Address{0xcc}, 700, nil)
	c.mine(logCheckBlocks - 3)
	head, err := c.Client().BlockNumber(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := shows(honest, head); err != nil {
		t.Error(err)
	}
	if err := shows(late, head); err == nil {
		t.Error("a host that shows no logs is believed")
	}
	if err := shows(late, head+1); err == nil {
		t.Error("a block that is not there is believed")
	}
	if err := late.CheckLogs(t.Context(), 1, head, hosts(late)[:1]); err != nil {
		t.Errorf("the honest one alone: %v", err)
	}
	if err := late.CheckLogs(t.Context(), 1, head, []string{"somebody"}); err == nil {
		t.Error("a host that is none is believed")
	}
	c.mine(5)
	if err := shows(late, head+5); err != nil {
		t.Errorf("nothing to compare nearby: %v", err)
	}
	if err := shows(newTestClient(t, 1, 3, c.host(nil), c.host(fails)), head); err == nil {
		t.Error("a host that answers nothing is believed")
	}
}

// TestEvidenceOfAPayment checks the sender, the value and the time in evidence.
func TestEvidenceOfAPayment(t *testing.T) {
	c := newLoggingChain(t)
	tx := c.send(common.Address{0xcc}, 700, nil)
	c.mine(2)
	h := newTestClient(t, 1, 2, c.host(nil), c.host(nil))
	ev, ok, err := h.Evidence(t.Context(), 1, tx)
	if err != nil || !ok || ev.From != c.key.addr || ev.Value.Int64() != 700 || ev.To != (common.Address{0xcc}) {
		t.Fatalf("Evidence = %+v, %v, %v, want the sender, recipient and value 700", ev, ok, err)
	}
	b, _, err := h.Settled(t.Context(), 1)
	if err != nil || ev.Time.IsZero() || ev.Time.After(b.Time.Add(time.Hour)) {
		t.Errorf("at %s, settled %+v, %v", ev.Time, b, err)
	}
}

// FuzzFoundLogs checks that no answer to a search yields a log that was not asked for.
func FuzzFoundLogs(f *testing.F) {
	filter := LogFilter{Address: logger, Topics: [][]common.Hash{{{1}}, nil}}
	good, err := json.Marshal([]*types.Log{{Address: logger, Topics: []common.Hash{{1}, {2}}, Data: []byte{}, TxHash: common.Hash{3}, BlockNumber: 5}})
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{string(good), "null", "[]", "[null]", "{}", `[{"address":"0x"}]`, `[{"removed":true}]`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, answer []byte) {
		logs, err := readLogs(answer, "host", filter, 2, 9)
		if err != nil {
			return
		}
		for _, l := range logs {
			if l.Address != logger || len(l.Topics) < 2 || l.Topics[0] != (common.Hash{1}) || l.BlockNumber < 2 || l.BlockNumber > 9 || l.Removed || l.TxHash == (common.Hash{}) {
				t.Fatalf("%s is read as %+v", answer, l)
			}
		}
	})
}
