package gasless

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/big"
	"os"
	"testing"

	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"
)

// vectors are golden values made with two libraries other than the one used here.
type vectors struct {
	PrivateKey  hexutil.Bytes  `json:"private_key"`
	Address     common.Address `json:"address"`
	Addresses   struct{ JamSettlement, JamBalanceManager, PmmSettlement, Permit2 common.Address }
	PartnerInfo []struct {
		Address     common.Address `json:"partner_address"`
		PartnerBps  int            `json:"partner_fee_bps"`
		ProtocolBps int            `json:"protocol_fee_bps"`
		Packed      string         `json:"partnerInfo"`
	} `json:"partnerInfo_vectors"`
	Vectors []vector `json:"vectors"`
}

type vector struct {
	ID                                            string
	TypedData                                     apitypes.TypedData
	EncodeType                                    string
	TypeHash, DomainSeparator, StructHash, Digest common.Hash
	Signature                                     hexutil.Bytes
	Signer                                        common.Address
}

func readVectors(t testing.TB) vectors {
	t.Helper()
	raw, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var v vectors
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// TestVectors: every vector has the same hashes and signature here as in the file.
func TestVectors(t *testing.T) {
	all := readVectors(t)
	key, err := crypto.ToECDSA(all.PrivateKey) // public test key
	if err != nil || crypto.PubkeyToAddress(key.PublicKey) != all.Address {
		t.Fatalf("the key is not that of %s: %v", all.Address, err)
	}
	if len(all.Vectors) != 8 {
		t.Fatalf("%d vectors", len(all.Vectors))
	}
	for _, v := range all.Vectors {
		d := v.TypedData
		if got := string(d.EncodeType(d.PrimaryType)); got != v.EncodeType {
			t.Errorf("%s: type %s", v.ID, got)
		}
		if got := d.TypeHash(d.PrimaryType); !bytes.Equal(got, v.TypeHash[:]) {
			t.Errorf("%s: type hash %x", v.ID, got)
		}
		if got, err := d.HashStruct("EIP712Domain", d.Domain.Map()); err != nil || !bytes.Equal(got, v.DomainSeparator[:]) {
			t.Errorf("%s: domain %x, %v", v.ID, got, err)
		}
		if got, err := d.HashStruct(d.PrimaryType, d.Message); err != nil || !bytes.Equal(got, v.StructHash[:]) {
			t.Errorf("%s: struct hash %x, %v", v.ID, got, err)
		}
		digest, _, err := apitypes.TypedDataAndHash(d)
		if err != nil || !bytes.Equal(digest, v.Digest[:]) {
			t.Errorf("%s: digest %x, %v", v.ID, digest, err)
		}
		signature, err := crypto.Sign(digest, key)
		if err != nil {
			t.Fatal(err)
		}
		if signature[64] += 27; !bytes.Equal(signature, v.Signature) || v.Signer != all.Address {
			t.Errorf("%s: signature %x", v.ID, signature)
		}
	}
}

// signable has the terms under which a vector is an order of ours. The others are never
// signed, for the reason given.
var signable = map[string]struct {
	terms   func(*swap.Terms)
	refused swap.Code
}{
	"jam_v2_standard_5330": {terms: func(t *swap.Terms) {
		t.SrcChain, t.TokenIn, t.TokenOut = 5330, common.HexToAddress("0xC316C8252B5F2176d0135Ebb0999E99296998F2e"), common.HexToAddress("0x4200000000000000000000000000000000000006")
		t.AmountIn, t.MinOut = big.NewInt(100_000_000), big.NewInt(50374621346021720)
		t.FeeBps, t.FeeReceiver = 40, common.HexToAddress("0xbEEF")
	}},
	"jam_v2_standard_1_native_out":   {terms: func(t *swap.Terms) { t.TokenOut, t.MinOut = nativeCoin, big.NewInt(506973589694696809) }},
	"pmm_v3_single_1":                {terms: func(t *swap.Terms) { t.MinOut = big.NewInt(504765657558485082) }},
	"jam_v2_permit2_witness_10":      {refused: swap.Undecodable},
	"pmm_v3_multi_8453":              {refused: swap.Undecodable},
	"pmm_v3_aggregate_42161":         {refused: swap.Undecodable},
	"permit2_allowance_batch_1":      {refused: swap.Undecodable},
	"blend_single_permit2_witness_1": {refused: swap.Undecodable},
}

// vectorTerms are terms of the vectors' account: 1000 USDC for WETH on chain 1.
func vectorTerms(v vectors) swap.Terms {
	return swap.Terms{
		Provider: swap.Gasless, Account: v.Address, Recipient: v.Address, RefundTo: v.Address, SrcChain: 1, DstChain: 1,
		TokenIn: common.HexToAddress("0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"), TokenOut: common.HexToAddress("0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2"),
		AmountIn: big.NewInt(1_000_000_000), MinOut: big.NewInt(1), Deadline: testNow.Add(testLife), GasCeiling: big.NewInt(1e18),
	}
}

// TestVectorsAsOrders: the order built here from a vector's values equals the vector, and
// the vectors of other forms are refused.
func TestVectorsAsOrders(t *testing.T) {
	all := readVectors(t)
	for _, v := range all.Vectors {
		want, ok := signable[v.ID]
		if !ok {
			t.Errorf("%s: nobody says whether it is signed", v.ID)
			continue
		}
		terms := vectorTerms(all)
		if chainID := (*big.Int)(v.TypedData.Domain.ChainId).Uint64(); want.terms == nil {
			terms.SrcChain = chainID
		} else {
			want.terms(&terms)
		}
		terms.DstChain = terms.SrcChain
		o, err := decodeTyped(terms, v.TypedData)
		if want.refused != "" {
			if !errors.Is(err, &swap.Refusal{Code: want.refused}) {
				t.Errorf("%s: %v", v.ID, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", v.ID, err)
			continue
		}
		digest, _, err := apitypes.TypedDataAndHash(o.typedData())
		if err != nil || !bytes.Equal(digest, v.Digest[:]) {
			t.Errorf("%s: what is built here hashes to %x, %v", v.ID, digest, err)
		}
		if err := swap.Check(terms, []swap.Effect{o.effect(terms)}, (&Provider{}).Pins()); err != nil {
			t.Errorf("%s: %v", v.ID, err)
		}
	}
	if len(signable) != len(all.Vectors) {
		t.Errorf("%d verdicts on %d vectors", len(signable), len(all.Vectors))
	}
}

func TestVectorsOfFees(t *testing.T) {
	all := readVectors(t)
	if len(all.PartnerInfo) == 0 {
		t.Fatal("no vectors")
	}
	for _, v := range all.PartnerInfo {
		packed, ok := new(big.Int).SetString(v.Packed, 10)
		if !ok {
			t.Fatal(v.Packed)
		}
		if f := unpack(packed); f.partner != v.Address || f.partnerBps != v.PartnerBps || f.protocolBps != v.ProtocolBps || f.rest.Sign() != 0 {
			t.Errorf("%s unpacks to %+v", v.Packed, f)
		}
	}
	if f := unpack(new(big.Int).Lsh(big.NewInt(1), 192)); f.rest.Sign() == 0 || f.partner != (common.Address{}) {
		t.Errorf("bits above the address are read as %+v", f)
	}
}

func TestPinsAreTheVectors(t *testing.T) {
	a := readVectors(t).Addresses
	if a.JamSettlement != jamSettlement || a.JamBalanceManager != balanceManager || a.PmmSettlement != rfqSettlement || a.Permit2 != permit2 {
		t.Error("a pinned contract is not that of the vectors")
	}
	pins := (&Provider{}).Pins()
	for _, id := range swap.SupportedChains() {
		active := swap.SupportOf(swap.Gasless, id).Support == swap.Active
		if pins.Allows(id, swap.Settlement, jamSettlement) != active || pins.Allows(id, swap.Spender, balanceManager) != active {
			t.Errorf("chain %d: JAM is pinned and the provider not active, or the other way round", id)
		}
		if pins.Allows(id, swap.Settlement, rfqSettlement) != (active && id != 5330) {
			t.Errorf("chain %d: RFQ is pinned where it is not used, or the other way round", id)
		}
		if pins.Allows(id, swap.Spender, jamSettlement) {
			t.Errorf("chain %d: JAM's settlement may be approved", id)
		}
		if n := len(pins.Addresses(id, swap.Wrapper)); active != (n == 1) {
			t.Errorf("chain %d: %d wrapped coins", id, n)
		}
	}
	if jamFilledTopic.Hex()[:10] != firstTopics[0] || rfqFilledTopic.Hex()[:10] != firstTopics[1] {
		t.Errorf("topics %s and %s", jamFilledTopic, rfqFilledTopic)
	}
}

// firstTopics are the first bytes of the events' topics as they appear on the chain.
var firstTopics = []string{"0x9659aee6", "0xadd7095b"}
