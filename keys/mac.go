package keys

import (
	"hash"
)

// A mac is HMAC (RFC 2104) whose key and messages can be wiped. The standard library's
// HMAC keeps both in unreachable memory until that is reused.
type mac struct {
	inner, outer hash.Hash
	ipad, opad   secret
}

// newMAC returns a mac for key. The caller wipes it with zero.
func newMAC(sum func() hash.Hash, key []byte) *mac {
	m := &mac{inner: sum(), outer: sum()}
	m.ipad, m.opad = make(secret, m.inner.BlockSize()), make(secret, m.inner.BlockSize())
	if len(key) > len(m.ipad) {
		m.inner.Write(key)
		copy(m.ipad, m.inner.Sum(m.opad[:0]))
	} else {
		copy(m.ipad, key)
	}
	for i, b := range m.ipad {
		m.ipad[i], m.opad[i] = b^0x36, b^0x5c
	}
	return m
}

// sum appends to out the authentication code over the concatenated parts. out may alias
// one of them that is at least as long as the code.
func (m *mac) sum(out []byte, parts ...[]byte) secret {
	m.inner.Reset()
	m.inner.Write(m.ipad)
	for _, p := range parts {
		m.inner.Write(p)
	}
	out = m.inner.Sum(out)
	n := len(out) - m.inner.Size()
	m.outer.Reset()
	m.outer.Write(m.opad)
	m.outer.Write(out[n:])
	return m.outer.Sum(out[:n])
}

func (m *mac) zero() {
	wipe(m.inner)
	wipe(m.outer)
	m.ipad.zero()
	m.opad.zero()
}

// macOnce returns the authentication code over parts with a mac that is wiped afterwards.
func macOnce(sum func() hash.Hash, key []byte, parts ...[]byte) secret {
	m := newMAC(sum, key)
	defer m.zero()
	return m.sum(nil, parts...)
}
