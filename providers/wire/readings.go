package wire

import (
	"bytes"
	"math/big"
	"sync"

	"swapkeep/swap"
)

// Bounds of what is kept: a person looks at few offers, and builds one of them.
const (
	maxReadings = 8
	maxRead     = 64 << 10 // bytes; a larger reply is read each time
)

// Readings keeps what was read of the last few replies. Reading one is pure, so that
// the same bytes under the same request give the same again, and what that costs can
// be saved when somebody waits for a signature. The zero value is ready; it may be
// used by several goroutines. What it returns is shared: nobody may change it.
type Readings[V any] struct {
	mu   sync.Mutex
	kept []kept[V] // oldest first
}

type kept[V any] struct {
	raw     []byte
	amount  *big.Int
	request swap.QuoteRequest // without its amount
	v       V
}

// Read is read(raw), or what that was before. An error is not kept.
func (k *Readings[V]) Read(raw []byte, r swap.QuoteRequest, read func([]byte) (V, error)) (V, error) {
	amount := r.AmountIn
	r.AmountIn = nil
	if v, ok := k.find(raw, amount, r); ok {
		return v, nil
	}
	own := bytes.Clone(raw) // the caller's may change
	v, err := read(own)
	if err != nil || amount == nil || len(own) > maxRead {
		return v, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.kept) == maxReadings {
		k.kept = append(k.kept[:0], k.kept[1:]...)
	}
	k.kept = append(k.kept, kept[V]{own, new(big.Int).Set(amount), r, v})
	return v, nil
}

func (k *Readings[V]) find(raw []byte, amount *big.Int, r swap.QuoteRequest) (v V, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, x := range k.kept {
		if amount != nil && x.request == r && x.amount.Cmp(amount) == 0 && bytes.Equal(x.raw, raw) {
			return x.v, true
		}
	}
	return v, false
}
