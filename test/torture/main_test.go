//go:build faults && linux

// Package torture lets users swap through every provider on every chain, in several windows
// at once, while daemon and relays are killed, disks fill up, keychains freeze, clocks
// jump, chains are reorganised and answers are lost. Then it checks the result by chains,
// providers and journal, each on its own. Run it with
//
//	make torture [ROUNDS=6] [SEED=1] [SWAPS=40]
//
// A round has a world of its own: chains, providers, home, keychain, programs. Its random
// choices follow from the seed and the round's number: SEED, ROUND=N and SWAPS play one
// round again. Timing is not reproduced.
//
// Nothing here is mocked: relays and daemons are the real programs, built with the tag
// faults from this source; keychains are real Secret Services.
package torture

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"swapkeep/test/processes"
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

// root holds every world's own directory. It is short because of the limit on socket paths.
var root string

// table is the summary of the rounds, printed last, after all findings.
var table string

func TestMain(m *testing.M) {
	flag.Usage = func() {} // so that a wrong value prints one line, without the flags of go test
	flag.Parse()
	if err := checkFlags(*rounds, *swaps, *atOnce); err != nil {
		fmt.Fprintln(os.Stderr, "torture:", err)
		os.Exit(2)
	}
	fmt.Println(command())
	code := m.Run()
	fmt.Print(table)
	os.Exit(code)
}

// checkFlags refuses flags with which nothing would be played, and so nothing found.
func checkFlags(rounds, swaps, atOnce int) error {
	for _, n := range []struct {
		name string
		is   int
	}{{"ROUNDS", rounds}, {"SWAPS", swaps}, {"-at-once", atOnce}} {
		if n.is < 1 {
			return fmt.Errorf("%s=%d: want 1 or more", n.name, n.is)
		}
	}
	return nil
}

// TestPlayable checks that each flag is refused if it would play nothing.
func TestPlayable(t *testing.T) {
	for _, n := range [][3]int{{0, 40, 3}, {-1, 40, 3}, {1, 0, 3}, {1, -1, 3}, {1, 1, 0}} {
		if checkFlags(n[0], n[1], n[2]) == nil {
			t.Errorf("%v would be played", n)
		}
	}
	if err := checkFlags(1, 1, 1); err != nil {
		t.Error(err)
	}
}

// built returns the directory of the programs.
func built() string { return filepath.Join(root, "bin") }

// TestTorture plays the rounds and ends with a table.
func TestTorture(t *testing.T) {
	began := time.Now()
	var err error
	if root, err = os.MkdirTemp("", "skt"); err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(root)
	processes.CleanUpOnInterrupt(root)
	if err := programs.Build(built(), "faults", ""); err != nil {
		t.Fatal(err)
	}
	all := playAll(t, roundNumbers(*rounds, *only))
	table = summary(all, time.Since(began))
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

// roundNumbers returns the rounds to play: that many from 0 on, or one alone.
func roundNumbers(rounds, only int) (all []int) {
	if only >= 0 {
		return []int{only}
	}
	for n := range rounds {
		all = append(all, n)
	}
	return all
}

// playAll plays rounds, some at the same time.
func playAll(t *testing.T, numbers []int) (all []*report) {
	var (
		mu    sync.Mutex
		turns = make(chan struct{}, *atOnce)
		wg    sync.WaitGroup
	)
	for _, n := range numbers {
		turns <- struct{}{}
		wg.Go(func() {
			defer func() { <-turns }()
			r := play(t, n)
			mu.Lock()
			defer mu.Unlock()
			all = append(all, r)
			t.Log(strings.Join(append([]string{r.line()}, r.findings...), "\n\t"))
		})
	}
	wg.Wait()
	return all
}
