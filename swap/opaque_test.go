package swap

import (
	"bytes"
	"encoding/json"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"swapkeep/chain"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
)

// A lyingHost is another endpoint of the bench's chain that changes requests or answers.
type lyingHost struct {
	url string
	lie atomic.Pointer[hostLie]
}

// A hostLie is what a host changes for one method; "" = for all.
type hostLie struct {
	method string
	ask    func(request []byte) []byte
	answer func(reply []byte) []byte
	gone   bool
}

func (b *bench) lyingHost() *lyingHost {
	l := &lyingHost{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
		var asked struct {
			Method string `json:"method"`
		}
		_ = json.Unmarshal(body, &asked) // a batch is passed on
		lie := l.lie.Load()
		if lie == nil || lie.method != "" && lie.method != asked.Method {
			lie = &hostLie{}
		}
		if lie.ask != nil {
			body = lie.ask(body)
		}
		if err != nil || lie.gone {
			http.Error(w, "gone", http.StatusServiceUnavailable)
			return
		}
		reply, err := http.Post(b.chain.RPC(), "application/json", bytes.NewReader(body))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		defer func() { _ = reply.Body.Close() }()
		body, err = io.ReadAll(io.LimitReader(reply.Body, 8<<20))
		if lie.answer != nil {
			body = lie.answer(body)
		}
		if err == nil {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write(body)
		}
	}))
	b.t.Cleanup(server.Close)
	l.url = server.URL
	return l
}

// on makes the bench reach its chain by those endpoints, with a provider of opaque calls.
func (b *bench) on(urls ...string) *hander {
	b.t.Helper()
	b.halt()
	b.hub.Close()
	var err error
	if b.hub, err = chain.NewHub([]chain.Endpoint{{Chain: 1, URLs: urls, Depth: 2}}, chain.Options{Sandbox: true}); err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(b.hub.Close)
	h := &hander{b: b, kind: Opaque, pins: Pins{{1, Wrapper, weth}, {1, Depot, depot}}}
	b.other = h
	b.start()
	return h
}

// says makes a host answer a method with result.
func says(method, result string) *hostLie {
	return &hostLie{method: method, answer: func(reply []byte) []byte {
		var r struct {
			ID json.RawMessage `json:"id"`
		}
		_ = json.Unmarshal(reply, &r)
		return []byte(`{"jsonrpc":"2.0","id":` + string(r.ID) + `,"result":` + result + `}`)
	}}
}

// swaps makes a host replace one word by another in its answers to calls.
func swaps(was, now uint64) *hostLie {
	return &hostLie{method: "eth_call", answer: func(reply []byte) []byte {
		return bytes.ReplaceAll(reply, []byte(common.Bytes2Hex(word(was))), []byte(common.Bytes2Hex(word(now))))
	}}
}

// tries makes a host simulate another call than the requested one.
func tries(was, now []byte) *hostLie {
	return &hostLie{method: "eth_simulateV1", ask: func(request []byte) []byte {
		return bytes.ReplaceAll(request, []byte(hexutil.Encode(was)), []byte(hexutil.Encode(now)))
	}}
}

// TestOneHostDecidesNothing checks that a host that lies about an opaque call gets it
// through only if it is the sole host.
func TestOneHostDecidesNothing(t *testing.T) {
	good := func(from common.Address) []byte {
		return slices.Concat(depositERC20, pad(from), pad(usdc), word(thousand), word(7))
	}
	less := func(from common.Address) []byte {
		return slices.Concat(depositERC20, pad(from), pad(usdc), word(thousand-1), word(7))
	}
	const before = 4000e6 // approved, of one token or the other
	for name, c := range map[string]struct {
		code  Code // with two hosts
		token common.Address
		plan  func(b *bench, h *hander) *hostLie
		alone bool // the lie works if the liar is the only host
	}{
		"code": {NodesDisagree, native, func(b *bench, h *hander) *hostLie {
			h.pin(thief)
			h.to(thief, []byte("anything"))
			return says("eth_getCode", `"0x00"`)
		}, true},
		"no code": {NodesDisagree, usdc, func(*bench, *hander) *hostLie { return says("eth_getCode", `"0x"`) }, false},
		"allowance of another token": {NodesDisagree, usdc, func(b *bench, _ *hander) *hostLie {
			b.approveFor(depot, weth, before)
			return swaps(before, 0)
		}, true},
		"allowance of the input": {NodesDisagree, usdc, func(b *bench, _ *hander) *hostLie {
			b.approveFor(depot, usdc, before)
			return swaps(before, thousand)
		}, true},
		"allowance by Permit2": {NodesDisagree, usdc, func(b *bench, _ *hander) *hostLie {
			b.calls(chain.Call{ChainID: 1, From: b.from, To: permit2, Value: new(big.Int), Data: slices.Concat(permit2Approve, pad(usdc), pad(depot), word(before), word(1<<48-1))})
			return swaps(before, 0)
		}, true},
		"simulation: harmless": {NotAsAccepted, usdc, func(b *bench, h *hander) *hostLie {
			h.to(depot, less(b.from))
			return tries(less(b.from), good(b.from))
		}, true},
		"simulation: fails": {NodesDisagree, usdc, func(b *bench, h *hander) *hostLie {
			h.to(depot, good(b.from))
			return tries(good(b.from), []byte("nonsense"))
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.rich()
			l := b.lyingHost()
			lie := c.plan(b, b.on(b.chain.RPC()))
			twist, pins := b.other.(*hander).twist, b.other.Pins()
			amount := int64(thousand)
			if c.token == native {
				amount = 1e15
			}
			asks := func(urls ...string) error {
				h := b.on(urls...)
				h.twist, h.pins = twist, pins
				_, err := b.handing(c.token, amount)
				return err
			}
			l.lie.Store(lie)
			if err := asks(l.url); (err == nil) != c.alone {
				t.Errorf("the liar alone: %v", err)
			}
			refusedWith(t, asks(b.chain.RPC(), l.url), c.code)
			refusedWith(t, asks(l.url, b.chain.RPC()), c.code)
			l.lie.Store(&hostLie{method: lie.method, gone: true})
			if err := asks(b.chain.RPC(), l.url); err == nil {
				t.Error("allowed on the word of the only one that answers")
			}
			if b.hand.signed.Load() > 1 { // another wallet's approval
				t.Error("signed")
			}
		})
	}
}

// TestTwoHonestHostsHandOver checks that the call goes through if both hosts agree, also
// if allowances have to be made exact first.
func TestTwoHonestHostsHandOver(t *testing.T) {
	b := newBench(t)
	b.rich()
	b.on(b.chain.RPC(), b.lyingHost().url)
	b.approveFor(depot, usdc, 4000e6)
	r, err := b.handing(usdc, thousand)
	if err != nil {
		t.Fatal(err)
	}
	o := b.settles(b.accepted(r).ID)
	b.mined(3)
	b.depotMay(usdc, 0)
	if o.Results[1].Evidence == nil || len(o.Results[1].Evidence.Hosts) != 2 {
		t.Errorf("%+v", o.Results)
	}
}

// TestDisagreementIsWaitedFor checks that an opaque call is not signed while hosts
// disagree about it or one is down, and that the order says so and continues afterwards.
func TestDisagreementIsWaitedFor(t *testing.T) {
	for name, c := range map[string]struct {
		lie    *hostLie
		reason string // shown by the order; "" = none
	}{
		"code":       {says("eth_getCode", `"0x"`), "disagree about what"},
		"simulation": {says("eth_simulateV1", `[{"number":"0x9","calls":[{"status":"0x0","gasUsed":"0x1","returnData":"0x"}]}]`), "disagree about whether"},
		"gone":       {&hostLie{method: "eth_simulateV1", gone: true}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.rich()
			l := b.lyingHost()
			b.on(b.chain.RPC(), l.url)
			r, err := b.handing(native, 1e15)
			if err != nil {
				t.Fatal(err)
			}
			b.hand.locked.Store(true)
			o := b.accepted(r)
			b.until(o.ID, "waiting", func(o Order) bool { return o.Condition == WaitingForUnlock })
			l.lie.Store(c.lie)
			b.hand.locked.Store(false)
			b.service.Wake()
			if c.reason != "" {
				b.until(o.ID, "in doubt", func(o Order) bool { return strings.Contains(o.Reason, c.reason) && o.Condition == NoCondition })
			}
			time.Sleep(100 * time.Millisecond)
			b.mined(0)
			l.lie.Store(nil)
			if o = b.settles(o.ID); o.Reason != "" {
				t.Errorf("it says %q", o.Reason)
			}
			b.mined(1)
		})
	}
}
