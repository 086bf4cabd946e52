package dex

import (
	"crypto/ecdsa"
	"encoding/json"
	"math/big"
	"reflect"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"
)

// sandboxProvider reads and decodes as in the sandbox. It has no client.
var sandboxProvider = &Provider{cosigner: sandboxCosigner}

// publicCosignerKey is the published test mnemonic's key at m/44'/60'/0'/0/9001.
const publicCosignerKey = "f6de565fccc4f8bd889962a460f6e36921233cff0eaf14ab2e56134f93f8d38e" // public test key

// cosignerKey returns the sandbox cosigner's key.
func cosignerKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := crypto.HexToECDSA(publicCosignerKey)
	if err != nil || crypto.PubkeyToAddress(key.PublicKey) != sandboxCosigner {
		t.Fatal("not the sandbox cosigner's key", err)
	}
	return key
}

// encodeOrder encodes an order with the cosigner's data; nil means zeros. It shares only
// the types with the decoder.
func encodeOrder(t testing.TB, o dutchOrder, added values, cosignature []byte) []byte {
	t.Helper()
	v := o.witness()
	if added == nil {
		added = values{"outputAmounts": []any{new(big.Int)}}
		for _, m := range o.kind.cosigned {
			if m.Type == "address" {
				added[m.Name] = nativeCoin
			} else if m.Type == "uint256" {
				added[m.Name] = new(big.Int)
			}
		}
	}
	v["cosignerData"], v["cosignature"] = added, append([]byte{}, cosignature...)
	raw, err := o.kind.encoded.whole.Pack(filled(o.kind.encoded.types, cosignedOrder, o.kind.encoded.whole[0].Type.GetType(), v).Interface())
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// filled returns the Go value that the abi package needs for a type.
func filled(types apitypes.Types, kind string, typ reflect.Type, v any) reflect.Value {
	out := reflect.New(typ).Elem()
	switch of, array := strings.CutSuffix(kind, "[]"); {
	case array:
		for _, e := range v.([]any) {
			out = reflect.Append(out, filled(types, of, typ.Elem(), e))
		}
	case types[kind] != nil:
		for _, m := range types[kind] {
			f := out.FieldByName(abi.ToCamelCase(m.Name))
			f.Set(filled(types, m.Type, f.Type(), v.(values)[m.Name]))
		}
	default:
		out.Set(reflect.ValueOf(v))
	}
	return out
}

// cosign encodes an order as the cosigner passes it on.
func cosign(t testing.TB, o dutchOrder, chainID uint64, key *ecdsa.PrivateKey, added values) []byte {
	t.Helper()
	e, err := o.kind.decode(encodeOrder(t, o, added, nil))
	if err != nil {
		t.Fatal(err)
	}
	signature, err := crypto.Sign(e.cosigned(chainID), key)
	if err != nil {
		t.Fatal(err)
	}
	signature[64] += 27
	return encodeOrder(t, o, added, signature)
}

// consistent puts an order into every place of a quote where it appears, like a service
// that lies consistently.
func consistent(t testing.TB, reply map[string]any, o dutchOrder) {
	t.Helper()
	reply["routing"] = o.kind.routing
	reply["permitData"].(map[string]any)["values"] = o.permit().message()
	quote := at(reply, "quote")
	quote["orderId"], quote["encodedOrder"] = o.hash().Hex(), hexutil.Encode(encodeOrder(t, o, nil, nil))
	quote["orderInfo"] = o.witness().message()
}

// recordedOrder returns the order of a recorded quote.
func recordedOrder(t testing.TB, name string) dutchOrder {
	t.Helper()
	var e envelope
	if err := json.Unmarshal(fixture(t, name), &e); err != nil {
		t.Fatal(err)
	}
	k, chainID := dutchV3, uint64(8453)
	if e.Routing == dutchV2.routing {
		k, chainID = dutchV2, 1
	}
	if strings.HasPrefix(name, "arbitrum") {
		chainID = 42161
	}
	o, err := (orderTerms{chain: chainID, kind: k}).readOrder(e.PermitData)
	if err != nil {
		t.Fatal(err)
	}
	return o
}
