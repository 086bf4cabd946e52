package keys

import (
	"bytes"
	"encoding/hex"
	"fmt"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
)

// parseKey parses a private key: 64 hex digits, with or without 0x.
func parseKey(text []byte) (secret, error) {
	digits := bytes.TrimSpace(text)
	if bytes.HasPrefix(digits, []byte("0x")) || bytes.HasPrefix(digits, []byte("0X")) {
		digits = digits[2:]
	}
	if len(digits) != 2*keySize {
		return nil, fmt.Errorf("%w: not 64 hex digits", ErrBadKey)
	}
	key := make(secret, keySize)
	if _, err := hex.Decode(key, digits); err != nil { // the library's error quotes a digit, so it is dropped
		key.zero()
		return nil, fmt.Errorf("%w: not 64 hex digits", ErrBadKey)
	}
	if !validKey(key) {
		key.zero()
		return nil, fmt.Errorf("%w: out of the curve's range", ErrBadKey)
	}
	return key, nil
}

// validKey reports whether key is a nonzero secp256k1 scalar.
func validKey(key secret) bool {
	var k secp256k1.ModNScalar
	defer k.Zero()
	return len(key) == keySize && !k.SetByteSlice(key) && !k.IsZero()
}

// encodePrivateKey encodes a private key as 0x and 64 hex digits.
func encodePrivateKey(key secret) secret {
	return hex.AppendEncode(append(make(secret, 0, 2+2*keySize), "0x"...), key)
}
