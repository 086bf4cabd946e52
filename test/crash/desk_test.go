//go:build faults && linux

package crash

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"swapkeep/host/client"
	"swapkeep/host/protocol"
	"swapkeep/sandbox"
	"swapkeep/test/await"
	"swapkeep/test/processes"
	"swapkeep/test/programs"
	"swapkeep/test/requests"
)

const (
	longTimeout  = time.Minute     // for anything to happen, even on a busy machine
	shortTimeout = 5 * time.Second // for what is already under way
)

// A desk is one user on one machine: a home, a lane of chains, a relay and its daemon.
type desk struct {
	*programs.Home
	t    *testing.T
	lane *lane

	relay   *client.Process
	account common.Address
	keys    sandbox.Account // the account with its key, derived from the words
	dying   *death          // the daemon that is about to die; nil: none
}

var desks atomic.Int64

// newDesk creates a home in which nothing runs. A process left running fails the test.
func newDesk(t *testing.T, l *lane) *desk {
	t.Helper()
	dir := filepath.Join(root, fmt.Sprint("d", desks.Add(1)))
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	d := &desk{Home: programs.NewHome(dir, l.config), t: t, lane: l}
	d.Env = append(d.Env, "SWAPKEEP_KEYS_BACKEND=file",
		"SWAPKEEP_PRICES_DISABLED=true") // their commits would mix with those of an order, at unpredictable places
	d.install(bins.faults)
	t.Cleanup(d.cleanUp)
	return d
}

func (d *desk) install(from string) {
	d.t.Helper()
	if err := d.Install(from); err != nil {
		d.t.Fatal(err)
	}
}

func (d *desk) browse(extra ...string) (*client.Process, error) {
	p, _, err := d.Browse(longTimeout, extra...)
	return p, err
}

// awaitSuccessor waits until the relay has started another daemon.
func (d *desk) awaitSuccessor() {
	d.t.Helper()
	if _, err := programs.AwaitHello(d.relay, longTimeout); err != nil {
		d.t.Fatalf("the relay did not come back: %v", err)
	}
}

// open starts the daemon with extra in its environment, and then a relay without extra,
// which will restart the daemon without the fault.
func (d *desk) open(extra ...string) {
	d.t.Helper()
	first, err := d.browse(extra...)
	if err != nil {
		d.t.Fatalf("start: %v\n%s", err, d.Log())
	}
	if d.relay, err = d.browse(); err != nil {
		d.t.Fatalf("second relay: %v\n%s", err, d.Log())
	}
	if _, err := first.Stop(); err != nil {
		d.t.Fatalf("first relay: %v", err)
	}
}

// openTraced is open for a daemon that writes the points that it passes to the file at path.
func (d *desk) openTraced(extra ...string) (path string) {
	d.t.Helper()
	path = filepath.Join(d.Dir, "trace")
	d.open(append(extra, "SWAPKEEP_FAILPOINT_TRACE="+path)...)
	return path
}

// errLost says that the daemon died before it answered.
var errLost = errors.New("the daemon died before it answered")

// ask calls the daemon through the relay. It returns errLost if the doomed daemon died.
func (d *desk) ask(method string, params, result any) error {
	ctx, cancel := context.WithTimeout(d.t.Context(), longTimeout)
	defer cancel()
	err := d.relay.Call(ctx, method, params, result)
	switch {
	case d.dying == nil:
		return err
	case err != nil && d.dying.within(time.Second), d.dying.within(0): // an answer may be from its successor
		return errLost
	}
	return err
}

// must is ask for calls that have to succeed.
func (d *desk) must(method string, params, result any) {
	d.t.Helper()
	if err := d.ask(method, params, result); err != nil {
		d.t.Fatalf("%s: %v\n%s", method, err, d.Log())
	}
}

// named reports whether err is the protocol's error of that name.
func named(err error, name string) bool { return errors.Is(err, protocol.New(name, "")) }

func evmAddress(a protocol.Address) common.Address { return common.HexToAddress(string(a)) }

// wallet creates the desk's wallet, unlocks it and selects the network.
func (d *desk) wallet(chain uint64) {
	d.t.Helper()
	var made protocol.CreateResult
	d.must("keys.create", protocol.CreateParams{Request: requests.NewUUID(), Password: []byte(requests.Password)}, &made)
	accounts, err := sandbox.AccountsOf(string(made.Words), 1)
	if err != nil {
		d.t.Fatal(err)
	}
	d.keys = accounts[0]
	d.unlock()
	d.takeAccount()
	if d.keys.Address != d.account {
		d.t.Fatalf("the words are of %s, the wallet shows %s", d.keys.Address, d.account)
	}
	d.must("networks.select", protocol.SelectParams{ChainID: chain}, nil)
}

func (d *desk) takeAccount() {
	d.t.Helper()
	var r protocol.AccountsResult
	d.must("keys.accounts", nil, &r)
	if len(r.Accounts) == 0 {
		d.t.Fatal("no account")
	}
	d.account = evmAddress(r.Accounts[0].Address)
}

func (d *desk) unlock() {
	d.t.Helper()
	d.must("keys.unlock", protocol.UnlockParams{Password: []byte(requests.Password)}, nil)
}

// order returns the daemon's view of an order.
func (d *desk) order(id string) (r protocol.OrderResult, err error) {
	err = d.ask("swap.order", protocol.OrderParams{Order: id}, &r)
	return r, err
}

func (d *desk) orders() (all []protocol.Order) {
	d.t.Helper()
	var r protocol.OrdersResult
	d.must("swap.orders", protocol.OrdersParams{}, &r)
	return r.Orders
}

// awaitOrder polls until the order is as wanted.
func (d *desk) awaitOrder(id string, wanted func(protocol.Order) bool) (protocol.Order, error) {
	var last protocol.Order
	var err error
	if await.Holds(longTimeout, func() bool {
		var r protocol.OrderResult
		if r, err = d.order(id); err != nil {
			return true
		}
		last = r.Order
		return wanted(last)
	}) {
		return last, err
	}
	return last, fmt.Errorf("order is still %s, %q (%s) after %s", last.State, last.Condition, last.Reason, longTimeout)
}

func ended(o protocol.Order) bool { return o.Ended }

func (d *desk) pid() int {
	d.t.Helper()
	pid, err := d.PID(d.t.Context())
	if err != nil {
		d.t.Fatal(err)
	}
	return pid
}

// A death is the end of a watched daemon.
type death struct {
	done  chan struct{}
	state *os.ProcessState
	err   error
}

// watch waits for the daemon's end. The daemon is our child, as it was orphaned.
func (d *desk) watch() *death {
	d.t.Helper()
	p, err := os.FindProcess(d.pid())
	if err != nil {
		d.t.Fatal(err)
	}
	w := &death{done: make(chan struct{})}
	go func() {
		w.state, w.err = p.Wait()
		close(w.done)
	}()
	return w
}

// errNotReached says that the flow ended without passing the point that often.
var errNotReached = errors.New("the daemon did not die: the point was not reached")

// killed waits for the end, which has to be by SIGKILL, or returns errNotReached.
func (w *death) killed(wait time.Duration) error {
	if !w.within(wait) {
		return errNotReached
	}
	if w.err != nil {
		return w.err
	}
	if s, ok := w.state.Sys().(syscall.WaitStatus); !ok || s.Signal() != syscall.SIGKILL {
		return fmt.Errorf("the daemon ended with %s", w.state)
	}
	return nil
}

// expectKilled checks that the watched daemon was killed before it answered what the desk did.
func (d *desk) expectKilled(what string, err error) {
	d.t.Helper()
	if !errors.Is(err, errLost) {
		d.t.Fatalf("%s: %v", what, err)
	}
	if err := d.dying.killed(longTimeout); err != nil {
		d.t.Fatal(err)
	}
	d.dying = nil
}

// within reports whether the daemon ends in that time.
func (w *death) within(d time.Duration) bool {
	select {
	case <-w.done:
		return true
	default:
	}
	select {
	case <-w.done:
		return true
	case <-time.After(d):
		return false
	}
}

// terminal runs a command of the product and returns its output and exit code.
func (d *desk) terminal(args ...string) (string, int) {
	d.t.Helper()
	cmd := d.Command(nil, args...)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		d.t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

func (d *desk) status() protocol.StatusResult {
	d.t.Helper()
	s, err := d.Status()
	if err != nil {
		d.t.Fatal(err)
	}
	return s
}

func (d *desk) checkNoProblems() {
	d.t.Helper()
	if s := d.status(); len(s.Problems) != 0 {
		d.t.Errorf("problems: %+v", s.Problems)
	}
}

// shut stops relay and daemon in this order, as a logout does.
func (d *desk) shut() {
	d.t.Helper()
	if d.relay != nil {
		if _, err := d.relay.Stop(); err != nil {
			d.t.Errorf("relay: %v", err)
		}
		d.relay = nil
	}
	if out, code := d.terminal("stop"); code != 0 {
		d.t.Errorf("stop: exit %d: %s", code, out)
	}
}

// processes returns our processes that were started for this home.
func (d *desk) processes() []int {
	d.t.Helper()
	pids, err := processes.RunningFrom(d.Bin)
	if err != nil {
		d.t.Fatal(err)
	}
	return pids
}

// awaitGone waits until none of our processes is left in this home, and returns those that stay.
func (d *desk) awaitGone() []int {
	left, err := processes.StillRunning(d.Bin, shortTimeout)
	if err != nil {
		d.t.Error(err)
	}
	return left
}

// cleanUp ends processes that the test left, and fails it if there were any.
func (d *desk) cleanUp() {
	if d.relay != nil {
		_, _ = d.relay.Stop()
		_, _ = d.terminal("stop")
	}
	for _, pid := range d.awaitGone() {
		d.t.Errorf("process %d was left behind", pid)
		_ = processes.Kill(pid)
	}
	if d.t.Failed() {
		d.t.Logf("log of the daemon:\n%s", d.Log())
	}
	_ = os.RemoveAll(d.Dir)
}
