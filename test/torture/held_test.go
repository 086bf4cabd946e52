//go:build faults && linux

package torture

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"swapkeep/host/protocol"
	"swapkeep/internal/failpoint"
)

// Limits on the resources of an idle daemon: most is without open orders, order is added
// for each open one, and more is how much the last daemon of a storm may exceed the first,
// or a fresh one.
var (
	most  = holding{goroutines: 22, descriptors: 18, idle: 100}
	order = holding{goroutines: 1, descriptors: 1}
	more  = holding{goroutines: 4, descriptors: 2, idle: most.idle} // which hosts it called last is a matter of chance
)

const (
	// settles is how long a daemon may take to finish its work. same is how long its
	// figures must not shrink before they count as final.
	settles = 30 * time.Second
	same    = 3 * time.Second
)

// A holding is the resources of an idle daemon.
type holding struct {
	goroutines, descriptors int            // without those of idle connections
	idle                    int            // connections to services it called
	begun                   map[string]int // all goroutines, by the function that started them
}

func holdingOf(f failpoint.Figures) holding {
	return holding{f.Goroutines - 2*f.Idle, f.Descriptors - f.Idle, f.Idle, f.Begun}
}

func (h holding) plus(o holding, times int) holding {
	return holding{goroutines: h.goroutines + times*o.goroutines, descriptors: h.descriptors + times*o.descriptors, idle: h.idle + times*o.idle}
}

// covers reports whether o is no more than h.
func (h holding) covers(o holding) bool {
	return o.goroutines <= h.goroutines && o.descriptors <= h.descriptors && o.idle <= h.idle
}

func (h holding) String() string {
	return fmt.Sprintf("%d goroutines, %d descriptors and %d idle connections", h.goroutines, h.descriptors, h.idle)
}

// than lists the goroutines that h has more than o.
func (h holding) than(o holding) string {
	var more []string
	for _, what := range slices.Sorted(maps.Keys(h.begun)) {
		if n := h.begun[what] - o.begun[what]; n > 0 {
			more = append(more, fmt.Sprintf("%d of %s", n, what))
		}
	}
	return strings.Join(more, ", ")
}

// openOf counts orders that have not ended.
func openOf(all []protocol.OrderResult) (n int) {
	for _, o := range all {
		if !o.Order.Final {
			n++
		}
	}
	return n
}

// lookAround makes the daemon call every network and returns its resources once it is idle.
func (w *world) lookAround(name string) (holding, error) {
	u := w.newUser(name, windows+3)
	defer u.leave()
	if err := u.insist("keys.unlock", protocol.UnlockParams{Password: []byte(password)}, nil); err != nil {
		return holding{}, err
	}
	if _, err := w.listed(u); err != nil {
		return holding{}, err
	}
	if _, err := w.orders(u); err != nil {
		return holding{}, err
	}
	u.leave()
	return w.holds(never)
}

// holds returns the daemon's least resources until content accepts or they stop shrinking.
func (w *world) holds(content func(holding) bool) (least holding, err error) {
	pid, err := w.PID(w.ctx)
	if err != nil {
		return least, err
	}
	since := time.Now()
	for end := since.Add(settles); time.Now().Before(end) && time.Since(since) < same; time.Sleep(100 * time.Millisecond) {
		f, err := w.Figures(pid, answer)
		if err != nil {
			return least, fmt.Errorf("figures of process %d: %w", pid, err)
		}
		if h := holdingOf(f); least.begun == nil || h.goroutines+h.descriptors < least.goroutines+least.descriptors {
			least, since = h, time.Now()
		}
		if content(least) {
			break
		}
	}
	return least, nil
}

// never accepts nothing, so that holds returns the least of some time.
func never(holding) bool { return false }

// leakless checks that the daemon that survived the end of the storm holds no more than an
// idle one may, nor more than the first one did or, if open orders explain the difference,
// than a freshly started one.
func (w *world) leakless(u *user, first holding) error {
	orders, err := w.orders(u)
	if err != nil {
		return err
	}
	open := openOf(orders)
	u.leave()
	held, err := w.holds(first.plus(more, 1).covers)
	if err != nil {
		return err
	}
	w.tell("the first daemon held %s, the last holds %s, with %d open orders", first, held, open)
	bound := most.plus(order, open)
	if most.covers(first) && bound.covers(held) && first.plus(more, 1).covers(held) {
		return nil
	}
	if out, err := w.stop(); err != nil {
		return fmt.Errorf("stop: %w: %s", err, out)
	}
	fresh, err := w.lookAround("fresh")
	w.count("daemons held against another one", 1)
	if !most.covers(first) || !bound.covers(held) || err == nil && !fresh.plus(more, 1).covers(held) {
		w.find("with nobody there the first daemon held %s, the last, with %d open orders, %s, one that has just started %s: besides, there are %s; begun were %v", first, open, held, fresh, held.than(fresh), held.begun)
	}
	return err
}
