//go:build faults && linux

// Package soak has the real daemon live through a day in minutes, with a user beside
// it, and wants what it holds at the end to be what it held in the morning. Run it with
//
//	make soak             a day
//	make soak SOAK=2h     a short one
//
// and have it bear more than a user makes of it, with
//
//	make load
//	make load LOAD=short
//
// The daemon is the real program, built with the tag faults: its clock and what waits
// by it run hundreds of times as fast (see package fault), answers take the time they
// take. The sandbox, which is the world here, goes by the same clock. Under load time
// passes as it does, but where a test says otherwise.
package soak

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"swapkeep/fault"
	"swapkeep/sandbox"
	"swapkeep/test/processes"
	"swapkeep/test/programs"
)

var (
	length = flag.Duration("soak", 2*time.Hour, "how long, by the daemon's clock")
	short  = flag.Bool("short-load", false, "load of a tenth")
	report = flag.String("report", "", "file that tables are added to, besides the log")
)

// world is what all of a run share.
var world struct {
	root, pace string
	*sandbox.Sandbox
}

func TestMain(m *testing.M) {
	flag.Usage = func() {} // a wrong value is one line, and not below all that go test takes
	flag.Parse()
	if err := errors.Join(longEnough(*length), reportable(*report)); err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(2)
	}
	os.Exit(run(m))
}

// longEnough refuses a soak that there would be no judging of.
func longEnough(length time.Duration) error {
	if least := fewest * shortRound; length < least {
		return fmt.Errorf("SOAK=%s is too short to judge by: want %.0fm or more", length, least.Minutes())
	}
	return nil
}

// reportable finds out before the run whether the report can be added to, and makes its
// folder.
func reportable(path string) error {
	if path == "" {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("REPORT: %w", err)
	}
	if err := add(path, ""); err != nil {
		return fmt.Errorf("REPORT: %w", err)
	}
	return nil
}

// TestRefused: what would fail after the run is refused before it.
func TestRefused(t *testing.T) {
	if longEnough(time.Hour) == nil || longEnough(96*time.Minute) != nil || longEnough(24*time.Hour) != nil {
		t.Error("an hour is long enough, or 96 minutes or a day are not")
	}
	dir := t.TempDir()
	report := filepath.Join(dir, "out", "soak.md")
	if err := errors.Join(reportable(""), reportable(report)); err != nil {
		t.Error(err)
	}
	if reportable(dir) == nil || reportable(filepath.Join(report, "below")) == nil {
		t.Error("a folder is a report, or a file a folder")
	}
}

func run(m *testing.M) int {
	var err error
	if world.root, err = os.MkdirTemp("", "sks"); err == nil {
		defer os.RemoveAll(world.root)
		processes.EndInterrupted(world.root)
		err = programs.Build(built(), "faults", "")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		return 1
	}
	return m.Run()
}

// built is where the programs are.
func built() string { return filepath.Join(world.root, "bin") }

// begin opens the world at a pace that a user can act at.
func begin(t *testing.T) {
	t.Helper()
	world.pace = filepath.Join(world.root, "pace")
	goAt(t, 1)
	t.Cleanup(fault.Follow(world.pace))
	var err error
	if world.Sandbox, err = sandbox.Start(t.Context(), sandbox.Options{Chains: []uint64{mainnet, base}, Period: -1, Instant: true}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := world.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := world.WriteFiles(filepath.Join(world.root, "world")); err != nil {
		t.Fatal(err)
	}
	goAt(t, calm)
	beat(t)
}

// The paces of time.
const (
	calm = 15  // while the user does something: quotes live for a second or two
	fast = 400 // while he is away, and the machine is not busy
)

func goAt(t *testing.T, times float64) {
	t.Helper()
	if err := fault.SetPace(world.pace, times); err != nil {
		t.Fatal(err)
	}
}

// tell shows a table, and adds it to the report.
func tell(t *testing.T, text string) {
	t.Helper()
	t.Log("\n" + text)
	if *report == "" {
		return
	}
	if err := add(*report, text+"\n"); err != nil {
		t.Error(err)
	}
}

func add(path, text string) error {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// beat makes blocks whose time is the clock's, until the test ends.
func beat(t *testing.T) {
	stop, done := make(chan struct{}), make(chan struct{})
	t.Cleanup(func() { close(stop); <-done })
	go func() {
		defer close(done)
		last := time.Now()
		for {
			// Between blocks there are ten seconds of the daemon's, and less while a
			// user waits for them.
			select {
			case <-stop:
				return
			case <-fault.After(10 * time.Second):
			case <-time.After(150 * time.Millisecond):
			}
			if time.Since(last) < 20*time.Millisecond {
				continue
			}
			last = time.Now()
			for _, c := range world.Chains() {
				if c.Paused() {
					continue
				}
				now := fault.Now()
				if c.ID == mainnet {
					now = now.Add(lead)
				}
				if d := now.Sub(time.Unix(int64(c.Head().Time), 0)); d >= time.Second {
					_ = c.Shift(d) // it refuses while a transaction comes in: the next one makes up for it
				}
			}
		}
	}()
}

// lead is by how much the chain where payments arrive is later than the one where they
// are made: one that is older than its deposit would be none.
const lead = 5 * time.Second
