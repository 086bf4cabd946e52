package dex

import (
	"encoding/json"
	"errors"
	"math/big"
	"strings"
	"testing"

	"swapkeep/providers/providertest"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
)

// TestRecordedV4Quotes checks that recorded quotes over V4 are read up to the permit, which
// is for another amount and router than we ask for.
func TestRecordedV4Quotes(t *testing.T) {
	for _, file := range []string{"quote-classic-base-v4-a.json", "quote-classic-base-v4-b.json"} {
		var x struct {
			Quote, PermitData json.RawMessage
		}
		if err := json.Unmarshal(providertest.LiveReply(t, "uniswap/"+file), &x); err != nil {
			t.Fatal(err)
		}
		var q quoteBody
		if err := json.Unmarshal(x.Quote, &q); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(q.RouteString, "[v4]") {
			t.Errorf("%s: route %s", file, q.RouteString)
		}
		r := swap.QuoteRequest{
			Account: q.Swapper.Address, Recipient: q.Swapper.Address, RefundTo: q.Swapper.Address, SrcChain: 8453, DstChain: 8453,
			TokenIn: q.Input.Token.Address, TokenOut: q.Output.Token.Address, AmountIn: q.Input.Amount.Int, SlippageBps: 250,
		}
		reply := func(permit json.RawMessage) []byte { // with the members that the source left out
			raw, err := json.Marshal(map[string]any{"routing": classic, "quote": x.Quote, "permitData": permit, "permitTransaction": nil})
			if err != nil {
				t.Fatal(err)
			}
			return raw
		}
		read, err := (&Provider{}).readQuote(reply(nil), r)
		if err != nil {
			t.Errorf("%s: %v", file, err)
		} else if read.offer.MinOut.Cmp(minAfterSlippage(read.offer.AmountOut, 250)) != 0 {
			t.Errorf("%s: at least %s of %s", file, read.offer.MinOut, read.offer.AmountOut)
		}
		if _, err := (&Provider{}).readQuote(reply(x.PermitData), r); !errors.Is(err, &swap.Refusal{Code: swap.NotAsAccepted}) && !errors.Is(err, &swap.Refusal{Code: swap.NotPinned}) {
			t.Errorf("%s: a permit without limit for another router: %v", file, err)
		}
	}
}

// TestRecordedV4OldStruct: calldata recorded for router 2.0 has a struct without bounds,
// which router 2.1.2 would read as other amounts. It is refused at that action.
func TestRecordedV4OldStruct(t *testing.T) {
	var x struct{ Data hexutil.Bytes }
	if err := json.Unmarshal(providertest.LiveReply(t, "uniswap/calldata-sepolia-v4-exact-in.json"), &x); err != nil {
		t.Fatal(err)
	}
	const tag = 10 // bytes at its end
	vals, err := unpackStrict(executeArgs, x.Data[4:len(x.Data)-tag])
	if err != nil {
		t.Fatal(err)
	}
	inputs := vals[1].([][]byte)
	list, err := unpackStrict(commands[0x10].forms[0], inputs[0])
	if err != nil {
		t.Fatal(err)
	}
	if codes := list[0].([]byte); hexutil.Encode(codes) != "0x070b0e" {
		t.Errorf("actions %x", codes)
	}
	params := list[1].([][]byte)
	if _, err := unpackStrict(actions[0x07].form, params[0]); !errors.Is(err, &swap.Refusal{Code: swap.Undecodable}) {
		t.Errorf("the struct of router 2.0: %v", err)
	}
	for i, code := range []byte{0x0b, 0x0e} {
		if _, err := unpackStrict(actions[code].form, params[i+1]); err != nil {
			t.Errorf("%s: %v", actions[code].name, err)
		}
	}
}

// TestRecordedV4Bound reads the words of the swap in a mainnet transaction (0x6fbc3188…,
// block 26036791) as they were published. It has a price bound for a pool with a hook. Its
// minimum was not published; a part of the price bound replaces it.
func TestRecordedV4Bound(t *testing.T) {
	words := []string{
		"20", "d34a99bc0f67ae1bbd63c660e6d0b0dd03e263b7", "a0", "1a0", "de0b6b3a7640000", "71afd498d0000",
		"1", "20", "0", "2710", "3c", "c6c965bd164c483e87d0b550671798e9a3602840", "a0", "0", "1", "689bab3f3a37da09d5932db10000",
	}
	var param []byte
	for _, w := range words {
		param = append(param, common.HexToHash(w).Bytes()...)
	}
	vals, err := unpackStrict(actions[0x07].form, param)
	if err != nil {
		t.Fatal(err)
	}
	v, err := structFrom("ExactInput", vals)
	if err != nil {
		t.Fatal(err)
	}
	// 36 decimal places: 0.0021 of the coin for a token.
	price := new(big.Int).Div(v["minHopPriceX36"].([]any)[0].(*big.Int), new(big.Int).Exp(big.NewInt(10), big.NewInt(18), nil))
	if price.Cmp(big.NewInt(2_100_000_000_000_000)) < 0 || price.Cmp(big.NewInt(2_150_000_000_000_000)) > 0 {
		t.Errorf("a bound of %s wei for a token", price)
	}
	terms := withoutFee()
	terms.SrcChain, terms.DstChain = 1, 1
	terms.TokenIn, terms.TokenOut, terms.MinOut = common.HexToAddress("0xD34a99Bc0f67aE1bbd63C660e6d0b0dd03E263B7"), nativeCoin, big.NewInt(0x71afd498d0000)
	list := v4Op(settles(terms.TokenIn, open, true), takes(nativeCoin, testAccount, 0))
	list.args[0] = append([]byte{0x07}, list.args[0].([]byte)...)
	list.args[1] = append([][]byte{param}, list.args[1].([][]byte)...)
	if _, err := checked(terms, program(t, testDeadline.Unix(), ops(list))); err != nil {
		t.Error(err)
	}
}
