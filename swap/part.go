package swap

import "context"

type partKey struct{}

// OnPartRefused returns a context with which told is called for each part of a provider's
// answer, such as one auction, that was refused, whether or not the rest was taken. told may
// be called more than once for a part, on the goroutine that reads the answer, and after the
// function of an outer context.
func OnPartRefused(ctx context.Context, told func(error)) context.Context {
	outer, nested := ctx.Value(partKey{}).(func(error))
	return context.WithValue(ctx, partKey{}, func(err error) {
		if nested {
			outer(err)
		}
		told(err)
	})
}

// PartRefused reports that part of an answer was refused with err. A nil err is ignored.
func PartRefused(ctx context.Context, err error) {
	if told, ok := ctx.Value(partKey{}).(func(error)); ok && err != nil {
		told(err)
	}
}
