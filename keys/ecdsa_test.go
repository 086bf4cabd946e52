package keys

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	"github.com/ethereum/go-ethereum/crypto"

	"swapkeep/internal/zeroize"
)

// TestSignAsTheLibrary compares signatures with go-ethereum's, bit for bit.
func TestSignAsTheLibrary(t *testing.T) {
	order, _ := hex.DecodeString("fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364140") // n-1
	one := append(make(secret, 31), 1)
	keys := []secret{one, order}
	hashes := [][]byte{make([]byte, 32), one, order, one}
	for range 300 {
		key, hash := make(secret, 32), make([]byte, 32)
		_, _ = rand.Read(key)
		_, _ = rand.Read(hash)
		keys, hashes = append(keys, key), append(hashes, hash)
	}
	recovery := map[byte]int{}
	for i, key := range keys {
		private, err := crypto.ToECDSA(key)
		if err != nil {
			t.Fatal(err)
		}
		for _, hash := range [][]byte{hashes[i], hashes[(i+2)%len(hashes)]} {
			want, err := crypto.Sign(hash, private)
			if err != nil {
				t.Fatal(err)
			}
			got, err := signHash(key, hash)
			if err != nil || !bytes.Equal(got, want) {
				t.Fatalf("key %d: %x, %v; want %x", i, got, err, want)
			}
			recovery[got[64]]++
		}
	}
	if recovery[0] < 100 || recovery[1] < 100 {
		t.Errorf("recovery ids %v", recovery)
	}
	// A hash above the order is reduced (RFC 6979, 2.3.4), as libsecp256k1 does.
	high, err := signHash(order, bytes.Repeat([]byte{0xff}, 32))
	if want := "a7f83b5963eaf5332c633327cc967be8f4166d3f1e0b77f9761d8f4e42211e9a58aae31be1eb1e496923bbe8ca5e843cfb89f4d986d61d4edfd7d6fc3c9cf62c00"; err != nil || hex.EncodeToString(high) != want {
		t.Errorf("a high hash: %x, %v", high, err)
	}
	for _, bad := range []struct{ key, hash []byte }{{one, one[1:]}, {make([]byte, 32), one}, {bytes.Repeat([]byte{0xff}, 32), one}, {one[1:], one}} {
		if _, err := signHash(bad.key, bad.hash); err == nil {
			t.Errorf("%x signs %x", bad.key, bad.hash)
		}
	}
}

// TestNonces uses the vectors that implementations share (private key 1). RFC 6979, A.2.5
// has none for this curve. Those after the first (step h.3) were computed by another
// program.
func TestNonces(t *testing.T) {
	for message, candidates := range map[string][]string{
		"Satoshi Nakamoto": {
			"8f8a276c19f4149656b280621e358cce24f5f52542772691ee69063b74f15d15",
			"f15fb763a6bcbbacbde0a6a9ae2a02482bd92f3e75a50b357bd551ddd771045e",
			"872b0d837884b32fafbcc50e31a1d92ff5ec12c2db539d36b0a7e69c24ef9999",
		},
		"All those moments will be lost in time, like tears in rain. Time to die...": {"38aa22d72376b4dbc472e06c3ba403ee0a394da63fc58d88686c611aba98d6b3"},
	} {
		hash := sha256.Sum256([]byte(message))
		for n, want := range candidates {
			if got := nonce(append(make(secret, 31), 1), hash[:], uint32(n)).Bytes(); hex.EncodeToString(got[:]) != want {
				t.Errorf("%s: candidate %d is %x", message, n, got)
			}
		}
	}
}

// TestBasePoint checks that the random split of the scalar never changes the resulting
// point.
func TestBasePoint(t *testing.T) {
	order, _ := hex.DecodeString("fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364140") // n-1
	for _, number := range [][]byte{{1}, {2}, bytes.Repeat([]byte{3}, 20), bytes.Repeat([]byte{0xfe}, 32), order} {
		var k secp256k1.ModNScalar
		var want secp256k1.JacobianPoint
		k.SetByteSlice(number)
		secp256k1.ScalarBaseMultNonConst(&k, &want)
		want.ToAffine()
		for range 20 {
			if got := basePoint(&k); !got.X.Equals(&want.X) || !got.Y.Equals(&want.Y) {
				t.Fatalf("%x: %v, want %v", number, got, want)
			}
		}
	}
}

// TestZeroizedPanics checks that a panic in a shielded call reaches its caller.
func TestZeroizedPanics(t *testing.T) {
	defer func() {
		if p := recover(); p != "here" {
			t.Errorf("recovered %v", p)
		}
	}()
	_, _ = withZeroize(func() (int, error) { panic("here") })
}

func BenchmarkSign(b *testing.B) {
	key, hash := bytes.Repeat([]byte{7}, 32), bytes.Repeat([]byte{9}, 32)
	for name, sign := range map[string]func() ([]byte, error){
		"bare": func() ([]byte, error) { return signHash(key, hash) },
		"erased": func() (signature []byte, err error) {
			zeroize.Do(func() { signature, err = signHash(key, hash) })
			return signature, err
		},
		"library": func() ([]byte, error) {
			private, err := crypto.ToECDSA(key)
			if err != nil {
				return nil, err
			}
			return crypto.Sign(hash, private)
		},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := sign(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
