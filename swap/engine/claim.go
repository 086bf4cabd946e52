package engine

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"swapkeep/internal/failpoint"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
)

// pollClaim updates o's claim: from the provider's stream if that delivered one since the last
// poll, else by asking Status. After a final claim it asks no more, unless the provider
// may still name a payment that no log shows (see claimFinal). Errors and missing answers
// change nothing.
func (e *Engine) pollClaim(ctx context.Context, s swap.Settler, o *swap.Order, l *settlementWatch) {
	if claimFinal(*o) {
		l.close()
		return
	}
	last := o.Claim != nil && o.Claim.State.Final()
	if last {
		l.close()
	} else if w, ok := s.(swap.Watcher); ok {
		e.openClaimStream(ctx, w, *o, l)
	}
	if c := l.take(); c != nil && !last {
		applyClaim(o, *c, l)
		return
	}
	if last && !l.claimChecked { // after a restart, first check the payment it named before
		l.claimChecked = true
		return
	}
	if e.Now().Before(l.quietUntil) {
		return
	}
	failpoint.Point("engine.before_status")
	ctx, kept := e.keepOrderAnswer(ctx, *o)
	c, err := s.Status(ctx, *o)
	kept(err)
	failpoint.Point("engine.after_status")
	if err != nil {
		l.quietUntil = e.Now().Add(swap.RetryDelay(err))
		e.Log(*o, err)
		return
	}
	applyClaim(o, c, l)
}

// applyClaim takes over a new claim. A final claim is replaced only by a final claim that
// names a transaction, and not by another one while the first named is in a block that
// may still become final.
func applyClaim(o *swap.Order, c swap.Claim, l *settlementWatch) {
	c = tidyClaim(c)
	if was := o.Claim; was != nil {
		if was.State.Final() && (!c.State.Final() || c.Tx == (common.Hash{}) || c.Tx != was.Tx && l.claimsShallow(was.Tx)) {
			return
		}
		if c.State != was.State {
			clear(l.ruledOut) // they were ruled out under the other claim
		}
	}
	recordClaim(o, c)
}

// claimFinal reports whether further claims of o's provider are useless: the chain alone shows
// the end of a signed order and of a call of our own. Of a deposit the provider may still name
// the payment, or correct a false claim.
func claimFinal(o swap.Order) bool {
	return o.Claim != nil && o.Claim.State.Final() && (o.OrderSigned() || o.Plan.Settlement == swap.ByOwnCall)
}

// recordClaim records a claim, and the provider's name for the order if that was lost with
// the answer to its submission.
func recordClaim(o *swap.Order, c swap.Claim) {
	c = tidyClaim(c)
	if o.ProviderOrderID == "" {
		o.ProviderOrderID = c.ProviderOrderID
	}
	c.ProviderOrderID = ""
	o.Claim = &c
}

// maxClaimChanges bounds how many changes of the provider's claim an order records.
const maxClaimChanges = 100

// countClaim counts a changed claim. Above maxClaimChanges it keeps the earlier claim, unless the new
// one is the first final one: every change is written to disk and sent to every window.
func countClaim(o *swap.Order, before swap.Order) {
	switch {
	case o.Claim == nil || swap.SameClaim(before.Claim, o.Claim):
	case o.ClaimChanges < maxClaimChanges || o.Claim.State.Final() && (before.Claim == nil || !before.Claim.State.Final()):
		o.ClaimChanges++
	default:
		o.Claim = before.Claim
	}
}

// claimable are the states that a provider can claim. Any other counts as Settling.
var claimable = []swap.State{swap.Settling, swap.Filled, swap.Refunded, swap.Failed, swap.Expired, swap.Cancelled}

const (
	maxWord   = 64  // runes of the provider's status text
	maxReason = 300 // runes of its explanation
	maxRef    = 160 // runes of its order id
)

// tidyClaim returns c with a claimable state, and texts bounded and fit to show.
func tidyClaim(c swap.Claim) swap.Claim {
	if !slices.Contains(claimable, c.State) {
		c.State = swap.Settling
	}
	c.ProviderStatus, c.Reason, c.ProviderOrderID = swap.Printable(c.ProviderStatus, maxWord), swap.Printable(c.Reason, maxReason), swap.Printable(c.ProviderOrderID, maxRef)
	return c
}

// claimStream is the part of a lookout that receives the provider's stream.
type claimStream struct {
	mu      sync.Mutex
	pending *swap.Claim // not yet taken
	last    swap.Claim
	woke    int // how often it triggered an immediate poll
	stop    context.CancelFunc
}

func (h *claimStream) take() *swap.Claim {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := h.pending
	h.pending = nil
	return c
}

// close closes the stream, if there is one.
func (h *claimStream) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.stop != nil {
		h.stop()
	}
}

// Bounds of streams. An order without a stream is polled.
const (
	maxStreams   = 64 // open at once
	maxWakes     = 50 // immediate polls that one order's stream may trigger
	minReconnect = time.Second
	maxReconnect = 5 * time.Minute // longest pause before reconnecting
	steadyStream = time.Minute     // a connection that lasts so long is followed by the shortest pause
)

// openClaimStream opens an order's claim stream, once, and reconnects with pauses that grow
// until a connection lasts. It ends with ctx or [claimStream.close].
func (e *Engine) openClaimStream(ctx context.Context, w swap.Watcher, o swap.Order, l *settlementWatch) {
	e.mu.Lock()
	defer e.mu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stop != nil || e.streams >= maxStreams {
		return
	}
	e.streams++
	ctx, l.stop = context.WithCancel(ctx)
	e.running.Go(func() {
		for rest := minReconnect; ctx.Err() == nil; rest = min(2*rest, maxReconnect) {
			began := e.Now()
			e.stream(ctx, w, o, l)
			if e.Now().Sub(began) >= steadyStream {
				rest = minReconnect
			}
			_ = sleep(ctx, rest, nil)
		}
		e.mu.Lock()
		e.streams--
		e.mu.Unlock()
	})
}

// stream runs one connection. When it ends, polling continues. A panic is logged, so that
// it does not stop other orders.
func (e *Engine) stream(ctx context.Context, w swap.Watcher, o swap.Order, l *settlementWatch) {
	defer func() {
		if p := recover(); p != nil {
			e.Log(o, fmt.Errorf("panic while listening: %v", p))
		}
	}()
	if err := w.Watch(ctx, o, func(c swap.Claim) { e.pushClaim(o.ID, l, c) }); err != nil && ctx.Err() == nil {
		e.Log(o, err)
	}
}

// pushClaim keeps a pushed claim for the next poll, and triggers that if it is news.
func (e *Engine) pushClaim(id string, l *settlementWatch, c swap.Claim) {
	c = tidyClaim(c)
	l.mu.Lock()
	l.pending = &c
	news := (c.State != l.last.State || c.Tx != l.last.Tx) && l.woke < maxWakes
	if l.last = c; news {
		l.woke++
	}
	l.mu.Unlock()
	if !news {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	wake(e.orders[id], 0)
}

// keepOrderAnswer has a provider's answer about an order kept if it is refused: done must be
// called with the call's error.
func (e *Engine) keepOrderAnswer(ctx context.Context, o swap.Order) (in context.Context, done func(error)) {
	return e.Planner.KeepAnswer(ctx, o.Terms.Provider, o.Terms.Accounts()...)
}
