package main

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"math/big"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"swapkeep/config"
	"swapkeep/host/protocol"
	artifacts "swapkeep/sandbox/contracts"
	"swapkeep/sandbox/devnet"
	"swapkeep/sandbox/sandboxtest"
	"swapkeep/tokens"

	"github.com/ethereum/go-ethereum/common"
)

// A meteredNode is a chain at two hosts that counts their requests by method.
type meteredNode struct {
	chain *devnet.Chain
	rpc   []string
	mu    sync.Mutex
	calls map[string]int
}

// newMeteredNode starts a chain with Multicall3 and a contract for each of these tokens. The
// holder has some of those held.
func newMeteredNode(t *testing.T, id uint64, all []tokens.Token, holder common.Address, held []common.Address) *meteredNode {
	t.Helper()
	set, err := artifacts.Open("")
	if err != nil {
		t.Fatal(err)
	}
	contract := func(name string) *artifacts.Contract {
		c, err := set.Get(name)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	began := uint64(time.Now().Add(-time.Minute).Unix())
	g := devnet.NewGenesisBuilder(id, began)
	deploy := func(c *artifacts.Contract, at common.Address, args ...any) {
		init, err := c.Init(args...)
		if err != nil {
			t.Fatal(err)
		}
		g.Deploy(at, holder, init)
	}
	deploy(contract("Multicall3"), common.HexToAddress("0xcA11bde05977b3631167028862bE2a173976CA11"))
	token := contract("MockERC20")
	for _, x := range all {
		if x.Address != tokens.Native {
			deploy(token, x.Address, x.Name, x.Symbol, x.Decimals)
		}
	}
	for _, a := range held {
		data, err := token.ABI.Pack("mint", holder, big.NewInt(7))
		if err != nil {
			t.Fatal(err)
		}
		g.Call(holder, a, new(big.Int), data)
	}
	alloc, err := g.Alloc()
	if err != nil {
		t.Fatal(err)
	}
	c, err := devnet.Start(devnet.Config{ID: id, Alloc: alloc, Genesis: began})
	if err != nil {
		t.Fatal(err)
	}
	n := &meteredNode{chain: c, calls: map[string]int{}}
	for _, host := range []string{"127.0.0.1", "127.0.0.2"} {
		l, err := net.Listen("tcp", host+":0")
		if err != nil {
			t.Fatal(err)
		}
		server := &http.Server{Handler: n, ReadHeaderTimeout: time.Minute}
		go func() { _ = server.Serve(l) }()
		t.Cleanup(func() { _ = server.Close() })
		n.rpc = append(n.rpc, "http://"+l.Addr().String())
	}
	t.Cleanup(func() { _ = c.Close() })
	return n
}

func (n *meteredNode) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var call struct{ Method string }
	_ = json.Unmarshal(body, &call)
	n.mu.Lock()
	n.calls[call.Method]++
	n.mu.Unlock()
	r.Body = io.NopCloser(bytes.NewReader(body))
	n.chain.Server().ServeHTTP(w, r)
}

// metered returns the requests that f makes, by method, and logs them.
func (n *meteredNode) metered(t *testing.T, what string, f func()) map[string]int {
	t.Helper()
	n.mu.Lock()
	clear(n.calls)
	n.mu.Unlock()
	began := time.Now()
	f()
	took := time.Since(began)
	n.mu.Lock()
	defer n.mu.Unlock()
	t.Logf("%s: %v in %s", what, n.calls, took.Round(100*time.Microsecond))
	return maps.Clone(n.calls)
}

// TestHeldTokensTakeFewCalls checks that all balances of the longest built-in list, each of a
// contract of its own, are read in as many calls as there are two hundreds, that the last token
// is seen as soon as it is there, and that a search for what came in would not take fewer calls.
func TestHeldTokensTakeFewCalls(t *testing.T) {
	const id = 1
	all := slices.DeleteFunc(tokens.Builtin().Tokens(), func(x tokens.Token) bool { return x.Chain != id })
	holder := common.HexToAddress("0x00000000000000000000000000000000000a11ce")
	first, last := all[1].Address, all[len(all)-1].Address
	n := newMeteredNode(t, id, all, holder, []common.Address{first, last})
	world := sandboxtest.Start(t, 1, 8453)
	d, term, _ := begin(t, world, filepath.Join(t.TempDir(), "home"), func(c *config.Config) {
		c.Networks["1"] = config.Network{RPC: n.rpc, Depth: 1}
	})
	wire := protocol.Address(holder.Hex())
	var got protocol.BalancesResult
	read := func() {
		got = protocol.BalancesResult{}
		term.must("tokens.balances", protocol.BalancesParams{ChainID: id, Account: wire, WithBalance: true}, &got)
	}
	read() // the first request also learns about the hosts
	calls := n.metered(t, "balances", read)
	held := map[protocol.Address]string{}
	for _, b := range got.Balances {
		held[b.Token] = string(b.Amount)
	}
	if len(held) != 3 || held[protocol.Address(first.Hex())] != "7" || held[protocol.Address(last.Hex())] != "7" {
		t.Errorf("held: %v", held)
	}
	batches := (len(all) + 199) / 200
	if len(calls) != 1 || calls["eth_call"] != batches {
		t.Errorf("%d balances take %v, want %d calls", len(all), calls, batches)
	}
	looks := 0
	for _, times := range n.metered(t, "a look at the logs", func() {
		c := contracts{d.hub}
		settled, err := c.SettledBlock(t.Context(), id)
		if err != nil {
			t.Error(err)
		}
		if _, _, err := c.Incoming(t.Context(), id, holder, settled); err != nil {
			t.Error(err)
		}
	}) {
		looks += times
	}
	if looks < batches {
		t.Errorf("a look at the logs takes %d calls: fewer than the balances' %d", looks, batches)
	}
}
