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
	"swapkeep/test/requests"
)

// Limits on the resources of an idle daemon: most is without open orders, order is added
// for each open one, and more is how much the last daemon of a storm may exceed the first,
// or a fresh one.
var (
	maxIdle   = resources{goroutines: 22, descriptors: 18, idle: 100}
	perOrder  = resources{goroutines: 1, descriptors: 1}
	maxGrowth = resources{goroutines: 4, descriptors: 2, idle: maxIdle.idle} // which hosts it called last is a matter of chance
)

const (
	// settleTimeout is how long a daemon may take to finish its work. same is how long its
	// figures must not shrink before they count as final.
	settleTimeout = 30 * time.Second
	settledAfter  = 3 * time.Second
)

// A resources is the resources of an idle daemon.
type resources struct {
	goroutines, descriptors int            // without those of idle connections
	idle                    int            // connections to services it called
	begun                   map[string]int // all goroutines, by the function that started them
}

func holdingOf(f failpoint.ResourceUsage) resources {
	return resources{f.Goroutines - 2*f.Idle, f.Descriptors - f.Idle, f.Idle, f.Begun}
}

func (h resources) plus(o resources, times int) resources {
	return resources{goroutines: h.goroutines + times*o.goroutines, descriptors: h.descriptors + times*o.descriptors, idle: h.idle + times*o.idle}
}

// covers reports whether o is no more than h.
func (h resources) covers(o resources) bool {
	return o.goroutines <= h.goroutines && o.descriptors <= h.descriptors && o.idle <= h.idle
}

func (h resources) String() string {
	return fmt.Sprintf("%d goroutines, %d descriptors and %d idle connections", h.goroutines, h.descriptors, h.idle)
}

// excess lists the goroutines that h has more than o.
func (h resources) excess(o resources) string {
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
func (w *world) lookAround(name string) (resources, error) {
	u := w.newUser(name, windows+3)
	defer u.leave()
	if err := u.retryUntilAnswered("keys.unlock", protocol.UnlockParams{Password: []byte(requests.Password)}, nil); err != nil {
		return resources{}, err
	}
	if _, err := w.listed(u); err != nil {
		return resources{}, err
	}
	if _, err := w.orders(u); err != nil {
		return resources{}, err
	}
	u.leave()
	return w.measureIdle(notYet)
}

// measureIdle returns the daemon's least resources until content accepts or they stop shrinking.
func (w *world) measureIdle(content func(resources) bool) (least resources, err error) {
	pid, err := w.PID(w.ctx)
	if err != nil {
		return least, err
	}
	since := time.Now()
	for end := since.Add(settleTimeout); time.Now().Before(end) && time.Since(since) < settledAfter; time.Sleep(100 * time.Millisecond) {
		f, err := w.Figures(pid, callTimeout)
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

// notYet accepts nothing, so that holds returns the least of some time.
func notYet(resources) bool { return false }

// checkLeaks checks that the daemon that survived the end of the storm holds no more than an
// idle one may, nor more than the first one did or, if open orders explain the difference,
// than a freshly started one.
func (w *world) checkLeaks(u *user, first resources) error {
	orders, err := w.orders(u)
	if err != nil {
		return err
	}
	open := openOf(orders)
	u.leave()
	held, err := w.measureIdle(first.plus(maxGrowth, 1).covers)
	if err != nil {
		return err
	}
	w.tell("the first daemon held %s, the last holds %s, with %d open orders", first, held, open)
	bound := maxIdle.plus(perOrder, open)
	if maxIdle.covers(first) && bound.covers(held) && first.plus(maxGrowth, 1).covers(held) {
		return nil
	}
	if out, err := w.stop(); err != nil {
		return fmt.Errorf("stop: %w: %s", err, out)
	}
	fresh, err := w.lookAround("fresh")
	w.count("daemons held against another one", 1)
	if !maxIdle.covers(first) || !bound.covers(held) || err == nil && !fresh.plus(maxGrowth, 1).covers(held) {
		w.find("with nobody there the first daemon held %s, the last, with %d open orders, %s, one that has just started %s: besides, there are %s; begun were %v", first, open, held, fresh, held.excess(fresh), held.begun)
	}
	return err
}
