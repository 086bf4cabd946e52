package engine

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
	"swapkeep/swap"

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

func (b *engineFixture) lyingHost() *lyingHost {
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

// useEndpoints makes the bench reach its chain by those endpoints, with a provider of opaque calls.
func (b *engineFixture) useEndpoints(urls ...string) *depositProvider {
	b.t.Helper()
	b.halt()
	b.hub.Close()
	var err error
	if b.hub, err = chain.NewMultiClient([]chain.Endpoint{{Chain: 1, URLs: urls, Depth: 2}}, chain.Options{Sandbox: true}); err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(b.hub.Close)
	h := &depositProvider{b: b, kind: swap.Opaque, pins: swap.Pins{{Chain: 1, Role: swap.Wrapper, Address: weth}, {Chain: 1, Role: swap.Depot, Address: depot}}}
	b.otherProvider = h
	b.start()
	return h
}

// hostAnswers makes a host answer a method with result.
func hostAnswers(method, result string) *hostLie {
	return &hostLie{method: method, answer: func(reply []byte) []byte {
		var r struct {
			ID json.RawMessage `json:"id"`
		}
		_ = json.Unmarshal(reply, &r)
		return []byte(`{"jsonrpc":"2.0","id":` + string(r.ID) + `,"result":` + result + `}`)
	}}
}

// replacesWord makes a host replace one word by another in its answers to calls.
func replacesWord(was, now uint64) *hostLie {
	return &hostLie{method: "eth_call", answer: func(reply []byte) []byte {
		return bytes.ReplaceAll(reply, []byte(common.Bytes2Hex(word(was))), []byte(common.Bytes2Hex(word(now))))
	}}
}

// simulatesOther makes a host simulate another call than the requested one.
func simulatesOther(was, now []byte) *hostLie {
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
		code  swap.Code // with two hosts
		token common.Address
		plan  func(b *engineFixture, h *depositProvider) *hostLie
		alone bool // the lie works if the liar is the only host
	}{
		"code": {swap.NodesDisagree, native, func(b *engineFixture, h *depositProvider) *hostLie {
			h.pin(thief)
			h.callTarget(thief, []byte("anything"))
			return hostAnswers("eth_getCode", `"0x00"`)
		}, true},
		"no code": {swap.NodesDisagree, usdc, func(*engineFixture, *depositProvider) *hostLie { return hostAnswers("eth_getCode", `"0x"`) }, false},
		"allowance of another token": {swap.NodesDisagree, usdc, func(b *engineFixture, _ *depositProvider) *hostLie {
			b.approveFor(depot, weth, before)
			return replacesWord(before, 0)
		}, true},
		"allowance of the input": {swap.NodesDisagree, usdc, func(b *engineFixture, _ *depositProvider) *hostLie {
			b.approveFor(depot, usdc, before)
			return replacesWord(before, thousand)
		}, true},
		"allowance by Permit2": {swap.NodesDisagree, usdc, func(b *engineFixture, _ *depositProvider) *hostLie {
			b.mineCall(chain.Call{ChainID: 1, From: b.from, To: permit2, Value: new(big.Int), Data: slices.Concat(permit2Approve, pad(usdc), pad(depot), word(before), word(1<<48-1))})
			return replacesWord(before, 0)
		}, true},
		"simulation: harmless": {swap.NotAsAccepted, usdc, func(b *engineFixture, h *depositProvider) *hostLie {
			h.callTarget(depot, less(b.from))
			return simulatesOther(less(b.from), good(b.from))
		}, true},
		"simulation: fails": {swap.NodesDisagree, usdc, func(b *engineFixture, h *depositProvider) *hostLie {
			h.callTarget(depot, good(b.from))
			return simulatesOther(good(b.from), []byte("nonsense"))
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			b := newEngineFixture(t)
			b.fundTokens()
			l := b.lyingHost()
			lie := c.plan(b, b.useEndpoints(b.chain.RPC()))
			twist, pins := b.otherProvider.(*depositProvider).alterBuilt, b.otherProvider.Pins()
			amount := int64(thousand)
			if c.token == native {
				amount = 1e15
			}
			asks := func(urls ...string) error {
				h := b.useEndpoints(urls...)
				h.alterBuilt, h.pins = twist, pins
				_, err := b.reviewDeposit(c.token, amount)
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
			if b.signer.signed.Load() > 1 { // another wallet's approval
				t.Error("signed")
			}
		})
	}
}

// TestTwoAgreeingHostsAllowTheCall checks that the call goes through if both hosts agree, also
// if allowances have to be made exact first.
func TestTwoAgreeingHostsAllowTheCall(t *testing.T) {
	b := newEngineFixture(t)
	b.fundTokens()
	b.useEndpoints(b.chain.RPC(), b.lyingHost().url)
	b.approveFor(depot, usdc, 4000e6)
	r, err := b.reviewDeposit(usdc, thousand)
	if err != nil {
		t.Fatal(err)
	}
	o := b.waitSettling(b.executeAcknowledged(r).ID)
	b.wantNonce(3)
	b.wantDepotAllowance(usdc, 0)
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
		"code":       {hostAnswers("eth_getCode", `"0x"`), "disagree about what"},
		"simulation": {hostAnswers("eth_simulateV1", `[{"number":"0x9","calls":[{"status":"0x0","gasUsed":"0x1","returnData":"0x"}]}]`), "disagree about whether"},
		"gone":       {&hostLie{method: "eth_simulateV1", gone: true}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := newEngineFixture(t)
			b.fundTokens()
			l := b.lyingHost()
			b.useEndpoints(b.chain.RPC(), l.url)
			r, err := b.reviewDeposit(native, 1e15)
			if err != nil {
				t.Fatal(err)
			}
			b.signer.locked.Store(true)
			o := b.executeAcknowledged(r)
			b.waitUntil(o.ID, "waiting", func(o swap.Order) bool { return o.Condition == swap.WaitingForUnlock })
			l.lie.Store(c.lie)
			b.signer.locked.Store(false)
			b.service.Wake()
			if c.reason != "" {
				b.waitUntil(o.ID, "in doubt", func(o swap.Order) bool {
					return strings.Contains(o.Reason, c.reason) && o.Condition == swap.NoCondition
				})
			}
			time.Sleep(100 * time.Millisecond)
			b.wantNonce(0)
			l.lie.Store(nil)
			if o = b.waitSettling(o.ID); o.Reason != "" {
				t.Errorf("it says %q", o.Reason)
			}
			b.wantNonce(1)
		})
	}
}
