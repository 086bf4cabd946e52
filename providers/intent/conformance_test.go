package intent_test

import (
	"maps"
	"math/big"
	"slices"
	"testing"
	"time"

	"swapkeep/providers/intent"
	"swapkeep/providers/providertest"
	"swapkeep/rest"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

var (
	account     = common.HexToAddress("0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266") // public account of the test mnemonic
	friend      = common.HexToAddress("0x70997970C51812dc3A010C7d01b50e0d17dc79C8")
	feeReceiver = common.HexToAddress("0x000000000000000000000000000000000000bEEF")

	native       = common.Address{}
	usdcBase     = common.HexToAddress("0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913")
	usdcArbitrum = common.HexToAddress("0xaf88d065e77c8cC2239327C5EDb3A432268e5831")
	usdcOptimism = common.HexToAddress("0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85")
	usdcPolygon  = common.HexToAddress("0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359")
	usdtEthereum = common.HexToAddress("0xdAC17F958D2ee523a2206206994597C13D831ec7")
	wethEthereum = common.HexToAddress("0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2")

	depotBase     = common.HexToAddress("0x1A7c327d0f402AEf2eD3D20D1141bD71BA1C317B")
	depotEthereum = common.HexToAddress("0x4bACc118f9CEe2f6e9b52AAb317F8b5aaf2503F5")
	otherDepot    = common.HexToAddress("0x5a4D000000000000000000000000000000000021") // not built in

	recorded = time.Unix(1_795_159_800, 0).UTC() // 2026-11-20 07:30:00

	fillTx   = common.HexToHash("0x5bdce5b7c02d92fa6a8bff77f2ffcb0e583e6685828b3fb3b08850dedb335656")
	refundTx = common.HexToHash("0x2fb4cffb0f2b12102a772c3a79b90e2bbd6f4085901e637565562eeb0cdf04f2")
)

const (
	orderID = "cmrzsdld90000psp7uw0ni9l8"
	trusted = "intent_fillers"
)

func newProvider(t testing.TB, base string, now func() time.Time, limits rest.Limits) swap.Provider {
	p, err := intent.New(intent.Config{
		Base: base, Sandbox: true, Now: now,
		Limits: limits,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

func wei(s string) *big.Int {
	n, ok := new(big.Int).SetString(s, 10)
	if !ok {
		panic("not a number: " + s)
	}
	return n
}

// request is the request that the recordings answer.
func request(src uint64, in common.Address, amount string, dst uint64, out common.Address, feeBps int) swap.QuoteRequest {
	r := swap.QuoteRequest{
		Account: account, Recipient: account, RefundTo: account, SrcChain: src, TokenIn: in, AmountIn: wei(amount),
		DstChain: dst, TokenOut: out, SlippageBps: 50, FeeBps: feeBps,
	}
	if feeBps > 0 {
		r.FeeReceiver = feeReceiver
	}
	return r
}

func toFriend(r swap.QuoteRequest) swap.QuoteRequest {
	r.Recipient = friend
	return r
}

// A recording is the expected result of one recorded swap.
type recording struct {
	name, route string
	out, minOut string
	life        time.Duration
	target      common.Address
	status      swap.Claim
	claims      map[string]swap.Claim // further status replies, by file suffix
}

// relays are Across's contracts between the chains of the recordings, and the wrapped coins.
var relays = map[[2]uint64]swap.Relay{
	{8453, 42161}: {
		Source: common.HexToAddress("0x09aea4b2242abC8bb4BB78D537A67a245A7bEC64"), Destination: common.HexToAddress("0xe35e9842fceaCA96570B734083f4a58e8F7C5f2A"),
		Coin: common.HexToAddress("0x82aF49447D8a07e3bd95BD0d56f35241523fBab1"),
	},
	{10, 137}: {
		Source: common.HexToAddress("0x6f26Bf09B1C792e3228e5467807a900A503c0281"), Destination: common.HexToAddress("0x9295ee1d8C5b022Be115A2AD3c30C72E34e7F096"),
		Coin: common.HexToAddress("0x0d500B1d8E8eF31E21C99d1Db9A6444d3ADf1270"),
	},
}

func (x recording) flow(r swap.QuoteRequest) providertest.Flow {
	file := func(of string) string { return x.name + "." + of + ".json" }
	spender, refundFrom := x.target, []common.Address{x.target}
	if r.TokenIn == native {
		spender = native
	}
	if r.TokenIn == native || x.target == otherDepot {
		refundFrom = nil
	}
	f := providertest.Flow{
		Name: x.name, Request: r, Deadline: recorded.Add(20 * time.Minute),
		Exchanges: []string{file("quote"), file("build"), file("submit"), file("status")},
		Offer:     providertest.Expected{Routing: x.route, AmountOut: x.out, MinOut: x.minOut, FeeRequested: r.FeeBps, Life: x.life, Longest: 10*time.Minute - 30*time.Second},
		Spender:   spender,
		Effects: []swap.Effect{{
			Kind: swap.Opaque, Chain: r.SrcChain, Target: x.target, TrustedTo: trusted, Spends: []swap.Spend{{Token: r.TokenIn, Amount: r.AmountIn}},
		}},
		Opaque: "the form of deposits is not published: package swap signs one only if a simulation shows that the input leaves, exactly, and nothing else",
		Settled: &providertest.Settled{
			Submit: "/v1/deposit/submit", Status: "/v1/orders/by-id/" + orderID, Ref: orderID,
			Claims: []providertest.Claimed{{Exchange: file("status"), Claim: x.status}},
			Proof: swap.Proof{
				Own:     r.SrcChain == r.DstChain,
				Arrival: &swap.Arrival{Chain: r.DstChain, Token: r.TokenOut, To: r.Recipient, Least: wei(x.minOut)},
				Refund:  &swap.Arrival{Chain: r.SrcChain, Token: r.TokenIn, To: account, Least: r.AmountIn, From: refundFrom},
			},
		},
	}
	if relay, ok := relays[[2]uint64{r.SrcChain, r.DstChain}]; ok {
		f.Settled.Proof.Arrival.From, f.Settled.Proof.Arrival.Link = []common.Address{relay.Destination}, &swap.Link{Relay: &relay}
	}
	for _, of := range slices.Sorted(maps.Keys(x.claims)) {
		f.Settled.Claims = append(f.Settled.Claims, providertest.Claimed{Exchange: file(of), Claim: x.claims[of]})
	}
	return f
}

// inLines is the flow with its quote streamed.
func inLines(f providertest.Flow) providertest.Flow {
	rest := f.Exchanges[1:]
	f.Exchanges, f.FixedExchanges, f.Streamed = []string{f.Name + ".lines.json"}, rest, true
	return named(f, "in-lines")
}

// stating is the flow with a route that states that it takes the wallet's fee.
func stating(f providertest.Flow) providertest.Flow {
	rest := f.Exchanges[1:]
	f.Exchanges, f.FixedExchanges = []string{f.Name + ".stating.json"}, rest
	f.Offer.FeeRequested, f.Offer.Fees = 0, []swap.Payment{{Token: f.Request.TokenOut, To: feeReceiver, Bps: f.Request.FeeBps}}
	return named(f, "stating")
}

// parsedRoute is the flow of an order that is found only in the list of the account's orders: the
// provider has lost its quote and does not find its id.
func parsedRoute(f providertest.Flow) providertest.Flow {
	name := f.Name
	file := func(of string) string { return name + "." + of + ".json" }
	f.FixedExchanges = []string{file("quote"), file("build"), file("lost"), file("missing")}
	f.Exchanges = []string{file("list")}
	f = named(f, "found")
	f.Settled.Status, f.Settled.Claims = "/v1/orders/"+account.Hex(), []providertest.Claimed{
		{Exchange: f.Exchanges[0], Claim: settling("published")},
		{Exchange: file("list-filled"), Claim: filled(f.Request.DstChain)}, {Exchange: file("list-refunded"), Claim: refunded(f.Request.SrcChain)},
	}
	return f
}

// named is a renamed copy with the first claim only.
func named(f providertest.Flow, as string) providertest.Flow {
	settled := *f.Settled
	settled.Claims = slices.Clone(settled.Claims[:1])
	f.Name, f.Settled = f.Name+"-"+as, &settled
	return f
}

func settling(word string) swap.Claim { return swap.Claim{State: swap.Settling, ProviderStatus: word} }

func filled(chainID uint64) swap.Claim {
	return swap.Claim{State: swap.Filled, ProviderStatus: "filled", Tx: fillTx, Chain: chainID}
}

func refunded(chainID uint64) swap.Claim {
	return swap.Claim{State: swap.Refunded, ProviderStatus: "refunded", Tx: refundTx, Chain: chainID}
}

const saysFailed = "the intent provider says that the order failed"

func suite() providertest.Suite {
	flows := []providertest.Flow{
		recording{"base-usdc-arbitrum", "Hyperstream", "24880000", "24755600", 30 * time.Second, depotBase, settling("published"), map[string]swap.Claim{
			"created": settling("created"), "deposited": settling("deposited"), "refund-pending": settling("refund_pending"),
			"unheard-of": settling("timeout"), "filled": filled(42161), "filled-unnamed": {State: swap.Filled, ProviderStatus: "filled"}, "refunded": refunded(8453),
			"failed":          {State: swap.Failed, ProviderStatus: "failed", Reason: saysFailed},
			"failed-refunded": {State: swap.Failed, ProviderStatus: "failed", Tx: refundTx, Chain: 8453, Reason: saysFailed},
		}}.flow(request(8453, usdcBase, "25000000", 42161, usdcArbitrum, 40)),
		recording{"base-eth-arbitrum", "Hyperstream", "9985000000000000", "9935075000000000", 540 * time.Second, depotBase, settling("published"), map[string]swap.Claim{
			"filled": filled(42161),
		}}.flow(toFriend(request(8453, native, "10000000000000000", 42161, native, 0))),
		recording{"ethereum-usdt-weth", "Hyperstream", "509521195673062120", "506973589694696810", 45 * time.Second, depotEthereum, settling("published"), map[string]swap.Claim{
			"refunded": refunded(1),
		}}.flow(request(1, usdtEthereum, "1000000000", 1, wethEthereum, 40)),
		recording{"optimism-usdc-polygon", "Hyperstream", "49800000", "49551000", 30 * time.Second, otherDepot, settling("published"), map[string]swap.Claim{
			"filled": filled(137),
		}}.flow(request(10, usdcOptimism, "50000000", 137, usdcPolygon, 40)),
	}
	return providertest.Suite{
		Name: "intent", Dir: "testdata/exchanges", Now: recorded, New: newProvider, Harmless: harmless,
		StrictObjects: []string{"build:approvals[*].**"}, // EIP-1193 actions
		Flows:         append(flows, inLines(flows[0]), stating(flows[0]), parsedRoute(flows[0])),
		Readings:      []providertest.Reading{{Name: "tokens", Exchange: "tokens.json", Read: readTokens}},
	}
}

func TestConformance(t *testing.T) { providertest.Run(t, suite()) }

// TestHostile has a sub-test for every leaf of the recorded replies, and for the bytes to
// be signed.
func TestHostile(t *testing.T) {
	s := suite()
	s.Attacks = intent.Attacks(t)
	providertest.Hostile(t, s)
}
