package swap

import "context"

type partKey struct{}

// OnPartRefused has told called with the refusal of each part of a provider's answer, such
// as one auction, that was left out while the rest was taken. It is called before
// [Provider].Quote returns, and by its goroutine.
func OnPartRefused(ctx context.Context, told func(error)) context.Context {
	return context.WithValue(ctx, partKey{}, told)
}

// PartRefused says that a part of an answer was refused with err, if not nil.
func PartRefused(ctx context.Context, err error) {
	if told, ok := ctx.Value(partKey{}).(func(error)); ok && err != nil {
		told(err)
	}
}
