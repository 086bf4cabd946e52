package shared

import (
	"context"
	"time"

	"swapkeep/priceapi/web"
)

// An answer is kept for so long, and only up to so many bytes.
const (
	answerTime = 3 * time.Minute
	maxAnswer  = 4 << 20
)

// Cache keeps encoded answers for all processes. One that is not the service's own is
// not there.
func (r *Redis) Cache() web.Cache { return cache{r} }

type cache struct{ *Redis }

func (c cache) name(key string) string { return c.prefix + "answer:" + hidden(c.seals.answer, key) }

// Get implements [web.Cache].
func (c cache) Get(ctx context.Context, key string) (body []byte, ok bool) {
	var value []byte
	if c.do(ctx, quick, func(ctx context.Context) (err error) {
		value, err = c.client.GetRange(ctx, c.name(key), 0, sealSize+maxAnswer).Bytes() // never more, whatever is there
		return err
	}) != nil {
		return nil, false
	}
	return unsealed(c.seals.answer, key, value)
}

// Set implements [web.Cache].
func (c cache) Set(ctx context.Context, key string, body []byte) {
	if len(body) > maxAnswer {
		return
	}
	_ = c.do(ctx, quick, func(ctx context.Context) error { // a cache may forget
		return c.client.Set(ctx, c.name(key), sealed(c.seals.answer, key, body), answerTime).Err()
	})
}
