package gasless

import (
	"encoding/json"
	"errors"
	"math/big"
	"slices"
	"testing"
	"time"

	"swapkeep/providers/providertest"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
)

// All recorded replies are of self-execution: no gasless reply, and none of JAM, was found
// in public.

// recordedRequest is the request that a recorded quote answers.
func recordedRequest(t *testing.T, raw []byte) swap.QuoteRequest {
	t.Helper()
	var q struct {
		ChainID               uint64
		Taker, Receiver       common.Address
		SellTokens, BuyTokens map[common.Address]struct{ Amount string }
	}
	if err := json.Unmarshal(raw, &q); err != nil {
		t.Fatal(err)
	}
	r := swap.QuoteRequest{Account: q.Taker, Recipient: q.Receiver, RefundTo: q.Taker, SrcChain: q.ChainID, DstChain: q.ChainID, SlippageBps: 50}
	for token, sold := range q.SellTokens {
		r.TokenIn = token
		r.AmountIn, _ = new(big.Int).SetString(sold.Amount, 10)
	}
	for token := range q.BuyTokens {
		r.TokenOut = token
	}
	return r
}

// TestRecordedStops names the check that refuses each recorded reply.
func TestRecordedStops(t *testing.T) {
	onEthereum := swap.QuoteRequest{Account: common.Address{1}, Recipient: common.Address{1}, SrcChain: 1, DstChain: 1, TokenIn: common.Address{2}, TokenOut: common.Address{3}, AmountIn: big.NewInt(1), SlippageBps: 50}
	for _, c := range []struct {
		file, why string
		request   *swap.QuoteRequest // nil = the one that the reply answers
		code      swap.Code
		field     string
	}{
		{"pmm-v3-single-settlement-base.json", "self-execution: a transaction is among it", nil, swap.NotAsAccepted, "tx"},
		{"pmm-v3-single-router-ethereum.json", "the router settles it", nil, swap.NoMinimum, "settlementAddress"},
		{"pmm-v3-aggregate-router-ethereum.json", "the router settles it", nil, swap.NoMinimum, "settlementAddress"},
		{"pmm-v3-aggregate-settlement-ethereum.json", "abridged: it has no id", &onEthereum, swap.ProviderInvalidResponse, "quoteId"},
	} {
		raw := providertest.LiveReply(t, "bebop/"+c.file)
		r := onEthereum
		if c.request == nil {
			r = recordedRequest(t, raw)
		}
		_, err := testVenue(t, r, "RFQ").readQuote(raw, r)
		var refused *swap.Refusal
		if !errors.As(err, &refused) || refused.Code != c.code || refused.Field != c.field {
			t.Errorf("%s (%s): %v", c.file, c.why, err)
		}
	}
}

// TestRecordedSettlementOrder removes from a recorded quote only what, by the
// documentation, distinguishes self-execution from a gasless quote: its transaction and its
// status. The reader, Build, Decode and Check then accept it, with its firm price as the
// minimum.
func TestRecordedSettlementOrder(t *testing.T) {
	recorded := providertest.LiveReply(t, "bebop/pmm-v3-single-settlement-base.json")
	r := recordedRequest(t, recorded)
	raw := changed(t, recorded, func(reply, _ map[string]any) {
		delete(reply, "tx")
		reply["status"] = "QUOTE_SUCCESS"
	})
	ends := time.Unix(1_746_644_767, 0)
	p, err := New(Config{Base: "http://127.0.0.1:1", Sandbox: true, Now: func() time.Time { return ends.Add(-9 * time.Second) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	v := testVenue(t, r, "RFQ")
	q, err := p.read(v, raw, r)
	if err != nil {
		t.Fatal(err)
	}
	o := q.offer
	o.Expires = ends.Add(-v.settleMargin)
	if o.MinOut.String() != "549641041508403" || o.AmountOut.Cmp(o.MinOut) != 0 || len(o.Fees) != 0 {
		t.Errorf("offers %s, at least %s, fees %v", o.AmountOut, o.MinOut, o.Fees)
	}
	terms := swap.Terms{
		Provider: swap.Gasless, Account: r.Account, SrcChain: r.SrcChain, DstChain: r.DstChain, TokenIn: r.TokenIn, TokenOut: r.TokenOut, AmountIn: r.AmountIn,
		Recipient: r.Recipient, RefundTo: r.RefundTo, MinOut: o.MinOut, Deadline: ends.Add(time.Minute), GasCeiling: big.NewInt(1),
	}
	built, err := p.Build(t.Context(), o, terms)
	if err != nil {
		t.Fatal(err)
	}
	f, err := p.Decode(terms, built.Steps[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := swap.Check(terms, []swap.Effect{f}, p.Pins()); err != nil {
		t.Error(err)
	}
}

// TestRecordedFlags: no recorded call names a partner in the flags of its order, and none
// does in the signed order; the contract hashes the flags' partner into the order. The
// router's orders have limitAmount 0, which holds no minimum.
func TestRecordedFlags(t *testing.T) {
	for file, order := range map[string]func(words []*big.Int) (flags, limit *big.Int){
		"pmm-v3-single-settlement-base.json":        func(w []*big.Int) (*big.Int, *big.Int) { return w[10], nil },
		"pmm-v3-aggregate-settlement-ethereum.json": func(w []*big.Int) (*big.Int, *big.Int) { return w[w[0].Uint64()/32+10], nil },
		"pmm-v3-single-router-ethereum.json":        func(w []*big.Int) (*big.Int, *big.Int) { return nil, w[3] },
		"pmm-v3-aggregate-router-ethereum.json":     func(w []*big.Int) (*big.Int, *big.Int) { return nil, w[3] },
	} {
		var q struct {
			Tx     struct{ Data hexutil.Bytes }
			ToSign struct {
				PartnerID uint64 `json:"partner_id"`
			}
		}
		if err := json.Unmarshal(providertest.LiveReply(t, "bebop/"+file), &q); err != nil {
			t.Fatal(err)
		}
		var words []*big.Int
		for w := range slices.Chunk(q.Tx.Data[4:], 32) {
			words = append(words, new(big.Int).SetBytes(w))
		}
		flags, limit := order(words)
		if flags != nil && (new(big.Int).Rsh(flags, 64).Uint64() != q.ToSign.PartnerID || q.ToSign.PartnerID != 0 || flags.BitLen() <= 128) {
			t.Errorf("%s: flags %x, partner %d", file, flags, q.ToSign.PartnerID)
		}
		if limit != nil && limit.Sign() != 0 {
			t.Errorf("%s: limitAmount %s", file, limit)
		}
	}
}
