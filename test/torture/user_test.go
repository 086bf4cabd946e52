//go:build faults && linux

package torture

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"swapkeep/host/client"
	"swapkeep/host/protocol"
	"swapkeep/test/programs"
	"swapkeep/test/requests"
)

const (
	callTimeout = 20 * time.Second // limit for a call
	waitTimeout = 2 * time.Minute  // limit for anything that must happen in the end
	mostOpen    = 16               // open orders of a world's users at a time
)

// A user is somebody at a window: a relay, and what is done through it.
type user struct {
	w       *world
	name    string
	rng     *rand.Rand
	account common.Address
	relay   *client.Process
}

// newUser returns a user whose choices follow from the world's seed and n.
func (w *world) newUser(name string, n int) *user {
	u := &user{w: w, name: name, rng: rand.New(rand.NewPCG(w.seed, uint64(n)+1))}
	if len(w.accounts) > 0 {
		u.account = w.accounts[n%len(w.accounts)]
	}
	return u
}

// errLost says that the window is gone or got no answer; the call may be repeated.
var errLost = errors.New("no answer")

// open starts a relay as a browser does. One in three gives a fault to a daemon that it
// starts, which then dies at a point of its work.
func (u *user) open() error {
	var extra []string
	if !u.w.atPeace() && len(u.w.accounts) > 0 && u.rng.IntN(3) == 0 {
		extra = []string{fmt.Sprintf("SWAPKEEP_FAILPOINT=%s:%d", points[u.rng.IntN(len(points))], 1+u.rng.IntN(3))}
	}
	p, err := client.Start(u.w.command(extra, programs.Origin))
	if err != nil {
		return err
	}
	u.relay = p
	u.w.mu.Lock()
	u.w.relays[p.PID()] = p
	u.w.mu.Unlock()
	return nil
}

// leave closes the window.
func (u *user) leave() {
	if u.relay == nil {
		return
	}
	_, _ = u.relay.Stop() // it may have been killed
	u.w.mu.Lock()
	delete(u.w.relays, u.relay.PID())
	u.w.mu.Unlock()
	u.relay = nil
}

// ask calls once. It returns the daemon's error or errLost.
func (u *user) ask(method string, params, result any) error {
	if u.relay == nil {
		if err := u.open(); err != nil {
			return errLost
		}
	}
	ctx, cancel := context.WithTimeout(u.w.ctx, callTimeout)
	defer cancel()
	err := u.relay.Call(ctx, method, params, result)
	var said *protocol.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &said):
		u.w.count("refused: "+said.Name, 1)
		if said.Name == "internal" || said.Name == "request_conflict" || said.Name == "bad_params" {
			u.w.find("%s: %s\n%s", method, said, u.w.complaints())
		}
		if said.Name == "daemon_stopped" || said.Name == "daemon_lost" {
			u.leave() // the browser opens another when it is used again
		}
		return said
	}
	u.leave()
	return errLost
}

// retryErrors lists errors after which the same call is repeated.
var retryErrors = []string{"busy", "daemon_lost", "daemon_starting", "timed_out", "stopping", "daemon_stopped", "journal_failed", "database_full", "database_locked", "database_readonly", "backing_off", "result_too_large"}

// lockedErrors lists errors after which the wallet is unlocked first.
var lockedErrors = []string{"session_required", "locked"}

// isRetryable reports whether an error says nothing about the result of the call.
func isRetryable(err error) bool {
	return errors.Is(err, errLost) || slices.Contains(retryErrors, requests.ErrorName(err)) || strings.HasPrefix(requests.ErrorName(err), "keychain_")
}

// retryUntilAnswered repeats a call until there is an answer, and unlocks the wallet for it. It returns
// the daemon's error about the matter, or errLost after patience.
func (u *user) retryUntilAnswered(method string, params, result any) (err error) {
	for end := time.Now().Add(waitTimeout); time.Now().Before(end) && u.w.ctx.Err() == nil; u.sleepRandom(50, 300) {
		switch err = u.ask(method, params, result); {
		case slices.Contains(lockedErrors, requests.ErrorName(err)):
			_ = u.ask("keys.unlock", protocol.UnlockParams{Password: []byte(requests.Password)}, nil)
		case !isRetryable(err):
			return err
		}
	}
	return fmt.Errorf("%w to %s in %s: %w", errLost, method, waitTimeout, err)
}

// sleepRandom waits a random number of milliseconds from least up to most.
func (u *user) sleepRandom(least, most int) {
	select {
	case <-time.After(time.Duration(least+u.rng.IntN(most-least)) * time.Millisecond):
	case <-u.w.ctx.Done():
	}
}

// run uses the wallet until peace.
func (u *user) run() {
	defer u.leave()
	for !u.w.atPeace() && u.w.ctx.Err() == nil {
		switch p := u.rng.IntN(100); {
		case p < 10:
			u.meddle()
		case p < 14:
			u.revoke()
		case u.w.accepted()+u.w.pending() >= *swaps, u.w.openCount() >= mostOpen:
			u.look()
		default:
			u.swap()
		}
		u.sleepRandom(20, 400)
	}
}

// look makes the calls of an open window.
func (u *user) look() {
	looks := []string{"networks.list", "swap.providers", "host.hello"}
	_ = u.ask(looks[u.rng.IntN(len(looks))], nil, nil)
	var keys protocol.KeysStatus
	if err := u.ask("keys.status", nil, &keys); err == nil && keys.State == protocol.KeysLocked && u.rng.IntN(2) == 0 {
		_ = u.ask("keys.unlock", protocol.UnlockParams{Password: []byte(requests.Password)}, nil)
	}
	u.openOrders()
}

// openOrders lists the open orders and records their number.
func (u *user) openOrders() []protocol.Order {
	var all protocol.OrdersResult
	if err := u.ask("swap.orders", protocol.OrdersParams{Open: true, Limit: 200}, &all); err != nil {
		return nil
	}
	u.w.mu.Lock()
	defer u.w.mu.Unlock()
	u.w.lastOpen = len(all.Orders)
	return all.Orders
}

// swap quotes, prepares and executes, if nothing prevents it.
func (u *user) swap() {
	chain := u.w.activeNetwork()
	if err := u.ask("networks.select", protocol.SelectParams{ChainID: chain}, nil); err != nil {
		return
	}
	t := u.w.drawTrade(u.rng, chain, u.account)
	var offers protocol.QuoteResult
	if err := u.ask("swap.quote", t.quote(u.account), &offers); err != nil || len(offers.Offers) == 0 {
		for _, f := range offers.Failures {
			u.w.count("no offer: "+f.Name, 1)
		}
		return
	}
	choice := offers.Offers
	if u.rng.IntN(8) > 0 { // otherwise any offer, also one that cannot be executed
		choice = slices.DeleteFunc(choice, func(o protocol.Offer) bool { return o.Unusable != "" })
	}
	if len(choice) == 0 {
		return
	}
	offer := choice[u.rng.IntN(len(choice))]
	var r protocol.Review
	if err := u.ask("swap.prepare", protocol.PrepareParams{Offer: offer.ID}, &r); err != nil {
		return
	}
	if r.Blocked {
		u.w.count("blocked reviews", 1)
		return
	}
	if u.rng.IntN(4) == 0 {
		u.sleepRandom(100, 2500) // as long as a person reads
	}
	c := &consent{request: requests.NewUUID(), account: u.account, digests: []protocol.Hash{r.Digest}, terms: []protocol.Terms{r.Terms}}
	c.method, c.params = "swap.execute", protocol.ExecuteParams{Request: c.request, Digest: r.Digest, Acknowledge: requests.Acks(r.Findings), Password: []byte(requests.Password)}
	u.sendConsent(c)
}
