package engine

import (
	"flag"
	"fmt"
	"hash/crc32"
	"maps"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"swapkeep/chain"
	"swapkeep/swap"
	"swapkeep/swap/journal"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	bolt "go.etcd.io/bbolt"
	"pgregory.net/rapid"
)

// A model drives the service with its engine and sender, over one file and two chains
// with two accounts, and checks its invariants. It moves the orders itself, one step at a
// time, so that a seed determines the whole run.
type model struct {
	t      rapid.TB
	chains [2]*modelChain
	who    [2]common.Address
	signer *modelSigner
	dealer *dealer
	broker *broker
	faults modelFaults

	path    string
	db      *bolt.DB
	journal *journal.Journal
	sender  *chain.Sender
	service *Service
	read    modelFile

	acting   string                     // the order being moved
	share    uint64                     // others' signed amounts in its allowance when its move began
	owes     [modelTokens]uint64        // what other orders allowed the vault then
	wish     shownTransfer              // what the broker wants hosts to show of it
	reviews  []swap.Review              // shown, perhaps without consent yet
	requests []request                  // made so far
	made     map[common.Hash]string     // order by the digest that was executed
	consents map[common.Hash]swap.Terms // what the user agreed to, by digest
	granted  map[string]uint64          // largest amount of others in an order's approval
	foreign  map[common.Hash]bool       // sent by another wallet with the keys
	touched  map[uint64]bool            // chains where it sent
	gave     map[holdingKey]uint64      // what it allowed the vault
	raced    bool                       // it may do so during this move
	ids      int
	stats    map[string]int
	last     string // logged last
}

func newModel(t rapid.TB, path string, stats map[string]int) *model {
	m := &model{
		t: t, path: path, made: map[common.Hash]string{}, consents: map[common.Hash]swap.Terms{}, granted: map[string]uint64{},
		foreign: map[common.Hash]bool{}, touched: map[uint64]bool{}, gave: map[holdingKey]uint64{}, stats: stats,
	}
	m.signer, m.dealer, m.broker = &modelSigner{m: m}, &dealer{m: m}, &broker{m: m, known: map[string]bool{}}
	for i := range m.who { // test keys only
		k, err := crypto.ToECDSA(common.LeftPadBytes([]byte{byte(i + 1)}, 32))
		if err != nil {
			t.Fatal(err)
		}
		m.signer.keys[i], m.who[i] = k, crypto.PubkeyToAddress(k.PublicKey)
	}
	for i, id := range []uint64{1, 8453} {
		m.chains[i] = newModelChain(id, m.who, time.Now())
	}
	m.restart()
	return m
}

func (m *model) chainOf(id uint64) (*modelChain, error) {
	for _, c := range m.chains {
		if c.net.ID == id {
			return c, nil
		}
	}
	return nil, fmt.Errorf("chain %d: %w", id, chain.ErrNoNetwork)
}

func (m *model) count(what string) { m.stats[what]++ }

// note keeps what the engine logs: a temporary failure.
func (m *model) note(o swap.Order, err error) {
	m.place()
	m.last = fmt.Sprintf("%s step %d: %v", o.State, o.Step, err)
}

// shares returns the amounts of other signed open orders in o's allowance: all of them,
// and those that can still be filled.
func (m *model) shares(o swap.Order) (all, needed uint64) {
	for _, other := range m.orders() {
		u, ok := needOf(other)
		if !ok || !u.Signed || other.ID == o.ID || allowanceKeyOf(other) != allowanceKeyOf(o) {
			continue
		}
		all += u.Amount.Uint64()
		if !time.Now().After(other.Plan.LastEffect().Deadline) {
			needed += u.Amount.Uint64()
		}
	}
	m.granted[o.ID] = max(m.granted[o.ID], all)
	return all, needed
}

// An action is something that can happen, and its relative frequency.
type action struct {
	name   string
	weight int
	do     modelAct
}

// actions are all that can happen: the engine's steps, what users and the world do, and
// the end of the process. The last three only schedule something during the actions that
// follow.
func (m *model) actions() []action {
	return []action{
		{"run", 16, func(*rapid.T) bool { m.run(8); return true }},
		{"order", 14, m.swap},
		{"settle", 10, m.settle},
		{"move", 10, func(t *rapid.T) bool { o, ok := m.drawOrder(t, anyOrder); return ok && (m.move(o.ID) || true) }},

		{"unlock", 6, m.lock(false)},
		{"lock", 2, m.lock(true)},
		{"review", 2, m.reviewOnly},
		{"execute", 2, m.consent},
		{"repeat", 2, m.repeatRequest},
		{"cancel", 2, m.cancel},
		{"accept", 5, m.accept},
		{"speed up", 4, m.speedUp},
		{"revoke", 3, m.revoke},

		{"mine", 8, m.mine},
		{"wait", 8, wait(time.Second, 40*time.Second)},
		{"wait long", 1, wait(time.Minute, 25*time.Minute)},
		{"eve", 2, m.waitUntilNearExpiry},
		{"drop", 2, m.drop},
		{"reorg", 3, m.reorg(modelDepth - 1)},
		{"deep reorg", 1, m.reorg(2 * modelDepth)},
		{"other wallet", 2, m.drawOtherWalletTx},
		{"use up", 1, m.useUp},
		{"fill", 4, m.fill},
		{"price", 4, m.price},
		{"gas", 3, m.gas},
		{"nodes fail", 4, m.fail},
		{"nodes heal", 5, func(t *rapid.T) bool { m.drawChain(t).heal(); return true }},
		{"dealer", 3, m.drawDealerMood},
		{"auction", 3, func(*rapid.T) bool { m.dealer.auction = !m.dealer.auction; return true }},
		{"pay", 6, m.pay},
		{"stray payment", 1, m.payStranger},
		{"grab", 1, m.grabAllowance},
		{"broker", 4, m.drawBrokerMood},
		{"plot", 5, m.buildFalsely},
		{"turn", 2, m.buildFalselyAfterExpiry},
		{"broker wraps", 1, func(*rapid.T) bool { m.broker.wraps = !m.broker.wraps; return true }},
		{"honest broker", 6, func(*rapid.T) bool { m.broker.mood = ""; return true }},
		{"honest dealer", 6, func(*rapid.T) bool { m.dealer.mood = ""; return true }},

		{"restart", 1, func(*rapid.T) bool { m.restart(); return true }},
		{"crash", 5, func(t *rapid.T) bool { m.faults.crashIn = rapid.IntRange(1, 40).Draw(t, "places"); return true }},
		{"disk", 2, func(t *rapid.T) bool {
			if fullDisk != nil {
				m.faults.fullIn = rapid.IntRange(1, 40).Draw(t, "places")
			}
			return fullDisk != nil
		}},
		{"meanwhile", 6, m.meanwhile},
	}
}

func (c *modelChain) heal() {
	c.send, c.down, c.lag, c.second, c.blind, c.hides, c.liar, c.flips = "", [2]bool{}, 0, false, false, 0, 0, false
}

// drawWeighted draws one of actions by its weight; rapid's own draws prefer small values.
func drawWeighted(actions []action) *rapid.Generator[string] {
	var names []string
	for _, a := range actions {
		names = append(names, slices.Repeat([]string{a.name}, a.weight)...)
	}
	return rapid.Custom(func(t *rapid.T) string {
		const bits = 12
		n := 0
		for range bits {
			n *= 2
			if rapid.Bool().Draw(t, "bit") {
				n++
			}
		}
		return names[n*len(names)>>bits]
	})
}

// repeat has one thing after another happen.
func (m *model) repeat(t *rapid.T) {
	actions := m.actions()
	next := drawWeighted(actions)
	t.Repeat(map[string]func(*rapid.T){
		"": func(*rapid.T) { m.check() },
		"step": func(t *rapid.T) {
			name, done := next.Draw(t, "what"), true
			a := actions[slices.IndexFunc(actions, func(a action) bool { return a.name == name })]
			m.guard(func() { done = a.do(t) })
			if !done {
				t.Skip("it cannot happen now")
			}
			m.count("step")
			m.count(name)
		},
	})
}

// finish ends all faults and sees every order to its end, in bounded time. Gas is cheap
// again only after dear rounds: then everything that waits is mined, however late.
func (m *model) finish(dear int) {
	m.calm()
	m.dealer.mood, m.broker.mood, m.signer.locked = "", "", false
	for _, c := range m.chains {
		c.heal()
		for i, bid := range c.bids {
			if i%2 == 0 { // the others expire
				c.fill(bid)
			}
		}
	}
	for round := range 120 {
		if round == dear {
			for _, c := range m.chains {
				c.base = modelGwei
			}
		}
		if round%8 == 4 {
			m.serve()
		}
		m.run(20)
		m.check()
		if len(m.unsettled()) == 0 && round > dear {
			m.checkQuiet(m.records())
			return
		}
		for _, c := range m.chains {
			c.mine(time.Now(), false)
		}
		time.Sleep(min(time.Duration(12+round)*time.Second, time.Minute))
	}
	for _, o := range m.unsettled() {
		m.t.Logf("%s %q step %d of %d, %s: %s", o.State, o.Condition, o.Step, len(o.Plan.Steps), o.Reason, m.last)
		for _, r := range recordsOf(o, m.records()) {
			m.t.Logf("  nonce %d, %s, %d attempts, last %s until %s: %s", r.Nonce, r.State, len(r.Attempts), r.Last().Kind, r.Last().Until, r.Reason)
		}
	}
	m.t.Fatalf("an order came to no end")
}

// unsettled returns the orders that can still come to an end.
func (m *model) unsettled() (all []swap.Order) {
	for _, id := range m.open() {
		if o := m.order(id); !m.hopeless(o) {
			all = append(all, o)
		}
	}
	return all
}

// tally counts how the orders ended.
func (m *model) tally() {
	for _, o := range m.orders() {
		m.count("ended " + string(o.State))
		if o.Plan.LastEffect().Kind == swap.Signed {
			m.count(fmt.Sprintf("signed order ended %s by %q", o.State, o.Verdict.ProvenBy))
		}
		if o.Terms.Provider == swap.Intent {
			m.count("handed over, ended " + string(o.State))
			if o.Verdict != nil {
				m.count(fmt.Sprintf("handed over, ended by %q", o.Verdict.ProvenBy))
			}
		}
		if o.Wrapped {
			m.count("wrapped first, then " + string(o.State))
		}
		if o.Terms.Provider == swap.Wallet {
			m.count("revoke ended " + string(o.State))
		}
	}
	for _, r := range m.records() {
		m.count("record " + string(r.State))
		if strings.HasPrefix(r.Key, "gap/") {
			m.count("record of a gap")
		}
		for _, a := range r.Attempts {
			m.count("attempt " + string(a.Kind))
		}
	}
}

// TestModel runs random interleavings of everything that can happen to orders and checks
// the guarantees of engine and sender after each step. It is short by default; `go test
// ./swap -run Model -rapid.checks=2500` makes 100,000 steps.
func TestModel(t *testing.T) {
	oneGoroutine(t)
	for name, quick := range map[string]string{"rapid.steps": "50", "rapid.checks": "20"} {
		f := flag.Lookup(name)
		if was := f.Value.String(); was == f.DefValue {
			if err := f.Value.Set(quick); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = f.Value.Set(was) }()
		}
	}
	dir, stats, runs := t.TempDir(), map[string]int{}, 0
	rapid.Check(t, func(rt *rapid.T) {
		runs++
		path := filepath.Join(dir, fmt.Sprintf("%d.db", runs))
		var broken any
		synctest.Test(t, func(*testing.T) { // its clock is the model's
			defer func() {
				if broken = recover(); broken != nil {
					rt.Logf("%s", debug.Stack())
				}
			}()
			m := newModel(rt, path, stats)
			defer func() { m.calm(); _ = m.db.Close() }()
			m.repeat(rt)
			m.finish(rapid.SampledFrom([]int{0, 0, 60}).Draw(rt, "dear rounds"))
			m.tally()
		})
		if broken != nil {
			calls := uint32(0) // for what is no failure
			if fmt.Sprintf("%T", broken) != "rapid.invalidData" {
				calls = 1 + crc32.ChecksumIEEE(fmt.Append(nil, broken))%16
			}
			panicAtDepth(broken, calls)
		}
	})
	t.Logf("%d steps in %d runs", stats["step"], runs)
	for _, what := range slices.Sorted(maps.Keys(stats)) {
		t.Logf("%8d %s", stats[what], what)
	}
}

// panicAtDepth panics with p in rapid's own goroutine, after that many nested calls: rapid tells
// failures apart by their stack.
func panicAtDepth(p any, calls uint32) {
	if calls == 0 {
		panic(p)
	}
	panicAtDepth(p, calls-1)
}
