package dex

import (
	"bytes"
	"math/big"
	"reflect"

	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
)

// maxEncoded is twice what UniswapX's order service takes.
const maxEncoded = 4000

// An encodedOrder is an order as the reactor gets it: with what the cosigner added,
// or with zeros in its place.
type encodedOrder struct {
	dutchOrder
	cosigning
	cosignature []byte
	added       []byte // the cosigner's data in its own encoding
}

// decode reads an encoded order, of which no byte may be left unread.
func (k *auctionKind) decode(raw []byte) (encodedOrder, error) {
	if len(raw) > maxEncoded {
		return encodedOrder{}, refuse(swap.ProviderGarbage, "encodedOrder", "an encoded order of %d bytes", len(raw))
	}
	vals, err := strictly(k.encoded.whole, raw)
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

// is wants the encoding to be that of an order, whatever the cosigner added.
func (e encodedOrder) is(o dutchOrder) error {
	if !e.witness().same(o.witness()) {
		return refuse(swap.NotAsAccepted, "encodedOrder", "the encoded order is another one than the one to be signed")
	}
	return nil
}

// unsound says what is wrong with what the cosigner added; "" for nothing, and of an
// order that is not cosigned. The reactor refuses the same, so it is a reason why
// such an order will not be filled, and no proof of anything.
func (e encodedOrder) unsound(chainID uint64) string {
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

// signer recovers who cosigned.
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

// cosigned is what the cosigner signs, without a prefix of any sort.
func (e encodedOrder) cosigned(chainID uint64) []byte {
	hash := e.hash()
	if e.kind.namesChain {
		return crypto.Keccak256(hash[:], common.BigToHash(new(big.Int).SetUint64(chainID)).Bytes(), e.added)
	}
	return crypto.Keccak256(hash[:], e.added)
}
