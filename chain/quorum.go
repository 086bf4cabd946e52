package chain

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// An answer is what one endpoint returned.
type answer[T any] struct {
	e *endpoint
	v T
}

// Time limits of a query to several hosts.
const (
	queryTime  = 15 * time.Second
	hedgeAfter = 2 * time.Second // after each, one more host is asked while others are pending
)

// queryHosts queries endpoints in their order and in parallel until needed, recomputed
// after each answer, returns 0, no endpoint is left, or queryTime is over. It runs as
// many requests at once as needed returns, plus one for every hedgeAfter that passed. Only
// one answer per host counts: another endpoint of a host is asked only after one has
// failed.
func queryHosts[T any](ctx context.Context, from []*endpoint, ask func(context.Context, *endpoint) (T, error), needed func([]answer[T]) int) (answers []answer[T], errs []error) {
	type outcome struct {
		answer[T]
		err error
	}
	ctx, cancel := context.WithTimeout(ctx, queryTime)
	defer cancel() // abandons the requests still running
	slow := time.NewTicker(hedgeAfter)
	defer slow.Stop()
	left, taken := slices.Clone(from), make(map[string]bool)
	done, running, hedges := make(chan outcome, len(from)), 0, 0
	for needed(answers) > 0 {
		for ctx.Err() == nil && running < needed(answers)+hedges {
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
			answers = append(answers, o.answer)
		case <-slow.C:
			hedges++
		case <-ctx.Done():
			return answers, append(errs, ctx.Err())
		}
	}
	return answers, errs
}

// quorumRead queries endpoints until a quorum of hosts gives the same answer, and returns it
// with those hosts. If several hosts answered without a quorum, the error is ErrDisagree,
// else the one of tooFew. what names the subject in errors.
func quorumRead[T any](ctx context.Context, p *pool, from []*endpoint, what string, same func(a, b T) bool, ask func(context.Context, *endpoint) (T, error)) (v T, hosts []string, err error) {
	answers, errs := queryHosts(ctx, from, ask, func(answers []answer[T]) int { return p.quorum() - len(largestGroup(answers, same)) })
	if best := largestGroup(answers, same); len(best) >= p.quorum() {
		for _, e := range from {
			if slices.ContainsFunc(best, func(a answer[T]) bool { return a.e == e }) {
				hosts = append(hosts, e.host)
			}
		}
		return best[0].v, hosts, nil
	}
	if len(answers) > 1 {
		return v, nil, p.disagree(what, hostsOf(answers))
	}
	return v, nil, p.tooFew(hostsOf(answers), what, errs)
}

// largestGroup returns the answers that the largest number of hosts agrees on, in the order of
// arrival.
func largestGroup[T any](answers []answer[T], same func(a, b T) bool) (best []answer[T]) {
	for _, a := range answers {
		with := slices.DeleteFunc(slices.Clone(answers), func(b answer[T]) bool { return !same(a.v, b.v) })
		if len(with) > len(best) {
			best = with
		}
	}
	return best
}

// hostsOf returns the hosts that answered, sorted.
func hostsOf[T any](answers []answer[T]) (hosts []string) {
	for _, a := range answers {
		hosts = append(hosts, a.e.host)
	}
	slices.Sort(hosts)
	return hosts
}

// disagree returns ErrDisagree about what, naming the hosts.
func (p *pool) disagree(what string, hosts []string) error {
	return fmt.Errorf("chain %d: %w about %s (%s)", p.network.ID, ErrDisagree, what, strings.Join(hosts, ", "))
}

// errBehind means that the other hosts were not asked, or did not answer in time.
var errBehind = errors.New("the others are behind or too slow")

// tooFew returns the error for fewer answers than the quorum; hosts are those that
// answered.
func (p *pool) tooFew(hosts []string, what string, errs []error) error {
	switch {
	case len(errs) == 0:
		errs = []error{errBehind}
	case len(hosts) == 0:
		return p.failure(errs)
	}
	return fmt.Errorf("chain %d, %s: %d hosts must answer, only %s did: %w", p.network.ID, what, p.quorum(), strings.Join(hosts, ", "),
		&UnreachableError{Network: p.network.Name, partial: true, errs: errs})
}

// quorumReadEqual is concur for comparable answers.
func quorumReadEqual[T comparable](ctx context.Context, p *pool, from []*endpoint, what string, ask func(context.Context, *endpoint) (T, error)) (T, []string, error) {
	return quorumRead(ctx, p, from, what, func(a, b T) bool { return a == b }, ask)
}

// readerOf returns a reader that uses e alone.
func (p *pool) readerOf(e *endpoint) reader {
	return reader{&pool{network: p.network, endpoints: []*endpoint{e}}}
}

// surveyedEndpoints returns the endpoints that may be asked for the current state, after a survey
// of all endpoints if one is due.
func (p *pool) surveyedEndpoints(ctx context.Context) []*endpoint {
	p.survey(ctx)
	return p.current()
}
