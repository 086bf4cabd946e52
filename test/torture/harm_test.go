//go:build faults && linux

package torture

import (
	"errors"
	"math/big"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"swapkeep/sandbox/inject"
	"swapkeep/test/processes"
)

// A harm is one thing that goes wrong in a world, and how to undo it.
type harm struct {
	name   string
	weight int
	kills  bool // whether it kills the daemon
	do     func(*mischief) (undo func(), done bool)
}

var harms = []harm{
	{"daemon killed", 40, true, (*mischief).killDaemon},
	{"daemon killed twice", 6, true, (*mischief).killTwice},
	{"relay killed", 20, false, (*mischief).killRelay},
	{"daemon stopped", 2, true, (*mischief).stopDaemon},
	{"second daemon", 2, false, (*mischief).secondDaemon},
	{"wallet locked", 5, false, (*mischief).lock},
	{"provider's answers spoilt", 14, false, (*mischief).spoilProvider},
	{"node's answers spoilt", 14, false, (*mischief).spoilNode},
	{"chain reorganised", 6, false, (*mischief).reorganise},
	{"chain stands still", 3, false, (*mischief).standStill},
	{"blocks ask more", 3, false, (*mischief).askMore},
	{"disk full", 4, false, (*mischief).fillDisk},
	{"keychain frozen", 4, false, (*mischief).freeze},
	{"clock jumps", 6, false, (*mischief).jump},
	{"clock leaps", 2, false, (*mischief).leap},
	{"providers change", 8, false, (*mischief).change},
	{"bridge's statuses untrue", 5, false, (*mischief).lie},
}

// longest is how long a harm that can be undone lasts at most.
const longest = 4 * time.Second

// The daemon is killed at most killsAhead times, and killsPerSwap times for each accepted swap.
// A quiet machine has about one for each; on a busy one users are slow and kills are not,
// and without a bound the daemon would not live long enough to accept anything.
const (
	killsAhead   = 8
	killsPerSwap = 4
)

// A mischief does harm in a world until peace.
type mischief struct {
	w     *world
	rng   *rand.Rand
	by    *user // its own window
	kills int   // of the daemon
}

// storm does one harm after the other, several overlapping, and finally undoes all.
func (m *mischief) storm() {
	defer m.by.leave()
	var lasting sync.WaitGroup
	for !m.w.atPeace() && m.w.ctx.Err() == nil {
		h := m.pick()
		if h.kills && (m.w.lastPart() || m.kills >= killsAhead+killsPerSwap*m.w.accepted()) {
			continue
		}
		undo, done := h.do(m)
		if done {
			m.w.count("harm: "+h.name, 1)
			if h.kills {
				m.kills++
			}
		}
		if undo != nil {
			lasts := time.Duration(m.rng.Int64N(int64(longest)))
			lasting.Go(func() {
				select {
				case <-time.After(lasts):
				case <-m.w.peace:
				}
				undo()
			})
		}
		m.by.sleepRandom(150, 1100)
	}
	lasting.Wait()
}

// lastPart reports whether the storm is almost over: a daemon must live through its end, so
// that leaks can show.
func (w *world) lastPart() bool { return w.accepted() >= *swaps*4/5 }

func (m *mischief) pick() harm {
	sum := 0
	for _, h := range harms {
		sum += h.weight
	}
	n := m.rng.IntN(sum)
	i := slices.IndexFunc(harms, func(h harm) bool { n -= h.weight; return n < 0 })
	return harms[i]
}

// daemon returns the listening process, or 0 if there is none.
func (w *world) daemon() int {
	pid, err := w.PID(w.ctx)
	if err != nil {
		return 0
	}
	return pid
}

func (m *mischief) killDaemon() (func(), bool) {
	pid := m.w.daemon()
	if pid == 0 {
		return nil, false
	}
	return nil, processes.Kill(pid) == nil
}

// killTwice kills the daemon, and the next one while it starts.
func (m *mischief) killTwice() (func(), bool) {
	_, first := m.killDaemon()
	for range 40 {
		m.by.sleepRandom(5, 30)
		if _, killed := m.killDaemon(); killed {
			return nil, first
		}
	}
	return nil, false
}

func (m *mischief) killRelay() (func(), bool) {
	m.w.mu.Lock()
	defer m.w.mu.Unlock()
	var pids []int
	for pid := range m.w.relays {
		pids = append(pids, pid)
	}
	if len(pids) == 0 {
		return nil, false
	}
	slices.Sort(pids)
	pid := pids[m.rng.IntN(len(pids))]
	select {
	case <-m.w.relays[pid].Exited(): // its pid may be reused
		return nil, false
	default:
		return nil, processes.Kill(pid) == nil
	}
}

func (m *mischief) stopDaemon() (func(), bool) {
	out, err := m.w.stop()
	if err != nil {
		m.w.tell("stop: %v: %s", err, out)
	}
	return nil, err == nil
}

// secondDaemon starts a second daemon if one runs: one of the two has to end.
func (m *mischief) secondDaemon() (func(), bool) {
	if m.w.daemon() == 0 {
		return nil, false
	}
	cmd := exec.Command(filepath.Join(m.w.Bin, "swapkeepd"))
	cmd.Env = m.w.Env
	if err := cmd.Start(); err != nil {
		return nil, false
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	return func() {
		select {
		case <-ended:
			if code := cmd.ProcessState.ExitCode(); code == 2 {
				m.w.find("a second daemon ended with %s", cmd.ProcessState)
			}
		case <-time.After(2 * longest): // the first was killed, and this one took its place
			_ = cmd.Process.Kill()
			<-ended
		}
	}, true
}

func (m *mischief) lock() (func(), bool) { return nil, m.by.ask("keys.lock", nil, nil) == nil }

// spoils lists the ways in which answers are lost, late or broken.
var spoils = map[string][]inject.Kind{
	"provider": {inject.Delay, inject.HTTP, inject.Garbage, inject.Fail, inject.Drop, inject.Cut, inject.Truncate, inject.Trickle, inject.Stall, inject.Hold},
	"node":     {inject.Delay, inject.HTTP, inject.Garbage, inject.Error, inject.Fail, inject.Drop, inject.Cut, inject.Truncate},
}

// methods lists the node's methods whose answers are spoilt.
var methods = []string{
	"*", "eth_sendRawTransaction", "eth_sendRawTransaction", "eth_getTransactionReceipt", "eth_call", "eth_simulateV1", "eth_getBlockByNumber",
	"eth_getLogs", "eth_getTransactionCount", "eth_getTransactionByHash", "eth_feeHistory", "eth_estimateGas", "eth_getBalance", "eth_getBlockReceipts", "eth_getBlockByHash",
}

// excuses are errors that a node returns instead of an answer.
var excuses = []string{"the node is busy", "already known", "nonce too low", "replacement transaction underpriced", "insufficient funds for gas * price + value", "header not found"}

func (m *mischief) spoil(book *inject.Book, target, who string) (func(), bool) {
	kinds := spoils[who]
	r := inject.Rule{
		Target: target, Kind: kinds[m.rng.IntN(len(kinds))], Times: 1 + m.rng.IntN(8), DelayMS: 100 + m.rng.IntN(4000),
		Status: []int{500, 503, 429, 502}[m.rng.IntN(4)], RetryAfter: m.rng.IntN(2), Message: excuses[m.rng.IntN(len(excuses))],
	}
	id, err := book.Add(r)
	if err != nil {
		m.w.find("rule %+v: %v", r, err)
		return nil, false
	}
	return func() { book.Remove(id) }, true
}

func (m *mischief) spoilProvider() (func(), bool) {
	kinds := []string{dex, bridge, intent, gasless}
	return m.spoil(m.w.Faults(kinds[m.rng.IntN(len(kinds))]), "*", "provider")
}

func (m *mischief) spoilNode() (func(), bool) {
	c := m.w.Chain(m.chain())
	return m.spoil(c.Faults, methods[m.rng.IntN(len(methods))], "node")
}

// chain returns a chain in use, mostly the current one.
func (m *mischief) chain() uint64 {
	if m.rng.IntN(3) > 0 {
		return m.w.activeNetwork()
	}
	return m.w.route[m.rng.IntN(len(m.w.route))]
}

// reorganise drops the last block, which is not final; one in four times its transactions
// are lost. It adds a second to the chain's time, and the other chains then follow: a
// payment dated before its deposit would not count.
func (m *mischief) reorganise() (func(), bool) {
	err := m.w.Chain(m.chain()).Reorg(confirmations-1, m.rng.IntN(4) == 0)
	return nil, errors.Join(err, m.w.align(0)) == nil
}

func (m *mischief) standStill() (func(), bool) {
	c := m.w.Chain(m.chain())
	c.Pause()
	return c.Resume, true
}

func (m *mischief) askMore() (func(), bool) {
	c := m.w.Chain(m.chain())
	return func() { _ = c.SetMinTip(nil) }, c.SetMinTip(big.NewInt(5e9+m.rng.Int64N(40e9))) == nil
}

func (m *mischief) fillDisk() (func(), bool) {
	pid := m.w.daemon()
	if pid == 0 {
		return nil, false
	}
	return func() { _ = processes.LimitFileSize(pid, 0) }, processes.LimitFileSize(pid, processes.TinyFileLimit) == nil
}

func (m *mischief) freeze() (func(), bool) {
	m.w.desk.Lock()
	defer m.w.desk.Unlock()
	return func() { m.w.thaw() }, m.w.keychain.Freeze() == nil
}

// thaw continues the keychain and restarts it if it has ended, as some stopped ones do.
func (w *world) thaw() {
	w.desk.Lock()
	defer w.desk.Unlock()
	_ = w.keychain.Thaw()
	switch revived, err := w.keychain.Revive(); {
	case err != nil:
		w.find("the keychain has ended, and does not start again: %v", err)
	case revived:
		w.count("keychains that had ended by themselves", 1)
	}
}

// jump moves the daemon's clock by less than a minute, either way.
func (m *mischief) jump() (func(), bool) {
	return m.clock(time.Duration(m.rng.IntN(100)-50) * time.Second)
}

// leap moves it by minutes, hours or 40 days.
func (m *mischief) leap() (func(), bool) {
	by := pick(m.rng, 20*time.Minute, 3*time.Hour, -10*time.Minute, 40*24*time.Hour)
	if by < 24*time.Hour {
		return m.clock(by)
	}
	m.w.leaps() // for daemons from before, and those started since
	undo, done := m.clock(by)
	return func() { m.w.leaps(); undo() }, done
}

// leaps records that the clock of the running daemons leaps by days.
func (w *world) leaps() {
	pids, err := processes.RunningFrom(w.Bin) // includes relays, which does no harm as only daemons are looked up
	if err != nil {
		w.find("programs that run: %v", err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.leapt = append(w.leapt, pids...)
}

func (m *mischief) clock(by time.Duration) (func(), bool) {
	return func() { _ = m.w.setClock(0) }, m.w.setClock(by) == nil
}

// complaints returns the daemon's last warnings and errors.
func (w *world) complaints() string {
	var bad []string
	for line := range strings.Lines(w.Log()) {
		if strings.Contains(line, `"level":"warn"`) || strings.Contains(line, `"level":"error"`) {
			bad = append(bad, line)
		}
	}
	return strings.Join(bad[max(0, len(bad)-4):], "")
}
