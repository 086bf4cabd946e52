package main

import (
	"encoding/json"
	"math/big"
	"regexp"
	"slices"

	"swapkeep/extension/messages"
	"swapkeep/host/protocol"
	"swapkeep/sandbox/inject"
)

// A plan is one swap of the demo.
type plan struct {
	provider string // kind of provider
	routing  string // prefix of the routing of the offer to take; "" = the best offer of the provider
	way      string // provider and routing, for people
	chain    uint64
	to       uint64   // destination chain; 0 = the same chain
	pays     string   // symbol; "" = the native coin
	amount   *big.Int // base units
	receives string   // symbol
	// settings are set on the provider's simulator for the duration of the swap, as JSON.
	settings string
	orders   int     // orders that the provider has at the end: none for a swap in one call of the account's own
	kill     *moment // when the daemon is killed; nil = never
	end      string  // the final state to be proven
}

func (p plan) destination() uint64 {
	if p.to == 0 {
		return p.chain
	}
	return p.to
}

// A moment is when the daemon is killed: after the provider's simulator has received a
// request that rule makes it mishandle.
type moment struct {
	name  string // for the title
	rule  inject.Rule
	means string // what the rule does, for people
	// State of the world at that moment.
	orders int  // that the provider has
	mined  bool // the last transaction is mined and has the confirmations that a proof needs
}

var (
	submitted = moment{
		name: "right after the order was submitted", orders: 1,
		rule: inject.Rule{Target: "/order", Kind: inject.Stall}, means: "accepts the order, but does not answer",
	}
	unregistered = moment{
		name: "between the mined deposit and its registration", mined: true,
		rule: inject.Rule{Target: "/v1/deposit/submit", Kind: inject.HTTP, Status: 503}, means: "fails when the deposit is submitted",
	}
)

const (
	filled   = "filled"
	refunded = "refunded"
	likely   = "likely_paid" // the provider names the payment, and nothing links it to the order
)

// endLine matches the line in which a command says how a swap ended.
func (p plan) endLine() string {
	words := messages.State(p.end)
	if p.end == likely {
		words, _ = messages.Text("order_likely_title", messages.Brand(p.provider))
	}
	return "(?m)^" + regexp.QuoteMeta(words) + "$"
}

// endOf returns how an order ended.
func endOf(o protocol.Order) string {
	if o.Condition == likely {
		return likely
	}
	return o.State
}

// demoSwaps are the swaps of the demo: every way to swap, on four chains.
var demoSwaps = []plan{
	{provider: "dex", routing: "CLASSIC", way: "DEX, classic", chain: 1, pays: "USDC", amount: dollars(2_000), receives: "WETH",
		settings: `{"auctions":"never"}`, end: filled},
	{provider: "dex", routing: "DUTCH_V3", way: "DEX, auction", chain: 8453, pays: "WETH", amount: milliEther(500), receives: "USDC",
		settings: `{"auctions":"always","auctionImprovementBips":60}`, orders: 1, kill: &submitted, end: filled},
	{provider: "bridge", way: "bridge", chain: 10, to: 8453, amount: milliEther(500), receives: "USDC",
		orders: 1, end: filled},
	{provider: "bridge", way: "bridge", chain: 42161, to: 10, pays: "USDC", amount: dollars(1_000), receives: "USDC",
		settings: `{"outcome":{"kind":"refund"}}`, orders: 1, end: refunded},
	{provider: "intent", way: "intent", chain: 1, to: 42161, pays: "USDC", amount: dollars(1_000), receives: "USDC",
		settings: `{"pacePercent":5}`, orders: 1, kill: &unregistered, end: likely},
	{provider: "gasless", routing: "JAM", way: "gasless, JAM", chain: 10, amount: milliEther(400), receives: "USDC",
		settings: `{"jam":{"priceBps":5},"rfq":{"noQuote":102}}`, orders: 1, end: filled},
	{provider: "gasless", routing: "RFQ", way: "gasless, RFQ", chain: 42161, pays: "USDC", amount: dollars(1_000), receives: "WETH",
		orders: 1, end: filled},
}

// A lie is a hostile provider answer.
type lie struct {
	plan plan // the swap that the answer is for
	// rules make the provider's simulator give the answer.
	rules []inject.Rule
	says  string // description for people
}

// thief is the address that the hostile answer pays to; nobody has its key.
const thief protocol.Address = "0x000000000000000000000000000000000000dEaD"

// demoLie: both protocols of the gasless provider quote honestly, but put another
// receiver into the order to be signed.
var demoLie = lie{
	plan: plan{provider: "gasless", way: "gasless", chain: 8453, pays: "USDC", amount: dollars(1_000), receives: "WETH"},
	rules: []inject.Rule{
		{Target: "jam/quote", Kind: inject.Lie, Pointer: "/toSign/receiver", Value: quoted(thief)},
		{Target: "rfq/quote", Kind: inject.Lie, Pointer: "/toSign/receiver", Value: quoted(thief)},
	},
	says: "quotes honestly, but replaces the receiver in the order to sign",
}

func quoted(a protocol.Address) json.RawMessage {
	text, _ := json.Marshal(a) // marshalling a string cannot fail
	return text
}

// dollars returns n USDC in base units; USDC has six decimals on all the demo's chains.
func dollars(n int64) *big.Int { return big.NewInt(n * 1e6) }

func milliEther(n int64) *big.Int { return new(big.Int).Mul(big.NewInt(n), big.NewInt(1e15)) }

// chainsOf returns all source and destination chains.
func chainsOf(plans []plan) (ids []uint64) {
	for _, p := range plans {
		ids = append(ids, p.chain, p.destination())
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// paidOn sums up the inputs of the plans on a chain, by symbol; "" is the native coin.
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
