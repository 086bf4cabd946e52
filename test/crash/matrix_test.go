//go:build faults && linux

package crash

import (
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A kill is one row of the matrix: the daemon dies when it passes a point for the nth time.
type kill struct {
	flow  flow
	point string
	hit   int
	when  onDisk
}

// Ways to continue after a death.
const (
	unlockAtOnce = "unlocked at once"
	unlockLater  = "locked for a while"
)

// ways returns both with -every, and else one: late for an order that others settle and
// that is fully signed, since late shows that it needs no key, or one drawn by name.
func (k kill) ways() []string {
	switch {
	case *every:
		return []string{unlockAtOnce, unlockLater}
	case k.flow.settledByProvider() && k.when.made == k.when.of, drawn(k.flow.name + k.point + "way"):
		return []string{unlockLater}
	}
	return []string{unlockAtOnce}
}

// drawn is a coin that always falls the same way for a name.
func drawn(name string) bool {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name))
	return h.Sum32()&0x10 != 0
}

// cheapWallets makes a daemon use a cheap key derivation, which for hundreds of wallets
// would be most of the work. The flows of wallets themselves do without it.
const cheapWallets = "SWAPKEEP_CHEAP_KDF=1"

// TestKilledAtEveryPoint runs each flow once to record the points it passes, then once more
// for each point, where the daemon dies.
func TestKilledAtEveryPoint(t *testing.T) {
	var (
		mu    sync.Mutex
		kills []kill
		seen  = map[string]bool{}
		table resultTable
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
	expected(t, "TestKilledAtEveryPoint", seen)
	slices.SortStableFunc(kills, func(a, b kill) int { return strings.Compare(a.flow.name, b.flow.name) })
	t.Run("kill", func(t *testing.T) {
		for _, k := range kills {
			for _, way := range k.ways() {
				t.Run(fmt.Sprintf("%s/%s:%d/%s", k.flow.name, k.point, k.hit, strings.Fields(way)[0]), func(t *testing.T) {
					t.Parallel()
					table.note(t, k, way, func() string { return survive(t, k, way == unlockLater) })
				})
			}
		}
	})
	t.Log("\n" + table.String())
	if n := table.count(notSoOften); n*20 > len(kills) {
		t.Errorf("%d of the kills were never reached: the traces say too little", n)
	}
}

// trace runs a flow without a fault. It returns the kills for the flow's own part, and all
// points that it passes.
func trace(t *testing.T, f flow) (kills []kill, points []string) {
	d := newDesk(t, takeLane(t))
	d.Env = append(d.Env, append(f.env(d), cheapWallets)...)
	path := d.openTraced()
	p := begin(d, f, path)
	if err := p.drive(); err != nil {
		t.Fatal(err)
	}
	p.checkOutcome()
	points = readTrace(t, path)
	p.resetWorld()
	p.checkNextSwap(uint64(len(f.mined)))
	d.shut()
	p.checkAudit()
	kills = f.kills(points, p.mark)
	t.Logf("%d kills in %s", len(kills), strings.Join(points[p.mark:], " "))
	return kills, points
}

// every kills at each hit of a point, and ignores flow.onlyPoints.
var every = flag.Bool("every", false, "kill at every hit of a point and continue in both ways, not at one hit and in one way")

// kills returns the kills of the flow's own part of a trace, which begins at mark: each
// point once, at its first hit there or at its last, drawn by name. With -every, each hit,
// but for those whose number depends on polling.
func (f flow) kills(points []string, mark int) (all []kill) {
	from, to := 0, len(points)-mark
	if f.ownPart != nil {
		from, to = f.ownPart(points[mark:])
	}
	hits, of := map[string]int{}, map[string]int{}
	for _, point := range points[:mark+to] {
		of[point]++
	}
	killed := map[string]bool{}
	for i, point := range points[:mark+to] {
		hits[point]++
		last := hits[point] == of[point]
		switch {
		case i < mark+from, killed[point] && (f.polls(point) || !*every):
		case *every, f.adds(point) && (last || f.polls(point) || !drawn(f.name+point)):
			killed[point] = true
			all = append(all, kill{f, point, hits[point], momentOf(points, i)})
		}
	}
	return all
}

// adds reports whether a point is one that this flow is for.
func (f flow) adds(point string) bool {
	return f.onlyPoints == nil || slices.Contains(f.onlyPoints, nameOf(point))
}

// nameOf returns the name of the step that a point is before or after.
func nameOf(point string) string {
	_, name, _ := strings.Cut(point, "_")
	return name
}

// polls reports whether the number of hits of a point depends on how often the daemon
// polls. Such a point is killed only at its first hit.
func (f flow) polls(point string) bool {
	return f.settledByProvider() && slices.Contains([]string{"status", "claim", "settling"}, nameOf(point))
}

// env makes a daemon die there.
func (k kill) env() string { return fmt.Sprintf("SWAPKEEP_FAILPOINT=%s:%d", k.point, k.hit) }

// killAtEach survives all kills, several at a time, and logs their table.
func killAtEach(t *testing.T, kills []kill, survive func(*testing.T, kill) string) {
	var table resultTable
	t.Run("kill", func(t *testing.T) {
		for _, k := range kills {
			t.Run(fmt.Sprintf("%s:%d", k.point, k.hit), func(t *testing.T) {
				t.Parallel()
				table.note(t, k, unlockAtOnce, func() string { return survive(t, k) })
			})
		}
	})
	t.Log("\n" + table.String())
}

// survive kills the daemon at a point and checks that the user is paid exactly once.
func survive(t *testing.T, k kill, stayLocked bool) string {
	l := takeLane(t)
	for range 3 {
		if outcome, reached := surviveOn(t, l, k, stayLocked); reached {
			return outcome
		}
		l.Reset()
	}
	if k.hit == 1 {
		t.Fatal(errNotReached)
	}
	return notSoOften
}

// notSoOften is the outcome of a kill at a later hit that the trace saw and three tries did
// not: under load a flow may record the same thing once more. Its point is killed at the
// earlier hits.
const notSoOften = "not passed so often"

// surviveOn is one try. How often a flow passes a point may depend on which of two
// goroutines is first, so that a later hit that does not come is not a failure.
func surviveOn(t *testing.T, l *lane, k kill, stayLocked bool) (outcome string, reached bool) {
	d := newDesk(t, l)
	d.Env = append(d.Env, append(k.flow.env(d), cheapWallets)...)
	d.open(k.env())
	p := begin(d, k.flow, "")
	d.dying = d.watch()
	wait := longTimeout
	if err := p.drive(); err == nil {
		wait = shortTimeout // everything is done: it dies now, or it passed the point too few times
	} else if !errors.Is(err, errLost) {
		t.Fatal(err)
	}
	if err := d.dying.killed(wait); errors.Is(err, errNotReached) && k.hit > 1 {
		d.dying = nil
		p.resetWorld()
		d.shut()
		return "", false
	} else if err != nil {
		t.Fatal(err)
	}
	d.dying = nil
	d.awaitSuccessor()
	if stayLocked {
		p.whileLocked(k)
	}
	d.unlock()
	outcome, used := p.finish(k)
	p.checkNextSwap(used)
	d.shut()
	p.checkAudit()
	return outcome, true
}

// finish repeats what the user did and checks the result.
func (p *flowRun) finish(k kill) (outcome string, used uint64) {
	p.t.Helper()
	defer p.resetWorld()
	err := p.drive()
	switch {
	case errors.Is(err, errNeverAccepted) && !k.when.consented && p.id == "":
		p.checkUntouched()
		return "no order, nothing sent", 0
	case err != nil:
		p.t.Fatal(err)
	case !k.when.consented:
		p.t.Errorf("an order came of a consent that was not on disk")
	}
	o := p.checkOutcome()
	return o.State + ": " + strings.Join(p.flow.mined, ", "), uint64(len(p.flow.mined))
}
