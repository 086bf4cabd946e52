package main

import (
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"swapkeep/chain"
	"swapkeep/live"
	"swapkeep/providers/dex"
	"swapkeep/sandbox"
	published "swapkeep/sandbox/contracts"
	"swapkeep/sandbox/devnet"
	"swapkeep/sandbox/sandboxtest"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/params"
)

// TestLiveCodes: exactly the contract whose code differs from its known hash is reported.
func TestLiveCodes(t *testing.T) {
	box := sandboxtest.StartWith(t, sandbox.Options{Chains: []uint64{8453}, Period: time.Second})
	hub, err := chain.NewMultiClient([]chain.Endpoint{{Chain: 8453, URLs: []string{box.Chain(8453).RPC()}}}, chain.Options{Sandbox: true})
	if err != nil {
		t.Fatal(err)
	}
	defer hub.Close()
	p, err := dex.New(dex.Config{Base: "http://127.0.0.1:1", Sandbox: true})
	if err != nil {
		t.Fatal(err)
	}
	w := live.World{Nodes: hub, Providers: map[swap.Kind]swap.Provider{swap.DEX: p}, Provider: swap.DEX, Sandbox: true}
	for _, pin := range p.Pins() {
		if pin.Chain == 8453 && pin.Role != swap.Cosigner {
			code, _, err := hub.Code(t.Context(), 8453, pin.Address)
			if err != nil {
				t.Fatal(err)
			}
			w.Codes = append(w.Codes, live.Code{Chain: 8453, Address: pin.Address, Hash: code.Hash}, live.Code{Chain: 1, Address: pin.Address})
		}
	}
	told := func() (works int, rest []string) {
		for _, row := range live.Examine(t.Context(), w).Rows {
			switch {
			case !strings.Contains(row.How, "code hash "):
			case row.Verdict == live.Works:
				works++
			default:
				rest = append(rest, fmt.Sprintf("%s: %s: %s", row.What, row.Verdict, row.How))
			}
		}
		return works, rest
	}
	all, rest := told()
	if all != 4 || len(rest) != 0 { // router, wrapper, Permit2, reactor
		t.Errorf("%d are as they are known; %q", all, rest)
	}
	w.Codes[0].Hash = common.Hash{1}
	if works, rest := told(); works != all-1 || len(rest) != 1 || !strings.HasPrefix(rest[0], "router ") || !strings.Contains(rest[0], " instead of 0x0100") {
		t.Errorf("%d are as they are known; %q", works, rest)
	}
	w.Codes[0].Real = true
	if works, rest := told(); works != all-1 || len(rest) != 1 || !strings.Contains(rest[0], "no known hash") {
		t.Errorf("a real chain's code is looked for in a sandbox: %q", rest)
	}
}

// TestKnownCodes runs Permit2's creation code, which its address proves, on each chain:
// the deployed code must have the built-in hash. Every chain with Permit2 as a pin must
// have one.
func TestKnownCodes(t *testing.T) {
	set, err := published.Open("")
	if err != nil {
		t.Fatal(err)
	}
	creation, err := set.Get("Permit2")
	if err != nil {
		t.Fatal(err)
	}
	at, salt, factory := common.HexToAddress("0x000000000022D473030F116dDEE9F6B43aC78BA3"), common.HexToHash("0xd3af2663da51c10215000000"), params.DeterministicFactoryAddress
	if got := crypto.CreateAddress2(factory, salt, crypto.Keccak256(creation.Code)); got != at {
		t.Fatalf("the creation code is %s's", got)
	}
	known := map[uint64]common.Hash{}
	for _, c := range live.BuiltIn().Codes {
		if c.Address == at {
			known[c.Chain] = c.Hash
		}
	}
	p, err := dex.New(dex.Config{Base: "https://keys.example.org"})
	if err != nil {
		t.Fatal(err)
	}
	for _, pin := range p.Pins() {
		if pin.Address != at || pin.Role != swap.Spender {
			continue
		}
		b, from := devnet.NewGenesisBuilder(pin.Chain, 1_700_000_000), common.Address{1}
		b.Install(factory, core.SystemContractAllocs()[factory].Code)
		b.Call(from, factory, new(big.Int), append(salt.Bytes(), creation.Code...))
		alloc, err := b.Alloc()
		if err != nil {
			t.Fatal(err)
		}
		if got := crypto.Keccak256Hash(alloc[at].Code); got != known[pin.Chain] {
			t.Errorf("on %d its code has the hash %s, and %s is built in", pin.Chain, got, known[pin.Chain])
		}
		delete(known, pin.Chain)
	}
	if len(known) != 0 {
		t.Errorf("there are rows of chains without it: %v", known)
	}
}
