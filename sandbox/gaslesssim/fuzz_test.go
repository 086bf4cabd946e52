package gaslesssim

import (
	"encoding/json"
	"errors"
	"math/big"
	"net/url"
	"os"
	"testing"

	"github.com/ethereum/go-ethereum/common"
)

const quoteSeed = "sell_tokens=0xC316C8252B5F2176d0135Ebb0999E99296998F2e&buy_tokens=0x4200000000000000000000000000000000000006" +
	"&sell_amounts=100000000&taker_address=0x9d8A62f656a8d1615C1294fd71e9CFb3E4855A4F&approval_type=Standard&gasless=true&slippage=0.5" +
	"&fee=40&fee_recipient=0x000000000000000000000000000000000000bEEF&source=x"

// FuzzQuoteParameters checks that parameters are refused with an error of the API or are
// usable.
func FuzzQuoteParameters(f *testing.F) {
	f.Add(quoteSeed, false)
	f.Add("sell_tokens=0xC316C8252B5F2176d0135Ebb0999E99296998F2e&buy_tokens=0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE&buy_amounts=1"+
		"&taker_address=0x0000000000000000000000000000000000000001&gasless=false&expiry_type=short", true)
	f.Add("slippage=1e9&fee=-1&sell_amounts=00&sell_tokens=,&gasless=&x", false)
	f.Fuzz(func(t *testing.T, raw string, firm bool) {
		query, err := url.ParseQuery(raw)
		if err != nil {
			return
		}
		p := map[bool]*protocol{false: jam, true: rfq}[firm]
		a, err := parseQuote(p, query)
		if err != nil {
			var shape problems
			var meaning failure
			if !errors.As(err, &shape) && !errors.As(err, &meaning) {
				t.Errorf("no error of the API: %v", err)
			}
			return
		}
		amount := a.sellAmount
		if amount == nil {
			amount = a.buyAmount
		}
		switch {
		case amount == nil || amount.Sign() <= 0 || amount.BitLen() > 256:
			t.Errorf("amount %v", amount)
		case a.slippageBps < 0 || a.slippageBps > 5000 || a.feeBps < 0 || a.feeBps > 500:
			t.Errorf("slippage %d, fee %d", a.slippageBps, a.feeBps)
		case a.sell == native || a.sell == a.buy || a.receiver == (common.Address{}) && a.taker != (common.Address{}):
			t.Errorf("an invalid request is accepted: %+v", a)
		}
	})
}

// FuzzOrderBody checks that bodies are refused with problems or have a signature, and
// that unrequested permits are refused.
func FuzzOrderBody(f *testing.F) {
	f.Add([]byte(`{"quote_id":"3f7e0b1c-0000-4000-8000-000000000001","signature":"0xe2912d73f9a4c786f40d3a7ad2fe36308feb41454254d95597348fa60b4124391ded70645a95c46f6c018456c9d25cf221f5608205915c9ea90b8d75708e9cd51c","sign_scheme":"EIP712"}`))
	f.Add([]byte(`{"quote_id":"1","signature":"0x","permit2":{"signature":"0x00","approvals_deadline":5,"token_addresses":["0x4200000000000000000000000000000000000006"],"token_nonces":[0]}}`))
	f.Add([]byte(`{"quote_id":null,"signature":null,"permit":null}`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, body []byte) {
		b, err := parseOrder(body)
		if err != nil {
			var shape problems
			if !errors.As(err, &shape) || len(shape) == 0 {
				t.Errorf("no problem of shape: %v", err)
			}
			return
		}
		if b.Signature == nil {
			t.Error("a request without a signature is accepted")
		}
		o := &order{quote: &quote{quoteParams: quoteParams{sell: common.Address{1}}, signatures: nil}}
		if p, err := o.permission(b); err == nil && (p != nil || b.Permit != nil || b.Permit2 != nil) {
			t.Errorf("a permit that nobody asked for: %+v", b)
		}
	})
}

// TestPartnerInfoMatchesVectors checks that partner and fees are packed as the contracts
// unpack them.
func TestPartnerInfoMatchesVectors(t *testing.T) {
	raw, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Vectors []struct {
			Address  common.Address `json:"partner_address"`
			Fee      int64          `json:"partner_fee_bps"`
			Protocol int64          `json:"protocol_fee_bps"`
			Info     string         `json:"partnerInfo"`
		} `json:"partnerInfo_vectors"`
	}
	if err := json.Unmarshal(raw, &file); err != nil || len(file.Vectors) != 4 {
		t.Fatal(err, len(file.Vectors))
	}
	for _, v := range file.Vectors {
		if got := packPartner(v.Address, v.Fee, v.Protocol); got.String() != v.Info {
			t.Errorf("%s %d %d: got %s, want %s", v.Address, v.Fee, v.Protocol, got, v.Info)
		}
	}
}

// TestAmountsAreThoseOfTheExample recomputes the amounts of the published example.
func TestAmountsAreThoseOfTheExample(t *testing.T) {
	gross, _ := new(big.Int).SetString("50831084484694275", 10)
	q := quote{quoteParams: quoteParams{sellAmount: big.NewInt(100_000_000), feeBps: 40, slippageBps: 50}, protocol: jam}
	q.sellToken.Decimals, q.sellToken.MicroUSD = 6, 1_000_000
	x := exchange{in: q.sellToken, out: q.sellToken, bps: allBps, gas: new(big.Int)}
	x.out.Decimals = 18
	// Sets the price so that the amount before the fee is the example's.
	x.gas = new(big.Int).Sub(x.pays(q.sellAmount), gross)
	if err := q.price(x, 0); err != nil {
		t.Fatal(err)
	}
	got := []string{q.fee.String(), q.net.String(), q.minAmount.String()}
	for i, want := range []string{"203324337938777", "50627760146755498", "50374621346021720"} {
		if got[i] != want {
			t.Errorf("figure %d: got %s, want %s", i, got[i], want)
		}
	}
}
