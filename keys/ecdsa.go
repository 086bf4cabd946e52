package keys

import (
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"slices"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
)

// signHash signs a 32-byte hash and returns r, s, and v as 0 or 1. It is ECDSA with the
// deterministic nonce of RFC 6979 and the smaller s, bit for bit what the libraries
// produce. The libraries leave key and nonce in memory, and the nonce of a signature
// reveals the key.
func signHash(key secret, hash []byte) ([]byte, error) {
	if len(hash) != sha256.Size || !validKey(key) {
		return nil, errors.New("keys: not a key and a hash")
	}
	n := newNonces(key, hash)
	defer n.zero()
	for {
		if signature := signWith(key, hash, n.next()); signature != nil {
			return signature, nil
		}
	}
}

// signWith signs with one nonce (SEC 1, section 4.1.3). It returns nil for an unusable
// nonce, which is one in 2^128.
func signWith(key secret, hash []byte, nonce secret) []byte {
	var d, k, e, r, s secp256k1.ModNScalar
	defer d.Zero()
	defer k.Zero()
	if overflow := k.SetByteSlice(nonce); overflow || k.IsZero() {
		return nil
	}
	point := basePoint(&k)
	over := r.SetBytes(point.X.Bytes())
	d.SetByteSlice(key)
	e.SetByteSlice(hash)
	invert(&k)
	s.Mul2(&d, &r).Add(&e).Mul(&k)
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

// invert replaces k by its inverse. The library uses big integers that cannot be wiped,
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

// nonces generates the nonce candidates of RFC 6979, section 3.2, for one key and hash.
type nonces struct {
	k, v  secret
	tried bool // the last candidate was unusable
}

func newNonces(key secret, hash []byte) *nonces {
	var e secp256k1.ModNScalar
	e.SetByteSlice(hash)
	reduced := e.Bytes() // bits2octets, section 2.3.4
	n := &nonces{k: make(secret, sha256.Size), v: slices.Repeat(secret{1}, sha256.Size)}
	n.mix([]byte{0}, key, reduced[:])
	n.mix([]byte{1}, key, reduced[:])
	return n
}

// mix performs steps d and e, or f and g, of that section, or the update in step h.3.
func (n *nonces) mix(parts ...[]byte) {
	n.become(macOnce(sha256.New, n.k, append([][]byte{n.v}, parts...)...), n.v)
	n.become(n.k, macOnce(sha256.New, n.k, n.v))
}

// become stores k and v and wipes the previous values.
func (n *nonces) become(k, v secret) {
	if &k[0] != &n.k[0] {
		n.k.zero()
	}
	if &v[0] != &n.v[0] {
		n.v.zero()
	}
	n.k, n.v = k, v
}

// next returns the first candidate, or the one after an unusable candidate (step h).
func (n *nonces) next() secret {
	if n.tried {
		n.mix([]byte{0})
	}
	n.tried = true
	n.become(n.k, macOnce(sha256.New, n.k, n.v))
	return n.v
}

func (n *nonces) zero() {
	n.k.zero()
	n.v.zero()
}
