package sandbox_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/ethclient"
	"github.com/ethereum/go-ethereum/rpc"

	"swapkeep/sandbox"
	"swapkeep/sandbox/inject"
	"swapkeep/sandbox/sandboxtest"
	"swapkeep/test/await"
)

// control sends a request to the control endpoint and decodes the response.
func control[T any](t *testing.T, s *sandbox.Sandbox, method, path, body string) (int, T) {
	t.Helper()
	status, raw := sandboxtest.Ask(t, method, s.ControlURL()+path, []byte(body))
	return status, sandboxtest.Decode[T](t, raw)
}

type status struct {
	Block, Time uint64
	Paused      bool
	Error       string
}

func TestControlOfChains(t *testing.T) {
	s := manual(t, 1)
	must := func(path, body string) status {
		t.Helper()
		code, reply := control[status](t, s, http.MethodPost, path, body)
		if code != http.StatusOK {
			t.Fatalf("%s: %d %s", path, code, reply.Error)
		}
		return reply
	}
	_, began := control[status](t, s, http.MethodGet, "/chains/1", "")
	if st := must("/chains/1/mine", `{"blocks":3}`); st.Block != began.Block+3 {
		t.Errorf("block %d after mining 3 on %d", st.Block, began.Block)
	}
	if st := must("/chains/1/mine", ``); st.Block != began.Block+4 {
		t.Errorf("block %d after mining one more", st.Block)
	}
	if st := must("/chains/1/reorg", `{"blocks":2}`); st.Block != began.Block+5 {
		t.Errorf("block %d after the reorganisation", st.Block)
	}
	if st := must("/chains/1/shift", `{"seconds":100}`); st.Time < began.Time+100 {
		t.Errorf("time %d after shifting %d", st.Time, began.Time)
	}
	if st := must("/chains/1/pause", ``); !st.Paused {
		t.Error("the chain is not paused after /pause")
	}
	pay(t, s, s.Chain(1), 0)
	must("/chains/1/forget", ``)
	if st := must("/reset", ``); st.Paused {
		t.Error("paused after a reset")
	}
	if st := must("/chains/1/resume", ``); st.Paused {
		t.Error("paused after resuming")
	}
	must("/fund", `{"chain":1,"address":"0x00000000000000000000000000000000DeaDBeef","amount":"5"}`)
	if got, err := s.Chain(1).Client().BalanceAt(t.Context(), common.HexToAddress("0xDeaDBeef"), nil); err != nil || got.Int64() != 5 {
		t.Errorf("funded %v wei (%v)", got, err)
	}
}

// TestControlOfTips checks that blocks leave out transactions below the minimum tip and
// include them once it is lowered, or the sandbox reset.
func TestControlOfTips(t *testing.T) {
	s := manual(t, 1)
	c := s.Chain(1)
	for nonce, calm := range []struct{ path, body string }{{"/chains/1/tip", `{}`}, {"/reset", ``}} {
		if code, reply := control[status](t, s, http.MethodPost, "/chains/1/tip", `{"wei":"900000000000"}`); code != http.StatusOK {
			t.Fatalf("setting the tip: status %d, %s", code, reply.Error)
		}
		hash := pay(t, s, c, uint64(nonce))
		if err := c.Fund(t.Context(), common.HexToAddress("0xDeaDBeef"), common.Address{}, big.NewInt(1)); err != nil {
			t.Errorf("the treasury pays what is asked: %v", err)
		}
		if r := receipt(t, c, hash); r != nil {
			t.Errorf("mined in block %v for less than was asked", r.BlockNumber)
		}
		if code, reply := control[status](t, s, http.MethodPost, calm.path, calm.body); code != http.StatusOK {
			t.Fatalf("%s: %d %s", calm.path, code, reply.Error)
		}
		if err := c.Mine(1); err != nil {
			t.Fatal(err)
		}
		if receipt(t, c, hash) == nil {
			t.Errorf("%s: it still waits", calm.path)
		}
	}
}

func TestControlRefuses(t *testing.T) {
	s := manual(t, 1)
	cases := []struct {
		method, path, body string
		status             int
	}{
		{"POST", "/chains/10/mine", ``, 404},
		{"POST", "/chains/1/mine", `{"blocks":0}`, 400},
		{"POST", "/chains/1/mine", `{"block":1}`, 400},
		{"POST", "/chains/1/reorg", `{"blocks":5000}`, 400},
		{"POST", "/chains/1/shift", `{"seconds":-5}`, 400},
		{"POST", "/chains/1/shift", `{"seconds":9000000000000000000}`, 400},
		{"POST", "/chains/1/tip", `{"wei":"a lot"}`, 400},
		{"POST", "/chains/1/tip", `{"wei":"-1"}`, 400},
		{"POST", "/chains/1/tip", `{"wei":4}`, 400},
		{"POST", "/fund", `{"chain":1,"address":"0x00000000000000000000000000000000DeaDBeef","amount":"1.5"}`, 400},
		{"POST", "/faults/rpc-10", `{"target":"*","kind":"drop"}`, 404},
		{"POST", "/faults/relay", `{"target":"*","kind":"drop"}`, 404},
		{"POST", "/faults/dex", `{"target":"*","kind":"explode"}`, 400},
		{"POST", "/faults/dex", `{"target":"*","kind":"lie","pointer":"quote","value":1}`, 400},
		{"DELETE", "/faults/dex/7", ``, 404},
		{"POST", "/dex", `{"makerFeeBips":501}`, 400},
	}
	for _, tc := range cases {
		if code, reply := control[status](t, s, tc.method, tc.path, tc.body); code != tc.status || reply.Error == "" {
			t.Errorf("%s %s %s: %d %q, want %d", tc.method, tc.path, tc.body, code, reply.Error, tc.status)
		}
	}
}

// TestPagesAreTurnedAway checks that a web page cannot use the sandbox's servers.
func TestPagesAreTurnedAway(t *testing.T) {
	s := manual(t, 1)
	for _, url := range []string{s.ControlURL() + "/manifest", s.DEXURL() + "/swaps", s.Chain(1).RPC()} {
		for name, change := range map[string]func(*http.Request){
			"an origin":      func(r *http.Request) { r.Header.Set("Origin", "https://example.org") },
			"a foreign host": func(r *http.Request) { r.Host = "example.org" },
		} {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
			if err != nil {
				t.Fatal(err)
			}
			change(r)
			resp, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			_ = resp.Body.Close()
			if resp.StatusCode != http.StatusForbidden {
				t.Errorf("%s with %s: %d", url, name, resp.StatusCode)
			}
		}
	}
}

func TestManifest(t *testing.T) {
	s := manual(t, 1, 8453)
	dir := t.TempDir()
	if err := s.WriteFiles(dir); err != nil {
		t.Fatal(err)
	}
	_, m := control[sandbox.Manifest](t, s, http.MethodGet, "/manifest", "")
	if len(m.Services) != len(s.Services()) || len(m.Providers) != 4 {
		t.Errorf("services %v, providers %v", m.Services, m.Providers)
	}
	if m.Version != sandbox.ManifestVersion || len(m.Chains) != 2 || len(m.Accounts) != 10 || m.Providers["dex"].BaseURL != s.DEXURL() {
		t.Errorf("manifest %+v", m)
	}
	if m.Chains[1].ID != 8453 || m.Chains[1].RPC != s.Chain(8453).RPC() || m.Chains[1].Depth != sandbox.Depth {
		t.Errorf("chain %+v", m.Chains[1])
	}
	for kind, p := range m.Providers {
		if p.BaseURL == "" || p.URLs["base_url"] != p.BaseURL || p.BaseURL != s.BaseURL(kind) {
			t.Errorf("%s: %+v", kind, p)
		}
		if want := fmt.Sprintf("[providers.%s]\nbase_url = %q\n", kind, p.BaseURL); !bytes.Contains(s.Config(), []byte(want)) {
			t.Errorf("config.toml lacks %s", want)
		}
	}
	if bytes.Contains(s.Config(), []byte("revived")) {
		t.Error("config.toml revives a network that runs")
	}
	if ended := manual(t, 5330).Config(); !bytes.Contains(ended, []byte("[chains]\nrevived = [5330]\n")) {
		t.Error("config.toml does not revive the network that was shut down")
	}
	for _, want := range []string{"sandbox = true\n", "[networks.1]\n", "[networks.8453]\n", `base_url = "` + s.DEXURL() + `"`, `receiver = "0x90F7`} {
		if !bytes.Contains(s.Config(), []byte(want)) {
			t.Errorf("config.toml lacks %s", want)
		}
	}
}

// TestRPCFaults checks what a client makes of each fault of the RPC endpoint.
func TestRPCFaults(t *testing.T) {
	s := manual(t, 1)
	c := s.Chain(1)
	cases := []struct {
		name  string
		rule  string
		check func(id *big.Int, err error) bool
	}{
		{"status", `{"target":"eth_chainId","kind":"http","status":503,"times":1}`, func(_ *big.Int, err error) bool {
			var h rpc.HTTPError
			return errors.As(err, &h) && h.StatusCode == 503
		}},
		{"rpc error", `{"target":"eth_*","kind":"error","code":-32005,"message":"slow down","times":1}`, func(_ *big.Int, err error) bool {
			var e rpc.Error
			return errors.As(err, &e) && e.ErrorCode() == -32005 && e.Error() == "slow down"
		}},
		{"garbage", `{"target":"*","kind":"garbage","times":1}`, func(_ *big.Int, err error) bool {
			var e *json.SyntaxError
			return errors.As(err, &e)
		}},
		{"wrong chain", `{"target":"eth_chainId","kind":"lie","pointer":"/result","value":"0x2","times":1}`, func(id *big.Int, err error) bool {
			return err == nil && id.Uint64() == 2
		}},
		{"another method", `{"target":"eth_blockNumber","kind":"drop"}`, func(id *big.Int, err error) bool {
			return err == nil && id.Uint64() == 1
		}},
		{"skipped once", `{"target":"eth_chainId","kind":"drop","skip":1}`, func(id *big.Int, err error) bool {
			return err == nil && id.Uint64() == 1
		}},
		{"cut", `{"target":"eth_chainId","kind":"cut","times":1}`, func(_ *big.Int, err error) bool { return err != nil }},
		{"oversize", `{"target":"eth_chainId","kind":"oversize","bytes":1000,"times":1}`, func(id *big.Int, err error) bool {
			return err == nil && id.Uint64() == 1
		}},
	}
	client, err := ethclient.Dial(c.RPC())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for _, tc := range cases {
		if code, reply := control[map[string]any](t, s, http.MethodPost, "/faults/rpc-1", tc.rule); code != http.StatusOK {
			t.Fatalf("%s: status %d, reply %v; want 200", tc.name, code, reply)
		}
		if id, err := client.ChainID(t.Context()); !tc.check(id, err) {
			t.Errorf("%s: got %v, %v", tc.name, id, err)
		}
		if code, reply := control[map[string]any](t, s, http.MethodDelete, "/faults/rpc-1", ""); code != http.StatusOK {
			t.Fatal(reply)
		}
		if id, err := client.ChainID(t.Context()); err != nil || id.Uint64() != 1 {
			t.Errorf("%s, after it was removed: %v, %v", tc.name, id, err)
		}
	}
}

// TestDroppedAnswerAfterTheNodeTookTheTransaction covers the hard case for a sender: the
// node accepted the transaction, but the response was lost.
func TestDroppedAnswerAfterTheNodeTookTheTransaction(t *testing.T) {
	s := manual(t, 1)
	c := s.Chain(1)
	if _, err := c.Faults.Add(inject.Rule{Target: "eth_sendRawTransaction", Kind: inject.Drop, Times: 1}); err != nil {
		t.Fatal(err)
	}
	body := rawTransfer(t, s, c)
	if resp, err := http.Post(c.RPC(), "application/json", strings.NewReader(body)); err == nil {
		_ = resp.Body.Close()
		t.Fatalf("answered with %s", resp.Status)
	}
	seen := c.Transactions()
	if len(seen) != 1 {
		t.Fatalf("%d transactions seen", len(seen))
	}
	if err := c.Mine(1); err != nil {
		t.Fatal(err)
	}
	if receipt(t, c, seen[0].Hash) == nil {
		t.Error("the node did not take it")
	}
	if n := c.Faults.Counts()["eth_sendRawTransaction"]; n != 1 {
		t.Errorf("%d requests counted", n)
	}
}

func rawTransfer(t *testing.T, s *sandbox.Sandbox, c *sandbox.Chain) string {
	t.Helper()
	probe := manual(t, c.ID) // another sandbox with the same chain id signs the transaction
	pay(t, probe, probe.Chain(c.ID), 0)
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"eth_sendRawTransaction","params":["%s"]}`, probe.Chain(c.ID).Transactions()[0].Raw)
}

func TestHeldUntilReleased(t *testing.T) {
	s := manual(t, 1)
	c := s.Chain(1)
	id, err := c.Faults.Add(inject.Rule{Target: "eth_blockNumber", Kind: inject.Hold})
	if err != nil {
		t.Fatal(err)
	}
	client, err := ethclient.Dial(c.RPC())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	answered := make(chan error, 1)
	go func() {
		_, err := client.BlockNumber(context.WithoutCancel(t.Context()))
		answered <- err
	}()
	await.Until(t, 10*time.Second, "the call is held", func() bool { return c.Faults.Held() > 0 })
	select {
	case err := <-answered:
		t.Fatalf("answered while held: %v", err)
	case <-time.After(30 * time.Millisecond):
	}
	if !c.Faults.Remove(id) {
		t.Fatal("no such rule")
	}
	if err := <-answered; err != nil {
		t.Error(err)
	}
}

func TestBatchesMeetFaultsToo(t *testing.T) {
	s := manual(t, 1)
	c := s.Chain(1)
	client, err := rpc.Dial(c.RPC())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if _, err := c.Faults.Add(inject.Rule{Target: "eth_chainId", Kind: inject.Lie, Pointer: "/result", Value: json.RawMessage(`"0x5"`)}); err != nil {
		t.Fatal(err)
	}
	var chain, block string
	batch := []rpc.BatchElem{{Method: "eth_blockNumber", Result: &block}, {Method: "eth_chainId", Result: &chain}}
	if err := client.BatchCallContext(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	if chain != "0x5" || block == "0x5" {
		t.Errorf("chain %s, block %s", chain, block)
	}
	if _, err := c.Faults.Add(inject.Rule{Target: "eth_chainId", Kind: inject.Error, Times: 1}); err != nil {
		t.Fatal(err)
	}
	if err := client.BatchCallContext(t.Context(), batch); err != nil || batch[0].Error == nil || batch[1].Error == nil {
		t.Errorf("BatchCall = %v, errors %v and %v; want an error for each call", err, batch[0].Error, batch[1].Error)
	}
}

func TestNodeAnswersWhatWalletsAsk(t *testing.T) {
	s := manual(t, 1)
	client, err := rpc.Dial(s.Chain(1).RPC())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	call := map[string]any{"from": s.Accounts()[0].Address, "to": common.Address{19: 1}, "value": "0x1"}
	for method, params := range map[string][]any{
		"eth_simulateV1":           {map[string]any{"blockStateCalls": []any{map[string]any{"calls": []any{call}}}, "traceTransfers": true}, "latest"},
		"eth_feeHistory":           {"0x4", "latest", []int{50}},
		"eth_maxPriorityFeePerGas": {},
		"debug_traceCall":          {call, "latest", map[string]any{"tracer": "callTracer"}},
		"txpool_status":            {},
		"web3_clientVersion":       {},
		"net_version":              {},
	} {
		var result json.RawMessage
		if err := client.CallContext(t.Context(), &result, method, params...); err != nil || len(result) == 0 {
			t.Errorf("%s: %v", method, err)
		}
	}
	for _, method := range []string{"admin_nodeInfo", "miner_setGasPrice", "debug_setHead"} {
		var e rpc.Error
		if err := client.CallContext(t.Context(), nil, method); !errors.As(err, &e) || e.ErrorCode() != -32601 {
			t.Errorf("%s: %v, want no such method", method, err)
		}
	}
	_, err = s.Chain(1).Client().TransactionReceipt(t.Context(), common.Hash{1})
	if !errors.Is(err, ethereum.NotFound) {
		t.Errorf("receipt of nothing: %v", err)
	}
}
