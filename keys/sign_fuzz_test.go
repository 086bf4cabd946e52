package keys_test

import (
	"encoding/json"
	"math/big"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"

	"swapkeep/keys"
)

// FuzzSignTypedData checks that typed data is either refused or signed for one chain and
// one contract by the given account.
func FuzzSignTypedData(f *testing.F) {
	for _, c := range permits(f) {
		text, err := json.Marshal(c.typedData())
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	for _, s := range []string{
		`{}`, `null`, `{"types":{"EIP712Domain":[]},"primaryType":"EIP712Domain","domain":{},"message":{}}`,
		`{"types":{"EIP712Domain":[{"name":"chainId","type":"uint256"},{"name":"verifyingContract","type":"address"}],"A":[{"name":"a","type":"A[]"}]},` +
			`"primaryType":"A","domain":{"chainId":1,"verifyingContract":"0x000000000022D473030F116dDEE9F6B43aC78BA3"},"message":{"a":[{"a":[]}]}}`,
	} {
		f.Add([]byte(s))
	}
	b, from := testVault(f), common.HexToAddress(testAccount)
	f.Fuzz(func(t *testing.T, text []byte) {
		var d apitypes.TypedData
		if json.Unmarshal(text, &d) != nil {
			return
		}
		signature, err := b.SignTypedData(t.Context(), from, d)
		if err != nil {
			wantErr(t, string(text), err, keys.ErrTypedData)
			return
		}
		if id := (*big.Int)(d.Domain.ChainId); id == nil || id.Sign() <= 0 || common.HexToAddress(d.Domain.VerifyingContract) == (common.Address{}) {
			t.Fatalf("signed for any chain or contract: %s", text)
		}
		hash, _, err := apitypes.TypedDataAndHash(d)
		if err != nil || len(signature) != crypto.SignatureLength {
			t.Fatalf("signed %x of %s: %v", signature, text, err)
		}
		signature[64] -= 27
		if signer, err := crypto.SigToPub(hash, signature); err != nil || crypto.PubkeyToAddress(*signer) != from {
			t.Fatalf("the signature of %s is not the account's: %v", text, err)
		}
	})
}
