package swap

import "context"

type partKey struct{}

// OnPartRefused returns a context with which told is called for each part of a provider's
// answer, such as one auction, that was refused while the rest was taken. told is called
// before [Provider].Quote returns, on its goroutine.
func OnPartRefused(ctx context.Context, told func(error)) context.Context {
	return context.WithValue(ctx, partKey{}, told)
}

// PartRefused reports that part of an answer was refused with err. A nil err is ignored.
func PartRefused(ctx context.Context, err error) {
	if told, ok := ctx.Value(partKey{}).(func(error)); ok && err != nil {
		told(err)
	}
}
