package chain

import (
	"context"
	"slices"
	"sync"
	"time"

	"swapkeep/internal/clock"
)

// A seenHead is an endpoint's latest block when it was last seen.
type seenHead struct {
	number uint64        // block number; 0 = never seen
	time   time.Time     // block timestamp, as the endpoint gave it
	at     time.Time     // when it was seen
	age    time.Duration // of the block at that moment
}

// recordHead records b as e's head.
func (e *endpoint) recordHead(b head) {
	at, now := blockTime(b.Time), clock.Now()
	age := max(now.Sub(at), 0) // a block from the future counts as new
	e.mu.Lock()
	defer e.mu.Unlock()
	e.seen = seenHead{uint64(b.Number), at, now, age}
}

// head returns the last seen head of e, and whether its last use succeeded.
func (e *endpoint) head() (s seenHead, well bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.seen, e.failed == ""
}

// newest returns the youngest head that any of p's endpoints showed. An endpoint whose
// last use failed does not count: it could make all others look late and then be gone.
func (p *pool) newest() seenHead {
	var newest seenHead
	for _, e := range p.endpoints {
		if s, well := e.head(); well && s.number > 0 && (newest.number == 0 || s.age < newest.age) {
			newest = s
		}
	}
	return newest
}

// behind reports whether e's head has a lower number than newest and was well older when
// e was seen, provided that newest's block existed then. Age counts, not the number
// alone: a number costs nothing to claim, and one endpoint could make all others look
// late.
func (e *endpoint) behind(newest seenHead, n Network) bool {
	s, _ := e.head()
	slack := max(15*time.Second, 5*n.BlockTime)
	there := s.at.Add(surveyWait).After(newest.at.Add(-newest.age))
	return s.number > 0 && s.number < newest.number && s.age-newest.age > slack && there
}

// tooOld is the head age from which an endpoint that is behind is not asked for the
// current state at all. A younger one is asked last: by then the endpoint that makes it
// look late has given no answer itself.
const tooOld = 5 * time.Minute

// current returns the endpoints that may be asked for the current state, in order.
func (p *pool) current() []*endpoint {
	newest := p.newest()
	return slices.DeleteFunc(p.order(), func(e *endpoint) bool {
		s, _ := e.head()
		return s.age >= tooOld && e.behind(newest, p.network)
	})
}

const (
	surveyEvery = 30 * time.Second
	surveyWait  = 2 * time.Second
)

// A survey times the periodic checks of all endpoints of a network.
type survey struct {
	mu   sync.Mutex
	last time.Time
}

// due reports, once per surveyEvery, that a survey is due.
func (s *survey) due() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := clock.Now()
	if !s.last.IsZero() && now.Sub(s.last) < surveyEvery {
		return false
	}
	s.last = now
	return true
}

// survey asks all of p's endpoints for their latest block, if that is due: one that is
// only asked when another fails may be dead, on another chain, or behind. It waits for
// surveyWait at most; later answers count the next time.
func (p *pool) survey(ctx context.Context) {
	if len(p.endpoints) < 2 || !p.surveys.due() {
		return
	}
	var asked sync.WaitGroup
	for _, e := range p.endpoints {
		if _, resting := e.backingOff(); resting {
			continue
		}
		asked.Go(func() {
			_, _ = e.do(context.WithoutCancel(ctx), func(ctx context.Context) error {
				_, err := e.latest(ctx)
				return err
			})
		})
	}
	done := make(chan struct{})
	go func() {
		asked.Wait()
		close(done)
	}()
	wait := time.NewTimer(surveyWait)
	defer wait.Stop()
	select {
	case <-done:
	case <-wait.C:
	case <-ctx.Done():
	}
}

// EndpointHealth is what is known of one RPC endpoint without asking it.
type EndpointHealth struct {
	Chain    uint64
	Host     string
	Failure  string    // of its last use, or what it forged lately; "" = none, or never used
	RetryAt  time.Time // end of its backoff, until which it is asked after the others; zero = none
	Head     uint64    // its latest block when last seen; 0 = unknown
	HeadTime time.Time // of that block
	Behind   bool      // so far behind that it is asked last for the current state, or not at all
}

// Health returns what is known of all networks' endpoints, in their order. It does no
// I/O.
func (h *MultiClient) Health() []EndpointHealth {
	var all []EndpointHealth
	for _, p := range h.current() {
		newest := p.newest()
		for _, e := range p.endpoints {
			all = append(all, e.health(e.behind(newest, p.network)))
		}
	}
	return all
}

func (e *endpoint) health(behind bool) EndpointHealth {
	e.mu.Lock()
	defer e.mu.Unlock()
	failure, retryAt := e.failed, e.retryAt
	if failure == "" && clock.Now().Before(e.lieUntil) {
		failure, retryAt = e.lie, e.lieUntil
	}
	return EndpointHealth{
		Chain: e.chain, Host: e.host, Failure: failure, RetryAt: retryAt,
		Head: e.seen.number, HeadTime: e.seen.time, Behind: behind,
	}
}
