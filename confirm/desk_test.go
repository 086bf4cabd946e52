package confirm

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"swapkeep/swap"
)

// An asked is an ask in progress.
type asked struct {
	got swap.Confirmation
	err error
	end context.CancelFunc
	of  chan struct{} // closed when it has returned
}

// askFor asks for an origin, for five minutes.
func askFor(d *Desk, origin, kind string) *asked {
	ctx, end := context.WithCancel(context.Background())
	a := &asked{end: end, of: make(chan struct{})}
	go func() {
		defer close(a.of)
		a.got, a.err = d.Ask(ctx, Ask{Kind: kind, Origin: origin, Lines: []swap.Line{{Key: kind}}, Until: time.Now().Add(5 * time.Minute)})
	}()
	synctest.Wait()
	return a
}

// returned waits until an ask has returned, and returns its error.
func (a *asked) returned(t *testing.T) error {
	t.Helper()
	synctest.Wait()
	select {
	case <-a.of:
		return a.err
	default:
		t.Fatal("it still waits")
		return nil
	}
}

func (a *asked) waits() bool {
	synctest.Wait()
	select {
	case <-a.of:
		return false
	default:
		return true
	}
}

// kinds returns the kinds of all waiting asks.
func kinds(d *Desk) (out []string) {
	for _, w := range d.Waiting() {
		out = append(out, w.Kind)
	}
	return out
}

// A screen answers by kind, else waits until the dialog is closed or a minute has passed.
type screen struct {
	answers map[string]Answer

	mu     sync.Mutex
	broken bool
	shown  []string
	open   int
}

// set changes or reads what the screen's own goroutine uses.
func (s *screen) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

// opened returns the number of open dialogs, and seen all that were opened.
func (s *screen) opened() (n int) { s.set(func() { n = s.open }); return n }

func (s *screen) seen() (all []string) { s.set(func() { all = slices.Clone(s.shown) }); return all }

func (s *screen) Show(ctx context.Context, w Waiting) (Answer, swap.ConfirmedBy, error) {
	broken := false
	s.set(func() {
		if broken = s.broken; !broken {
			s.shown = append(s.shown, w.Origin+" "+w.Kind)
		}
	})
	if broken {
		return Undecided, "", errors.New("no display")
	}
	if a, ok := s.answers[w.Kind]; ok {
		return a, "test", nil
	}
	s.set(func() { s.open++ })
	defer s.set(func() { s.open-- })
	select {
	case <-ctx.Done():
	case <-time.After(time.Minute):
	}
	return Undecided, "", nil
}

// present shows asks on a screen until the returned function is called.
func present(d *Desk, s Screen) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); d.Present(ctx, s) }()
	return func() { cancel(); <-done }
}

func TestDecidedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := NewDesk()
		yes, no := askFor(d, "a", "yes"), askFor(d, "a", "no")
		w := d.Waiting()
		if err := errors.Join(d.Decide(w[0].ID, true, "terminal"), d.Decide(w[1].ID, false, "terminal")); err != nil {
			t.Fatal(err)
		}
		if err := yes.returned(t); err != nil || yes.got.By != "terminal" || yes.got.Lines != swap.HashLines(w[0].Lines) {
			t.Errorf("yes: %v %+v", err, yes.got)
		}
		if err := no.returned(t); !errors.Is(err, ErrDeclined) {
			t.Errorf("no: %v", err)
		}
		for _, w := range w {
			if err := d.Decide(w.ID, true, "terminal"); !errors.Is(err, ErrNotWaiting) {
				t.Errorf("again: %v", err)
			}
		}
		if len(d.Waiting()) > 0 {
			t.Error("decided asks still wait")
		}
	})
}

// TestNoDecision checks that nobody's silence is a yes or a no, and that what was given up
// cannot be decided any more.
func TestNoDecision(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := NewDesk()
		late, gone := askFor(d, "a", "late"), askFor(d, "a", "gone")
		w := d.Waiting()
		gone.end()
		if err := gone.returned(t); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		time.Sleep(5*time.Minute - time.Second)
		if !late.waits() {
			t.Fatal("it ended early")
		}
		time.Sleep(time.Second)
		if err := late.returned(t); !errors.Is(err, ErrExpired) {
			t.Error(err)
		}
		for _, w := range w {
			if err := d.Decide(w.ID, true, "terminal"); !errors.Is(err, ErrNotWaiting) {
				t.Error(err)
			}
		}
		if next := askFor(d, "a", "next"); !next.waits() || len(d.askers) != 1 || d.askers["a"].refusals != 0 {
			t.Error("what nobody decided counts as a refusal")
		}
		d.Decide(d.Waiting()[0].ID, false, "terminal")
	})
}

func TestBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := NewDesk()
		var all []*asked
		for i := range MaxAsks / MaxPerOrigin {
			for range MaxPerOrigin {
				all = append(all, askFor(d, strconv.Itoa(i), "x"))
			}
			if err := askFor(d, strconv.Itoa(i), "x").returned(t); !errors.Is(err, ErrFull) {
				t.Error(err)
			}
		}
		if err := askFor(d, "another", "x").returned(t); !errors.Is(err, ErrFull) {
			t.Error(err)
		}
		for i := range 2 * maxOrigins { // each is remembered by its refusal
			all[i%len(all)].end()
			synctest.Wait()
			all[i%len(all)] = askFor(d, "o"+strconv.Itoa(i), "x")
			w := d.Waiting()
			d.Decide(w[len(w)-1].ID, false, "terminal")
			synctest.Wait()
		}
		if len(d.askers) > maxOrigins {
			t.Errorf("%d origins are remembered", len(d.askers))
		}
		for _, a := range all {
			a.end()
		}
	})
}

// TestSilence checks that an origin whose asks were declined twice in a row is not shown for
// ten minutes, that a terminal still decides, and that a yes ends it.
func TestSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, s := NewDesk(), &screen{answers: map[string]Answer{"no": Declined, "yes": Approved}}
		defer present(d, s)()
		askFor(d, "a", "no").returned(t)
		askFor(d, "a", "yes").returned(t)
		askFor(d, "a", "no").returned(t) // one in a row
		askFor(d, "a", "no").returned(t) // two
		s.set(func() { s.shown = nil })
		quiet := askFor(d, "a", "yes")
		if !quiet.waits() || len(s.seen()) > 0 {
			t.Fatalf("shown: %v", s.seen())
		}
		if w := d.Waiting()[0]; !w.Silenced || w.Unshown != 1 {
			t.Errorf("%+v", w)
		}
		if err := askFor(d, "b", "yes").returned(t); err != nil {
			t.Errorf("another origin is silenced too: %v", err)
		}
		d.Decide(d.Waiting()[0].ID, true, "terminal")
		if err := quiet.returned(t); err != nil {
			t.Error(err)
		}
		if err := askFor(d, "a", "yes").returned(t); err != nil {
			t.Errorf("after a yes: %v", err)
		}
		askFor(d, "a", "no").returned(t)
		askFor(d, "a", "no").returned(t)
		time.Sleep(Silence - time.Minute)
		later := askFor(d, "a", "yes")
		if !later.waits() {
			t.Fatal("shown while silenced")
		}
		time.Sleep(time.Minute + retryInterval)
		if err := later.returned(t); err != nil {
			t.Error(err)
		}
	})
}

// TestWithdrawnDialogs checks that an origin whose asks are withdrawn as soon as they are shown is
// silenced, and that an ask which was never shown may be withdrawn.
func TestWithdrawnDialogs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := NewDesk()
		for range 5 {
			a := askFor(d, "a", "x")
			a.end()
			_ = a.returned(t)
		}
		s := &screen{}
		defer present(d, s)()
		for range 5 {
			a := askFor(d, "a", "x")
			a.end()
			_ = a.returned(t)
		}
		if len(s.seen()) != silenceAfter {
			t.Errorf("%d dialogs were shown, want %d", len(s.seen()), silenceAfter)
		}
	})
}

// TestTurns checks that an origin with many asks does not keep another one waiting, and that one
// dialog is open at a time.
func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, s := NewDesk(), &screen{answers: map[string]Answer{"1": Declined}}
		var all []*asked
		for _, origin := range []string{"a", "a", "a", "b", "b", "c"} {
			all = append(all, askFor(d, origin, strconv.Itoa(len(all)+2)))
		}
		stop := present(d, s)
		for range 6 {
			synctest.Wait()
			if s.opened() > 1 {
				t.Fatalf("%d dialogs at once", s.opened())
			}
			time.Sleep(30 * time.Second)
			synctest.Wait()
			if s.opened() > 1 {
				t.Fatalf("%d dialogs at once", s.opened())
			}
			time.Sleep(30 * time.Second)
		}
		stop()
		if want := []string{"a 2", "b 5", "c 7", "a 3", "b 6"}; !slices.Equal(s.seen(), want) {
			t.Errorf("%v, want %v", s.seen(), want)
		}
		for _, a := range all {
			a.end()
			<-a.of
		}
	})
}

// TestDialogCloses checks that a dialog is closed when its ask is decided elsewhere, and that an
// ask whose dialog was closed by time waits for a terminal and is not shown again.
func TestDialogCloses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, s := NewDesk(), &screen{}
		defer present(d, s)()
		a := askFor(d, "a", "x")
		if s.opened() != 1 {
			t.Fatal("not shown")
		}
		d.Decide(d.Waiting()[0].ID, true, "terminal")
		if err := a.returned(t); err != nil || s.opened() != 0 {
			t.Errorf("%v, %d open", err, s.opened())
		}
		b := askFor(d, "a", "y")
		time.Sleep(2 * time.Minute)
		if w := d.Waiting(); !b.waits() || !w[0].Shown || len(s.seen()) != 2 {
			t.Errorf("%+v, shown %v", w, s.seen())
		}
		b.end()
	})
}

// TestNoScreen checks that an ask is shown once there is a screen.
func TestNoScreen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, s := NewDesk(), &screen{broken: true, answers: map[string]Answer{"yes": Approved}}
		defer present(d, s)()
		a := askFor(d, "a", "yes")
		time.Sleep(time.Minute)
		if !a.waits() || d.Waiting()[0].Shown || !slices.Equal(kinds(d), []string{"yes"}) {
			t.Fatal("it counts as shown")
		}
		s.set(func() { s.broken = false })
		time.Sleep(retryInterval)
		if err := a.returned(t); err != nil {
			t.Error(err)
		}
	})
}
