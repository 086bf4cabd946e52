//go:build faults && linux

package soak

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"

	"swapkeep/host/protocol"
	"swapkeep/internal/clock"
	"swapkeep/sandbox/bridgesim"
	"swapkeep/test/await"
	"swapkeep/test/requests"
)

// manyOrders is the number of open orders that a daemon allows.
const manyOrders = 1000

// A orderMix is the part of the orders that is of one kind.
type orderMix struct {
	userSwap
	of float64
}

// Deposits are made first and not paid out; then calls are made and not mined.
var (
	deposits = []orderMix{{userSwap{name: "bridge", kind: "bridge", chain: base, to: mainnet, amount: milli}, 0.4}}
	wraps    = []orderMix{{userSwap{name: "wrap", kind: "dex", chain: base, out: weth, amount: milli}, 0.6}}
)

const (
	rushPace = 10 // pace while orders are made and settle; at twice that the first calls' deadlines would pass before the last are made
	helloMax = 100 * time.Millisecond
)

// maxRates limits the calls per second: to providers by their rate limits, to networks by a few
// calls for each poll of an order.
var maxRates = rates{"dex": 6, "intent": 6, "bridge": 6, "rpc": 100}

// TestLoadOrders checks that a thousand open orders are followed to their ends within the
// providers' rate limits, and that the daemon answers meanwhile.
func TestLoadOrders(t *testing.T) {
	h := startUnderLoad(t)
	u, count := newUser(t, h), scaled(manyOrders)
	if err := world.Chain(base).Fund(t.Context(), u.account, native, new(big.Int).Mul(big.NewInt(100), big.NewInt(1e18))); err != nil {
		t.Fatal(err)
	}
	setBridgeOutcome(t, bridgesim.Never)
	setPace(t, rushPace)
	began := time.Now()
	u.makeMany(deposits, count)
	w := h.window()
	defer w.closeWindow()
	w.awaitDeposits(t)
	world.Chain(base).Pause()
	u.makeMany(wraps, count)
	made := time.Since(began)

	setPace(t, 1)
	open := w.openOrders()
	if open < count-count/20 {
		t.Fatalf("%d orders are open, want %d but for a few", open, count)
	}
	before := callsOf()
	waiting := w.hellosFor(5 * time.Second)
	calls := before.perSecond()
	checkRates(t, calls)
	text := fmt.Sprintf("%d orders made in %.1f s, %d open\nhello while they wait for a block: %s\ncalls a second: %s\n", count, made.Seconds(), open, waiting.took, calls)

	setPace(t, rushPace)
	before = callsOf()
	world.Chain(base).Resume()
	setBridgeOutcome(t, bridgesim.Fill)
	settling := w.settleAll(t, count)
	calls = before.perSecond()
	text += fmt.Sprintf("hello while they settle: %s\ncalls a second: %s\nall have ended after %.0f s of the daemon's time\n", settling.took, calls, settling.lasted.Seconds())
	checkRates(t, calls)
	for _, p := range []durations{waiting.took, settling.took} {
		if p.percentile(0.95) > helloMax {
			t.Errorf("hello takes %s, want less than %s", p, helloMax)
		}
	}
	w.allEnded(count)
	logTable(t, text+formatFigures(h.figures())+"\n")
}

// setBridgeOutcome sets how the bridge ends its deposits, also those it already has.
func setBridgeOutcome(t *testing.T, kind bridgesim.Kind) {
	t.Helper()
	s := bridgesim.DefaultSettings
	s.APIKey = world.Bridge().APIKey
	s.Outcome.Kind = kind
	if err := world.Bridge().Set(s); err != nil {
		t.Fatal(err)
	}
}

func checkRates(t *testing.T, calls rates) {
	t.Helper()
	for name, n := range calls {
		if n > maxRates[name] {
			t.Errorf("%s is asked %.1f times a second, want at most %.0f", name, n, maxRates[name])
		}
	}
}

// makeMany makes orders, each share from a window of its own.
func (u *user) makeMany(shares []orderMix, count int) {
	u.t.Helper()
	var all sync.WaitGroup
	for _, s := range shares {
		w := u.window()
		w.must("keys.unlock", protocol.UnlockParams{Password: []byte(requests.Password)}, nil)
		w.must("networks.select", protocol.SelectParams{ChainID: base}, nil)
		all.Go(func() {
			defer w.closeWindow()
			for range int(s.of * float64(count)) {
				if err := u.makeOne(w, s.userSwap); err != nil {
					u.t.Errorf("%s: %v", s.name, err)
					return
				}
			}
		})
	}
	all.Wait()
	if u.t.Failed() {
		u.t.FailNow()
	}
}

// makeOne retries with a slower clock when a busy machine was too late, and with a new plan
// when the plan equals the previous one, as two made within a second do.
func (u *user) makeOne(w *window, d userSwap) (err error) {
	defer setPace(u.t, rushPace)
	for pace := float64(rushPace); pace >= 1; {
		setPace(u.t, pace)
		if err = u.order(w, d); err == nil {
			return nil
		}
		if requests.ErrorName(err) == "plan_executed" {
			time.Sleep(time.Second / time.Duration(pace))
			pace *= 0.9
			continue
		}
		pace /= 2
	}
	return err
}

// order quotes, prepares and executes. It repeats an execute that timed out, which is safe.
func (u *user) order(w *window, d userSwap) error {
	q := protocol.QuoteParams{
		Account: protocol.Address(u.account.Hex()), TokenIn: protocol.Address(d.in.Hex()), TokenOut: protocol.Address(d.out.Hex()),
		AmountIn: protocol.AmountOf(d.amount), DstChainID: d.to, Providers: []string{d.kind},
	}
	var offers protocol.QuoteResult
	var r protocol.Review
	if err := w.ask("swap.quote", q, &offers); err != nil {
		return err
	}
	if len(offers.Offers) == 0 {
		return fmt.Errorf("no offer: %v", offers.Failures)
	}
	if err := w.ask("swap.prepare", protocol.PrepareParams{Offer: offers.Offers[0].ID}, &r); err != nil {
		return err
	}
	p := protocol.ExecuteParams{Request: requests.NewUUID(), Digest: r.Digest, Acknowledge: requests.Acks(r.Findings), Password: []byte(requests.Password)}
	err := w.ask("swap.execute", p, nil)
	if errors.Is(err, context.DeadlineExceeded) {
		err = w.ask("swap.execute", p, nil)
	}
	return err
}

// each calls f with every order, page by page.
func (w *window) each(open bool, f func(protocol.Order)) {
	w.t.Helper()
	p := protocol.OrdersParams{Open: open, Limit: protocol.PageMax}
	for {
		var r protocol.OrdersResult
		w.must("swap.orders", p, &r)
		for _, o := range r.Orders {
			f(o)
		}
		if p.Cursor = r.Cursor; p.Cursor == "" {
			return
		}
	}
}

func (w *window) openOrders() (n int) {
	w.t.Helper()
	w.each(true, func(protocol.Order) { n++ })
	return n
}

// awaitDeposits waits until every deposit is mined; a late one would be withdrawn.
func (w *window) awaitDeposits(t *testing.T) {
	t.Helper()
	var early int
	if !await.Holds(4*patience, func() bool {
		early = 0
		w.each(true, func(o protocol.Order) {
			if o.State != "settling" {
				early++
			}
		})
		return early == 0
	}) {
		t.Fatalf("%d deposits are not mined\n%s", early, w.Log())
	}
}

// allEnded checks that every order has ended with proof, and that each filled one was paid
// by its own transaction. On a busy machine a few deposits come too late and are withdrawn.
func (w *window) allEnded(count int) {
	w.t.Helper()
	states, paid, why, n := map[string]int{}, map[common.Hash]bool{}, map[string]int{}, 0
	w.each(false, func(o protocol.Order) {
		n++
		states[o.State]++
		if !o.Final || o.Verdict == nil {
			w.t.Errorf("order %s is %s without proof: %s", o.ID, o.State, o.Reason)
		}
		if o.State != "filled" {
			why[o.Terms.Provider+": "+o.Reason]++
		} else if o.Verdict != nil && o.Verdict.Evidence != nil {
			paid[common.HexToHash(string(o.Verdict.Evidence.Tx))] = true
		}
	})
	filled := states["filled"]
	if n != count || filled+states["cancelled"] != count || filled < count-count/20 || len(paid) != filled {
		w.t.Errorf("%d orders %v, paid by %d transactions; want %d; the others ended so: %v", n, states, len(paid), count, why)
	}
}

// A helloTimes is how long each hello took, and all of them together.
type helloTimes struct {
	took   durations
	lasted time.Duration
}

// hellosFor says hello every few milliseconds for a while.
func (w *window) hellosFor(d time.Duration) (g helloTimes) {
	w.t.Helper()
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		began := time.Now()
		w.must("host.hello", protocol.HelloParams{}, nil)
		g.took = append(g.took, time.Since(began))
	}
	return g
}

// settleAll says hello until all orders have ended.
func (w *window) settleAll(t *testing.T, count int) (g helloTimes) {
	t.Helper()
	began, by := time.Now(), clock.Now()
	for n := w.openOrders(); n > 0; n = w.openOrders() {
		g.took = append(g.took, w.hellosFor(time.Second).took...)
		if n > 0 && time.Since(began) > patience+time.Duration(count)*200*time.Millisecond {
			left := map[string]int{}
			w.each(true, func(o protocol.Order) { left[o.Terms.Provider+" "+o.State+" "+o.Condition]++ })
			t.Fatalf("%d of %d orders are still open: %v\n%s", n, count, left, w.Log())
		}
	}
	g.lasted = clock.Now().Sub(by)
	return g
}

// A calls counts the calls to providers and networks up to a time.
type calls struct {
	of map[string]int
	at time.Time
}

func callsOf() calls {
	c := calls{map[string]int{}, clock.Now()}
	for _, kind := range []string{"dex", "intent", "bridge"} {
		for _, n := range world.Faults(kind).Counts() {
			c.of[kind] += n
		}
	}
	for _, chain := range world.Chains() {
		for _, n := range chain.Faults.Counts() {
			c.of["rpc"] += n
		}
	}
	return c
}

// rates are calls per second of the daemon's clock, by provider and for all networks.
type rates map[string]float64

func (c calls) perSecond() rates {
	now, r := callsOf(), rates{}
	for name, n := range now.of {
		r[name] = float64(n-c.of[name]) / now.at.Sub(c.at).Seconds()
	}
	return r
}

func (r rates) String() string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(r)) {
		all = append(all, fmt.Sprintf("%s %.1f", name, r[name]))
	}
	return strings.Join(all, ", ")
}
