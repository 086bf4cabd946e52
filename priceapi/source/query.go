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

// A query is one call with the reader of its reply.
type query struct {
	from   *service
	call   rest.Call
	path   string // call.Path without the requested keys, for error messages
	keySet *keySet
	read   reader
	// unknown says that a 404 with JSON means that the token is unknown.
	unknown bool
}

// A reader decodes the requested values from a reply. It drops bad rows; ErrReply rejects
// the whole reply.
type reader func(r *rest.Reply, asks *keySet, to *results) error

// do makes the call. An error of the service is a [*rest.Error].
func (q query) do(ctx context.Context, to *results) error {
	reply, err := q.from.client.Do(ctx, q.call)
	var e *rest.Error
	switch {
	case err == nil:
		to.mu.Lock()
		err = q.read(reply, q.keySet, to)
		to.mu.Unlock()
		if errors.Is(err, ErrReply) {
			return fmt.Errorf("%s: %s %s: %w", q.from.Name(), q.call.Method, q.path, err)
		}
		return err
	case !errors.As(err, &e):
		return fmt.Errorf("%s: %s %s: %w", q.from.Name(), q.call.Method, q.path, ctx.Err())
	case q.unknown && e.Kind == rest.BadStatus && e.Status == http.StatusNotFound && e.JSON:
		return nil
	}
	e.Path = q.path // keep hundreds of addresses out of the log
	return e
}

// ask makes the calls within the given time: in order for each service, concurrently across
// services. After a failed call that service is not called again. Results of earlier calls
// and other services are kept.
func ask(ctx context.Context, within time.Duration, qs []query) (*results, error) {
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
	all, errs := newResults(), make([]error, len(services))
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
