package host

import (
	"encoding/json"
	"math/big"
	"strings"
	"testing"
	"time"

	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

// TestDepositOnTheWire checks that an order shows who is trusted, who may settle, what
// is wrapped and the progress of its submission, but no signatures.
func TestDepositOnTheWire(t *testing.T) {
	terms := (&fakeSwaps{}).terms()
	terms.Wrap = usdc
	signed := swap.Effect{Kind: swap.Signed, Chain: 1, Target: router, Settler: stranger, Deadline: testTime}
	deposit := swap.Effect{Kind: swap.Deposit, Chain: 1, Target: router, TrustedTo: "a filler", DepositID: common.Hash{5}}
	o := swap.Order{
		Progress: swap.Progress{State: swap.Settling,
			Results: []swap.Result{{}, {Signature: []byte{0xab, 0xcd, 0xef}}}, Wrapped: true, ProviderOrderID: "theirs",
			Submission: &swap.Submission{First: testTime, Last: testTime.Add(time.Second), Tries: 2, Refused: true}}, Consent: swap.Consent{Terms: terms, Plan: swap.Plan{Settlement: swap.ByProvider, Steps: []swap.Step{{Kind: swap.CallStep, Effect: deposit}, {Kind: swap.TypedStep, Effect: signed}}},
			Offer: swap.Offer{AmountOut: new(big.Int), MinOut: new(big.Int), Wrap: usdc, Gasless: true, Request: swap.QuoteRequest{AmountIn: new(big.Int)}}},
	}
	b, err := json.Marshal(orderOf(o))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"wrap":"` + usdc.Hex() + `"`, `"kind":"deposit"`, `"trustedTo":"a filler"`, `"depositId":"` + common.Hash{5}.Hex() + `"`, `"kind":"order"`, `"settler":"` + stranger.Hex() + `"`,
		`"submission":{"first":"`, `"tries":2,"refused":true}`, `"wrapped":true,"providerOrderId":"theirs"`,
	} {
		if !strings.Contains(string(b), want) {
			t.Errorf("no %s in %s", want, b)
		}
	}
	if strings.Contains(string(b), "abcdef") {
		t.Error("the order contains its signature")
	}
}
