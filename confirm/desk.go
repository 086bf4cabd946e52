// Package confirm keeps what browsers ask for until a person decides on it outside the
// browser: in a dialog, or at a terminal. It does not know what is done after a yes.
package confirm

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"sync"
	"time"

	"swapkeep/internal/clock"
	"swapkeep/swap"
)

// Bounds. One who asks often must neither fill a queue that others need nor wear a person
// down until a yes comes by mistake.
const (
	MaxPerOrigin  = 4                // undecided asks of an origin
	MaxAsks       = 32               // undecided asks of all origins
	silenceAfter  = 2                // refusals in a row
	Silence       = 10 * time.Minute // how long an origin's asks are not shown then
	maxOrigins    = 256              // origins of which refusals are remembered
	retryInterval = 5 * time.Second  // between tries to find a screen
)

// Errors of [Desk.Ask].
var (
	ErrDeclined = errors.New("the person declined")
	ErrExpired  = errors.New("nobody decided in time")
	ErrFull     = errors.New("too many asks wait for a decision")
)

// ErrNotWaiting is [Desk.Decide]'s error if no ask with the id waits: it was decided, it
// expired, or whoever asked is gone.
var ErrNotWaiting = errors.New("nothing waits for a decision under this id")

// An Ask is what a person is asked to confirm.
type Ask struct {
	Kind   string // code of the act
	Origin string // who asks
	Lines  []swap.Line
	Until  time.Time // decided by then, or it expires
}

// A Waiting is an ask that nobody has decided on yet.
type Waiting struct {
	Ask
	ID       string
	Asked    time.Time
	Shown    bool // it is or was shown; it is not shown again by itself
	Silenced bool // its origin's asks are not shown now
	Unshown  int  // asks of this origin since it was silenced
}

// An ask is an Ask with its decision.
type ask struct {
	Waiting
	decided  chan struct{} // closed with the decision
	approved bool
	by       swap.ConfirmedBy
}

// An asker is what is remembered of an origin. One that is as new is forgotten.
type asker struct {
	refusals    int       // in a row
	silentUntil time.Time // zero: it was not silenced
	unshown     int       // asks since it was silenced
	turn        uint64    // when one of its asks was shown last
}

// A Desk keeps asks until they are decided. It keeps nothing on disk: an ask whose daemon
// ends was not decided, and is asked again. It may be used concurrently.
type Desk struct {
	mu      sync.Mutex
	asks    []*ask // undecided, oldest first
	askers  map[string]*asker
	turns   uint64
	changed chan struct{} // closed and replaced when an ask comes
	told    func()        // see Tell
}

// NewDesk returns a desk without asks.
func NewDesk() *Desk {
	return &Desk{askers: map[string]*asker{}, changed: make(chan struct{}), told: func() {}}
}

// Tell has f called after every change of what waits. It is called before the first ask. f must
// not block, and may call the desk.
func (d *Desk) Tell(f func()) { d.told = f }

// Ask waits until a person has decided, and returns the yes. ErrDeclined is a person's no;
// ErrExpired, ErrFull and ctx's error are no decision. When it returns the ask
// is gone.
func (d *Desk) Ask(ctx context.Context, a Ask) (swap.Confirmation, error) {
	x, err := d.enter(a)
	if err != nil {
		return swap.Confirmation{}, err
	}
	d.told()
	withdrawn := false
	defer func() { d.leave(x, withdrawn); d.told() }()
	late := clock.NewTimer(a.Until.Sub(clock.Now()))
	defer late.Stop()
	select {
	case <-x.decided:
	case <-late.C:
		return swap.Confirmation{}, ErrExpired
	case <-ctx.Done():
		withdrawn = true
		return swap.Confirmation{}, ctx.Err()
	}
	if !x.approved {
		return swap.Confirmation{}, ErrDeclined
	}
	return swap.Confirmation{By: x.by, Lines: swap.HashLines(a.Lines)}, nil
}

func (d *Desk) enter(a Ask) (*ask, error) {
	now := clock.Now()
	d.mu.Lock()
	defer d.mu.Unlock()
	o := d.asker(a.Origin)
	if now.Before(o.silentUntil) {
		o.unshown++
	}
	same := 0
	for _, x := range d.asks {
		if x.Origin == a.Origin {
			same++
		}
	}
	if same >= MaxPerOrigin || len(d.asks) >= MaxAsks {
		return nil, ErrFull
	}
	x := &ask{Waiting: Waiting{Ask: a, ID: rand.Text(), Asked: now}, decided: make(chan struct{})}
	d.asks = append(d.asks, x)
	d.wake()
	return x, nil
}

func (d *Desk) wake() {
	close(d.changed)
	d.changed = make(chan struct{})
}

// asker returns what is remembered of an origin. Above maxOrigins the one that was shown
// longest ago and is not silenced is forgotten.
func (d *Desk) asker(origin string) *asker {
	o := d.askers[origin]
	if o == nil {
		o = &asker{}
		d.askers[origin] = o
	}
	if len(d.askers) > maxOrigins {
		now := clock.Now()
		oldest := ""
		for name, x := range d.askers {
			if name != origin && !now.Before(x.silentUntil) && (oldest == "" || x.turn < d.askers[oldest].turn) {
				oldest = name
			}
		}
		delete(d.askers, oldest)
	}
	return o
}

// leave removes an ask, and closes the dialog that shows it. One that was withdrawn after it was
// shown counts as refused: dialogs must not come and go without end.
func (d *Desk) leave(x *ask, withdrawn bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if withdrawn && x.Shown && slices.Contains(d.asks, x) {
		d.asker(x.Origin).refuse()
	}
	d.remove(x)
}

// refuse counts a refusal, and silences the origin if it is one too many.
func (o *asker) refuse() {
	o.refusals++
	if o.refusals >= silenceAfter {
		*o = asker{turn: o.turn, silentUntil: clock.Now().Add(Silence)}
	}
}

func (d *Desk) remove(x *ask) {
	d.asks = slices.DeleteFunc(d.asks, func(y *ask) bool { return y == x })
	select {
	case <-x.decided:
	default:
		close(x.decided)
	}
}

// Waiting returns the undecided asks, oldest first.
func (d *Desk) Waiting() []Waiting {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := make([]Waiting, len(d.asks))
	for i, x := range d.asks {
		out[i] = d.waiting(x)
	}
	return out
}

func (d *Desk) waiting(x *ask) Waiting {
	w, o := x.Waiting, d.asker(x.Origin)
	w.Silenced, w.Unshown = clock.Now().Before(o.silentUntil), o.unshown
	return w
}

// Decide decides on an ask, once: then it is ErrNotWaiting.
func (d *Desk) Decide(id string, approve bool, by swap.ConfirmedBy) error {
	now := clock.Now()
	d.mu.Lock()
	defer d.mu.Unlock()
	i := slices.IndexFunc(d.asks, func(x *ask) bool { return x.ID == id })
	if i < 0 || !now.Before(d.asks[i].Until) {
		return ErrNotWaiting
	}
	x, o := d.asks[i], d.asker(d.asks[i].Origin)
	x.approved, x.by = approve, by
	if approve {
		*o = asker{turn: o.turn}
	} else {
		o.refuse()
	}
	d.remove(x)
	return nil
}

// An Answer is what came of showing an ask.
type Answer int

const (
	Undecided Answer = iota // the time was up, or the ask was decided elsewhere
	Approved
	Declined
)

// A Screen shows an ask to a person.
type Screen interface {
	// Show shows w until the person decides, the time is up or ctx ends, and returns by which
	// program. An error means that it could not be shown; then it is tried again.
	Show(ctx context.Context, w Waiting) (answer Answer, by swap.ConfirmedBy, err error)
}

// Present shows asks on a screen until ctx ends: one at a time, each once, the origins in
// turn. An ask that was shown and not decided still waits for a terminal.
func (d *Desk) Present(ctx context.Context, screen Screen) {
	for ctx.Err() == nil {
		x, changed := d.next()
		if x != nil && d.show(ctx, screen, x) == nil {
			continue
		}
		var again <-chan time.Time
		if len(d.Waiting()) > 0 {
			again = clock.After(retryInterval) // a screen may be there then, or a silence over
		}
		select {
		case <-again:
		case <-changed:
		case <-ctx.Done():
		}
	}
}

// next returns the ask to show next, the oldest of the origin that was shown longest ago; nil
// if there is none.
func (d *Desk) next() (*ask, <-chan struct{}) {
	now := clock.Now()
	d.mu.Lock()
	defer d.mu.Unlock()
	var best *ask
	for _, x := range d.asks {
		o := d.asker(x.Origin)
		if !x.Shown && now.Before(x.Until) && !now.Before(o.silentUntil) && (best == nil || o.turn < d.asker(best.Origin).turn) {
			best = x
		}
	}
	return best, d.changed
}

func (d *Desk) show(ctx context.Context, screen Screen, x *ask) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		select {
		case <-x.decided:
			cancel()
		case <-ctx.Done():
		}
	}()
	d.mu.Lock()
	x.Shown = true
	w := d.waiting(x)
	d.mu.Unlock()
	d.told()
	answer, by, err := screen.Show(ctx, w)
	cancel()
	<-gone
	d.mu.Lock()
	d.turns++
	d.asker(x.Origin).turn = d.turns // also if it could not be shown: another origin's may be
	x.Shown = err == nil
	d.mu.Unlock()
	if err != nil {
		d.told()
		return err
	}
	if answer != Undecided {
		_ = d.Decide(x.ID, answer == Approved, by) // decided elsewhere meanwhile: that stands
	}
	return nil
}
