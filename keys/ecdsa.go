package keys

import (
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"slices"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
)

// signHash signs a 32-byte hash: r, s, and v as 0 or 1. It is ECDSA with the
// deterministic nonce of RFC 6979 and the smaller s, the same to the bit as what
// the libraries make; but those leave key and nonce in memory, and whoever has
// the nonce of a signature has the key.
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

// signWith signs with one nonce (SEC 1, section 4.1.3). It returns nil for a
// nonce that does not serve, one in 2^128.
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

// invert replaces k by its inverse. The library does it with big numbers that
// cannot be wiped, so it gets to see k times a random number only.
func invert(k *secp256k1.ModNScalar) {
	var blind secp256k1.ModNScalar
	defer blind.Zero()
	draw(&blind)
	k.Mul(&blind).InverseNonConst().Mul(&blind)
}

// basePoint is k times the base point, by its coordinates. How long the library takes
// depends on the number, so it gets to see a random one and what then is left to k.
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

// draw sets k to a random number other than zero.
func draw(k *secp256k1.ModNScalar) {
	random := make(secret, sha256.Size)
	defer random.zero()
	for overflow := true; overflow || k.IsZero(); {
		_, _ = rand.Read(random) // never fails
		overflow = k.SetByteSlice(random)
	}
}

// nonces are the candidates of RFC 6979, section 3.2, for one key and hash.
type nonces struct {
	k, v  secret
	tried bool // the last candidate did not serve
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

// mix is steps d and e, or f and g, of the section, or what h.3 begins with.
func (n *nonces) mix(parts ...[]byte) {
	n.become(macOnce(sha256.New, n.k, append([][]byte{n.v}, parts...)...), n.v)
	n.become(n.k, macOnce(sha256.New, n.k, n.v))
}

// become takes k and v, and wipes what they were.
func (n *nonces) become(k, v secret) {
	if &k[0] != &n.k[0] {
		n.k.zero()
	}
	if &v[0] != &n.v[0] {
		n.v.zero()
	}
	n.k, n.v = k, v
}

// next is the first candidate, or the next after one that did not serve (step h).
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
