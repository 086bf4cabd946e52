package host

import (
	"strings"
	"sync"
	"testing"
	"time"

	"swapkeep/confirm"
	"swapkeep/swap"
	"swapkeep/test/await"
)

// fakeConfirmations has one ask of the extension and one of another.
type fakeConfirmations struct {
	mu      sync.Mutex
	decided map[string]bool
	told    func()
	asks    sync.Once // another ask comes after the first look
	more    bool      // there is one
}

func (f *fakeConfirmations) Tell(told func()) { f.told = told }

var askedAt = time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)

func (f *fakeConfirmations) Waiting() []confirm.Waiting {
	if f.more {
		f.asks.Do(func() { go f.told() })
	}
	ask := func(origin string) confirm.Ask {
		return confirm.Ask{Kind: "execute", Origin: origin, Lines: []swap.Line{{Key: "line_worth_unknown", Severity: swap.Warn}}, Until: askedAt.Add(5 * time.Minute)}
	}
	return []confirm.Waiting{
		{Ask: ask(extension), ID: "ask-1", Asked: askedAt, Shown: true},
		{Ask: ask("chrome-extension://another/"), ID: "ask-2", Asked: askedAt, Silenced: true, Unshown: 3},
	}
}

func (f *fakeConfirmations) Decide(id string, approve bool, by swap.ConfirmedBy) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.decided == nil {
		f.decided = map[string]bool{}
	}
	if _, done := f.decided[id]; done || id != "ask-1" && id != "ask-2" || by != swap.ByTerminal {
		return confirm.ErrNotWaiting
	}
	f.decided[id] = approve
	go f.told()
	return nil
}

// TestDecide checks that a yes takes the password, a no does not, and that neither is a browser's.
func TestDecide(t *testing.T) {
	f := &fakeConfirmations{}
	r := newRig(t, func(c *Config) { c.Confirmations = f })
	term := r.attach("terminal")
	term.must("keys.unlock", map[string]any{"password": password}) // a session is not enough
	term.refused("bad_params", "confirm.decide", map[string]any{"id": "ask-1", "approve": true})
	term.refused("wrong_password", "confirm.decide", map[string]any{"id": "ask-1", "approve": true, "password": "not the password"})
	r.session().refused("terminal_only", "confirm.decide", map[string]any{"id": "ask-1", "approve": true, "password": password})
	if len(f.decided) > 0 {
		t.Fatalf("decided: %v", f.decided)
	}
	term.must("confirm.decide", map[string]any{"id": "ask-1", "approve": true, "password": password})
	term.must("confirm.decide", map[string]any{"id": "ask-2", "approve": false})
	if !f.decided["ask-1"] || f.decided["ask-2"] {
		t.Errorf("%v", f.decided)
	}
	term.refused("confirmation_unknown", "confirm.decide", map[string]any{"id": "ask-2", "approve": false})
}

// TestBrowsersAreToldOfTheirOwn checks that a browser is told what of its own waits, without the
// lines, and nothing of others.
func TestBrowsersAreToldOfTheirOwn(t *testing.T) {
	f := &fakeConfirmations{}
	r := newRig(t, func(c *Config) { c.Confirmations = f })
	p := r.attach("extension")
	r.attach("terminal").must("confirm.decide", map[string]any{"id": "ask-1", "approve": false})
	n := p.note()
	if got := string(n.Params); n.Method != "confirm.changed" || !strings.Contains(got, "ask-1") || strings.Contains(got, "ask-2") || strings.Contains(got, "lines") {
		t.Errorf("%s %s", n.Method, got)
	}
}

// TestAnActWaitsForAPerson checks that a browser's act that waits for a person is answered in
// time, that its uuid waits on, and that a terminal is not affected.
func TestAnActWaitsForAPerson(t *testing.T) {
	r := newRigWaiting(t, func(w *waits) { w.confirm = 50 * time.Millisecond })
	r.swaps.hold = make(chan struct{})
	release := sync.OnceFunc(func() { close(r.swaps.hold) })
	defer release()
	p := r.session()
	act := map[string]any{"request": anID, "digest": digest.Hex()}
	for range 2 {
		p.refused("confirmation_pending", "swap.execute", act)
	}
	p.refused("request_conflict", "swap.execute", map[string]any{"request": anID, "digest": digest.Hex(), "acknowledge": []string{"price_impact"}})
	r.session().refused("confirmation_pending", "swap.execute", act)
	r.swaps.mu.Lock()
	asked := len(r.swaps.executed)
	r.swaps.mu.Unlock()
	if asked != 1 {
		t.Errorf("carried out %d times", asked)
	}
	release()
	p.must("swap.execute", act)
}

// TestANoIsRemembered checks that the uuid of an act that a person declined, or let expire, does
// not ask again, and that another refusal may be tried again.
func TestANoIsRemembered(t *testing.T) {
	for name, c := range map[string]struct {
		err   error
		calls int
	}{
		"consent_declined":     {swap.Refuse(swap.ConsentDeclined, "you declined it"), 1},
		"confirmation_expired": {confirm.ErrExpired, 1},
		"consent_password":     {swap.Refuse(swap.ConsentPassword, "too much for an hour"), 2},
	} {
		r := newRig(t)
		r.swaps.fail = c.err
		p := r.session()
		for range 2 {
			p.refused(name, "swap.execute", map[string]any{"request": anID, "digest": digest.Hex()})
		}
		if len(r.swaps.executed) != c.calls {
			t.Errorf("%s: carried out %d times, want %d", name, len(r.swaps.executed), c.calls)
		}
	}
}

// TestTheSessionsEndIsTold checks that an act learns that the session which asked for it ended.
func TestTheSessionsEndIsTold(t *testing.T) {
	r := newRig(t)
	p := r.session()
	p.must("swap.execute", map[string]any{"request": anID, "digest": digest.Hex()})
	select {
	case <-r.swaps.callers[0].Ended:
		t.Fatal("it ended early")
	default:
	}
	_ = p.nc.Close()
	await.Until(t, 10*time.Second, "the end of the session", func() bool {
		select {
		case <-r.swaps.callers[0].Ended:
			return true
		default:
			return false
		}
	})
}
