package swap

import "context"

type partKey struct{}

// OnPartRefused has told called with the refusal of each part of a provider's answer, such
// as one auction, that is left out: the rest is taken, or another refusal is the reason. A
// part may be told more than once. It is called by the goroutine that reads the answer, and
// after what an outer context has for it.
func OnPartRefused(ctx context.Context, told func(error)) context.Context {
	outer, nested := ctx.Value(partKey{}).(func(error))
	return context.WithValue(ctx, partKey{}, func(err error) {
		if nested {
			outer(err)
		}
		told(err)
	})
}

// PartRefused reports that a part of an answer was refused with err; nil is none.
func PartRefused(ctx context.Context, err error) {
	if told, ok := ctx.Value(partKey{}).(func(error)); ok && err != nil {
		told(err)
	}
}
