package chain

import (
	"context"
	"slices"
	"sync"
	"time"

	"swapkeep/fault"
)

// A sighted is how far an endpoint was when it last said so.
type sighted struct {
	number uint64        // of its latest block; 0 = it never said
	time   time.Time     // of that block, by its own account
	at     time.Time     // when it was seen
	age    time.Duration // the block's then
}

// saw keeps how far e is.
func (e *endpoint) saw(b head) {
	at, now := blockTime(b.Time), fault.Now()
	age := max(now.Sub(at), 0) // a block of the future counts as new
	e.mu.Lock()
	defer e.mu.Unlock()
	e.seen = sighted{uint64(b.Number), at, now, age}
}

// head is the last that was seen of e, and whether its last use was well.
func (e *endpoint) head() (s sighted, well bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.seen, e.failed == ""
}

// newest is the youngest latest block that any of p's endpoints showed. One whose
// last use failed has no say: it could make all others look late and be gone.
func (p *pool) newest() sighted {
	var newest sighted
	for _, e := range p.endpoints {
		if s, well := e.head(); well && s.number > 0 && (newest.number == 0 || s.age < newest.age) {
			newest = s
		}
	}
	return newest
}

// behind reports whether e's latest block was well older than newest, which has
// come after it and was there when e was seen. Age counts, not the number alone:
// with a number, which costs nothing to claim, one endpoint could make all others
// look late.
func (e *endpoint) behind(newest sighted, n Network) bool {
	s, _ := e.head()
	slack := max(15*time.Second, 5*n.BlockTime)
	there := s.at.Add(surveyWait).After(newest.at.Add(-newest.age))
	return s.number > 0 && s.number < newest.number && s.age-newest.age > slack && there
}

// tooOld is the age of a block from which on an endpoint that is behind with it
// is not asked for the present state at all. Before, it is asked last: that it is
// behind is the word of one that gave no answer then.
const tooOld = 5 * time.Minute

// current lists the endpoints that may be asked for the present state.
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

// A survey looks now and then at all endpoints of a network together.
type survey struct {
	mu   sync.Mutex
	last time.Time
}

// due says once in surveyEvery that it is time.
func (s *survey) due() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := fault.Now()
	if !s.last.IsZero() && now.Sub(s.last) < surveyEvery {
		return false
	}
	s.last = now
	return true
}

// survey asks all of p's endpoints for their latest block, if that was not done
// lately: one that would only be asked when another fails may be dead, of
// another chain, or behind. It waits for a moment; who answers later is known
// the next time.
func (p *pool) survey(ctx context.Context) {
	if len(p.endpoints) < 2 || !p.surveys.due() {
		return
	}
	var asked sync.WaitGroup
	for _, e := range p.endpoints {
		if _, resting := e.resting(); resting {
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

// EndpointHealth is what is known of one RPC endpoint without asking it now.
type EndpointHealth struct {
	Chain    uint64
	Host     string
	Failure  string    // what went wrong at its last use; "" = nothing, or never used
	RetryAt  time.Time // until then it is asked after the others; zero = at once
	Head     uint64    // its latest block when last seen; 0 = unknown
	HeadTime time.Time // of that block
	Behind   bool      // so far that it is asked last for state, or not at all
}

// Health tells how the endpoints of all networks do, in their order. It does no
// I/O.
func (h *Hub) Health() []EndpointHealth {
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
	return EndpointHealth{
		Chain: e.chain, Host: e.host, Failure: e.failed, RetryAt: e.retryAt,
		Head: e.seen.number, HeadTime: e.seen.time, Behind: behind,
	}
}
