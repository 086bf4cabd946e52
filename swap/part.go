package swap

import "context"

type partKey struct{}

// OnPartRefused has told called with the refusal of each part of a provider's answer, such
// as one auction, that [Provider].Quote does not return: the rest was taken, or another
// refusal is the reason. It is called before Quote returns and by the same goroutine, and
// after whatever an outer context has for it.
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
