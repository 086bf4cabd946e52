//go:build hosted

package postgres

import (
	"context"
	"errors"
	"math/big"
	"strings"
	"syscall"
	"testing"
	"time"

	"swapkeep/priceapi/poll"
	"swapkeep/priceapi/price"
	"swapkeep/test/await"
	"swapkeep/test/servers"

	"github.com/ethereum/go-ethereum/common"
)

var testNow = time.Date(2026, 11, 20, 12, 34, 10, 0, time.UTC)

func testClock() time.Time { return testNow }

func opened(t *testing.T, o Options) *Store {
	t.Helper()
	if o.Now == nil {
		o.Now = testClock
	}
	s, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func led(t *testing.T, s *Store) *Term {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	term, err := s.Lead(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cancel(); term.Resign() })
	return term
}

func testID(n uint64) price.ID {
	return price.ID{Chain: 1 + n%3, Address: common.BigToAddress(new(big.Int).SetUint64(1000 + n))}
}

func dollars(t testing.TB, text string) price.Value {
	t.Helper()
	v, err := price.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// oneMinute returns a fetch with one price.
func oneMinute(t testing.TB, at time.Time, text string) poll.Minute {
	t.Helper()
	return poll.Minute{At: at, OK: true, Took: time.Second, Samples: map[price.ID]price.Sample{testID(0): {Value: dollars(t, text), At: at, Source: price.DefiLlama}}}
}

// TestOneLeads checks that a second process waits and leads after the first resigns, and
// that later writes of the first are rejected.
func TestOneLeads(t *testing.T) {
	url := servers.StartPostgreSQL(t).Database()
	a, b := opened(t, Options{URL: url}), opened(t, Options{URL: url, Deadline: time.Second})
	first := led(t, a)
	next := make(chan *Term, 1)
	go func() {
		term, err := b.Lead(t.Context())
		if err != nil {
			t.Error(err)
		}
		next <- term
	}()
	select {
	case <-next:
		t.Fatal("two lead at once")
	case <-time.After(2500 * time.Millisecond): // longer than two rounds of waiting
	}
	if err := first.Append(t.Context(), oneMinute(t, testNow, "1")); err != nil {
		t.Fatal(err)
	}
	first.Resign()
	second := <-next
	if second == nil || second.Number <= first.Number {
		t.Fatalf("term %v after %d", second, first.Number)
	}
	if err := first.Append(t.Context(), oneMinute(t, testNow, "2")); !errors.Is(err, ErrDeposed) {
		t.Errorf("after it resigned: %v", err)
	}
	if !errors.Is(context.Cause(first.Context()), ErrResigned) {
		t.Errorf("ended by %v", context.Cause(first.Context()))
	}
	if err := second.Append(t.Context(), oneMinute(t, testNow, "3")); err != nil {
		t.Error(err)
	}
	second.Resign()
}

// TestFence checks that a deposed leader that does not know it yet cannot write anything,
// and that its term ends when it tries.
func TestFence(t *testing.T) {
	url := servers.StartPostgreSQL(t).Database()
	s := opened(t, Options{URL: url})
	for name, write := range map[string]func(t *testing.T, old *Term) error{
		"append": func(t *testing.T, old *Term) error { return old.Append(t.Context(), oneMinute(t, testNow, "7")) },
		"fill": func(t *testing.T, old *Term) error {
			v := dollars(t, "7")
			return old.Fill(t.Context(), price.Hours, price.DefiLlama, map[price.ID][]price.Candle{testID(0): {{At: testNow, Open: v, High: v, Low: v, Close: v}}})
		},
		"facts": func(t *testing.T, old *Term) error {
			return old.SetFacts(t.Context(), map[price.ID]price.Facts{testID(0): {Holders: 7}})
		},
		"board": func(t *testing.T, old *Term) error { return old.PutTable(t.Context(), 7, []byte("x")) },
	} {
		t.Run(name, func(t *testing.T) {
			old := led(t, s)
			servers.ExecSQL(t, url, "UPDATE swapkeep_prices.head SET term = term + 1") // as the next leader does
			if err := write(t, old); !errors.Is(err, ErrDeposed) {
				t.Fatalf("an old leader's write: %v", err)
			}
			select {
			case <-old.Context().Done():
			case <-time.After(5 * time.Second):
				t.Error("the term goes on")
			}
			last, err := s.Last(t.Context())
			facts, factsErr := s.Facts(t.Context())
			_, data, tableErr := s.Table(t.Context(), 0)
			totals, totalsErr := s.Totals(t.Context())
			if err := errors.Join(err, factsErr, tableErr, totalsErr); err != nil || len(last)+len(facts)+len(data) != 0 || totals.Fetches != 0 {
				t.Errorf("there is something: %v %v %q %v %v", last, facts, data, totals, err)
			}
		})
	}
}

// TestLostConnection checks that a leader notices at once when its connection is cut, and
// that a silent leader loses the lock after the lease.
func TestLostConnection(t *testing.T) {
	g := servers.StartPostgreSQL(t)
	url := g.Database()
	const lease = 1200 * time.Millisecond
	s := opened(t, Options{URL: url, Lease: lease})
	term := led(t, s)
	began := time.Now()
	servers.ExecSQL(t, url, "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted")
	<-term.Context().Done()
	if took := time.Since(began); took > lease/2 {
		t.Errorf("noticed after %s", took)
	}
	silent, err := s.connect(t.Context()) // like a process that was suspended
	if err != nil {
		t.Fatal(err)
	}
	defer closeConn(silent)
	if _, err := s.elect(t.Context(), silent); err != nil {
		t.Fatal(err)
	}
	began = time.Now()
	next := led(t, opened(t, Options{URL: url}))
	if took := time.Since(began); took < lease/2 || took > 3*lease {
		t.Errorf("taken over after %s, with a lease of %s", took, lease)
	}
	if err := next.Append(t.Context(), oneMinute(t, testNow, "1")); err != nil {
		t.Error(err)
	}
}

// TestServerGone checks that a term ends when the server stops or hangs, and that readers
// get an error in time and work again when it is back.
func TestServerGone(t *testing.T) {
	g := servers.StartPostgreSQL(t)
	url := g.Database()
	s := opened(t, Options{URL: url, Lease: time.Second, Deadline: time.Second})
	term := led(t, s)
	if err := term.Append(t.Context(), oneMinute(t, testNow, "1.5")); err != nil {
		t.Fatal(err)
	}
	g.Signal(syscall.SIGSTOP)
	began := time.Now()
	if _, err := s.Last(t.Context()); err == nil || time.Since(began) > 3*time.Second {
		t.Errorf("of a server that does not answer: %v after %s", err, time.Since(began))
	}
	<-term.Context().Done()
	g.Signal(syscall.SIGCONT)
	awaitServer(t, s)
	again := led(t, s)
	g.Stop()
	<-again.Context().Done()
	if err := s.Check(t.Context()); err == nil || !strings.Contains(err.Error(), "postgresql:") || strings.Contains(err.Error(), g.Password) {
		t.Errorf("of a server that is down: %v", err)
	}
	if _, err := s.Lead(t.Context()); err == nil || strings.Contains(err.Error(), g.Password) {
		t.Errorf("leads: %v", err)
	}
	g.Start()
	awaitServer(t, s)
	if err := led(t, s).Append(t.Context(), oneMinute(t, testNow, "2")); err != nil {
		t.Error(err)
	}
	if last, err := s.Last(t.Context()); err != nil || last[testID(0)].Value != dollars(t, "2") {
		t.Errorf("Last = %v, %v; want 2 dollars", last, err)
	}
}

// awaitServer waits until the server serves, which it does not signal.
func awaitServer(t *testing.T, s *Store) {
	t.Helper()
	var err error
	if !await.Holds(20*time.Second, func() bool { err = s.Check(t.Context()); return err == nil }) {
		t.Fatal(err)
	}
}
