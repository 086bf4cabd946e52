package bridge_test

import (
	"cmp"
	"context"
	"math/big"
	"testing"
	"time"

	"swapkeep/providers/bridge"
	"swapkeep/providers/providertest"
	"swapkeep/rest"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

const testKey = "test-key-of-nobody"

var (
	account     = common.HexToAddress("0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266") // of the published test mnemonic
	feeReceiver = common.HexToAddress("0x70997970C51812dc3A010C7d01b50e0d17dc79C8")
	friend      = common.HexToAddress("0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC")
	solver      = common.HexToAddress("0xAB1FCa03727F17156aD77aCBED9773319AD9D731") // the sandbox's

	depository = common.HexToAddress("0x4cd00e387622c35bddb9b4c962c136462338bc31")
	proxyV21   = common.HexToAddress("0x58cc3e0aa6cd7bf795832a225179ec2d848ce3e7") // not built in
	proxyV3    = common.HexToAddress("0xccc88a9d1b4ed6b0eaba998850414b24f1c315be")
	proxyV32   = common.HexToAddress("0x5567954cd026cebfe486062cb75848e0f1c12e58")

	native       = common.Address{}
	usdtBNB      = common.HexToAddress("0x55d398326f99059fF775485246999027B3197955")
	usdcBNB      = common.HexToAddress("0x8AC76a51cc950d9822D68b83fE1Ad97B32Cd580d")
	usdcBase     = common.HexToAddress("0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913")
	daiBase      = common.HexToAddress("0x50c5725949A6F0c72E6C4a641F24049A917DB0Cb")
	usdcArbitrum = common.HexToAddress("0xaf88d065e77c8cC2239327C5EDb3A432268e5831")
	usdtEthereum = common.HexToAddress("0xdAC17F958D2ee523a2206206994597C13D831ec7")

	recorded = time.UnixMilli(1_795_159_800_000).UTC()

	fillTx   = common.HexToHash("0x92ef445429b2953fe62b896c088aabe12edda6e5403fd28fc6d8393a2a1ec5c2")
	refundTx = common.HexToHash("0x490603620ae2187aefbe533769c5b0f6bd8ef8d28e69968155c834376f7d9663")
	swapTx   = common.HexToHash("0x6f11313883bc79b4793445169dd9f94f01024b3aefa2f6f04460b7e7780f8a0d")
)

// newProvider returns a provider for a loopback server. It does not cache the chains.
func newProvider(t testing.TB, base string, now func() time.Time, limits rest.Limits) swap.Provider {
	p, err := bridge.New(bridge.Config{
		Base: base, Sandbox: true, Now: now, ChainsLife: -1, Key: func(context.Context) (string, error) { return testKey, nil },
		Limits: limits,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

func request(src uint64, in common.Address, dst uint64, out common.Address, amount string, feeBps int) swap.QuoteRequest {
	r := swap.QuoteRequest{
		Account: account, Recipient: account, RefundTo: account, SrcChain: src, DstChain: dst,
		TokenIn: in, TokenOut: out, AmountIn: wei(amount), SlippageBps: 50, FeeBps: feeBps,
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

func wei(s string) *big.Int {
	n, ok := new(big.Int).SetString(s, 10)
	if !ok {
		panic("not a number: " + s)
	}
	return n
}

// A recording is the expected outcome of one recorded swap.
type recording struct {
	name        string
	request     swap.QuoteRequest
	routing     string
	out, minOut string
	effect      swap.Effect // without what follows from the request
	id          string
	orderID     common.Hash // of a call of a router, if its bytes have the quote's
	claim       swap.Claim
	refund      common.Address
	refunded    string // at least, in base units
	more        []providertest.Claimed
}

func (x recording) flow() providertest.Flow {
	r, f := x.request, x.effect
	f.Chain, f.Spends = r.SrcChain, []swap.Spend{{Token: r.TokenIn, Amount: r.AmountIn}}
	flow := providertest.Flow{
		Name: x.name, Request: r, Deadline: recorded.Add(20 * time.Minute), Effects: []swap.Effect{f},
		Exchanges: []string{x.name + ".chains.json", x.name + ".quote.json", x.name + ".index.json", x.name + ".status.json"},
		Offer:     providertest.Expected{Routing: x.routing, AmountOut: x.out, MinOut: x.minOut, Life: 30 * time.Second},
		Settled: &providertest.Settled{
			Submit: "/transactions/index", Status: "/intents/status/v3", Ref: x.id,
			Claims: append([]providertest.Claimed{{Exchange: x.name + ".status.json", Claim: x.claim}}, x.more...),
			Proof:  swap.Proof{Own: true},
		},
	}
	if r.FeeBps > 0 {
		flow.Offer.Fees = []swap.Payment{{Token: r.TokenOut, To: r.FeeReceiver, Bps: r.FeeBps}}
	}
	if r.TokenIn != native {
		flow.Spender = f.Target
	}
	if f.Kind == swap.Opaque {
		flow.Opaque = "the routers' interface is not published; they are built in, and package swap bounds what they may take"
	}
	if r.SrcChain != r.DstChain {
		from, link := []common.Address{solver}, linkTo(cmp.Or(x.orderID, f.DepositID))
		flow.Settled.Proof = swap.Proof{
			Arrival: &swap.Arrival{Chain: r.DstChain, Token: r.TokenOut, To: r.Recipient, Least: wei(x.minOut), From: from, Link: link},
			Refund:  &swap.Arrival{Chain: r.SrcChain, Token: x.refund, To: r.RefundTo, Least: wei(x.refunded), From: from, Link: link},
		}
	}
	return flow
}

// linkTo is what the payment of an order has, with the event's topic and the routers as
// testdata/live/FACTS.md has them.
func linkTo(id common.Hash) *swap.Link {
	l := &swap.Link{InputEnd: id, CoinPaid: common.HexToHash("0xd35467972d1fda5b63c735f59d3974fa51785a41a92aa3ed1b70832836f8dba6")}
	for _, a := range []string{
		"0xf5042e6ffac5a625d4e7848e0b01373d8eb9e222", "0xb92fe925dc43a0ecde6c8b1a2709c170ec4fff4f", "0x0729e2a4716d9f7dd17858d5d504426d228697f7",
		"0x3ec130b627944cad9b2750300ecb0a695da522b6",
		"0x113a327221d2c4660684449bfc39bc14ad1aaf38", "0xb758f3bfa7b9d39ef5457d7c7ffb3702f2ad3982", "0x9ef6d3c2f60d7b9008d74cab1fc0f899c957c819",
		"0x6328ea02d28131e58b28e55c6258258a30d90e05",
	} {
		l.Payers = append(l.Payers, common.HexToAddress(a))
	}
	return l
}

const (
	bySolver = "relay_solver"
	byRouter = "relay_router"
)

func suite() providertest.Suite {
	says := func(reason string) string { return "the bridge provider says: " + reason }
	claimed := func(name string, c swap.Claim) providertest.Claimed {
		return providertest.Claimed{Exchange: "base-eth-superseed." + name + ".json", Claim: c}
	}
	recordings := []recording{
		{
			name: "base-usdc-arbitrum", request: request(8453, usdcBase, 42161, usdcArbitrum, "25000000", 40),
			routing: "DEPOSIT", out: "24879700", minOut: "24755301",
			effect: swap.Effect{Kind: swap.Deposit, Target: depository, TrustedTo: bySolver, DepositID: common.HexToHash("0xe07f2e3d6be8f15d0b5184b828b8d685e85220f9b9023147c62d13b377386167")},
			id:     "0x201aefa974dd7fb6760b5d8d14b06e915acba94ccd1831d12b2b6e0ed3d003be",
			claim:  swap.Claim{State: swap.Filled, ProviderStatus: "success", Tx: fillTx, Chain: 42161}, refund: usdcBase, refunded: "24977500",
		},
		{
			name: "base-eth-superseed", request: request(8453, native, 5330, native, "10000000000000000", 0),
			routing: "DEPOSIT", out: "9993333333333333", minOut: "9943366666666666",
			effect: swap.Effect{Kind: swap.Deposit, Target: depository, TrustedTo: bySolver, DepositID: common.HexToHash("0x27d34971a66281f56b4e8ace063e8fd67ff4e79f4004f7cf6735f8dba66694a6")},
			id:     "0xa9ee840e83f62004f563418a38745c1e754401ca09ac8b681faac64cf3cd9a92",
			claim:  swap.Claim{State: swap.Settling, ProviderStatus: "pending"}, refund: native, refunded: "9993000000000000",
			more: []providertest.Claimed{
				claimed("waiting", swap.Claim{State: swap.Settling, ProviderStatus: "waiting"}),
				claimed("delayed", swap.Claim{State: swap.Settling, ProviderStatus: "delayed"}),
				claimed("submitted", swap.Claim{State: swap.Settling, ProviderStatus: "submitted", Tx: fillTx, Chain: 5330}),
				claimed("success", swap.Claim{State: swap.Filled, ProviderStatus: "success", Tx: fillTx, Chain: 5330}),
				claimed("refund", swap.Claim{State: swap.Refunded, ProviderStatus: "refund", Tx: refundTx, Chain: 8453, Reason: says("SLIPPAGE")}),
				claimed("failure", swap.Claim{State: swap.Settling, ProviderStatus: "failure", Reason: says("SOLVER_CAPACITY_EXCEEDED")}),
				claimed("failed", swap.Claim{State: swap.Failed, ProviderStatus: "failure", Reason: says("SOLVER_CAPACITY_EXCEEDED")}),
				claimed("stuck", swap.Claim{State: swap.Failed, ProviderStatus: "failure", Reason: says("BLOCKED_WALLET; no refund: MANUAL_REFUND_REQUIRED")}),
			},
		},
		{
			name: "ethereum-usdt-eth", request: request(1, usdtEthereum, 1, native, "200000000", 40),
			routing: "ROUTER", out: "66120000000000000", minOut: "65789400000000000",
			effect: swap.Effect{Kind: swap.Opaque, Target: proxyV3, TrustedTo: byRouter},
			id:     "0x967c8e09497f896a271c525e9a475cfdc3b1c8ff0829d9f104eac68658957187",
			claim:  swap.Claim{State: swap.Filled, ProviderStatus: "success", Tx: swapTx, Chain: 1},
		},
		{
			name: "base-dai-arbitrum", request: toFriend(request(8453, daiBase, 42161, usdcArbitrum, "100000000000000000000", 40)),
			routing: "ROUTER", out: "99480000", minOut: "98982600",
			effect: swap.Effect{Kind: swap.Opaque, Target: proxyV32, TrustedTo: bySolver},
			id:     "0x3bd0f0e1c6a14d3f8d10a9c04e7be8e5a2e4b3fd4b3c0c7b2c0f6c8c6a1f0d42", orderID: common.HexToHash("0x9eba8e80107cbfe30ccfcb279ebf3a84d91b7ac50ebef8d14c0d80315b3dc1a7"),
			claim: swap.Claim{State: swap.Refunded, ProviderStatus: "refund", Tx: refundTx, Chain: 8453, Reason: says("TTL_EXPIRED")}, refund: usdcBase, refunded: "99380626",
		},
	}
	isolated := recording{
		name: "bnb-usdt-arbitrum", request: toFriend(request(56, usdtBNB, 42161, usdcArbitrum, "100000000000000000000", 40)),
		routing: "UNPINNED_ROUTER", out: "99480000", minOut: "98982600",
		effect: swap.Effect{Kind: swap.Opaque, Target: proxyV21, TrustedTo: bySolver},
		id:     "0x4c61e1f2d7b25e409e21bad15f8cf9f6b3f5c40e5c4d1d8c3d107d9d7b201e53", orderID: common.HexToHash("0xef165e560a334f7d624b4e3921e7db57ed592bb399809e55545f610a86284ac1"),
		claim: swap.Claim{State: swap.Filled, ProviderStatus: "success", Tx: fillTx, Chain: 42161}, refund: usdcBNB, refunded: "99380626865000000000",
	}
	isolated.request.Isolated = providertest.Isolated
	recordings = append(recordings, isolated)
	s := providertest.Suite{Name: "bridge", Dir: "testdata/exchanges", Now: recorded, New: newProvider, Harmless: harmless, Readings: bridge.Readings, StrictObjects: []string{"v2:protocol.v2.orderData.**"}}
	for _, x := range recordings {
		s.Flows = append(s.Flows, x.flow())
	}
	return s
}

func TestConformance(t *testing.T) { providertest.Run(t, suite()) }

// TestHostile has a subtest for each leaf of the recorded replies and word of the deposits.
func TestHostile(t *testing.T) {
	s := suite()
	s.Attacks = bridge.Attacks(t)
	providertest.Hostile(t, s)
}
