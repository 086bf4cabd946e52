package gasless_test

import (
	"context"
	"math/big"
	"testing"
	"time"

	"swapkeep/providers/gasless"
	"swapkeep/providers/providertest"
	"swapkeep/rest"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"
)

var (
	account     = common.HexToAddress("0x9d8A62f656a8d1615C1294fd71e9CFb3E4855A4F") // public test key of EIP-155
	feeReceiver = common.HexToAddress("0x000000000000000000000000000000000000bEEF")
	friend      = common.HexToAddress("0x70997970C51812dc3A010C7d01b50e0d17dc79C8")
	maker       = common.HexToAddress("0xA8020EcBC321e0C8cEA26B3507f207482d0100c2")

	jam     = common.HexToAddress("0xbeb0b0623f66bE8cE162EbDfA2ec543A522F4ea6")
	manager = common.HexToAddress("0xC5a350853E4e36b73EB0C24aaA4b8816C9A3579a")
	rfq     = common.HexToAddress("0xbbbbbBB520d69a9775E85b458C58c648259FAD5F")

	native            = common.Address{}
	nativePlaceholder = common.HexToAddress("0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE")
	wethOP            = common.HexToAddress("0x4200000000000000000000000000000000000006") // also on 8453 and 5330
	wethEthereum      = common.HexToAddress("0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2")
	wethArbitrum      = common.HexToAddress("0x82aF49447D8a07e3bd95BD0d56f35241523fBab1")
	usdcEthereum      = common.HexToAddress("0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48")
	usdcOptimism      = common.HexToAddress("0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85")
	usdcBase          = common.HexToAddress("0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913")
	usdcArbitrum      = common.HexToAddress("0xaf88d065e77c8cC2239327C5EDb3A432268e5831")
	usdcSuperseed     = common.HexToAddress("0xC316C8252B5F2176d0135Ebb0999E99296998F2e")
	daiBase           = common.HexToAddress("0x50c5725949A6F0c72E6C4a641F24049A917DB0Cb")

	jamEnds, rfqEnds = time.Unix(1_772_813_548, 0).UTC(), time.Unix(1_772_813_487, 0).UTC()

	filledTopic   = crypto.Keccak256Hash([]byte("BebopJamOrderFilled(uint256,address,address[],address[],uint256[],uint256[])"))
	orderTopic    = crypto.Keccak256Hash([]byte("BebopOrder(uint128)"))
	transferTopic = crypto.Keccak256Hash([]byte("Transfer(address,address,uint256)"))
)

func newProvider(t testing.TB, base string, now func() time.Time, limits rest.Limits) swap.Provider {
	p, err := gasless.New(gasless.Config{
		Base: base, Sandbox: true, Now: now, Source: "test-partner",
		Key:    func(context.Context) (string, error) { return "test-key-of-nobody", nil },
		Limits: limits,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

func sign(d apitypes.TypedData) ([]byte, error) {
	key, err := crypto.HexToECDSA("4646464646464646464646464646464646464646464646464646464646464646") // public test key
	if err != nil {
		return nil, err
	}
	return providertest.SignTyped(key, d)
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

func toFriend(r swap.QuoteRequest) swap.QuoteRequest {
	r.Recipient = friend
	return r
}

var wei = providertest.Wei

func word(a common.Address) common.Hash { return common.BytesToHash(a[:]) }

func same(s string) common.Hash { return common.HexToHash("0x" + s + s + s + s + s + s + s + s) }

// A recording is the expected result of one recorded order.
type recording struct {
	name, out, minOut string
	quoteID           string
	tx                common.Hash
	free              []providertest.Harmless
	claims            bool // has a recorded status reply for every state
}

// flow is the flow of a recorded order from one token to another.
func (x recording) flow(protocol string, r swap.QuoteRequest, settlement, spender common.Address, ends time.Time, spent common.Address, fill, trace []swap.LogPattern) providertest.Flow {
	path := map[string]string{"JAM": "/jam/%s/v2", "RFQ": "/pmm/%s/v3"}[protocol]
	chain := map[uint64]string{1: "ethereum", 10: "optimism", 8453: "base", 42161: "arbitrum", 5330: "superseed"}[r.SrcChain]
	root := path[:5] + chain + path[7:]
	var fees []swap.Payment
	if r.FeeBps > 0 && protocol == "JAM" {
		fees = []swap.Payment{{Token: r.TokenOut, To: feeReceiver, Bps: r.FeeBps}}
	}
	f := providertest.Flow{
		Name: x.name, Request: r, Deadline: ends.Add(20 * time.Minute),
		Exchanges: []string{x.name + ".quote.json", x.name + ".order.json", x.name + ".status.json"},
		Offer:     providertest.Expected{Routing: protocol, AmountOut: x.out, MinOut: x.minOut, Fees: fees, Life: ends.Sub(recorded) - minLife[protocol]},
		Spender:   spender, FreeFields: x.free,
		Effects: []swap.Effect{{
			Kind: swap.Signed, Chain: r.SrcChain, Target: settlement, Settler: settlement, Deadline: ends, Pays: fees,
			Spends: []swap.Spend{{Token: spent, Amount: r.AmountIn}}, Receives: []swap.Receive{{Token: r.TokenOut, To: r.Recipient, Min: wei(x.minOut)}},
		}},
		Settled: &providertest.Settled{
			Submit: root + "/order", Status: root + "/order-status", Ref: x.quoteID,
			Claims: []providertest.Claimed{{Exchange: x.name + ".status.json", Claim: swap.Claim{State: swap.Settling, ProviderStatus: "Settled", Tx: x.tx, Chain: r.SrcChain}}},
			Proof:  swap.Proof{Fill: fill, Trace: trace, Ends: ends},
		},
	}
	if x.claims {
		f.Settled.Claims = append(f.Settled.Claims,
			providertest.Claimed{Exchange: x.name + ".pending.json", Claim: swap.Claim{State: swap.Settling, ProviderStatus: "Pending"}},
			providertest.Claimed{Exchange: x.name + ".confirmed.json", Claim: swap.Claim{State: swap.Filled, ProviderStatus: "Confirmed", Tx: x.tx, Chain: r.SrcChain}},
			providertest.Claimed{Exchange: x.name + ".failed.json", Claim: swap.Claim{State: swap.Failed, ProviderStatus: "Failed", Reason: "the gasless provider says that the order failed"}})
	}
	return f
}

func withFixed(f providertest.Flow) providertest.Flow {
	f.FixedExchanges = []string{f.Name + ".beside.json"}
	return f
}

// among is a flow in which the other protocol also has an offer.
func among(f providertest.Flow, other string) providertest.Flow {
	f.Name, f.FixedExchanges, f.WithOtherSources = f.Name+"-among", []string{other + ".quote.json"}, true
	return f
}

var (
	recorded = time.Unix(1_772_813_400, 0).UTC()
	minLife  = map[string]time.Duration{"JAM": 15 * time.Second, "RFQ": time.Second}
)

func jamSuite() providertest.Suite {
	flow := func(x recording, r swap.QuoteRequest, spent common.Address, nonce string) providertest.Flow {
		event := swap.LogPattern{Address: jam, Topics: []common.Hash{filledTopic, common.BigToHash(wei(nonce)), word(account)}}
		input := swap.LogPattern{Address: spent, Topics: []common.Hash{transferTopic, word(account), {}}, Amount: r.AmountIn}
		return x.flow("JAM", r, jam, manager, jamEnds, spent, []swap.LogPattern{event, input}, []swap.LogPattern{event})
	}
	return suite("gasless JAM", []string{"removed"}, harmlessJAM, []providertest.Flow{
		flow(recording{"superseed-usdc-weth", "50627760146755498", "50374621346021720", "3f7e0b1c-0000-4000-8000-000000000001", same("a1a1a1a1"), freeJAM, true},
			request(5330, usdcSuperseed, wethOP, "100000000", 40), usdcSuperseed, "24186149226709209968603110968399697334"),
		flow(recording{"ethereum-usdc-eth", "509521195673062120", "506973589694696809", "3f7e0b1c-0000-4000-8000-000000000002", same("a2a2a2a2"), freeJAM, false},
			request(1, usdcEthereum, native, "1000000000", 0), usdcEthereum, "12345678901234567890"),
		withFixed(flow(recording{"arbitrum-eth-usdc", "2609520000", "2596472400", "3f7e0b1c-0000-4000-8000-000000000003", same("a3a3a3a3"), freeJAM, false},
			toFriend(request(42161, native, usdcArbitrum, "1000000000000000000", 40)), wethArbitrum, "98765432109876543210987654321098765432")),
		among(flow(recording{"ethereum-usdc-weth-jam", "509521195673062120", "506973589694696809", "3f7e0b1c-0000-4000-8000-000000000004", same("a4a4a4a4"), freeJAM, false},
			request(1, usdcEthereum, wethEthereum, "1000000000", 0), usdcEthereum, "12345678901234567894"), "ethereum-usdc-weth"),
	})
}

func rfqSuite() providertest.Suite {
	flow := func(x recording, r swap.QuoteRequest, spent common.Address) providertest.Flow {
		event := swap.LogPattern{Address: rfq, Topics: []common.Hash{orderTopic, {}}}
		input := func(n *big.Int, more bool) swap.LogPattern {
			return swap.LogPattern{Address: spent, Topics: []common.Hash{transferTopic, word(account), word(maker)}, Amount: n, AtLeast: more}
		}
		output := swap.LogPattern{Address: r.TokenOut, Topics: []common.Hash{transferTopic, word(maker), word(r.Recipient)}, Amount: wei(x.minOut), AtLeast: true}
		return x.flow("RFQ", r, rfq, rfq, rfqEnds, spent, []swap.LogPattern{input(r.AmountIn, false), output, event}, []swap.LogPattern{input(big.NewInt(1), true), event})
	}
	recorded := flow(recording{"ethereum-usdc-weth", "504765657558485082", "504765657558485082", "121-197055704233248307894658608409132099557", same("b1b1b1b1"), freeRFQ, true},
		request(1, usdcEthereum, wethEthereum, "1000000000", 0), usdcEthereum)
	return suite("gasless RFQ", []string{"removed", "null", "emptied"}, harmlessRFQ, []providertest.Flow{
		withFixed(recorded), among(recorded, "ethereum-usdc-weth-jam"),
		withFixed(flow(recording{"base-usdc-dai", "996498000000000000000", "996498000000000000000", "121-42", same("b2b2b2b2"), freeRFQ, false},
			toFriend(request(8453, usdcBase, daiBase, "1000000000", 40)), usdcBase)),
		withFixed(flow(recording{"optimism-eth-usdc", "2609520000", "2609520000", "121-77", same("b3b3b3b3"), freeRFQ, false},
			request(10, native, usdcOptimism, "1000000000000000000", 40), wethOP)),
	})
}

func suite(name string, noHash []string, further []providertest.Harmless, flows []providertest.Flow) providertest.Suite {
	return providertest.Suite{
		Name: name, Dir: "testdata/exchanges", Now: recorded, New: newProvider, Sign: sign,
		// What is signed, and maps keyed by token, where another member means another
		// token.
		StrictObjects: []string{"quote:toSign", "quote:buyTokens", "quote:sellTokens", "quote:partnerFee", "quote:protocolFee", "order-status:amounts"},
		Flows:         flows, Harmless: harmless(flows, noHash, further...),
	}
}

const (
	freeNonce  = "the contract takes each nonce once, whichever it is"
	freeWho    = "it only says who may settle first; whoever does must pay the same"
	freeMore   = "more than the minimum"
	freeExpiry = "any end before the accepted deadline; an order that is over settles nowhere"
	freeMaker  = "anybody but a party to the swap; the order is filled by that one's tokens or not at all"
)

// otherNumbers are the mutations that turn a number into another one of at most 256 bits.
var otherNumbers = []string{"a number", "one more", "one less", "doubled", "of 256 bits"}

// freeJAM and freeRFQ are the order fields that the provider may choose. What it chose in
// the quote is what is signed.
var (
	freeJAM = []providertest.Harmless{
		{Path: "message.executor", Why: freeWho},
		{Path: "message.exclusivityDeadline", Why: "up to the expiry, " + freeWho, Lies: []string{"a number", "one less", "zero"}},
		{Path: "message.nonce", Why: freeNonce, Lies: otherNumbers},
		{Path: "message.buyAmounts[*]", Why: freeMore, Lies: []string{"one more", "doubled", "of 256 bits"}},
		{Path: "message.expiry", Why: freeExpiry, Lies: []string{"one more"}},
	}
	freeRFQ = []providertest.Harmless{
		{Path: "message.maker_address", Why: freeMaker, Lies: []string{"the attacker", "the caller constant", "the router constant"}},
		{Path: "message.maker_nonce", Why: freeNonce, Lies: otherNumbers},
		{Path: "message.maker_amount", Why: freeMore, Lies: []string{"one more", "doubled", "of 256 bits"}},
		{Path: "message.expiry", Why: freeExpiry, Lies: []string{"a number", "one more", "one less", "zero"}},
	}
)

func TestConformance(t *testing.T) {
	t.Run("JAM", func(t *testing.T) { providertest.Run(t, jamSuite()) })
	t.Run("RFQ", func(t *testing.T) { providertest.Run(t, rfqSuite()) })
}

// TestHostile has a sub-test for every leaf of the recorded replies and of the signed data.
func TestHostile(t *testing.T) {
	for name, s := range map[string]providertest.Suite{"JAM": jamSuite(), "RFQ": rfqSuite()} {
		t.Run(name, func(t *testing.T) {
			s.Attacks = gasless.Attacks(t, name)
			providertest.Hostile(t, s)
		})
	}
}
