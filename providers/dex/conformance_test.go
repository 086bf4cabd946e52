package dex_test

import (
	"context"
	"math/big"
	"slices"
	"testing"
	"time"

	"swapkeep/providers/dex"
	"swapkeep/providers/providertest"
	"swapkeep/rest"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"
)

var (
	account     = common.HexToAddress("0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266") // public test key
	feeReceiver = common.HexToAddress("0x90F79bf6EB2c4f870365E785982E1f101E93b906")
	makerFee    = common.HexToAddress("0x000000fee13a103A10D593b9AE06b3e05F2E7E1c")
	native      = common.Address{}
	weth        = common.HexToAddress("0x4200000000000000000000000000000000000006")
	permit2     = common.HexToAddress("0x000000000022D473030F116dDEE9F6B43aC78BA3")
	friend      = common.HexToAddress("0x70997970C51812dc3A010C7d01b50e0d17dc79C8")
	usdcBase    = common.HexToAddress("0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913")

	deadline = time.Unix(1_800_000_000, 0).UTC()
	recorded = deadline.Add(-8 * time.Minute)
)

// newProvider returns a provider for a loopback server.
func newProvider(t testing.TB, base string, now func() time.Time, limits rest.Limits) swap.Provider {
	p, err := dex.New(dex.Config{
		Base: base, Sandbox: true, Now: now,
		Token:  func(context.Context) (string, error) { return "test-token-of-no-installation", nil },
		Limits: limits,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

func request(chainID uint64, in, out common.Address, amount string, feeBps int) swap.QuoteRequest {
	r := swap.QuoteRequest{
		Account: account, Recipient: account, RefundTo: account, SrcChain: chainID, DstChain: chainID,
		TokenIn: in, TokenOut: out, AmountIn: wei(amount), SlippageBps: 50, FeeBps: feeBps,
	}
	if feeBps > 0 {
		r.FeeReceiver = feeReceiver
	}
	return r
}

// wei reads an amount in base units.
var wei = providertest.Wei

// signed signs as the account.
func signed(d apitypes.TypedData) ([]byte, error) {
	key, err := crypto.HexToECDSA("ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80") // public test key
	if err != nil {
		return nil, err
	}
	return providertest.SignTyped(key, d)
}

// tokenFlow is a recorded swap of a token. It adds the allowance that package swap makes
// and, unless the router is already allowed the amount, a permit.
func tokenFlow(f providertest.Flow, permitted bool) providertest.Flow {
	f.Spender = permit2
	if permitted {
		return f
	}
	router := f.Effects[0].Target
	grant := []swap.Approval{{Token: f.Request.TokenIn, Spender: router, Amount: f.Request.AmountIn, Until: recorded.Add(30 * 24 * time.Hour)}}
	nonce := big.NewInt(0)
	if f.Request.SrcChain == 1 {
		nonce = big.NewInt(3)
	}
	f.FreeFields = inPermit
	if f.Request.SrcChain == 1 {
		f.FreeFields = inLaterPermit
	}
	f.Effects[0].Approves = grant
	f.Effects = append([]swap.Effect{{
		Kind: swap.Permit, Chain: f.Request.SrcChain, Target: permit2, Approves: grant, Deadline: recorded.Add(30 * time.Minute), Nonce: nonce,
	}}, f.Effects...)
	return f
}

// flow is a recorded swap with one step, which spends the whole input and receives at least
// the enforced amount.
func flow(name string, r swap.QuoteRequest, offer providertest.Expected, f swap.Effect, enforced string, free ...[]providertest.Harmless) providertest.Flow {
	f.Chain = r.SrcChain
	f.Spends = []swap.Spend{{Token: r.TokenIn, Amount: r.AmountIn}}
	f.Receives = []swap.Receive{{Token: r.TokenOut, To: r.Recipient, Min: wei(enforced)}}
	f.Pays = offer.Fees
	if f.Kind == swap.Swap {
		f.Deadline = deadline
		free = append(free, words("an earlier deadline than the accepted", []string{"one less"}, 2))
	}
	offer.Life = 30 * time.Second
	return providertest.Flow{
		Name: name, Request: r, Deadline: deadline, MakerFeeBps: 20, Offer: offer,
		Exchanges: []string{name + ".quote.json", name + ".swap.json"},
		Effects:   []swap.Effect{f}, FreeWords: slices.Concat(free...),
	}
}

// auctionFlow is a recorded auction: one order is signed, posted and polled. The first of
// the claims is the provider's status throughout the whole flow.
func auctionFlow(name string, r swap.QuoteRequest, offer providertest.Expected, reactor, hash, nonce string, claims ...string) providertest.Flow {
	offer.Life = 30 * time.Second
	f := providertest.Flow{
		Name: name, Request: r, Deadline: deadline, MakerFeeBps: 20, Offer: offer, Spender: permit2,
		Exchanges:        []string{name + ".quote.json", name + ".order.json", name + "." + claims[0] + ".json"},
		FixedExchanges:   []string{name + ".pools.json"},
		WithOtherSources: true,
		FreeFields:       inOrder[name],
		Effects: []swap.Effect{{
			Kind: swap.Signed, Chain: r.SrcChain, Target: permit2, Settler: common.HexToAddress(reactor), Deadline: deadline,
			Spends:   []swap.Spend{{Token: r.TokenIn, Amount: r.AmountIn}},
			Receives: []swap.Receive{{Token: r.TokenOut, To: r.Recipient, Min: wei(offer.MinOut)}},
			Pays:     offer.Fees,
		}},
		Settled: &providertest.Settled{
			Submit: "/v1/order", Status: "/v1/orders", Ref: hash,
			Proof: swap.Proof{
				Fill: []swap.LogPattern{{
					Address: common.HexToAddress(reactor), Amount: wei(nonce),
					Topics: []common.Hash{fillTopic, common.HexToHash(hash), {}, common.BytesToHash(r.Account[:])},
				}},
				Ends: deadline, Nonce: &swap.NonceBit{Contract: permit2, Owner: r.Account, Nonce: wei(nonce)},
			},
		},
	}
	for _, word := range claims {
		claim := claimed[word]
		if claim.State == swap.Filled {
			claim.Chain = r.SrcChain
		}
		f.Settled.Claims = append(f.Settled.Claims, providertest.Claimed{Exchange: name + "." + word + ".json", Claim: claim})
	}
	return f
}

// fillTopic is the reactors' event Fill(bytes32,address,address,uint256).
var fillTopic = common.HexToHash("0x78ad7ec0e9f89e74012afa58738b6b661c024cb0fd185ee2f616c0a28924bd66")

// claimed is how the API's statuses are translated.
var claimed = map[string]swap.Claim{
	"unverified": {State: swap.Settling, ProviderStatus: "unverified"},
	"open":       {State: swap.Settling, ProviderStatus: "open"},
	"filled":     {State: swap.Filled, ProviderStatus: "filled", Tx: common.HexToHash("0x0b12fb61cd06dc179f270c4525584d07fc08911f78c4a940997981d01037fff7")},
	"insufficient-funds": {State: swap.Settling, ProviderStatus: "insufficient-funds",
		Reason: "the balance or allowance is too low to fill it; it can still be filled until it expires"},
}

// TestConformance runs the suite's tests of behaviour; [TestHostile] runs its attacks.
func TestConformance(t *testing.T) { providertest.Run(t, suite()) }

// TestHostile has a subtest for every leaf of the recorded replies and for every message
// and call that is signed.
func TestHostile(t *testing.T) {
	s := suite()
	s.Attacks = append(dex.Attacks(t), scamAttacks()...)
	providertest.Hostile(t, s)
}

func suite() providertest.Suite {
	usdc1 := common.HexToAddress("0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48")
	usdcArbitrum := common.HexToAddress("0xaf88d065e77c8cC2239327C5EDb3A432268e5831")
	wethEthereum := common.HexToAddress("0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2")
	wethArbitrum := common.HexToAddress("0x82aF49447D8a07e3bd95BD0d56f35241523fBab1")
	usdtArbitrum := common.HexToAddress("0xFd086bC7CD5C481DCC9C85ebE478A1C0b69FCbb9")
	router1 := common.HexToAddress("0x23617e59A5925b2A4Bf75d73ff6711cD0b29De85")
	routerBase := common.HexToAddress("0xd6145b2D3F379919E8CdEda7B97e37c4b2Ca9c40")
	routerArbitrum := common.HexToAddress("0x2d01411773c8C24805306E89A41F7855C3c4Fe65")
	toFriend := func(r swap.QuoteRequest) swap.QuoteRequest {
		r.Recipient = friend
		return r
	}
	return providertest.Suite{
		Name: "dex", Dir: "testdata/exchanges", Prefix: "/v1", Now: recorded, New: newProvider, Sign: signed,
		Flows: []providertest.Flow{
			flow("base-eth-usdc", request(8453, native, usdcBase, "100000000000000000", 40),
				providertest.Expected{Routing: "CLASSIC", AmountOut: "261306531", MinOut: "259999998", Fees: []swap.Payment{{Token: usdcBase, To: feeReceiver, Bps: 40}}},
				swap.Effect{Kind: swap.Swap, Target: routerBase}, "260000000", leg(16), whole(12, 15), pools(21), caller(30), swept(31), above(31), tagged(32)),
			flow("base-wrap", request(8453, native, weth, "100000000000000000", 0),
				providertest.Expected{Routing: "WRAP", AmountOut: "100000000000000000", MinOut: "100000000000000000"},
				swap.Effect{Kind: swap.Wrap, Target: weth}, "100000000000000000", tagged(0)),
			flow("base-unwrap", request(8453, weth, native, "100000000000000000", 0),
				providertest.Expected{Routing: "UNWRAP", AmountOut: "100000000000000000", MinOut: "100000000000000000"},
				swap.Effect{Kind: swap.Unwrap, Target: weth}, "100000000000000000", tagged(1)),
			flow("ethereum-split", request(1, native, usdc1, "1000000000000000000", 20),
				providertest.Expected{Routing: "CLASSIC", AmountOut: "2589599996", MinOut: "2576651996",
					Fees: []swap.Payment{{Token: usdc1, To: feeReceiver, Bps: 20}, {Token: usdc1, To: makerFee, Bps: 20}}},
				swap.Effect{Kind: swap.Swap, Target: router1}, "2576652000", leg(20, 31, 43), whole(16, 42), pools(25, 37), hops(36), swept(62), above(62)),
			flow("arbitrum-direct", request(42161, native, usdcArbitrum, "1000000000000000000", 0),
				providertest.Expected{Routing: "CLASSIC", AmountOut: "2599999998", MinOut: "2586999998"},
				swap.Effect{Kind: swap.Swap, Target: routerArbitrum}, "2587000000", hop(24), whole(12), pools(21), caller(14, 26, 30), higherMin(16), above(16)),
			tokenFlow(flow("base-usdc-weth", request(8453, usdcBase, weth, "1000000000", 40),
				providertest.Expected{Routing: "CLASSIC", AmountOut: "369790256343338258", MinOut: "367941305061621566", Fees: []swap.Payment{{Token: weth, To: feeReceiver, Bps: 40}}},
				swap.Effect{Kind: swap.Swap, Target: routerBase}, "368000000000000000", leg(25), pools(30), caller(39), swept(40), above(40)), false),
			tokenFlow(flow("base-usdc-eth", request(8453, usdcBase, native, "1000000000", 40),
				providertest.Expected{Routing: "CLASSIC", AmountOut: "369790256343338258", MinOut: "367941305061621566", Fees: []swap.Payment{{Token: native, To: feeReceiver, Bps: 40}}},
				swap.Effect{Kind: swap.Swap, Target: routerBase}, "368000000000000000", leg(12), pools(17), caller(25), higherMin(26), above(26)), true),
			tokenFlow(flow("ethereum-usdc-split", request(1, usdc1, native, "2600000000", 20),
				providertest.Expected{Routing: "CLASSIC", AmountOut: "996003999999999996", MinOut: "991023979999999996",
					Fees: []swap.Payment{{Token: native, To: feeReceiver, Bps: 20}, {Token: native, To: makerFee, Bps: 20}}},
				swap.Effect{Kind: swap.Swap, Target: router1}, "991023980000000000", leg(27, 39), pools(33), hops(32), higherMin(57), above(57), tagged(58)), false),
			tokenFlow(flow("arbitrum-usdc-usdt", toFriend(request(42161, usdcArbitrum, usdtArbitrum, "2500000000", 0)),
				providertest.Expected{Routing: "CLASSIC", AmountOut: "2498999998", MinOut: "2486504998"},
				swap.Effect{Kind: swap.Swap, Target: routerArbitrum}, "2486505000", pools(28), higherMin(23), above(23), tagged(31)), false),
			auctionFlow("ethereum-auction", request(1, usdc1, wethEthereum, "1000000000", 40),
				providertest.Expected{Routing: "DUTCH_V2", AmountOut: "247755000000000000", MinOut: "247755000000000000", Fees: []swap.Payment{{Token: wethEthereum, To: feeReceiver, Bps: 40}}},
				"0x00000011F84B9aa48e5f8aA8B9897600006289Be", "0xcf8bf5da50d7ee88b85948d9ffaccf6abe39b6b99b18ea81a1eae2c655a00228",
				"1993349036503780171330250480948183422261054554531571515448033598770879992067", "open", "filled"),
			auctionFlow("base-auction", request(8453, usdcBase, weth, "1000000000", 40),
				providertest.Expected{Routing: "DUTCH_V3", AmountOut: "368277292504977636", MinOut: "368277292504977636", Fees: []swap.Payment{{Token: weth, To: feeReceiver, Bps: 40}}},
				"0x000000008a8330B5d1F43A62Bf4C673A49f27ba0", "0x3e8e862c38b10f58cf27e722101b193d63531a6d72e77dfc4f389020ecd89943",
				"1993349036503780171330250480948183422261054554531571515448033598770879992067", "filled", "insufficient-funds"),
			auctionFlow("base-auction-eth", request(8453, usdcBase, native, "1000000000", 20),
				providertest.Expected{Routing: "DUTCH_V3", AmountOut: "368277292504977637", MinOut: "368277292504977637",
					Fees: []swap.Payment{{Token: native, To: feeReceiver, Bps: 20}, {Token: native, To: makerFee, Bps: 20}}},
				"0x000000008a8330B5d1F43A62Bf4C673A49f27ba0", "0x39150273de1dddcaf873a9936a656369b55f5b65b9eba808ec19f825a5246060",
				"1993349036503780171330250480948183422261054554531571515448033598770879992071", "filled"),
			auctionFlow("arbitrum-auction", toFriend(request(42161, usdcArbitrum, wethArbitrum, "1000000000", 0)),
				providertest.Expected{Routing: "DUTCH_V3", AmountOut: "369756317776081963", MinOut: "369756317776081963"},
				"0xB274d5F4b833b61B340b654d600A864fB604a87c", "0xb95918a70061c16571c41b673f98242817dd2c559f46d07c9ecb4e3fb1247d1c",
				"1993349036503780171330250480948183422261054554531571515448033598770879992075", "unverified"),
		},
		Harmless: harmless,
		// The parts of the typed data to be signed. What surrounds them is an envelope.
		StrictObjects: []string{"quote:permitData.domain.**", "quote:permitData.types.**", "quote:permitData.values.**"},
	}
}
