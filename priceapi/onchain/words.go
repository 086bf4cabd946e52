package onchain

import (
	"errors"
	"fmt"
	"math/big"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
)

// errShape means that an answer does not have the method's return type.
var errShape = errors.New("the contract does not answer as it should")

const word = 32

// selector returns the selector of a method signature.
func selector(signature string) [4]byte {
	return [4]byte(crypto.Keccak256([]byte(signature)))
}

// calldata encodes a call with one-word arguments: addresses and whole numbers.
func calldata(method [4]byte, args ...any) []byte {
	data := method[:]
	for _, a := range args {
		switch a := a.(type) {
		case common.Address:
			data = append(data, common.LeftPadBytes(a[:], word)...)
		case int64:
			data = append(data, common.LeftPadBytes(big.NewInt(a).Bytes(), word)...)
		}
	}
	return data
}

// words splits an answer of exactly n words into unsigned numbers.
func words(out []byte, n int) ([]*big.Int, error) {
	if len(out) != n*word {
		return nil, fmt.Errorf("%w: %d bytes, want %d", errShape, len(out), n*word)
	}
	ws := make([]*big.Int, n)
	for i := range ws {
		ws[i] = new(big.Int).SetBytes(out[i*word : (i+1)*word])
	}
	return ws, nil
}

// wordWithin decodes an answer of one word that must fit in the given bits.
func wordWithin(out []byte, bits int) (*big.Int, error) {
	ws, err := words(out, 1)
	if err != nil {
		return nil, err
	}
	return ws[0], within(ws[0], bits)
}

// within checks that w fits in the given bits.
func within(w *big.Int, bits int) error {
	if w.BitLen() > bits {
		return fmt.Errorf("%w: a number of %d bits, want %d", errShape, w.BitLen(), bits)
	}
	return nil
}

// signed decodes a word as a two's complement number of the given bits, sign-extended to
// the word.
func signed(w *big.Int, bits uint) (*big.Int, error) {
	n := new(big.Int).Set(w)
	if n.Bit(255) == 1 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), 256))
	}
	magnitude := new(big.Int).Set(n)
	if n.Sign() < 0 {
		magnitude.Not(n) // maps -1 to 0 and the lowest number to the highest
	}
	return n, within(magnitude, int(bits)-1)
}

// latestTime is the largest timestamp accepted: the end of the year 9999.
const latestTime = 253_402_300_799

// parseTime decodes a word as seconds since 1970; zero becomes the zero time.
func parseTime(w *big.Int) (time.Time, error) {
	if !w.IsInt64() || w.Int64() > latestTime {
		return time.Time{}, fmt.Errorf("%w: a time out of range", errShape)
	}
	if w.Sign() == 0 {
		return time.Time{}, nil
	}
	return time.Unix(w.Int64(), 0), nil
}

// addressOf decodes an answer of one address, which may be zero.
func addressOf(out []byte) (common.Address, error) {
	w, err := wordWithin(out, 160)
	if err != nil {
		return common.Address{}, err
	}
	return common.BigToAddress(w), nil
}

// arrayOf decodes an answer of one array of n words.
func arrayOf(out []byte, n int) ([]*big.Int, error) {
	ws, err := words(out, 2+n)
	if err != nil {
		return nil, err
	}
	if ws[0].Cmp(big.NewInt(word)) != 0 || ws[1].Cmp(big.NewInt(int64(n))) != 0 {
		return nil, fmt.Errorf("%w: an array of another length", errShape)
	}
	return ws[2:], nil
}

func pow10(n uint8) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
}
