package dex_test

import (
	"context"
	"math/big"
	"testing"
	"time"

	"swapkeep/providers/dex"
	"swapkeep/providers/providertest"
	"swapkeep/rest"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	"golang.org/x/time/rate"
)

var (
	account     = common.HexToAddress("0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266") // public test key
	feeReceiver = common.HexToAddress("0x90F79bf6EB2c4f870365E785982E1f101E93b906")
	makerFee    = common.HexToAddress("0x000000fee13a103A10D593b9AE06b3e05F2E7E1c")
	native      = common.Address{}
	weth        = common.HexToAddress("0x4200000000000000000000000000000000000006")
	usdcBase    = common.HexToAddress("0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913")

	deadline = time.Unix(1_800_000_000, 0).UTC()
	recorded = deadline.Add(-8 * time.Minute)
)

// newProvider is a provider on a loopback server: quick to give up.
func newProvider(t testing.TB, base string, now func() time.Time) swap.Provider {
	p, err := dex.New(dex.Config{
		Base: base, Sandbox: true, Now: now,
		Key: func(context.Context) (string, error) { return "test-key-not-secret", nil },
		Limits: rest.Limits{
			Attempt: 250 * time.Millisecond, Call: 2 * time.Second, Attempts: 2,
			Backoff: time.Millisecond, MaxWait: 10 * time.Millisecond, Rate: rate.Inf, Failures: 1000,
		},
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

func wei(s string) *big.Int {
	n, ok := new(big.Int).SetString(s, 10)
	if !ok {
		panic("not a number: " + s)
	}
	return n
}

// flow is a recorded swap whose one step spends all and receives at least min.
func flow(name string, r swap.QuoteRequest, offer providertest.Expected, f swap.Effect, enforced string, free map[int]string) providertest.Flow {
	f.Chain = r.SrcChain
	f.Spends = []swap.Spend{{Token: r.TokenIn, Amount: r.AmountIn}}
	f.Receives = []swap.Receive{{Token: r.TokenOut, To: account, Min: wei(enforced)}}
	f.Pays = offer.Fees
	if f.Kind == swap.Swap {
		f.Deadline = deadline
	}
	offer.Life = 30 * time.Second
	return providertest.Flow{
		Name: name, Request: r, Deadline: deadline, MakerFeeBps: 20, Offer: offer,
		Exchanges: []string{name + ".quote.json", name + ".swap.json"},
		Effects:   []swap.Effect{f}, FreeWords: free,
	}
}

const (
	legMinimum = "the minimum of one leg can only make the swap fail; the floor is enforced by the final sweep"
	hopPrice   = "a price bound of one hop can only make the swap fail"
)

// harmless has the leaves of the API's replies that decide nothing.
var harmless = []providertest.Harmless{
	{Path: "quote:requestId", Why: "opaque, never read"},
	{Path: "quote:isTokenApprovalApplicable", Why: "never read: native input and wrapping need no approval"},
	{Path: "quote:quote.quoteId", Why: "opaque; goes back inside the quote"},
	{Path: "quote:quote.route[*][*].**", Why: "for show; the route taken is in the calldata, which is decoded"},
	{Path: "quote:quote.routeString", Why: "shown as the provider's words, cut to plain text", MayChange: []string{"offer.route"}},
	{Path: "quote:quote.gasUseEstimate", Why: "bounded; our own node estimates before anything is signed", MayChange: []string{"offer.gas"}},
	{Path: "quote:quote.gasFee", Why: "never read: we price our own transactions"},
	{Path: "quote:quote.gasFeeUSD", Why: "never read: the provider's dollars count nowhere"},
	{Path: "quote:quote.gasFeeQuote", Why: "never read: we price our own transactions"},
	{Path: "quote:quote.maxFeePerGas", Why: "never read: we price our own transactions"},
	{Path: "quote:quote.maxPriorityFeePerGas", Why: "never read: we price our own transactions"},
	{Path: "quote:quote.priceImpact", Why: "never read: prices are compared with our own source"},
	{Path: "quote:quote.blockNumber", Why: "never read: quotes age by our clock"},
	{Path: "quote:quote.txFailureReasons", Why: "never read: our own node simulates"},
	{Path: "quote:quote.aggregatedOutputs[*].fee", Why: "a label; who gets a fee is read from the recipient"},
	{Path: "swap:requestId", Why: "opaque, never read"},
	{Path: "swap:gasFee", Why: "never read: we price our own transactions"},
	{Path: "swap:swap.maxFeePerGas", Why: "never read: we price our own transactions"},
	{Path: "swap:swap.maxPriorityFeePerGas", Why: "never read: we price our own transactions"},
	{Path: "swap:swap.gasLimit", Why: "bounded; the call is simulated with it, and its cost held against the ceiling", MayChange: []string{"step0.gas"}},
}

func TestConformance(t *testing.T) {
	usdc1 := common.HexToAddress("0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48")
	usdcArbitrum := common.HexToAddress("0xaf88d065e77c8cC2239327C5EDb3A432268e5831")
	providertest.Run(t, providertest.Suite{
		Dir: "testdata/exchanges", Prefix: "/v1", Now: recorded, New: newProvider,
		Flows: []providertest.Flow{
			flow("base-eth-usdc", request(8453, native, usdcBase, "100000000000000000", 40),
				providertest.Expected{Routing: "CLASSIC", AmountOut: "261306533", MinOut: "260000000", Fees: []swap.Payment{{Token: usdcBase, To: feeReceiver, Bps: 40}}},
				swap.Effect{Kind: swap.Swap, Target: common.HexToAddress("0xd6145b2D3F379919E8CdEda7B97e37c4b2Ca9c40")}, "260000000", map[int]string{16: legMinimum}),
			flow("base-wrap", request(8453, native, weth, "100000000000000000", 0),
				providertest.Expected{Routing: "WRAP", AmountOut: "100000000000000000", MinOut: "100000000000000000"},
				swap.Effect{Kind: swap.Wrap, Target: weth}, "100000000000000000", nil),
			flow("base-unwrap", request(8453, weth, native, "100000000000000000", 0),
				providertest.Expected{Routing: "UNWRAP", AmountOut: "100000000000000000", MinOut: "100000000000000000"},
				swap.Effect{Kind: swap.Unwrap, Target: weth}, "100000000000000000", nil),
			flow("ethereum-split", request(1, native, usdc1, "1000000000000000000", 20),
				providertest.Expected{Routing: "CLASSIC", AmountOut: "2589600000", MinOut: "2576652000",
					Fees: []swap.Payment{{Token: usdc1, To: feeReceiver, Bps: 20}, {Token: usdc1, To: makerFee, Bps: 20}}},
				swap.Effect{Kind: swap.Swap, Target: common.HexToAddress("0x23617e59A5925b2A4Bf75d73ff6711cD0b29De85")}, "2576652000", map[int]string{20: legMinimum, 31: legMinimum, 43: legMinimum}),
			flow("arbitrum-direct", request(42161, native, usdcArbitrum, "1000000000000000000", 0),
				providertest.Expected{Routing: "CLASSIC", AmountOut: "2600000000", MinOut: "2587000000"},
				swap.Effect{Kind: swap.Swap, Target: common.HexToAddress("0x2d01411773c8C24805306E89A41F7855C3c4Fe65")}, "2587000000", map[int]string{24: hopPrice}),
		},
		Harmless: harmless,
	})
}
