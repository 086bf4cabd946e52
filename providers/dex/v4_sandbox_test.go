package dex_test

import (
	"strings"
	"testing"

	"swapkeep/providers/dex"
	"swapkeep/sandbox/dexsim"
	"swapkeep/sandbox/sandboxtest"

	"github.com/ethereum/go-ethereum/ethclient"
)

// TestSandboxV4 swaps through a pool of v4's on the published pool manager and router.
// Router 2.1.0, the newest that is published, reads a path with no bounds as 2.1.2 does.
func TestSandboxV4(t *testing.T) {
	t.Parallel()
	s := sandboxtest.Start(t, 8453)
	if err := s.DEX().Set(dexsim.Settings{MakerFeeBips: 20, MakerRecipient: makerFee, Auctions: dexsim.AuctionsNever}); err != nil {
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
	x := &trader{t: t, p: p, node: node, chain: c, who: s.Accounts()[0]}
	usdc, dai := sandboxtest.Token(t, c, "USDC"), sandboxtest.Token(t, c, "DAI")
	o, _, _ := x.built(t.Context(), usdc, dai, "150000000", 20)
	if !strings.HasPrefix(o.Route, "[v4]") {
		t.Fatalf("the route is %s", o.Route)
	}
	x.trade(usdc, dai, "150000000", 20)
	x.trade(dai, usdc, "50000000000000000000", 0)
	if err := s.DEX().Set(dexsim.Settings{Auctions: dexsim.AuctionsNever}); err != nil {
		t.Fatal(err)
	}
	x.trade(dai, usdc, "60000000000000000000", 0) // straight to the account
}
