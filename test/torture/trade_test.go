//go:build faults && linux

package torture

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"

	"github.com/ethereum/go-ethereum/common"

	"swapkeep/host/protocol"
	"swapkeep/sandbox"
)

// Kinds of provider.
const (
	dex     = "dex"
	bridge  = "bridge"
	intent  = "intent"
	gasless = "gasless"
)

var native = common.Address{}

// providerChains lists the chains on which each provider may start a swap: a second copy of the
// spec's table of support, without 143, which the bridge has only since, and 43114, which was
// added, and without chains
// where the sandbox lacks a built-in deposit contract of the intent provider.
var providerChains = map[string][]uint64{
	dex:     {1, 10, 8453, 42161},
	bridge:  {1, 10, 56, 8453, 42161, 5330},
	intent:  {1, 10, 56, 8453, 42161},
	gasless: {1, 10, 56, 8453, 42161, 5330},
}

// providersOn returns the kinds that serve a chain.
func providersOn(chain uint64) (kinds []string) {
	for _, k := range []string{dex, bridge, intent, gasless} {
		if slices.Contains(providerChains[k], chain) {
			kinds = append(kinds, k)
		}
	}
	return kinds
}

// A trade is a user's quote request.
type trade struct {
	kind      string
	chain, to uint64
	in, out   sandbox.Token // the native coin has the zero address
	amount    *big.Int
}

func (t trade) quote(account common.Address) protocol.QuoteParams {
	return protocol.QuoteParams{
		Account: protocol.Address(account.Hex()), SrcChainID: t.chain, TokenIn: protocol.Address(t.in.Address.Hex()), AmountIn: protocol.AmountOf(t.amount),
		DstChainID: t.to, TokenOut: protocol.Address(t.out.Address.Hex()), Providers: []string{t.kind},
	}
}

// tokensOf returns the tokens that an account has on a chain.
func (w *world) tokensOf(chain uint64) []sandbox.Token {
	n := w.Chain(chain).Network
	coin := n.Wrapped
	coin.Address, coin.Symbol = native, n.Native
	return append([]sandbox.Token{coin, n.Wrapped}, n.Tokens...)
}

// drawTrade draws a trade on a chain, with an amount that no other trade has.
func (w *world) drawTrade(rng *rand.Rand, chain uint64, account common.Address) (t trade) {
	kinds := providersOn(chain)
	t.kind, t.chain, t.to = kinds[rng.IntN(len(kinds))], chain, chain
	if others := slices.DeleteFunc(slices.Clone(providerChains[t.kind]), func(c uint64) bool { return c == chain }); t.kind == intent || t.kind == bridge && rng.IntN(3) > 0 {
		t.to = others[rng.IntN(len(others))]
	}
	ins, outs := w.tokensOf(t.chain), w.tokensOf(t.to)
	for t.in = ins[rng.IntN(len(ins))]; ; {
		if t.out = outs[rng.IntN(len(outs))]; t.out.Address != t.in.Address || t.to != t.chain {
			break
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for {
		t.amount = usd(15 + rng.Int64N(700)).of(t.in)
		t.amount.Add(t.amount, big.NewInt(rng.Int64N(9_000)))
		if key := fmt.Sprint(account, chain, t.in.Address, t.amount); !w.drawn[key] {
			w.drawn[key] = true
			return t
		}
	}
}
