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
	"swapkeep/fault"

	"github.com/ethereum/go-ethereum/common"
)

// hear brings o's claim up to date: what the provider's stream told since the last
// look, else what it says now. After a terminal word it is not asked any more, but for
// the payment that it owes all the same. What it does not say, or says badly, changes
// nothing.
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
	if last && !l.looked { // after a restart first at what it named before
		l.looked = true
		return
	}
	if e.Now().Before(l.quiet) {
		return
	}
	fault.Point("engine.before_status")
	ctx, kept := e.keepingOf(ctx, *o)
	c, err := s.Status(ctx, *o)
	kept(err)
	fault.Point("engine.after_status")
	if err != nil {
		l.quiet = e.Now().Add(quietFor(err))
		e.Log(*o, err)
		return
	}
	o.hears(c, l)
}

// hears takes over what the provider says now. Its last word it takes back only by naming
// another payment, and not while the one that it named stands in a block that may yet be
// deep enough.
func (o *Order) hears(c Claim, l *lookout) {
	c = c.tidy()
	if was := o.Claim; was != nil {
		if was.State.Final() && (!c.State.Final() || c.Tx == (common.Hash{}) || c.Tx != was.Tx && l.opens(was.Tx)) {
			return
		}
		if c.State != was.State {
			clear(l.ruledOut) // that was for the other word
		}
	}
	o.claimed(c)
}

// heardOut reports whether nothing that o's provider says any more is of use. A bridge may
// yet name the payment of a deposit that it called failed, or that it said something untrue
// of before: in the native coin that leaves no log to find it by. Of a call of our own only
// the chain speaks.
func (o Order) heardOut() bool {
	native := o.Terms.TokenOut == chain.Native || o.Terms.Back().Token == chain.Native
	return o.Claim != nil && o.Claim.State.Final() && (!native || o.Terms.Provider != Bridge || o.Plan.Settlement == ByOwnCall)
}

// claimed records what the provider says, and its name for an order whose name was
// lost with the answer to its submission.
func (o *Order) claimed(c Claim) {
	c = c.tidy()
	if o.Ref == "" {
		o.Ref = c.Ref
	}
	c.Ref = ""
	o.Claim = &c
}

// maxHeard bounds how often an order records that its provider says something else.
const maxHeard = 100

// heard counts what a provider says anew. Of one that goes on and on, only the word
// that ends it is recorded: every change is a line on disk and goes to every window.
func (o *Order) heard(before Order) {
	switch {
	case o.Claim == nil || sameClaim(before.Claim, o.Claim):
	case o.Heard < maxHeard || o.Claim.State.Final() && (before.Claim == nil || !before.Claim.State.Final()):
		o.Heard++
	default:
		o.Claim = before.Claim
	}
}

// claimable are the states that a provider can speak of. Another word of its is no
// more than that the order is under way.
var claimable = []State{Settling, Filled, Refunded, Failed, Expired, Cancelled}

const (
	maxWord   = 64  // runes of a provider's own word
	maxReason = 300 // runes of what it says besides
	maxRef    = 160 // runes of its name for an order
)

// tidy makes a claim fit to be kept and shown.
func (c Claim) tidy() Claim {
	if !slices.Contains(claimable, c.State) {
		c.State = Settling
	}
	c.Word, c.Reason, c.Ref = shown(c.Word, maxWord), shown(c.Reason, maxReason), shown(c.Ref, maxRef)
	return c
}

// shown is a provider's text without what would disturb a log or a screen.
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

// hearing is a lookout's ear at the provider's stream.
type hearing struct {
	mu    sync.Mutex
	heard *Claim // not taken yet
	last  Claim
	woke  int // how often it made the engine look at once
	stop  context.CancelFunc
}

func (h *hearing) take() *Claim {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := h.heard
	h.heard = nil
	return c
}

// unwatch ends the stream, if there is one.
func (h *hearing) unwatch() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.stop != nil {
		h.stop()
	}
}

// Bounds of streams. Without one, an order is asked about.
const (
	maxStreams = 64 // open at once
	maxWakes   = 50 // looks that one order's stream may cause at once
	firstRest  = time.Second
	longRest   = 5 * time.Minute // between two tries to connect
)

// listen opens the stream of an order's claims, once. It ends with ctx, with the
// order, or with its terminal word.
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
			t := fault.NewTimer(rest)
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

// stream is one connection. Its end is no news: asking goes on meanwhile. A panic in
// it must not stop other orders.
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

// overhear keeps a pushed claim for the next look, which is at once if it is news.
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
