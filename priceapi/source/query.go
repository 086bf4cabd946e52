package source

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"swapkeep/rest"
)

// A query is one call, and how its reply is read.
type query struct {
	from *service
	call rest.Call
	path string // the call's without what is asked for, for errors
	asks *asked
	read reader
	// unknown says that 404 as JSON means that the service does not know the token.
	unknown bool
}

// A reader takes from a reply what was asked for. It drops rows; ErrReply refuses the
// reply as a whole.
type reader func(r *rest.Reply, asks *asked, to *answers) error

// do makes the call. An error of the service's is a [*rest.Error].
func (q query) do(ctx context.Context, to *answers) error {
	reply, err := q.from.client.Do(ctx, q.call)
	var e *rest.Error
	switch {
	case err == nil:
		to.mu.Lock()
		err = q.read(reply, q.asks, to)
		to.mu.Unlock()
		if errors.Is(err, ErrReply) {
			return fmt.Errorf("%s: %s %s: %w", q.from.Name(), q.call.Method, q.path, err)
		}
		return err
	case !errors.As(err, &e):
		return fmt.Errorf("%s: %s %s: %w", q.from.Name(), q.call.Method, q.path, ctx.Err())
	case q.unknown && e.Kind == rest.Answered && e.Status == http.StatusNotFound && e.JSON:
		return nil
	}
	e.Path = q.path // a hundred addresses are no help in a log
	return e
}

// ask makes the calls within so much time: those to one service in their order, to
// several at once. After a call that failed the same service is not asked again; what
// came before, and what others say, holds.
func ask(ctx context.Context, within time.Duration, qs []query) (*answers, error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	var services []*service
	calls := make(map[*service][]query)
	for _, q := range qs {
		if calls[q.from] == nil {
			services = append(services, q.from)
		}
		calls[q.from] = append(calls[q.from], q)
	}
	all, errs := newAnswers(), make([]error, len(services))
	var running sync.WaitGroup
	for i, s := range services {
		running.Go(func() {
			for _, q := range calls[s] {
				if errs[i] = q.do(ctx, all); errs[i] != nil {
					return
				}
			}
		})
	}
	running.Wait()
	return all, errors.Join(errs...)
}
