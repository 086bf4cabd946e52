package chain

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// An answer is what one endpoint said.
type answer[T any] struct {
	e *endpoint
	v T
}

// Bounds of one question to several hosts.
const (
	canvassTime = 15 * time.Second
	slowTime    = 2 * time.Second // after which one more is asked beside those that did not answer
)

// canvass asks endpoints in their order, as many at once as answers are wanting, which
// is reckoned anew after each, until none is, nobody is left or canvassTime is over.
// Of each host one answers: another of its endpoints is asked only where one before
// has failed.
func canvass[T any](ctx context.Context, from []*endpoint, ask func(context.Context, *endpoint) (T, error), wanting func([]answer[T]) int) (said []answer[T], errs []error) {
	type outcome struct {
		answer[T]
		err error
	}
	ctx, cancel := context.WithTimeout(ctx, canvassTime)
	defer cancel() // nobody waits for those that are asked still
	slow := time.NewTicker(slowTime)
	defer slow.Stop()
	left, taken := slices.Clone(from), make(map[string]bool)
	done, running, beside := make(chan outcome, len(from)), 0, 0
	for wanting(said) > 0 {
		for ctx.Err() == nil && running < wanting(said)+beside {
			i := slices.IndexFunc(left, func(e *endpoint) bool { return !taken[e.host] })
			if i < 0 {
				break
			}
			e := left[i]
			left, taken[e.host] = slices.Delete(left, i, i+1), true
			running++
			go func() {
				v, err := ask(ctx, e)
				done <- outcome{answer[T]{e, v}, err}
			}()
		}
		if running == 0 {
			break
		}
		select {
		case o := <-done:
			running--
			if o.err != nil {
				taken[o.e.host], errs = false, append(errs, o.err)
				continue
			}
			said = append(said, o.answer)
		case <-slow.C:
			beside++
		case <-ctx.Done():
			return said, append(errs, ctx.Err())
		}
	}
	return said, errs
}

// concur asks endpoints until as many hosts as the network needs give the same
// answer, and returns it with them.
func concur[T any](ctx context.Context, p *pool, from []*endpoint, what string, same func(a, b T) bool, ask func(context.Context, *endpoint) (T, error)) (v T, hosts []string, err error) {
	said, errs := canvass(ctx, from, ask, func(said []answer[T]) int { return p.quorum() - len(most(said, same)) })
	if best := most(said, same); len(best) >= p.quorum() {
		for _, e := range from {
			if slices.ContainsFunc(best, func(a answer[T]) bool { return a.e == e }) {
				hosts = append(hosts, e.host)
			}
		}
		return best[0].v, hosts, nil
	}
	if len(said) > 1 {
		return v, nil, p.disagree(what, hostsOf(said))
	}
	return v, nil, p.tooFew(hostsOf(said), what, errs)
}

// most are those of said, in the order in which they came, that the most hosts say.
func most[T any](said []answer[T], same func(a, b T) bool) (best []answer[T]) {
	for _, a := range said {
		with := slices.DeleteFunc(slices.Clone(said), func(b answer[T]) bool { return !same(a.v, b.v) })
		if len(with) > len(best) {
			best = with
		}
	}
	return best
}

// hostsOf names those who answered, whoever did first.
func hostsOf[T any](said []answer[T]) (hosts []string) {
	for _, a := range said {
		hosts = append(hosts, a.e.host)
	}
	slices.Sort(hosts)
	return hosts
}

// disagree says about what, and which hosts.
func (p *pool) disagree(what string, hosts []string) error {
	return fmt.Errorf("chain %d: %w about %s (%s)", p.network.ID, ErrDisagree, what, strings.Join(hosts, ", "))
}

// tooFew says why fewer hosts answered than the network needs: those that did are
// given.
func (p *pool) tooFew(hosts []string, what string, errs []error) error {
	switch {
	case len(errs) == 0:
		errs = []error{errors.New("the others are behind, or the time is over")}
	case len(hosts) == 0:
		return p.failure(errs)
	}
	return fmt.Errorf("chain %d: %w: of the %d hosts that must say %s only %s did: %w", p.network.ID, ErrUnreachable, p.quorum(), what, strings.Join(hosts, ", "), errors.Join(errs...))
}

// alike is concur for answers that can be compared.
func alike[T comparable](ctx context.Context, p *pool, from []*endpoint, what string, ask func(context.Context, *endpoint) (T, error)) (T, []string, error) {
	return concur(ctx, p, from, what, func(a, b T) bool { return a == b }, ask)
}

// by is e alone.
func (p *pool) by(e *endpoint) reader {
	return reader{&pool{network: p.network, endpoints: []*endpoint{e}}}
}

// surveyed lists the endpoints that may be asked for the present state, after a look
// at all of them if it is time for one.
func (p *pool) surveyed(ctx context.Context) []*endpoint {
	p.survey(ctx)
	return p.current()
}
