package keys

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"hash"
	"math/bits"
)

// pbkdf2Key is PBKDF2 (RFC 8018, 5.2). The library takes the password as a string, which
// cannot be wiped.
func pbkdf2Key(sum func() hash.Hash, password, salt []byte, rounds, size int) secret {
	m := newMAC(sum, password)
	defer m.zero()
	n := m.inner.Size()
	out := make(secret, 0, (size+n-1)/n*n) // capacity for whole blocks, so that append leaves no copy behind
	for i := uint32(1); len(out) < size; i++ {
		block := m.sum(nil, salt, binary.BigEndian.AppendUint32(nil, i))
		out = append(out, block...)
		for range rounds - 1 {
			block = m.sum(block[:0], block)
			subtle.XORBytes(out[len(out)-n:], out[len(out)-n:], block)
		}
		block.zero()
	}
	return out[:size]
}

// scryptKey is scrypt (RFC 7914). It is implemented here for the same reason. The caller
// has checked the parameters.
func scryptKey(password, salt []byte, n, r, p, size int) secret {
	b := pbkdf2Key(sha256.New, password, salt, 1, p*128*r)
	defer b.zero()
	m := mixer{r: r, x: make([]uint32, 32*r), y: make([]uint32, 32*r), v: make([]uint32, 32*r*n)}
	for i := range p {
		m.mix(b[i*128*r:(i+1)*128*r], n)
	}
	clear(m.x)
	clear(m.y)
	clear(m.v)
	return pbkdf2Key(sha256.New, password, b, 1, size)
}

// A mixer holds the memory of scryptROMix (RFC 7914, section 5).
type mixer struct {
	r       int
	x, y, v []uint32
}

func (m *mixer) mix(b []byte, n int) {
	size := len(m.x)
	for i := range m.x {
		m.x[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	for i := range n {
		copy(m.v[i*size:], m.x)
		m.blocks()
	}
	for range n {
		j := int(m.x[size-16]) & (n - 1) // n is a power of two below 2^32
		for i, w := range m.v[j*size : (j+1)*size] {
			m.x[i] ^= w
		}
		m.blocks()
	}
	for i, w := range m.x {
		binary.LittleEndian.PutUint32(b[4*i:], w)
	}
}

// blocks applies scryptBlockMix (section 4) to x.
func (m *mixer) blocks() {
	t := [16]uint32(m.x[len(m.x)-16:])
	for i := range 2 * m.r {
		for k, w := range m.x[16*i : 16*i+16] {
			t[k] ^= w
		}
		salsa(&t)
		copy(m.y[16*(i/2+i%2*m.r):], t[:])
	}
	m.x, m.y = m.y, m.x
}

// salsa is the Salsa20/8 core (section 3): four double rounds, over columns and then over
// rows.
func salsa(b *[16]uint32) {
	x0, x1, x2, x3, x4, x5, x6, x7 := b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]
	x8, x9, x10, x11, x12, x13, x14, x15 := b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]
	for range 4 {
		x0, x4, x8, x12 = quarter(x0, x4, x8, x12)
		x5, x9, x13, x1 = quarter(x5, x9, x13, x1)
		x10, x14, x2, x6 = quarter(x10, x14, x2, x6)
		x15, x3, x7, x11 = quarter(x15, x3, x7, x11)
		x0, x1, x2, x3 = quarter(x0, x1, x2, x3)
		x5, x6, x7, x4 = quarter(x5, x6, x7, x4)
		x10, x11, x8, x9 = quarter(x10, x11, x8, x9)
		x15, x12, x13, x14 = quarter(x15, x12, x13, x14)
	}
	for i, w := range [16]uint32{x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15} {
		b[i] += w
	}
}

func quarter(a, b, c, d uint32) (uint32, uint32, uint32, uint32) {
	b ^= bits.RotateLeft32(a+d, 7)
	c ^= bits.RotateLeft32(b+a, 9)
	d ^= bits.RotateLeft32(c+b, 13)
	a ^= bits.RotateLeft32(d+c, 18)
	return a, b, c, d
}
