package keys

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
	_ "embed"
	"fmt"
	"strings"
	"sync"

	"golang.org/x/crypto/pbkdf2"
)

// english is the BIP-39 English word list, one word per line.
//
//go:embed english.txt
var english string

const (
	wordBits   = 11
	seedRounds = 2048 // BIP-39: PBKDF2-HMAC-SHA512, 2048 rounds, 64 bytes
)

var words = sync.OnceValue(func() []string { return strings.Fields(english) })

var wordIndex = sync.OnceValue(func() map[string]int {
	index := make(map[string]int, len(words()))
	for i, w := range words() {
		index[w] = i
	}
	return index
})

// newEntropy returns random entropy for a mnemonic of 12 or 24 words.
func newEntropy(count int) (secret, error) {
	if count != 12 && count != 24 {
		return nil, fmt.Errorf("%w, not %d", ErrWordCount, count)
	}
	entropy := make(secret, count/3*4)
	_, err := rand.Read(entropy)
	return entropy, err
}

// mnemonic encodes entropy of 16 to 32 bytes as words, with the checksum.
func mnemonic(entropy secret) secret {
	sum := sha256.Sum256(entropy)
	bits := append(append(make(secret, 0, len(entropy)+1), entropy...), sum[0])
	defer bits.zero()
	count := len(entropy) / 4 * 3
	out := make(secret, 0, count*9) // the longest word has 8 letters
	for i := range count {
		if i > 0 {
			out = append(out, ' ')
		}
		out = append(out, words()[bitsAt(bits, i*wordBits)]...)
	}
	return out
}

// bitsAt reads the 11 bits that start at bit position at.
func bitsAt(b []byte, at int) int {
	n := 0
	for i := at; i < at+wordBits; i++ {
		n = n<<1 | int(b[i/8]>>(7-i%8)&1)
	}
	return n
}

// parseMnemonic returns the entropy of 12, 15, 18, 21 or 24 English words in any case and
// spacing. Its errors give a word's position, never the word.
func parseMnemonic(text []byte) (secret, error) {
	lower := bytes.ToLower(text)
	defer clear(lower)
	fields := bytes.Fields(lower)
	if n := len(fields); n < 12 || n > 24 || n%3 != 0 {
		return nil, fmt.Errorf("%w: %d words", ErrBadMnemonic, n)
	}
	bits := make(secret, 33)
	defer bits.zero()
	for i, f := range fields {
		index, ok := wordIndex()[string(f)]
		if !ok {
			return nil, fmt.Errorf("%w: word %d is not in the list", ErrBadMnemonic, i+1)
		}
		for k := range wordBits {
			at := i*wordBits + k
			bits[at/8] |= byte(index>>(wordBits-1-k)&1) << (7 - at%8)
		}
	}
	size := len(fields) / 3 * 4
	sum := sha256.Sum256(bits[:size])
	mask := byte(0xff) << (8 - size/4)
	if subtle.ConstantTimeByteEq(sum[0]&mask, bits[size]) != 1 {
		return nil, fmt.Errorf("%w: checksum does not match", ErrBadMnemonic)
	}
	return append(secret(nil), bits[:size]...), nil
}

// seed derives the 64-byte BIP-32 seed from a mnemonic.
func seed(words secret, passphrase string) secret {
	return pbkdf2.Key(words, []byte("mnemonic"+passphrase), seedRounds, sha512.Size, sha512.New)
}
