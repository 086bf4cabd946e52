//go:build vendors

package dex_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"

	"swapkeep/providers/dex"
	"swapkeep/sandbox"
	"swapkeep/sandbox/dexsim"
	"swapkeep/sandbox/sandboxtest"
	"swapkeep/swap"
	"swapkeep/test/vendors"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/ethclient"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"
)

// tradersOn returns a trader for each of a sandbox's chains.
func tradersOn(t *testing.T, s *sandbox.Sandbox, set dexsim.Settings) map[uint64]*trader {
	t.Helper()
	if err := s.DEX().Set(set); err != nil {
		t.Fatal(err)
	}
	p, err := dex.New(dex.Config{Base: s.DEXURL(), Sandbox: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	traders := map[uint64]*trader{}
	for i, c := range s.Chains() {
		node, err := ethclient.DialContext(t.Context(), c.RPC())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(node.Close)
		traders[c.Network.ID] = &trader{t: t, p: p, node: node, chain: c, who: s.Accounts()[i+4]}
	}
	return traders
}

// TestVendorsSandboxOrders compares auctions, from our quote to the simulator's cosigned
// order, with what uniswapx-sdk reads.
func TestVendorsSandboxOrders(t *testing.T) {
	s := sandboxtest.Start(t, 1, 8453, 42161)
	traders := tradersOn(t, s, dexsim.Settings{MakerFeeBips: 20, MakerRecipient: makerFee, Auctions: dexsim.AuctionsAlways})
	var orders []dex.CosignedOrder
	var ids, digests []common.Hash
	for id, x := range traders {
		usdc := sandboxtest.Token(t, x.chain, "USDC")
		for out, feeBps := range map[common.Address]int{x.chain.Network.Wrapped.Address: 20, native: 20, sandboxtest.Token(t, x.chain, "USDT"): 0} {
			o := x.auction(usdc, out, "400000000", feeBps)
			digest, _, err := apitypes.TypedDataAndHash(*o.Plan.Steps[0].TypedData)
			if err != nil {
				t.Fatal(err)
			}
			ids, digests = append(ids, common.HexToHash(o.ProviderOrderID)), append(digests, common.BytesToHash(digest))
			orders = append(orders, listedOrder(t, s.DEXURL(), id, o.ProviderOrderID))
		}
	}
	var theirs []dex.Says
	vendors.RunScript(t, "uniswapx.cjs", map[string]any{"read": orders}, &theirs)
	c := vendors.NewCount(t, "uniswapx-sdk")
	for i, o := range orders {
		o.Compare(t, c, theirs[i])
		c.Same(o.Kind, "names of our orders", ids[i], theirs[i].Hash)
		c.Same(o.Kind, "digests that we sign", digests[i], theirs[i].Digest)
		c.Same(o.Kind, "accounts that signed", traders[o.Chain].who.Address, theirs[i].Signer)
		if !traders[o.Chain].p.Pins().Allows(o.Chain, swap.Cosigner, theirs[i].Cosigner) {
			t.Errorf("%s is cosigned by %s, which is not pinned", ids[i], theirs[i].Cosigner)
		}
	}
}

// listedOrder is an order as the simulator lists it, with the moments to resolve it at.
func listedOrder(t *testing.T, base string, chain uint64, id string) dex.CosignedOrder {
	t.Helper()
	raw := get(t, base+"/orders?orderId="+id)
	var list struct {
		Orders []struct {
			Type, EncodedOrder, Signature string
			Swapper                       common.Address
			CosignerData                  struct{ DecayStartTime, DecayStartBlock int64 }
		}
	}
	if err := json.Unmarshal(raw, &list); err != nil || len(list.Orders) != 1 {
		t.Fatalf("order %s: %v: %s", id, err, raw)
	}
	x := list.Orders[0]
	o := dex.CosignedOrder{Kind: x.Type, Chain: chain, Encoded: common.FromHex(x.EncodedOrder), Signature: common.FromHex(x.Signature), Swapper: x.Swapper}
	begins := x.CosignerData.DecayStartTime + x.CosignerData.DecayStartBlock // one of them is set
	for n := begins - 3; n < begins+60; n++ {
		o.At = append(o.At, n)
	}
	return o
}

func get(t *testing.T, url string) []byte {
	t.Helper()
	ask, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	ask.Header.Set("Accept", "application/json")
	reply, err := http.DefaultClient.Do(ask)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	raw, err := io.ReadAll(reply.Body)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// TestVendorsSandboxCalls compares permits and calldata of classic swaps with what
// permit2-sdk and universal-router-sdk read.
func TestVendorsSandboxCalls(t *testing.T) {
	s := sandboxtest.Start(t, 1, 10, 8453, 42161)
	var question struct {
		Parse   []map[string]any `json:"parse"`
		Permits []map[string]any `json:"permits"`
	}
	var effects []swap.Effect
	var digests []common.Hash
	for id, x := range tradersOn(t, s, dexsim.Settings{MakerFeeBips: 20, MakerRecipient: makerFee, Auctions: dexsim.AuctionsNever}) {
		usdc, usdt, wrapped := sandboxtest.Token(t, x.chain, "USDC"), sandboxtest.Token(t, x.chain, "USDT"), x.chain.Network.Wrapped.Address
		for _, p := range []struct {
			in, out common.Address
			amount  string
			feeBps  int
		}{
			{native, usdc, "100000000000000000", 20}, {native, usdt, "100000000000000000", 0}, {usdc, wrapped, "150000000", 20}, {usdc, native, "250000000", 0},
			{usdc, native, "260000000", 20}, {usdc, usdt, "350000000", 20}, {wrapped, usdc, "100000000000000000", 0},
		} {
			o, terms, built := x.built(t.Context(), p.in, p.out, p.amount, p.feeBps)
			if built.Spender != native {
				x.allow(t.Context(), p.in, built.Spender, terms.AmountIn)
			}
			call, all, err := x.carryOut(t.Context(), o, terms, built)
			if err != nil {
				t.Fatal(err)
			}
			question.Parse = append(question.Parse, map[string]any{"data": hexutil.Bytes(splitTag(call.Data)), "account": x.who.Address})
			effects = append(effects, all[len(all)-1])
			if d := built.Steps[0].TypedData; d != nil {
				digest, _, err := apitypes.TypedDataAndHash(*d)
				if err != nil {
					t.Fatal(err)
				}
				question.Permits = append(question.Permits, map[string]any{"values": d.Message, "chain": id})
				digests = append(digests, common.BytesToHash(digest))
			}
		}
	}
	var answer struct {
		Parsed  []dex.Program
		Digests []common.Hash
	}
	vendors.RunScript(t, "router.cjs", question, &answer)
	c, permits := vendors.NewCount(t, "universal-router-sdk"), vendors.NewCount(t, "permit2-sdk")
	for i, f := range effects {
		answer.Parsed[i].Compare(t, c, fmt.Sprint("chain ", f.Chain, ": ", answer.Parsed[i].Commands), f)
	}
	for i, d := range digests {
		permits.Same(fmt.Sprint("permit ", i), "digests that we sign", d, answer.Digests[i])
	}
	if len(digests) == 0 {
		t.Error("no permit was signed")
	}
}

// splitTag is calldata without the 10 or 22 bytes that the live service appends, which the
// package's parser does not know.
func splitTag(data []byte) []byte {
	for _, n := range []int{10, 22} {
		if rest := len(data) - n; rest > 0 && bytes.HasPrefix(data[rest:], []byte("unix\x00\x00")) {
			return data[:rest]
		}
	}
	return data
}
