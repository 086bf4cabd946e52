//go:build faults && linux

package torture

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"swapkeep/host/protocol"
	"swapkeep/test/audit"
	"swapkeep/test/await"
	"swapkeep/test/requests"
)

const (
	longestStorm = 4 * time.Minute // even if the users are not done by then
	longestPeace = 90 * time.Second
	// deadlineSkip moves chains and clock past every deadline. look is a little more than the time
	// after which the daemon searches again before it accepts that something does not
	// exist.
	deadlineSkip     = 11 * time.Minute
	searchAgainAfter = 61 * time.Second
)

// play is one round: a storm, then peace, then the reckoning.
func play(t *testing.T, n int) *report {
	r := newReport(n)
	began := time.Now()
	defer func() { r.took = time.Since(began) }()
	w, err := newWorld(t.Context(), r)
	if err != nil {
		r.find("the world does not begin: %v", err)
		return r
	}
	defer func() {
		if err := w.close(); err != nil {
			r.find("the world does not end: %v", err)
		}
	}()
	first, err := w.lookAround("first")
	if err != nil {
		r.find("before the storm: %v\n%s", err, w.Log())
		return r
	}
	w.storm()
	w.tell("peace")
	orders, listed, err := w.calm(first)
	if err != nil {
		r.find("after the storm: %v\n%s", err, w.Log())
		return r
	}
	w.runAudit(orders, listed)
	if len(r.findings) > 0 && *keep != "" {
		if err := os.CopyFS(filepath.Join(*keep, fmt.Sprint("round", n)), os.DirFS(w.Instance.Home)); err != nil {
			r.find("keep: %v", err)
		}
	}
	return r
}

// calm brings everything to its end, checks for leaks, and returns orders and allowances.
func (w *world) calm(first resources) (orders []protocol.OrderResult, listed map[audit.Grant]audit.Allowance, err error) {
	w.thaw()
	u := w.newUser("last", windows+2)
	defer u.leave()
	if err = w.settleAll(u); err == nil {
		err = w.checkLeaks(u, first)
	}
	if err == nil {
		orders, err = w.orders(u)
	}
	if err == nil {
		listed, err = w.listed(u)
	}
	return orders, listed, err
}

// storm runs users and mischief until enough swaps were accepted.
func (w *world) storm() {
	var wg sync.WaitGroup
	for i := range windows {
		wg.Go(w.newUser(fmt.Sprint("window ", i+1), i+1).run)
	}
	rng := rand.New(rand.NewPCG(w.seed, 99))
	if err := w.drawProviders(rng, false); err != nil {
		w.find("providers: %v", err)
	}
	m := &mischief{w: w, rng: rng, by: w.newUser("mischief", windows+1)}
	wg.Go(m.storm)
	wg.Go(w.scanProcesses)
	await.Holds(longestStorm, func() bool { return w.accepted() >= *swaps || w.ctx.Err() != nil })
	close(w.peace)
	wg.Wait()
}

// settleAll removes all faults and brings every order to its end. An order polled during a
// leap of the clock by days may pause for an hour, because the clock of faults also moves
// the monotonic time, which setting a machine's clock does not: then the daemon is
// replaced.
func (w *world) settleAll(u *user) error {
	for _, kind := range []string{dex, bridge, intent, gasless} {
		w.Faults(kind).Reset()
	}
	for _, c := range w.Chains() {
		c.Faults.Reset()
		c.Resume()
	}
	if err := w.endLies(); err != nil {
		return err
	}
	if err := w.align(0); err != nil {
		return err
	}
	if err := u.retryUntilAnswered("keys.unlock", protocol.UnlockParams{Password: []byte(requests.Password)}, nil); err != nil {
		return err
	}
	for _, c := range slices.Clone(w.consents) {
		if c.id == "" && c.refused == "" {
			u.settle(c)
		}
	}
	if w.await(u, 20*time.Second) {
		return w.closeRest(u, 0)
	}
	if err := w.align(deadlineSkip); err != nil {
		return err
	}
	ahead := deadlineSkip
	for end := time.Now().Add(longestPeace); time.Now().Before(end); ahead += searchAgainAfter {
		if rests(w.daemon(), w.leapt, time.Until(end)) { // the next one has never leapt
			w.count("daemons ended in peace for a leap by days", 1)
			if out, err := w.stop(); err != nil {
				return fmt.Errorf("stop: %w: %s", err, out)
			}
		}
		if err := w.setClock(ahead); err != nil {
			return err
		}
		if w.await(u, 7*time.Second) {
			break
		}
	}
	return w.closeRest(u, ahead)
}

// closeWait is longer than any order must wait before it can be closed.
const closeWait = 9 * time.Hour

// closeRest closes the orders whose end nothing will prove, after which none is open any more.
// ahead is how far the daemon's clock is ahead.
func (w *world) closeRest(u *user, ahead time.Duration) error {
	if err := w.setClock(ahead + closeWait); err != nil {
		return err
	}
	if err := u.retryUntilAnswered("keys.unlock", protocol.UnlockParams{Password: []byte(requests.Password)}, nil); err != nil {
		return err
	}
	var open protocol.OrdersResult
	if err := u.retryUntilAnswered("swap.orders", protocol.OrdersParams{Open: true, Limit: 200}, &open); err != nil {
		return err
	}
	for _, o := range open.Orders {
		if o.CanCloseFrom.IsZero() {
			w.find("order %s (%s %s) neither ends nor can be closed", o.ID, o.State, o.Condition)
			continue
		}
		params := protocol.CloseParams{Request: requests.NewUUID(), Order: o.ID, Digest: o.Digest}
		var said *protocol.Error
		if err := u.retryUntilAnswered("swap.close", params, nil); err != nil && !(errors.As(err, &said) && said.Name == "order_final") {
			return err
		}
		w.count("closed at the end", 1)
	}
	return w.awaitSwept(u)
}

// awaitSwept waits until what is left in isolated accounts has come back.
func (w *world) awaitSwept(u *user) error {
	var left []string
	for end := time.Now().Add(longestPeace / 2); time.Now().Before(end); u.sleepRandom(500, 1000) {
		all, err := w.orders(u)
		if err != nil {
			return err
		}
		left = nil
		for _, r := range all {
			o := r.Order
			moved := o.Terms.Isolated != "" && o.Steps[0].Done && !o.Steps[0].Skipped
			if moved && (o.Isolation == nil || len(o.Isolation.Left) == 0) {
				left = append(left, o.ID)
			}
		}
		if len(left) == 0 {
			return nil
		}
	}
	w.find("what is left in the isolated accounts of %v has not come back", left)
	return nil
}

// rests reports whether orders may pause for an hour: half of the peace has passed, and the
// daemon is one whose clock leapt by days.
func rests(pid int, leapt []int, left time.Duration) bool {
	return pid != 0 && slices.Contains(leapt, pid) && left < longestPeace/2
}

// settledFor is how long nothing may be awaited before that is believed: the bridge calls an order
// failed for a moment before it refunds it.
const settledFor = 3 * time.Second

// await polls until all orders have ended or may stay open, and accepts their proposals.
func (w *world) await(u *user, most time.Duration) bool {
	awaited := time.Now() // when something was last awaited
	for end := time.Now().Add(most); time.Now().Before(end); u.sleepRandom(200, 400) {
		var open protocol.OrdersResult
		if err := u.retryUntilAnswered("swap.orders", protocol.OrdersParams{Open: true, Limit: 200}, &open); err != nil {
			return false
		}
		waits := false
		for _, o := range open.Orders {
			switch {
			case o.Proposal != nil && o.Proposal.Review.Blocked:
				_ = u.ask("swap.cancel", protocol.CancelParams{Request: requests.NewUUID(), Order: o.ID, Digest: o.Digest, Password: []byte(requests.Password)}, nil)
			case o.Proposal != nil:
				u.accept(o)
			case o.Condition == "waiting_unlock":
				_ = u.retryUntilAnswered("keys.unlock", protocol.UnlockParams{Password: []byte(requests.Password)}, nil)
			}
			waits = waits || w.whyOpen(o) == ""
		}
		if waits {
			awaited = time.Now()
		}
		if time.Since(awaited) >= settledFor {
			return true
		}
	}
	return false
}

// orders returns all orders in full.
func (w *world) orders(u *user) (all []protocol.OrderResult, err error) {
	params := protocol.OrdersParams{Limit: 200}
	for {
		var page protocol.OrdersResult
		if err := u.retryUntilAnswered("swap.orders", params, &page); err != nil {
			return nil, err
		}
		for _, o := range page.Orders {
			var r protocol.OrderResult
			if err := u.retryUntilAnswered("swap.order", protocol.OrderParams{Order: o.ID}, &r); err != nil {
				return nil, err
			}
			all = append(all, r)
		}
		if params.Cursor = page.Cursor; params.Cursor == "" {
			return all, nil
		}
	}
}
