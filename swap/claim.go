package swap

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"swapkeep/chain"
	"swapkeep/internal/clock"
	"swapkeep/internal/failpoint"

	"github.com/ethereum/go-ethereum/common"
)

// hear updates o's claim: from the provider's stream if that delivered one since the last
// poll, else by asking Status. After a final claim it asks no more, unless the provider
// may still name a payment that no log shows (see heardOut). Errors and missing answers
// change nothing.
func (e *Engine) hear(ctx context.Context, s Settler, o *Order, l *lookout) {
	if o.heardOut() {
		l.unwatch()
		return
	}
	last := o.Claim != nil && o.Claim.State.Final()
	if last {
		l.unwatch()
	} else if w, ok := s.(Watcher); ok {
		e.listen(ctx, w, *o, l)
	}
	if c := l.take(); c != nil && !last {
		o.hears(*c, l)
		return
	}
	if last && !l.looked { // after a restart, first check the payment it named before
		l.looked = true
		return
	}
	if e.Now().Before(l.quiet) {
		return
	}
	failpoint.Point("engine.before_status")
	ctx, kept := e.keepingOf(ctx, *o)
	c, err := s.Status(ctx, *o)
	kept(err)
	failpoint.Point("engine.after_status")
	if err != nil {
		l.quiet = e.Now().Add(quietFor(err))
		e.Log(*o, err)
		return
	}
	o.hears(c, l)
}

// hears takes over a new claim. A final claim is replaced only by a final claim that
// names a transaction, and not by another one while the first named is in a block that
// may still become final.
func (o *Order) hears(c Claim, l *lookout) {
	c = c.tidy()
	if was := o.Claim; was != nil {
		if was.State.Final() && (!c.State.Final() || c.Tx == (common.Hash{}) || c.Tx != was.Tx && l.opens(was.Tx)) {
			return
		}
		if c.State != was.State {
			clear(l.ruledOut) // they were ruled out under the other claim
		}
	}
	o.claimed(c)
}

// heardOut reports whether further claims of o's provider are useless. A bridge may still
// name the payment of a deposit that it called failed, or correct a false claim: in
// native coin that payment leaves no log to find it by. For a call of our own only the
// chain counts.
func (o Order) heardOut() bool {
	native := o.Terms.TokenOut == chain.Native || o.Terms.Back().Token == chain.Native
	return o.Claim != nil && o.Claim.State.Final() && (!native || o.Terms.Provider != Bridge || o.Plan.Settlement == ByOwnCall)
}

// claimed records a claim, and the provider's name for the order if that was lost with
// the answer to its submission.
func (o *Order) claimed(c Claim) {
	c = c.tidy()
	if o.Ref == "" {
		o.Ref = c.Ref
	}
	c.Ref = ""
	o.Claim = &c
}

// maxHeard bounds how many changes of the provider's claim an order records.
const maxHeard = 100

// heard counts a changed claim. Above maxHeard it keeps the earlier claim, unless the new
// one is the first final one: every change is written to disk and sent to every window.
func (o *Order) heard(before Order) {
	switch {
	case o.Claim == nil || sameClaim(before.Claim, o.Claim):
	case o.Heard < maxHeard || o.Claim.State.Final() && (before.Claim == nil || !before.Claim.State.Final()):
		o.Heard++
	default:
		o.Claim = before.Claim
	}
}

// claimable are the states that a provider can claim. Any other counts as Settling.
var claimable = []State{Settling, Filled, Refunded, Failed, Expired, Cancelled}

const (
	maxWord   = 64  // runes of the provider's status text
	maxReason = 300 // runes of its explanation
	maxRef    = 160 // runes of its order id
)

// tidy returns c with a claimable state, and texts bounded and fit to show.
func (c Claim) tidy() Claim {
	if !slices.Contains(claimable, c.State) {
		c.State = Settling
	}
	c.Word, c.Reason, c.Ref = shown(c.Word, maxWord), shown(c.Reason, maxReason), shown(c.Ref, maxRef)
	return c
}

// shown returns at most most runes of text, with unprintable ones replaced by spaces.
func shown(text string, most int) string {
	text = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || r == unicode.ReplacementChar {
			return ' '
		}
		return r
	}, text)
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}

// hearing is the part of a lookout that receives the provider's stream.
type hearing struct {
	mu    sync.Mutex
	heard *Claim // not yet taken
	last  Claim
	woke  int // how often it triggered an immediate poll
	stop  context.CancelFunc
}

func (h *hearing) take() *Claim {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := h.heard
	h.heard = nil
	return c
}

// unwatch closes the stream, if there is one.
func (h *hearing) unwatch() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.stop != nil {
		h.stop()
	}
}

// Bounds of streams. An order without a stream is polled.
const (
	maxStreams = 64 // open at once
	maxWakes   = 50 // immediate polls that one order's stream may trigger
	firstRest  = time.Second
	longRest   = 5 * time.Minute // longest pause before reconnecting
)

// listen opens an order's claim stream, once, and reconnects with growing pauses. It ends
// with ctx or [hearing.unwatch].
func (e *Engine) listen(ctx context.Context, w Watcher, o Order, l *lookout) {
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
		for rest := firstRest; ctx.Err() == nil; rest = min(2*rest, longRest) {
			e.stream(ctx, w, o, l)
			t := clock.NewTimer(rest)
			select {
			case <-ctx.Done():
			case <-t.C:
			}
			t.Stop()
		}
		e.mu.Lock()
		e.streams--
		e.mu.Unlock()
	})
}

// stream runs one connection. When it ends, polling continues. A panic is logged, so that
// it does not stop other orders.
func (e *Engine) stream(ctx context.Context, w Watcher, o Order, l *lookout) {
	defer func() {
		if p := recover(); p != nil {
			e.Log(o, fmt.Errorf("panic while listening: %v", p))
		}
	}()
	if err := w.Watch(ctx, o, func(c Claim) { e.overhear(o.ID, l, c) }); err != nil && ctx.Err() == nil {
		e.Log(o, err)
	}
}

// overhear keeps a pushed claim for the next poll, and triggers that if it is news.
func (e *Engine) overhear(id string, l *lookout, c Claim) {
	c = c.tidy()
	l.mu.Lock()
	l.heard = &c
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
	if c, ok := e.wake[id]; ok {
		wake(c, 0)
	}
}
