//go:build faults && linux

package crash

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	"swapkeep/host/protocol"
)

// A kill is one row of the matrix: the daemon dies when it passes a point for
// the nth time.
type kill struct {
	flow  flow
	point string
	hit   int
	when  moment
}

// Ways to come back after a death.
const (
	prompt = "unlocked at once"
	late   = "locked for a while"
)

// TestKilledAtEveryPoint runs each flow once to learn which points it passes,
// then once more for every one of them, dying there.
func TestKilledAtEveryPoint(t *testing.T) {
	var (
		mu    sync.Mutex
		kills []kill
		seen  = map[string]bool{}
		table board
	)
	t.Run("trace", func(t *testing.T) {
		for _, f := range flows {
			t.Run(f.name, func(t *testing.T) {
				t.Parallel()
				found, points := trace(t, f)
				mu.Lock()
				defer mu.Unlock()
				kills = append(kills, found...)
				for _, p := range points {
					seen[p] = true
				}
			})
		}
	})
	if t.Failed() {
		return
	}
	expected(t, seen)
	slices.SortStableFunc(kills, func(a, b kill) int { return strings.Compare(a.flow.name, b.flow.name) })
	t.Run("kill", func(t *testing.T) {
		for _, k := range kills {
			for _, way := range []string{prompt, late} {
				t.Run(fmt.Sprintf("%s/%s:%d/%s", k.flow.name, k.point, k.hit, strings.Fields(way)[0]), func(t *testing.T) {
					t.Parallel()
					table.note(t, k, way, func() string { return survive(t, k, way == late) })
				})
			}
		}
	})
	t.Log("\n" + table.String())
}

// trace runs a flow unharmed and returns a kill for every point that it passes
// and every time it passes it.
func trace(t *testing.T, f flow) (kills []kill, points []string) {
	d := newDesk(t, takeLane(t))
	path := filepath.Join(d.dir, "trace")
	d.open("SWAPKEEP_FAULT_TRACE=" + path)
	p := begin(d, f, path)
	if err := p.drive(); err != nil {
		t.Fatal(err)
	}
	p.paidOnce()
	points = readTrace(t, path)
	p.goesOn(1)
	d.shut()
	p.journalHolds()
	hits := map[string]int{}
	for i, point := range points {
		if hits[point]++; i >= p.mark {
			kills = append(kills, kill{f, point, hits[point], f.momentOf(points, i)})
		}
	}
	t.Logf("%d points from the %dth on: %s", len(kills), p.mark+1, strings.Join(points[p.mark:], " "))
	return kills, points
}

// expected fails a matrix in which a family of points is missing: those of the
// journal's commits by state, and every point that the source names, but those
// of the keychain, which have a matrix of their own.
func expected(t *testing.T, seen map[string]bool) {
	t.Helper()
	var want []string
	for _, state := range []string{"accepted", "executing", "settling", "filled", "cancelled"} {
		want = append(want, "journal.before_"+state, "journal.after_"+state)
	}
	for _, name := range faultNames(t) {
		if strings.HasPrefix(name, "journal.") || strings.HasPrefix(name, "sender.") {
			want = append(want, name)
		}
	}
	for _, point := range want {
		if !seen[point] {
			t.Errorf("no flow passes %s", point)
		}
	}
}

// senderPoints reads the names of the sender's points out of its source.
func senderPoints(t *testing.T) (names []string) {
	t.Helper()
	files, err := filepath.Glob("../../chain/*.go")
	if err != nil {
		t.Fatal(err)
	}
	name := regexp.MustCompile(`"(sender\.(?:before|after)_[a-z_]+)"`)
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range name.FindAllStringSubmatch(string(source), -1) {
			names = append(names, m[1])
		}
	}
	if len(names) < 9 {
		t.Fatalf("the sender names only %v", names)
	}
	return names
}

// survive kills the daemon at a point and wants the user to be paid once.
func survive(t *testing.T, k kill, stayLocked bool) string {
	l := takeLane(t)
	for range 3 {
		if outcome, reached := surviveOn(t, l, k, stayLocked); reached {
			return outcome
		}
		l.Reset()
	}
	t.Fatal(errNotReached)
	return ""
}

// surviveOn is one try. How often a flow passes a point may hang on what two
// goroutines do first; a later passage that did not happen is no verdict.
func surviveOn(t *testing.T, l *lane, k kill, stayLocked bool) (outcome string, reached bool) {
	d := newDesk(t, l)
	d.open(fmt.Sprintf("SWAPKEEP_FAULT=%s:%d", k.point, k.hit))
	p := begin(d, k.flow, "")
	d.doomed = d.watch()
	if err := p.drive(); err != nil && !errors.Is(err, errLost) {
		t.Fatal(err)
	}
	if err := d.doomed.killed(); errors.Is(err, errNotReached) && k.hit > 1 {
		d.doomed = nil
		d.shut()
		return "", false
	} else if err != nil {
		t.Fatal(err)
	}
	d.doomed = nil
	if err := greeted(d.relay); err != nil {
		t.Fatalf("the relay did not come back: %v", err)
	}
	if stayLocked {
		p.whileLocked(k.when)
	}
	d.unlock()
	outcome, used := p.finish(k)
	p.goesOn(used)
	d.shut()
	p.journalHolds()
	return outcome, true
}

// finish repeats what the user did and looks at what came of it.
func (p *passage) finish(k kill) (outcome string, used uint64) {
	p.t.Helper()
	err := p.drive()
	switch {
	case errors.Is(err, errNeverAccepted) && k.when == unpromised && p.id == "":
		p.untouched()
		return "no order, nothing sent", 0
	case err != nil:
		p.t.Fatal(err)
	case k.when == unpromised:
		p.t.Errorf("an order came of a consent that was not on disk")
	}
	o := p.paidOnce()
	return o.State + ", one transaction", 1
}

// onDisk is how far a cancelled flow came. The user's wish and the engine's own
// commits are two goroutines' doing, so a trace does not tell their order.
func (p *passage) onDisk(id string) moment {
	p.t.Helper()
	o, err := p.awaitOrder(id, func(o protocol.Order) bool { return !o.Cancelling || o.Condition != "" || o.Final })
	switch {
	case err != nil:
		p.t.Fatalf("locked, with the wish to cancel on disk: %v", err)
	case !o.Cancelling:
		return idle
	case o.Condition == "waiting for unlock":
		return parked
	}
	return signed
}

// whileLocked looks at a daemon that came back locked: it finishes what is
// signed, and waits with what is not.
func (p *passage) whileLocked(when moment) {
	p.t.Helper()
	var status protocol.KeysStatus
	if p.must("keys.status", nil, &status); status.State != protocol.KeysLocked {
		p.t.Errorf("keys are %s after the restart", status.State)
	}
	orders := p.orders()
	if when == unpromised {
		p.untouched()
		return
	}
	if len(orders) != 1 || orders[0].Request != p.request {
		p.t.Fatalf("%d orders after the restart, want ours", len(orders))
	}
	id := orders[0].ID
	if p.flow.cancels {
		when = p.onDisk(id)
	}
	if when == signed {
		if p.flow.cancels {
			if err := p.letCancelWin(); err != nil {
				p.t.Fatal(err)
			}
		}
		if _, err := p.awaitOrder(id, final); err != nil {
			p.t.Fatalf("locked, and all was signed: %v", err)
		}
		return
	}
	condition := map[moment]string{parked: "waiting for unlock", idle: ""}[when]
	if _, err := p.awaitOrder(id, func(o protocol.Order) bool { return o.Condition == condition }); err != nil {
		p.t.Fatalf("locked, want %q: %v", condition, err)
	}
	before := len(p.sight().distinct())
	time.Sleep(1200 * time.Millisecond) // longer than the engine's pause
	if o, err := p.order(id); err != nil || o.Order.Final || o.Order.Condition != condition {
		p.t.Errorf("locked: order is %s, %q, %v", o.Order.State, o.Order.Condition, err)
	}
	if after := len(p.sight().distinct()); after != before {
		p.t.Errorf("locked: %d transactions were sent, then %d", before, after)
	}
}

// A board is the table that the run ends with.
type board struct {
	mu   sync.Mutex
	rows []row
}

type row struct {
	kill
	way, outcome string
	took         time.Duration
}

// note runs a case and writes its row down, also when it fails.
func (b *board) note(t *testing.T, k kill, way string, run func() string) {
	began, outcome := time.Now(), "FAILED"
	defer func() {
		if t.Failed() {
			outcome = "FAILED"
		}
		b.mu.Lock()
		defer b.mu.Unlock()
		b.rows = append(b.rows, row{k, way, outcome, time.Since(began)})
	}()
	outcome = run()
}

func (b *board) String() string {
	slices.SortFunc(b.rows, func(x, y row) int {
		return strings.Compare(fmt.Sprint(x.flow.name, x.point, x.hit, x.way), fmt.Sprint(y.flow.name, y.point, y.hit, y.way))
	})
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "flow\tpoint\thit\ton disk\tback\toutcome\tseconds")
	failed := 0
	for _, r := range b.rows {
		fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%s\t%s\t%.1f\n", r.flow.name, r.point, r.hit, r.when, r.way, r.outcome, r.took.Seconds())
		if r.outcome == "FAILED" {
			failed++
		}
	}
	_ = w.Flush()
	fmt.Fprintf(&text, "%d kills, %d failed\n", len(b.rows), failed)
	return text.String()
}
