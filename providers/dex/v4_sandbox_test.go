package dex_test

import (
	"strings"
	"testing"

	"swapkeep/providers/dex"
	"swapkeep/sandbox/dexsim"
	"swapkeep/sandbox/sandboxtest"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/ethclient"
)

// tradingOn returns a trader in a sandbox with one chain, whose pools quote by settings.
func tradingOn(t *testing.T, chainID uint64, settings dexsim.Settings) (x *trader, usdc, dai common.Address) {
	t.Helper()
	s := sandboxtest.Start(t, chainID)
	settings.MakerRecipient, settings.Auctions = makerFee, dexsim.AuctionsNever
	if err := s.DEX().Set(settings); err != nil {
		t.Fatal(err)
	}
	p, err := dex.New(dex.Config{Base: s.DEXURL(), Sandbox: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	c := s.Chains()[0]
	node, err := ethclient.DialContext(t.Context(), c.RPC())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(node.Close)
	return &trader{t: t, p: p, node: node, chain: c, who: s.Accounts()[0]}, sandboxtest.Token(t, c, "USDC"), sandboxtest.Token(t, c, "DAI")
}

// routed requires a swap to be offered over pools of these versions.
func (x *trader) routed(in, out common.Address, amount, versions string) {
	x.t.Helper()
	if o, _, _ := x.built(x.t.Context(), in, out, amount, 20); !strings.HasPrefix(o.Route, versions) {
		x.t.Fatalf("the route is %s", o.Route)
	}
}

// TestSandboxV4 swaps through a V4 pool on the published pool manager and router. Router
// 2.1.0, the newest that is published, reads a path without bounds as 2.1.2 does.
func TestSandboxV4(t *testing.T) {
	t.Parallel()
	x, usdc, dai := tradingOn(t, 8453, dexsim.Settings{MakerFeeBips: 20})
	x.routed(usdc, dai, "150000000", "[v4]")
	x.trade(usdc, dai, "150000000", 20)
	x.trade(dai, usdc, "50000000000000000000", 0)
}

// TestSandboxV4Direct: without any fee the pool manager pays the account itself.
func TestSandboxV4Direct(t *testing.T) {
	t.Parallel()
	x, usdc, dai := tradingOn(t, 8453, dexsim.Settings{})
	x.trade(dai, usdc, "60000000000000000000", 0)
}

// TestSandboxMixed swaps over a V3 pool that pays a V2 pair, whose output the router holds.
func TestSandboxMixed(t *testing.T) {
	t.Parallel()
	x, usdc, dai := tradingOn(t, 1, dexsim.Settings{MakerFeeBips: 20, Mixed: true})
	x.routed(dai, usdc, "150000000000000000000", "[v2 + v3]")
	x.trade(dai, usdc, "150000000000000000000", 20)
	x.trade(dai, native, "50000000000000000000", 20)
}
