package providertest

import (
	"crypto/ecdsa"
	"math/big"

	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"
)

// SignTyped signs typed data with the key: 65 bytes, the last of which is 27 or 28.
func SignTyped(key *ecdsa.PrivateKey, d apitypes.TypedData) ([]byte, error) {
	hash, _, err := apitypes.TypedDataAndHash(d)
	if err != nil {
		return nil, err
	}
	signature, err := crypto.Sign(hash, key)
	if err == nil {
		signature[64] += 27
	}
	return signature, err
}

// Wei parses an amount in base units; it panics if s is not a number.
func Wei(s string) *big.Int {
	n, ok := new(big.Int).SetString(s, 10)
	if !ok {
		panic("not a number: " + s)
	}
	return n
}
