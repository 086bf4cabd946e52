package providertest

import (
	"crypto/ecdsa"
	"math/big"

	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"
)

// SignTyped signs typed data as an account with the key does: 65 bytes, the last 27
// or 28.
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

// Wei reads an amount that a test is written with, in base units; it panics on what
// is none.
func Wei(s string) *big.Int {
	n, ok := new(big.Int).SetString(s, 10)
	if !ok {
		panic("not a number: " + s)
	}
	return n
}
