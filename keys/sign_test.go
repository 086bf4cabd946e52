package keys_test

import (
	"encoding/json"
	"math/big"
	"os"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/common/math"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"
	"github.com/holiman/uint256"

	"swapkeep/keys"
)

func chain(id int64) *big.Int { return big.NewInt(id) }

func transfer(id int64) *types.Transaction {
	return types.NewTx(&types.DynamicFeeTx{
		ChainID: chain(id), GasTipCap: chain(1), GasFeeCap: chain(2), Gas: 21000,
		To: &common.Address{1}, Value: chain(3),
	})
}

func testVault(t testing.TB) *bench {
	t.Helper()
	b := newBench(t, keys.Options{Sandbox: true})
	must[keys.Wallet](t)(b.ImportMnemonic(t.Context(), "Main", []byte(testMnemonic), password))
	b.unlock(t)
	return b
}

func TestSignTxForItsChainOnly(t *testing.T) {
	b, from := testVault(t), common.HexToAddress(testAccount)
	to := &common.Address{1}
	for name, tx := range map[string]*types.Transaction{
		"legacy":      types.NewTx(&types.LegacyTx{GasPrice: chain(1), Gas: 21000, To: to}),
		"access list": types.NewTx(&types.AccessListTx{ChainID: chain(8453), GasPrice: chain(1), Gas: 21000, To: to}),
		"fee market":  transfer(8453),
	} {
		signed, err := b.SignTx(t.Context(), from, tx, chain(8453))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		sender, err := types.Sender(types.LatestSignerForChainID(chain(8453)), signed)
		if err != nil || sender != from || signed.ChainId().Int64() != 8453 {
			t.Errorf("%s: sender %s on chain %s, %v", name, sender, signed.ChainId(), err)
		}
		again := must[*types.Transaction](t)(b.SignTx(t.Context(), from, tx, chain(8453)))
		if again.Hash() != signed.Hash() {
			t.Errorf("%s: signing twice gives two transactions", name)
		}
	}
	legacy := types.NewTx(&types.LegacyTx{GasPrice: chain(1), Gas: 21000, To: to})
	signedElsewhere := must[*types.Transaction](t)(b.SignTx(t.Context(), from, legacy, chain(1)))
	for name, c := range map[string]struct {
		tx   *types.Transaction
		id   *big.Int
		want error
	}{
		"other chain":                          {transfer(1), chain(8453), keys.ErrChainID},
		"no chain id in the transaction":       {transfer(0), chain(8453), keys.ErrChainID},
		"no chain id given":                    {transfer(1), nil, keys.ErrChainID},
		"chain 0":                              {transfer(0), chain(0), keys.ErrChainID},
		"negative chain":                       {transfer(1), chain(-1), keys.ErrChainID},
		"signed legacy":                        {signedElsewhere, chain(8453), keys.ErrChainID},
		"blobs":                                {types.NewTx(&types.BlobTx{ChainID: uint256.NewInt(1)}), chain(1), keys.ErrTransactionKind},
		"account's code":                       {types.NewTx(&types.SetCodeTx{ChainID: uint256.NewInt(1)}), chain(1), keys.ErrTransactionKind},
		"a wrong chain and an unknown account": {transfer(8453), chain(1), keys.ErrChainID},
	} {
		_, err := b.SignTx(t.Context(), from, c.tx, c.id)
		wantErr(t, name, err, c.want)
	}
}

type permitCase struct {
	Name, PrimaryType, Digest, Signer, Signature string
	Domain                                       struct {
		Name              string
		ChainID           int64 `json:"chainId"`
		VerifyingContract string
	}
	Types  apitypes.Types
	Values apitypes.TypedDataMessage
}

func permits(t testing.TB) []permitCase {
	t.Helper()
	text := must[[]byte](t)(os.ReadFile("testdata/permit_single.json"))
	var file struct{ Cases []permitCase }
	if err := json.Unmarshal(text, &file); err != nil || len(file.Cases) != 2 {
		t.Fatalf("%d cases, %v", len(file.Cases), err)
	}
	return file.Cases
}

func (c permitCase) typedData() apitypes.TypedData {
	c.Types["EIP712Domain"] = []apitypes.Type{
		{Name: "name", Type: "string"}, {Name: "chainId", Type: "uint256"}, {Name: "verifyingContract", Type: "address"},
	}
	return apitypes.TypedData{
		Types: c.Types, PrimaryType: c.PrimaryType, Message: c.Values,
		Domain: apitypes.TypedDataDomain{
			Name: c.Domain.Name, ChainId: math.NewHexOrDecimal256(c.Domain.ChainID), VerifyingContract: c.Domain.VerifyingContract,
		},
	}
}

func TestPermitSingleVectors(t *testing.T) {
	b := testVault(t)
	for _, c := range permits(t) {
		signature, err := b.SignTypedData(t.Context(), common.HexToAddress(c.Signer), c.typedData())
		if err != nil || hexutil.Encode(signature) != c.Signature {
			t.Errorf("%s: %x, %v", c.Name, signature, err)
		}
	}
}

func TestUnboundTypedDataIsRefused(t *testing.T) {
	b, from := testVault(t), common.HexToAddress(testAccount)
	for name, alter := range map[string]func(*apitypes.TypedData){
		"no chain id":                func(d *apitypes.TypedData) { d.Domain.ChainId = nil },
		"chain id 0":                 func(d *apitypes.TypedData) { d.Domain.ChainId = math.NewHexOrDecimal256(0) },
		"negative chain id":          func(d *apitypes.TypedData) { d.Domain.ChainId = math.NewHexOrDecimal256(-1) },
		"no contract":                func(d *apitypes.TypedData) { d.Domain.VerifyingContract = "" },
		"zero contract":              func(d *apitypes.TypedData) { d.Domain.VerifyingContract = common.Address{}.Hex() },
		"contract is not an address": func(d *apitypes.TypedData) { d.Domain.VerifyingContract = "0x1234" },
		"no domain type":             func(d *apitypes.TypedData) { delete(d.Types, "EIP712Domain") },
		"chain id not hashed":        func(d *apitypes.TypedData) { d.Types["EIP712Domain"] = d.Types["EIP712Domain"][2:] },
		"contract not hashed":        func(d *apitypes.TypedData) { d.Types["EIP712Domain"] = d.Types["EIP712Domain"][:2] },
		"chain id as other type":     func(d *apitypes.TypedData) { d.Types["EIP712Domain"][1].Type = "string" },
		"the domain as message":      func(d *apitypes.TypedData) { d.PrimaryType = "EIP712Domain" },
		"no primary type":            func(d *apitypes.TypedData) { d.PrimaryType = "" },
		"unknown primary type":       func(d *apitypes.TypedData) { d.PrimaryType = "Order" },
		"field beyond the type":      func(d *apitypes.TypedData) { d.Message["more"] = "1" },
		"field missing":              func(d *apitypes.TypedData) { delete(d.Message, "sigDeadline") },
		"amount out of its range":    func(d *apitypes.TypedData) { d.Message["sigDeadline"] = "-1" },
	} {
		d := permits(t)[0].typedData()
		alter(&d)
		_, err := b.SignTypedData(t.Context(), from, d)
		wantErr(t, name, err, keys.ErrTypedData)
	}
	b.Lock()
	_, err := b.SignTypedData(t.Context(), from, permits(t)[0].typedData())
	wantErr(t, "locked", err, keys.ErrLocked)
	b.unlock(t)
	_, err = b.SignTypedData(t.Context(), common.Address{9}, permits(t)[0].typedData())
	wantErr(t, "unknown account", err, keys.ErrUnknownAccount)
}

func BenchmarkSignPermit(b *testing.B) {
	v, c := testVault(b), permits(b)[0]
	d, from := c.typedData(), common.HexToAddress(c.Signer)
	for b.Loop() {
		if _, err := v.SignTypedData(b.Context(), from, d); err != nil {
			b.Fatal(err)
		}
	}
}
