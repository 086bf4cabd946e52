package chain

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
)

var (
	keeper = common.HexToAddress("0x1234567800000000000000000000000000000000") // returns 5
	owner  = common.HexToAddress("0xdd000000000000000000000000000000000000dd")
)

// says serves another node of the same chain that gives answer for one method; for
// eth_call, only to calls of keeper.
func (c *testChain) says(t *testing.T, method string, answer any) string {
	n := &testNode{answer: c.answer}
	n.set(nil, func(asked string, args []json.RawMessage, result any, err error) (any, error) {
		if asked != method || method == "eth_call" && !strings.Contains(string(args[0]), `"to":"0x12345678`) {
			return result, err
		}
		if refusal, is := answer.(*rpcError); is {
			return nil, refusal
		}
		return answer, nil
	})
	return n.serve(t)
}

// deciding returns the queries for which one host's answer is not enough.
func deciding(h *MultiClient, t *testing.T) map[string]func() (any, error) {
	asked := []Grantee{{keeper, common.Address{1}}, {keeper, common.Address{2}}}
	call := Call{ChainID: 1, From: owner, To: keeper, Value: new(big.Int), Gas: 100_000}
	return map[string]func() (any, error){
		"code":       func() (any, error) { return h.IsContract(t.Context(), 1, keeper) },
		"allowances": func() (any, error) { return h.AgreedAllowances(t.Context(), 1, owner, asked) },
		"permits":    func() (any, error) { return h.AgreedPermits(t.Context(), 1, keeper, owner, asked) },
		"tokens": func() (any, error) {
			a, err := h.AskToken(t.Context(), 1, keeper)
			a.Hosts = 0 // checked by another test
			return a, err
		},
		"simulations": func() (any, error) { return h.Simulations(t.Context(), []Call{call}) },
	}
}

func newDecidingChain(t *testing.T) *testChain {
	code := common.FromHex("60055f525f3560e01c63927da105146040026020015ff3") // returns 5; asked as Permit2 is, (5, 0, 0)
	return newTestChain(t, 1, types.GenesisAlloc{keeper: {Code: code, Balance: common.Big0}, owner: {Balance: big.NewInt(1e18)}})
}

// TestTwoHostsDecide checks that two hosts, where two are configured, must agree on what
// decides about a call of unknown content.
func TestTwoHostsDecide(t *testing.T) {
	c := newDecidingChain(t)
	honest := []string{c.says(t, "", nil), c.says(t, "", nil)}
	no, zero := &rpcError{Code: -32000, Message: "not now"}, "0x"+common.Bytes2Hex(make([]byte, 96))
	reverted := &rpcError{Code: 3, Message: "execution reverted"}
	const down = "http://127.0.0.1:1"
	for question, lie := range map[string]string{"code": c.says(t, "eth_getCode", "0x"), "allowances": c.says(t, "eth_call", zero), "permits": c.says(t, "eth_call", zero), "tokens": c.says(t, "eth_call", zero),
		"simulations": c.says(t, "eth_simulateV1", reverted)} {
		mute := c.says(t, map[string]string{"code": "eth_getCode", "simulations": "eth_simulateV1"}[question], no)
		if question == "allowances" || question == "permits" || question == "tokens" {
			mute = c.says(t, "eth_call", no)
		}
		want, err := deciding(newTestClient(t, 1, 1, honest[0]), t)[question]()
		if err != nil {
			t.Fatal(err)
		}
		for name, tc := range map[string]struct {
			hosts []string
			is    error
		}{
			"two":                       {honest, nil},
			"the second host lies":      {[]string{honest[0], lie}, ErrDisagree},
			"the first host lies":       {[]string{lie, honest[0]}, ErrDisagree},
			"one is down":               {[]string{honest[0], down}, ErrUnreachable},
			"the first is down":         {[]string{down, honest[0]}, ErrUnreachable},
			"one host lacks the method": {[]string{honest[0], mute}, ErrUnreachable},
			"one of three is down":      {[]string{honest[0], down, honest[1]}, nil},
			"one host, twice":           {[]string{honest[0], honest[0] + "/again", lie}, ErrDisagree},
			"one host alone":            {[]string{honest[0], honest[0] + "/again"}, nil},
		} {
			got, err := deciding(newTestClient(t, 1, 1, tc.hosts...), t)[question]()
			if !errors.Is(err, tc.is) || tc.is == nil && first(got) != first(want) {
				t.Errorf("%s, %s: %s, %v; want %s, %v", question, name, first(got), err, first(want), tc.is)
			}
		}
		if question == "simulations" {
			continue
		}
		for _, hosts := range [][]string{{lie, honest[0], honest[1]}, {honest[0], lie, honest[1]}} { // two agree
			if got, err := deciding(newTestClient(t, 1, 1, hosts...), t)[question](); err != nil || first(got) != first(want) {
				t.Errorf("%s, one of three lies: %s, %v", question, first(got), err)
			}
		}
	}
}

// first formats an answer; of several simulations the first.
func first(answer any) string {
	if all, is := answer.([]Simulation); is && len(all) > 0 {
		answer = all[0]
	}
	return fmt.Sprint(answer)
}

// TestSimulations checks that each host's result is returned to be judged, and that a
// host which cannot show what moves is not counted.
func TestSimulations(t *testing.T) {
	c := newDecidingChain(t)
	honest := []string{c.says(t, "", nil), c.says(t, "", nil)}
	lacks := c.says(t, "eth_simulateV1", &rpcError{Code: -32601, Message: "the method eth_simulateV1 does not exist/is not available"})
	type result = map[string]any
	block := func(result result) any { return []any{map[string]any{"number": "0x9", "calls": []any{result}}} }
	moved := c.says(t, "eth_simulateV1", block(result{"status": "0x1", "gasUsed": "0x1", "returnData": "0x", "logs": []any{
		result{"address": keeper, "topics": []common.Hash{TransferTopic, common.BytesToHash(owner[:]), {31: 1}}, "data": common.Hash{31: 5}}}}))
	fails := []string{c.says(t, "eth_simulateV1", block(result{"status": "0x0", "gasUsed": "0x1", "returnData": "0x"})), c.says(t, "eth_simulateV1", &rpcError{Code: 3, Message: "execution reverted"})}
	unclear := c.says(t, "eth_simulateV1", block(result{"status": "0x1", "gasUsed": "0x1", "returnData": "0x", "logs": []any{
		result{"address": keeper, "topics": []common.Hash{TransferTopic, {}}, "data": "0x"}}}))
	for name, tc := range map[string]struct {
		hosts []string
		shown int // results with Shown set
		moves int // movements in all of them
		is    error
	}{
		"two":                           {honest, 2, 0, nil},
		"another one":                   {[]string{honest[0], moved}, 2, 1, nil},
		"both fail":                     {fails, 0, 0, ErrWouldRevert},
		"one fails":                     {[]string{honest[0], fails[0]}, 0, 0, ErrDisagree},
		"only one has the method":       {[]string{moved, lacks}, 1, 1, nil},
		"only one has it, and it fails": {[]string{fails[0], lacks}, 0, 0, ErrWouldRevert},
		"none can show":                 {[]string{lacks, unclear}, 0, 0, nil},
		"one shows something unclear":   {[]string{unclear, honest[0]}, 0, 0, nil},
		"one of three fails":            {[]string{fails[0], honest[0], honest[1]}, 2, 0, nil},
		"two of three fail":             {[]string{fails[0], honest[0], fails[1]}, 0, 0, ErrWouldRevert},
		"one of three cannot":           {[]string{lacks, honest[0], moved}, 2, 1, nil},
		"one of three is unclear":       {[]string{honest[0], unclear, moved}, 2, 1, nil},
		"one can show, another is down": {[]string{honest[0], lacks, "http://127.0.0.1:1"}, 0, 0, ErrUnreachable},
	} {
		all, err := deciding(newTestClient(t, 1, 1, tc.hosts...), t)["simulations"]()
		shown, moves := 0, 0
		for _, s := range all.([]Simulation) {
			if s.Shown {
				shown++
			}
			moves += len(s.Movements)
		}
		if !errors.Is(err, tc.is) || shown != tc.shown || moves != tc.moves || err == nil && len(all.([]Simulation)) == 0 {
			t.Errorf("%s: %+v, %v", name, all, err)
		}
	}
}

// TestHostsAreAskedAtOnce checks that hosts are queried in parallel: each answers only
// after the other was asked.
func TestHostsAreAskedAtOnce(t *testing.T) {
	c := newDecidingChain(t)
	for question, method := range map[string]string{"code": "eth_getCode", "allowances": "eth_call", "permits": "eth_call", "simulations": "eth_simulateV1"} {
		var both sync.WaitGroup
		both.Add(2)
		var urls []string
		for range 2 {
			n := &testNode{answer: c.answer}
			var once sync.Once
			n.set(func(_ http.ResponseWriter, asked string) bool {
				if asked == method {
					once.Do(both.Done)
					met := make(chan struct{})
					go func() { both.Wait(); close(met) }()
					select {
					case <-met:
					case <-time.After(5 * time.Second): // longer than a hub waits
					}
				}
				return false
			}, nil)
			urls = append(urls, n.serve(t))
		}
		if _, err := deciding(newTestClient(t, 1, 1, urls...), t)[question](); err != nil {
			t.Errorf("%s: %v", question, err)
		}
	}
}

// TestQueryStopsAtQuorum checks that no host is asked once enough have answered, and that one
// host answers once.
func TestQueryStopsAtQuorum(t *testing.T) {
	c := newDecidingChain(t)
	third := &testNode{answer: c.answer}
	h := newTestClient(t, 1, 1, c.says(t, "", nil), c.says(t, "", nil), third.serve(t))
	for name, ask := range deciding(h, t) {
		if _, err := ask(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, method := range []string{"eth_getCode", "eth_call", "eth_simulateV1"} {
		if n := third.count(method); n > 0 {
			t.Errorf("%s was asked %d times of a third host", method, n)
		}
	}
	hosts := slices.Repeat([]*endpoint{{host: "same"}}, 3)
	if answers, _ := queryHosts(t.Context(), hosts, func(context.Context, *endpoint) (int, error) { return 1, nil }, func([]answer[int]) int { return 3 }); len(answers) != 1 {
		t.Errorf("one host answered %d times", len(answers))
	}
}

// moving serves a host that simulates a movement which does not happen.
func (c *testChain) moving(t *testing.T) string {
	type result = map[string]any
	log := result{"address": keeper, "topics": []common.Hash{TransferTopic, common.BytesToHash(owner[:]), {31: 1}}, "data": common.Hash{31: 5}}
	return c.says(t, "eth_simulateV1", []any{result{"number": "0x9", "calls": []any{result{"status": "0x1", "gasUsed": "0x1", "returnData": "0x", "logs": []any{log}}}}})
}

// TestLacksForAMoment checks that one error of a gateway, or a contract's revert reason,
// does not mark a host as one that lacks the method: two hosts must still agree.
func TestLacksForAMoment(t *testing.T) {
	c := newDecidingChain(t)
	calls := []Call{{ChainID: 1, From: owner, To: keeper, Value: new(big.Int), Gas: 100_000}}
	for name, tc := range map[string]struct {
		once  *rpcError
		first error
	}{
		"a gateway":    {&rpcError{Code: -32601, Message: "method not found"}, nil},
		"revert words": {&rpcError{Code: 3, Message: "execution reverted: unknown method"}, ErrDisagree},
	} {
		n := &testNode{answer: c.answer}
		var asked atomic.Int32
		n.set(nil, func(method string, _ []json.RawMessage, result any, err error) (any, error) {
			if method == "eth_simulateV1" && asked.Add(1) == 1 {
				return nil, tc.once
			}
			return result, err
		})
		h := newTestClient(t, 1, 1, c.moving(t), n.serve(t))
		if _, err := h.Simulations(t.Context(), calls); !errors.Is(err, tc.first) {
			t.Errorf("%s: %v", name, err)
		}
		if all, err := h.Simulations(t.Context(), calls); err != nil || len(all) != 2 {
			t.Errorf("%s, afterwards: %d answers, %v", name, len(all), err)
		}
	}
}

// TestHostBehindDoesNotLackTheMethod checks that a host left out because it is behind does not count
// as one that lacks the method.
func TestHostBehindDoesNotLackTheMethod(t *testing.T) {
	c := newDecidingChain(t)
	lacks := c.says(t, "eth_simulateV1", &rpcError{Code: -32601, Message: "method not found"})
	h := newTestClient(t, 1, 1, c.moving(t), lacks, c.says(t, "", nil))
	p, now := h.pools[0], time.Now()
	p.surveys.last = now
	for i, s := range []seenHead{{100, now, now, 0}, {100, now, now, 0}, {10, now.Add(-10 * time.Minute), now, 10 * time.Minute}} {
		p.endpoints[i].seen = s
	}
	all, err := h.Simulations(t.Context(), []Call{{ChainID: 1, From: owner, To: keeper, Value: new(big.Int), Gas: 100_000}})
	if err == nil && all[0].Shown {
		t.Errorf("one host's word: %+v", all)
	}
}

// TestSlowHost checks that a slow third host does not delay two quick ones for long, and
// that the order of the named hosts does not depend on who was first.
func TestSlowHost(t *testing.T) {
	c := newDecidingChain(t)
	slow := &testNode{answer: c.answer}
	slow.set(func(http.ResponseWriter, string) bool { time.Sleep(1500 * time.Millisecond); return false }, nil)
	h := newTestClient(t, 1, 1, c.says(t, "", nil), slow.serve(t), c.says(t, "", nil))
	h.pools[0].surveys.last = time.Now()
	began := time.Now()
	if _, err := h.IsContract(t.Context(), 1, keeper); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took > hedgeAfter+2*time.Second {
		t.Errorf("took %s", took)
	}
	if got := hostsOf([]answer[int]{{&endpoint{host: "b"}, 1}, {&endpoint{host: "a"}, 2}}); !slices.Equal(got, []string{"a", "b"}) {
		t.Error(got)
	}
}
