package keys

import (
	"crypto/rand"
	"crypto/sha256"
	"errors"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
)

// signHash signs a 32-byte hash and returns r, s, and v as 0 or 1. It is ECDSA with the
// deterministic nonce of RFC 6979 and the smaller s, bit for bit what the libraries
// produce. In the libraries the time of a signature depends on its nonce, and nonces
// reveal the key.
func signHash(key secret, hash []byte) ([]byte, error) {
	if len(hash) != sha256.Size || !validKey(key) {
		return nil, errors.New("keys: not a key and a hash")
	}
	for n := uint32(0); ; n++ {
		k := nonce(key, hash, n)
		signature := signWith(key, hash, k)
		k.Zero()
		if signature != nil {
			return signature, nil
		}
	}
}

// nonce returns candidate n of RFC 6979, section 3.2, counted from 0.
func nonce(key secret, hash []byte, n uint32) *secp256k1.ModNScalar {
	var e secp256k1.ModNScalar
	e.SetByteSlice(hash)
	reduced := e.Bytes() // bits2octets, section 2.3.4
	return secp256k1.NonceRFC6979(key, reduced[:], nil, nil, n)
}

// signWith signs with one nonzero nonce (SEC 1, section 4.1.3), which it overwrites. It
// returns nil for an unusable nonce, which is one in 2^128.
func signWith(key secret, hash []byte, k *secp256k1.ModNScalar) []byte {
	var d, e, r, s secp256k1.ModNScalar
	defer d.Zero()
	point := basePoint(k)
	over := r.SetBytes(point.X.Bytes())
	d.SetByteSlice(key)
	e.SetByteSlice(hash)
	invert(k)
	s.Mul2(&d, &r).Add(&e).Mul(k)
	if r.IsZero() || s.IsZero() {
		return nil
	}
	v := byte(over)<<1 | byte(point.Y.IsOddBit())
	if s.IsOverHalfOrder() {
		s.Negate()
		v ^= 1
	}
	signature := make([]byte, 65)
	r.PutBytesUnchecked(signature[:32])
	s.PutBytesUnchecked(signature[32:64])
	signature[64] = v
	return signature
}

// invert replaces k by its inverse. The library's running time depends on its argument,
// so it only sees k times a random number.
func invert(k *secp256k1.ModNScalar) {
	var blind secp256k1.ModNScalar
	defer blind.Zero()
	draw(&blind)
	k.Mul(&blind).InverseNonConst().Mul(&blind)
}

// basePoint returns k times the base point, in affine coordinates. The library's running
// time depends on the scalar, so it only sees a random scalar and k minus that.
func basePoint(k *secp256k1.ModNScalar) (point secp256k1.JacobianPoint) {
	var random, rest secp256k1.ModNScalar
	defer random.Zero()
	defer rest.Zero()
	draw(&random)
	rest.NegateVal(&random).Add(k)
	var one, other secp256k1.JacobianPoint
	secp256k1.ScalarBaseMultNonConst(&random, &one)
	secp256k1.ScalarBaseMultNonConst(&rest, &other)
	secp256k1.AddNonConst(&one, &other, &point)
	point.ToAffine()
	return point
}

// draw sets k to a random nonzero scalar.
func draw(k *secp256k1.ModNScalar) {
	random := make(secret, sha256.Size)
	defer random.zero()
	for overflow := true; overflow || k.IsZero(); {
		_, _ = rand.Read(random) // never fails
		overflow = k.SetByteSlice(random)
	}
}
