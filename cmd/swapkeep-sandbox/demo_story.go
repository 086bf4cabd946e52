package main

import (
	"encoding/json"
	"math/big"
	"slices"

	"swapkeep/host/protocol"
	"swapkeep/sandbox/inject"
)

// A plan is one swap of the story.
type plan struct {
	provider string // kind
	routing  string // of the offer that is taken; "" = the provider's best
	way      string // both, for people
	chain    uint64
	to       uint64   // 0 = the same chain
	pays     string   // symbol; "" = the chain's own coin
	amount   *big.Int // base units
	receives string   // symbol
	// settings are the provider's simulator's for the time of the swap.
	settings string
	orders   int     // that the provider has in the end: none for a swap in a call of one's own
	kill     *moment // when the daemon is killed; nil = it is not
	end      string  // the state that is proven
}

func (p plan) destination() uint64 {
	if p.to == 0 {
		return p.chain
	}
	return p.to
}

// A moment is when the daemon is killed: while the provider's simulator treats
// one of its requests in that way, once it has come.
type moment struct {
	name  string // for the title
	rule  inject.Rule
	means string // what the rule does to the request, for people
	// What the world shows at that moment.
	orders int  // that the provider has
	mined  bool // the last transaction, at the depth that proof needs
}

var (
	submitted = moment{
		name: "right after the order was submitted", orders: 1,
		rule: inject.Rule{Target: "/order", Kind: inject.Stall}, means: "takes the order, and its answer does not come",
	}
	unregistered = moment{
		name: "between the mined deposit and its registration", mined: true,
		rule: inject.Rule{Target: "/v1/deposit/submit", Kind: inject.HTTP, Status: 503}, means: "is out of order when told of the deposit",
	}
)

// The ends of orders that the story has.
const (
	filled   = "filled"
	refunded = "refunded"
)

// demoSwaps is the story: every way to swap, over four chains.
var demoSwaps = []plan{
	{provider: "dex", routing: "CLASSIC", way: "DEX, classic", chain: 1, pays: "USDC", amount: dollars(2_000), receives: "WETH",
		settings: `{"auctions":"never"}`, end: filled},
	{provider: "dex", routing: "DUTCH_V3", way: "DEX, auction", chain: 8453, pays: "WETH", amount: milliEther(500), receives: "USDC",
		orders: 1, kill: &submitted, end: filled},
	{provider: "bridge", way: "bridge", chain: 10, to: 8453, amount: milliEther(500), receives: "USDC",
		orders: 1, end: filled},
	{provider: "bridge", way: "bridge", chain: 42161, to: 10, pays: "USDC", amount: dollars(1_000), receives: "USDC",
		settings: `{"outcome":{"kind":"refund"}}`, orders: 1, end: refunded},
	{provider: "intent", way: "intent", chain: 1, to: 42161, pays: "USDC", amount: dollars(1_000), receives: "USDC",
		settings: `{"pacePercent":5}`, orders: 1, kill: &unregistered, end: filled},
	{provider: "gasless", routing: "JAM", way: "gasless, JAM", chain: 10, amount: milliEther(400), receives: "USDC",
		settings: `{"jam":{"priceBps":5}}`, orders: 1, end: filled},
	{provider: "gasless", routing: "RFQ", way: "gasless, RFQ", chain: 42161, pays: "USDC", amount: dollars(1_000), receives: "WETH",
		orders: 1, end: filled},
}

// A lie is an answer that somebody else would profit from.
type lie struct {
	plan plan // the swap that it is about
	// rules are what the provider's simulator is told to answer.
	rules []inject.Rule
	says  string // what that is, for people
}

// thief is an address of nobody's.
const thief protocol.Address = "0x000000000000000000000000000000000000dEaD"

// demoLie: both protocols of the gasless provider show an honest quote, and put
// another receiver into the order that is to be signed.
var demoLie = lie{
	plan: plan{provider: "gasless", way: "gasless", chain: 8453, pays: "USDC", amount: dollars(1_000), receives: "WETH"},
	rules: []inject.Rule{
		{Target: "jam/quote", Kind: inject.Lie, Pointer: "/toSign/receiver", Value: quoted(thief)},
		{Target: "rfq/quote", Kind: inject.Lie, Pointer: "/toSign/receiver", Value: quoted(thief)},
	},
	says: "quotes honestly, and writes another receiver into the order to be signed",
}

func quoted(a protocol.Address) json.RawMessage {
	text, _ := json.Marshal(a) // a string always can be
	return text
}

// dollars is so many USDC, which has six decimals on the story's chains.
func dollars(n int64) *big.Int { return big.NewInt(n * 1e6) }

func milliEther(n int64) *big.Int { return new(big.Int).Mul(big.NewInt(n), big.NewInt(1e15)) }

// chainsOf are all chains that swaps start from or go to.
func chainsOf(plans []plan) (ids []uint64) {
	for _, p := range plans {
		ids = append(ids, p.chain, p.destination())
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// paidOn sums up what the plans pay with on a chain, by symbol; "" is the chain's
// own coin.
func paidOn(plans []plan, chain uint64) map[string]*big.Int {
	sums := map[string]*big.Int{}
	for _, p := range plans {
		if p.chain != chain {
			continue
		}
		if sums[p.pays] == nil {
			sums[p.pays] = new(big.Int)
		}
		sums[p.pays].Add(sums[p.pays], p.amount)
	}
	return sums
}
