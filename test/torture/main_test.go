//go:build faults && linux

// Package torture lets users swap through every provider on every chain, in several
// windows at once, while daemon and relays are killed, disks fill, keychains freeze,
// clocks jump, chains are reorganised and answers are lost; and then asks chains,
// providers and journal, each for itself, what came of it. Run it with
//
//	make torture [ROUNDS=6] [SEED=1] [SWAPS=40]
//
// A round has a world of its own: chains, providers, home, keychain, programs. What is
// drawn in it follows from the seed and the round's number: -only=N plays one round
// again. How that meets what the machine does meanwhile is left to the machine.
//
// Nothing here is a stand-in: relays and daemons are the real programs, built with the
// tag faults from this source; keychains are real Secret Services.
package torture

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"swapkeep/test/programs"
)

var (
	rounds  = flag.Int("rounds", 6, "how many worlds to torture")
	swaps   = flag.Int("swaps", 40, "how many swaps each world's users have accepted before peace is made")
	seed    = flag.Uint64("seed", uint64(time.Now().UnixNano()), "what the rounds are drawn from")
	only    = flag.Int("only", -1, "play this round alone")
	atOnce  = flag.Int("at-once", 3, "rounds at the same time")
	keep    = flag.String("keep", "", "folder for the homes of rounds with findings")
	verbose = flag.Bool("tell", false, "print what is done, as it is done")
)

// root holds every world's own directory. It is short so that a socket's path fits.
var root string

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(run(m))
}

func run(m *testing.M) int {
	var err error
	if root, err = os.MkdirTemp("", "skt"); err != nil {
		return fail(err)
	}
	defer os.RemoveAll(root)
	if err := programs.Build(built(), "faults", ""); err != nil {
		return fail(err)
	}
	return m.Run()
}

func fail(err error) int {
	fmt.Fprintln(os.Stderr, "torture:", err)
	return 1
}

// built is where the programs are.
func built() string { return filepath.Join(root, "bin") }

// TestTorture plays the rounds, and ends with a table.
func TestTorture(t *testing.T) {
	began := time.Now()
	var (
		mu    sync.Mutex
		all   []*report
		turns = make(chan struct{}, *atOnce)
		wg    sync.WaitGroup
	)
	for n := range *rounds {
		if *only >= 0 && n != *only {
			continue
		}
		turns <- struct{}{}
		wg.Go(func() {
			defer func() { <-turns }()
			r := play(t, n)
			mu.Lock()
			defer mu.Unlock()
			all = append(all, r)
			t.Log(r.line())
		})
	}
	wg.Wait()
	t.Logf("\n%s", summary(all, time.Since(began)))
	for _, r := range all {
		for _, f := range r.findings {
			t.Errorf("round %d of seed %d: %s", r.number, *seed, f)
		}
	}
	least := len(all) * *swaps * 9 / 10
	if n := total(all, "swaps"); n < least {
		t.Errorf("%d swaps were accepted, want %d: the users were kept from their work", n, least)
	}
}
