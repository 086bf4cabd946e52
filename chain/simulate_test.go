package chain

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
)

// words encodes ABI words: hashes as they are, addresses and numbers padded.
func words(list ...any) []byte {
	var out []byte
	for _, w := range list {
		switch w := w.(type) {
		case common.Hash:
			out = append(out, w[:]...)
		case common.Address:
			out = append(out, common.LeftPadBytes(w[:], 32)...)
		case int:
			out = append(out, word(big.NewInt(int64(w)))...)
		}
	}
	return out
}

// TestSimulate makes a real node run contracts that log their calldata, and reads what
// moves.
func TestSimulate(t *testing.T) {
	key := newTestKey(t, "simulate")
	owner, other := key.addr, common.HexToAddress("0x0123")
	emit := make([]common.Address, 5)
	alloc := funded(owner)
	for n := range emit {
		emit[n] = common.BigToAddress(big.NewInt(int64(0xe0 + n)))
		alloc[emit[n]] = types.Account{Balance: new(big.Int), Code: logCode(n)}
	}
	weth := networks[0].WrappedNative
	alloc[weth] = types.Account{Balance: new(big.Int), Code: logCode(2)}
	c := newTestChain(t, 1, alloc)
	h := newTestClient(t, 1, 1, c.serve(t))

	zero := common.Address{}
	five := big.NewInt(5)
	for _, tc := range []struct {
		name      string
		to        common.Address
		data      []byte
		movements []Movement
		grants    []Grant
		unclear   bool
	}{
		{"erc-20 transfer", emit[3], words(TransferTopic, owner, other, 5), []Movement{{emit[3], owner, other, five, nil}}, nil, false},
		{"erc-721 transfer", emit[4], words(TransferTopic, owner, other, 5), []Movement{{emit[4], owner, other, big.NewInt(1), five}}, nil, false},
		{"old token", emit[1], words(TransferTopic, owner, other, 5), []Movement{{emit[1], owner, other, five, nil}}, nil, false},
		{"erc-1155", emit[4], words(topic("TransferSingle(address,address,address,uint256,uint256)"), other, owner, other, 9, 5), []Movement{{emit[4], owner, other, five, big.NewInt(9)}}, nil, false},
		{
			"erc-1155 batch", emit[4],
			words(topic("TransferBatch(address,address,address,uint256[],uint256[])"), other, owner, other, 64, 160, 2, 9, 8, 2, 5, 5),
			[]Movement{{emit[4], owner, other, five, big.NewInt(9)}, {emit[4], owner, other, five, big.NewInt(8)}}, nil, false,
		},
		{"batch cut short", emit[4], words(topic("TransferBatch(address,address,address,uint256[],uint256[])"), other, owner, other, 64, 160, 2, 9, 8, 2, 5), nil, nil, true},
		{"wrap", weth, words(topic("Deposit(address,uint256)"), owner, 5), []Movement{{weth, zero, owner, five, nil}}, nil, false},
		{"unwrap", weth, words(topic("Withdrawal(address,uint256)"), owner, 5), []Movement{{weth, owner, zero, five, nil}}, nil, false},
		{"another vault's deposit", emit[2], words(topic("Deposit(address,uint256)"), owner, 5), nil, nil, false},
		{"approval", emit[3], words(approvalTopic, owner, other, 5), nil, []Grant{{Token: emit[3], Owner: owner, Spender: other, Amount: five}}, false},
		{"approval withdrawn", emit[3], words(approvalTopic, owner, other, 0), nil, []Grant{{Token: emit[3], Owner: owner, Spender: other, Amount: new(big.Int)}}, false},
		{"nft approval", emit[4], words(approvalTopic, owner, other, 7), nil, []Grant{{Token: emit[4], Owner: owner, Spender: other}}, false},
		{"nft approval withdrawn", emit[4], words(approvalTopic, owner, zero, 7), nil, nil, false},
		{"approval for all", emit[3], words(topic("ApprovalForAll(address,address,bool)"), owner, other, 1), nil, []Grant{{Token: emit[3], Owner: owner, Spender: other}}, false},
		{"approval for all withdrawn", emit[3], words(topic("ApprovalForAll(address,address,bool)"), owner, other, 0), nil, nil, false},
		{
			"permit2 approval", emit[4], words(topic("Approval(address,address,address,uint160,uint48)"), owner, weth, other, 5, 99),
			nil, []Grant{{Token: weth, Owner: owner, Spender: other, Amount: five, Via: emit[4]}}, false,
		},
		{
			"permit2 permit", emit[4], words(topic("Permit(address,address,address,uint160,uint48,uint48)"), owner, weth, other, 5, 99, 0),
			nil, []Grant{{Token: weth, Owner: owner, Spender: other, Amount: five, Via: emit[4]}}, false,
		},
		{"transfer event of a non-standard form", emit[2], words(TransferTopic, owner, other, 5), nil, nil, true},
		{"log without topic", emit[0], words(7), nil, nil, false},
		{"unknown event", emit[1], words(common.Hash{1}, 5), nil, nil, false},
	} {
		sim, err := h.Simulate(t.Context(), []Call{{ChainID: 1, From: owner, To: tc.to, Value: new(big.Int), Data: tc.data}})
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		if sim.Method != "eth_simulateV1" || sim.Shown == tc.unclear || len(sim.GasUsed) != 1 || sim.GasUsed[0] < 21000 || sim.Block != 1 {
			t.Errorf("%s: %+v", tc.name, sim)
		}
		if fmt.Sprint(sim.Movements) != fmt.Sprint(tc.movements) || fmt.Sprint(sim.Grants) != fmt.Sprint(tc.grants) {
			t.Errorf("%s: moved %v, granted %v; want %v, %v", tc.name, sim.Movements, sim.Grants, tc.movements, tc.grants)
		}
	}

	// Several calls; the later ones depend on the earlier.
	rich := common.HexToAddress("0x51c4")
	sim, err := h.Simulate(t.Context(), []Call{
		{ChainID: 1, From: owner, To: rich, Value: big.NewInt(9)},
		{ChainID: 1, From: rich, To: other, Value: big.NewInt(4)},
	})
	want := []Movement{{Native, owner, rich, big.NewInt(9), nil}, {Native, rich, other, big.NewInt(4), nil}}
	if err != nil || !sim.Shown || fmt.Sprint(sim.Movements) != fmt.Sprint(want) {
		t.Errorf("two calls: %+v, %v", sim, err)
	}
}

func TestSimulateRevert(t *testing.T) {
	key := newTestKey(t, "simulate")
	at := common.HexToAddress("0x7e57")
	alloc := funded(key.addr)
	alloc[at] = types.Account{Balance: new(big.Int), Code: revertCode}
	c := newTestChain(t, 1, alloc)
	h := newTestClient(t, 1, 1, c.serve(t))
	reason := append(hexutil.MustDecode("0x08c379a0"), words(32, 8)...)
	reason = append(reason, common.RightPadBytes([]byte("too late"), 32)...)
	modern := func(on bool) {
		if h.pools[0].endpoints[0].noSimulate.Store(0); !on {
			h.pools[0].endpoints[0].noSimulate.Store(time.Now().UnixNano())
		}
	}
	for _, with := range []bool{true, false} {
		modern(with)
		for want, data := range map[string][]byte{"too late": reason, "custom error 0x01020304": {1, 2, 3, 4}, "reverted": nil} {
			_, err := h.Simulate(t.Context(), []Call{{ChainID: 1, From: key.addr, To: at, Value: new(big.Int), Data: data}})
			if !errors.Is(err, ErrWouldRevert) || !strings.Contains(err.Error(), want) {
				t.Errorf("simulateV1 %v: %v, want %q", with, err, want)
			}
		}
		if _, err := h.Simulate(t.Context(), []Call{pay(1, newTestKey(t, "poor").addr, "0x1", 1)}); !errors.Is(err, ErrFunds) {
			t.Errorf("simulateV1 %v, no funds: %v", with, err)
		}
	}
	if _, err := h.Cost(t.Context(), Call{ChainID: 1, From: key.addr, To: at, Value: new(big.Int), Data: reason}); !errors.Is(err, ErrWouldRevert) || !strings.Contains(err.Error(), "too late") {
		t.Errorf("cost: %v", err)
	}
	for name, calls := range map[string][]Call{
		"none": nil, "two chains": {pay(1, key.addr, "0x1", 1), pay(10, key.addr, "0x1", 1)},
		"no value": {{ChainID: 1, From: key.addr}}, "too many": slices.Repeat([]Call{pay(1, key.addr, "0x1", 1)}, maxSimulated+1),
	} {
		if _, err := h.Simulate(t.Context(), calls); err == nil {
			t.Errorf("%s: simulated", name)
		}
	}
}

// TestSimulateOldNode checks that a node without the method is asked once, and that its
// eth_call shows nothing.
func TestSimulateOldNode(t *testing.T) {
	key := newTestKey(t, "simulate")
	c := newTestChain(t, 1, funded(key.addr))
	c.set(nil, func(method string, _ []json.RawMessage, result any, err error) (any, error) {
		if method == "eth_simulateV1" {
			return nil, &rpcError{Code: -32601, Message: "the method eth_simulateV1 does not exist/is not available"}
		}
		return result, err
	})
	h := newTestClient(t, 1, 1, c.serve(t))
	for range 3 {
		sim, err := h.Simulate(t.Context(), []Call{pay(1, key.addr, "0x1", 1)})
		if err != nil || sim.Method != "eth_call" || sim.Shown || sim.Movements != nil {
			t.Errorf("simulation = %+v, %v", sim, err)
		}
	}
	if n := c.count("eth_simulateV1"); n != 1 {
		t.Errorf("asked %d times, want once", n)
	}
}

// TestSimulateStateMissing checks that a node that lacks a state for a moment counts as
// having the method, and is asked again.
func TestSimulateStateMissing(t *testing.T) {
	key := newTestKey(t, "simulate")
	c := newTestChain(t, 1, funded(key.addr))
	c.set(nil, func(method string, _ []json.RawMessage, result any, err error) (any, error) {
		if method == "eth_simulateV1" {
			return nil, &rpcError{Code: -32000, Message: "historical state 0xabcd is not available"}
		}
		return result, err
	})
	h := newTestClient(t, 1, 1, c.serve(t))
	call := []Call{pay(1, key.addr, "0x1", 1)}
	if sim, err := h.Simulate(t.Context(), call); err == nil {
		t.Errorf("simulation = %+v", sim)
	}
	c.set(nil, nil)
	if sim, err := h.Simulate(t.Context(), call); err != nil || !sim.Shown {
		t.Errorf("simulation = %+v, %v", sim, err)
	}
}

// TestSimulateIncomplete checks that a node that shows no movements of the coin, or
// answers another question, is not believed.
func TestSimulateIncomplete(t *testing.T) {
	key := newTestKey(t, "simulate")
	c := newTestChain(t, 1, funded(key.addr))
	h := newTestClient(t, 1, 1, c.serve(t))
	answer := func(result string) (Simulation, error) {
		c.set(nil, func(method string, _ []json.RawMessage, was any, err error) (any, error) {
			if method == "eth_simulateV1" {
				return json.RawMessage(result), nil
			}
			return was, err
		})
		return h.Simulate(t.Context(), []Call{pay(1, key.addr, "0x1", 1)})
	}
	sim, err := answer(`[{"number":"0x2","calls":[{"returnData":"0x","logs":[],"gasUsed":"0x5208","status":"0x1"}]}]`)
	if err != nil || sim.Shown {
		t.Errorf("no movement shown: %+v, %v", sim, err)
	}
	for _, bad := range []string{`[]`, `null`, `{}`, `[{"number":"0x2","calls":[]}]`, `[{"calls":[{"status":"0x1"}]}]`, `[{"number":"0x2","calls":[{"status":"0x1","logs":[{"topics":["0x1"]}]}]}]`} {
		if sim, err := answer(bad); err == nil {
			t.Errorf("%s: %+v", bad, sim)
		}
	}
}

// FuzzLogs checks that no log makes the reader panic, that a Transfer or Approval with an
// unknown layout is never taken as complete, and that the addresses of a movement are in
// the log.
func FuzzLogs(f *testing.F) {
	three := []common.Hash{{31: 1}, {31: 2}, {31: 3}}
	add := func(first common.Hash, topics int, data []byte) {
		f.Add(first[:], three[0][:], three[1][:], three[2][:], uint8(topics), data)
	}
	for _, e := range events {
		data := max(e.data, 0)
		add(e.topic, e.topics, make([]byte, data))
		add(e.topic, e.topics, make([]byte, data+31))
		add(e.topic, 1, make([]byte, data+64))
	}
	add(topic("TransferBatch(address,address,address,uint256[],uint256[])"), 4, words(64, 160, 2, 9, 8, 2, 5, 5))
	f.Fuzz(func(t *testing.T, first, second, third, fourth []byte, topics uint8, data []byte) {
		all := []common.Hash{common.BytesToHash(first), common.BytesToHash(second), common.BytesToHash(third), common.BytesToHash(fourth), {}}
		l := eventLog{Address: common.Address{1}, Data: data, Topics: all[:topics%6]}
		e := effects{wrapped: l.Address}
		e.add(l)
		whole := slices.Concat(l.Data, make([]byte, 20)) // zero stands for minting and burning
		for _, h := range l.Topics {
			whole = append(whole, h[:]...)
		}
		inLog := func(all ...common.Address) bool {
			return !slices.ContainsFunc(all, func(a common.Address) bool { return !bytes.Contains(whole, a[:]) })
		}
		for _, m := range e.movements {
			if m.Amount == nil || m.Amount.Sign() < 0 || m.Amount.BitLen() > 256 || m.Token != l.Address || !inLog(m.From, m.To) {
				t.Fatalf("movement %+v", m)
			}
		}
		for _, g := range e.grants {
			if g.Amount != nil && g.Amount.BitLen() > 256 || !inLog(g.Owner, g.Spender) || g.Token != l.Address && (g.Via != l.Address || !inLog(g.Token)) {
				t.Fatalf("grant %+v", g)
			}
		}
		if len(l.Topics) > 0 && l.Topics[0] == TransferTopic && len(e.movements) != 1 && !e.unclear {
			t.Error("a transfer went unseen")
		}
		if len(l.Topics) > 0 && l.Topics[0] == approvalTopic && len(l.Topics) < 4 && len(e.grants) != 1 && !e.unclear {
			t.Error("an approval went unseen")
		}
		if e.unclear && len(e.movements)+len(e.grants) > 0 || len(e.movements) > maxBatch {
			t.Errorf("%d movements from one log, unclear: %v", len(e.movements), e.unclear)
		}
		found := Transfers([]*types.Log{nil, {Address: l.Address, Topics: l.Topics, Data: data}})
		if len(found) > 1 || len(found) == 1 && (found[0].From != e.movements[0].From || found[0].To != e.movements[0].To || found[0].Amount.Cmp(e.movements[0].Amount) != 0) {
			t.Errorf("%+v and %+v", found, e.movements)
		}
	})
}
