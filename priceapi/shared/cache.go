package shared

import (
	"context"
	"time"

	"swapkeep/priceapi/web"
)

// Limits on the time and size of a cached answer.
const (
	answerTTL = 3 * time.Minute
	maxAnswer = 4 << 20
)

// Cache shares encoded answers among all processes. Entries without the service's seal are
// treated as missing.
func (r *Redis) Cache() web.Cache { return cache{r} }

type cache struct{ *Redis }

func (c cache) name(key string) string { return c.prefix + "answer:" + hashedName(c.seals.answer, key) }

// Get implements [web.Cache].
func (c cache) Get(ctx context.Context, key string) (body []byte, ok bool) {
	var value []byte
	if c.do(ctx, requestTimeout, func(ctx context.Context) (err error) {
		value, err = c.client.GetRange(ctx, c.name(key), 0, sealSize+maxAnswer).Bytes() // limits the size, whatever is stored
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
	_ = c.do(ctx, requestTimeout, func(ctx context.Context) error { // a cache may lose entries
		return c.client.Set(ctx, c.name(key), sealed(c.seals.answer, key, body), answerTTL).Err()
	})
}
