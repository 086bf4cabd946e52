package wire

import (
	"bytes"
	"math/big"
	"sync"

	"swapkeep/swap"
)

// Bounds of the cache: a person looks at few offers, and builds one of them.
const (
	maxCachedReplies = 8
	maxCachedSize    = 64 << 10 // bytes; larger replies are not cached
)

// ReplyCache caches what was read from the last few replies. Reading is pure: the same bytes
// under the same request give the same result, and the cache saves the time of reading when
// somebody waits for a signature. The zero value is ready, and safe for concurrent use.
// Results are shared: nobody may change them.
type ReplyCache[V any] struct {
	mu      sync.Mutex
	entries []cachedReply[V] // oldest first
}

type cachedReply[V any] struct {
	raw     []byte
	amount  *big.Int
	request swap.QuoteRequest // without its amount
	v       V
}

// Read returns read(raw), or its cached result. Errors are not cached.
func (k *ReplyCache[V]) Read(raw []byte, r swap.QuoteRequest, read func([]byte) (V, error)) (V, error) {
	amount := r.AmountIn
	r.AmountIn = nil
	if v, ok := k.find(raw, amount, r); ok {
		return v, nil
	}
	own := bytes.Clone(raw) // the caller may change its own
	v, err := read(own)
	if err != nil || amount == nil || len(own) > maxCachedSize {
		return v, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.entries) == maxCachedReplies {
		k.entries = append(k.entries[:0], k.entries[1:]...)
	}
	k.entries = append(k.entries, cachedReply[V]{own, new(big.Int).Set(amount), r, v})
	return v, nil
}

func (k *ReplyCache[V]) find(raw []byte, amount *big.Int, r swap.QuoteRequest) (v V, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, x := range k.entries {
		if amount != nil && x.request == r && x.amount.Cmp(amount) == 0 && bytes.Equal(x.raw, raw) {
			return x.v, true
		}
	}
	return v, false
}
