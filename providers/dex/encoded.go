package dex

import (
	"bytes"
	"math/big"
	"reflect"

	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
)

// maxEncoded, in bytes, is twice what UniswapX's order service accepts.
const maxEncoded = 4000

// An encodedOrder is an order as the reactor gets it: with the cosigner's data, or with
// zeros in its place.
type encodedOrder struct {
	dutchOrder
	cosigning
	cosignature []byte
	added       []byte // the cosigner's data, ABI-encoded
}

// decode reads an encoded order and refuses bytes that it does not read.
func (k *auctionKind) decode(raw []byte) (encodedOrder, error) {
	if len(raw) > maxEncoded {
		return encodedOrder{}, refuse(swap.ProviderInvalidResponse, "encodedOrder", "an encoded order of %d bytes", len(raw))
	}
	vals, err := unpackStrict(k.encoded.whole, raw)
	if err != nil {
		return encodedOrder{}, garbage("encodedOrder", err)
	}
	whole := reflect.ValueOf(vals[0])
	v := decoded(k.encoded.types, cosignedOrder, whole)
	added, err := k.encoded.added.Pack(whole.FieldByName("CosignerData").Interface())
	if err != nil {
		return encodedOrder{}, garbage("encodedOrder", err)
	}
	return encodedOrder{
		dutchOrder: orderOf(k, v), cosigning: cosigningOf(v["cosignerData"].(values)),
		cosignature: v["cosignature"].([]byte), added: added,
	}, nil
}

// checkIs requires the encoding to be of the order, whatever the cosigner's data are.
func (e encodedOrder) checkIs(o dutchOrder) error {
	if !e.witness().same(o.witness()) {
		return refuse(swap.NotAsAccepted, "encodedOrder", "the encoded order is another one than the one to be signed")
	}
	return nil
}

// cosignerFault says what is wrong with the cosigner's data; "" if nothing is, or if the order is
// not cosigned. The reactor makes the same checks, so a reason explains why the order will
// not be filled, and proves nothing.
func (e encodedOrder) cosignerFault(chainID uint64) string {
	if len(e.cosignature) == 0 {
		return ""
	}
	by, ok := e.signer(chainID)
	switch {
	case !ok || by != e.cosigner:
		return "its cosigner did not sign it"
	case e.cosigning.input.Cmp(e.dutchOrder.input.start) > 0:
		return "it takes more of the input than was signed"
	case len(e.cosigning.outputs) != len(e.dutchOrder.outputs):
		return "it has another number of outputs than was signed"
	}
	for i, n := range e.cosigning.outputs {
		if n.Sign() != 0 && n.Cmp(e.dutchOrder.outputs[i].start) < 0 {
			return "it pays less of an output than was signed"
		}
	}
	return ""
}

// signer recovers the address that cosigned.
func (e encodedOrder) signer(chainID uint64) (common.Address, bool) {
	signature := bytes.Clone(e.cosignature)
	if len(signature) != signatureLen || signature[signatureLen-1] < 27 {
		return common.Address{}, false
	}
	signature[signatureLen-1] -= 27
	key, err := crypto.SigToPub(e.cosigned(chainID), signature)
	if err != nil {
		return common.Address{}, false
	}
	return crypto.PubkeyToAddress(*key), true
}

// cosigned returns the digest that the cosigner signs, without any prefix.
func (e encodedOrder) cosigned(chainID uint64) []byte {
	hash := e.hash()
	if e.kind.namesChain {
		return crypto.Keccak256(hash[:], common.BigToHash(new(big.Int).SetUint64(chainID)).Bytes(), e.added)
	}
	return crypto.Keccak256(hash[:], e.added)
}
