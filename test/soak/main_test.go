//go:build faults && linux

// Package soak runs the real daemon through a day in minutes, with a simulated user, and
// checks that its resource use does not grow. Run it with
//
//	make soak             a day
//	make soak SOAK=2h     a short one
//
// and put it under more load than a user makes, with
//
//	make load
//	make load LOAD=short
//
// The daemon is the real program, built with the tag faults: its clock and timers run up to
// hundreds of times as fast (see package fault), while answers take real time. The sandbox,
// which simulates everything outside, goes by the same clock. Under load time passes at its
// normal pace, except where a test says otherwise.
package soak

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"swapkeep/internal/clock"
	"swapkeep/sandbox"
	"swapkeep/test/processes"
	"swapkeep/test/programs"
)

var (
	length = flag.Duration("soak", 2*time.Hour, "how long, by the daemon's clock")
	short  = flag.Bool("short-load", false, "load of a tenth")
	report = flag.String("report", "", "file that tables are added to, besides the log")
)

// world is shared by all tests of a run.
var world struct {
	root, pace string
	*sandbox.Sandbox
}

func TestMain(m *testing.M) {
	flag.Usage = func() {} // so that a wrong value prints one line, without the flags of go test
	flag.Parse()
	if err := errors.Join(checkLength(*length), checkReport(*report)); err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(2)
	}
	os.Exit(run(m))
}

// checkLength refuses a soak that is too short to judge.
func checkLength(length time.Duration) error {
	if least := minRows * shortRound; length < least {
		return fmt.Errorf("SOAK=%s is too short to judge by: want %.0fm or more", length, least.Minutes())
	}
	return nil
}

// checkReport creates the report's directory and checks that the report can be written.
func checkReport(path string) error {
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

// TestRefused checks that values that would fail only after the run are refused before it.
func TestRefused(t *testing.T) {
	if checkLength(time.Hour) == nil || checkLength(96*time.Minute) != nil || checkLength(24*time.Hour) != nil {
		t.Error("an hour is long enough, or 96 minutes or a day are not")
	}
	dir := t.TempDir()
	report := filepath.Join(dir, "out", "soak.md")
	if err := errors.Join(checkReport(""), checkReport(report)); err != nil {
		t.Error(err)
	}
	if checkReport(dir) == nil || checkReport(filepath.Join(report, "below")) == nil {
		t.Error("a folder is a report, or a file a folder")
	}
}

func run(m *testing.M) int {
	var err error
	if world.root, err = os.MkdirTemp("", "sks"); err == nil {
		defer os.RemoveAll(world.root)
		processes.CleanUpOnInterrupt(world.root)
		err = programs.Build(binDir(), "faults", "")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		return 1
	}
	return m.Run()
}

// binDir returns the directory of the programs.
func binDir() string { return filepath.Join(world.root, "bin") }

// startWorld starts the sandbox, at a pace at which a user can act.
func startWorld(t *testing.T) {
	t.Helper()
	world.pace = filepath.Join(world.root, "pace")
	setPace(t, 1)
	t.Cleanup(clock.Follow(world.pace))
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
	setPace(t, slowPace)
	mineBlocks(t)
}

// Paces of the clock.
const (
	slowPace = 15  // while the user acts: quotes live for a second or two of real time
	fastPace = 400 // while the user is away and the machine keeps up
)

func setPace(t *testing.T, times float64) {
	t.Helper()
	if err := clock.SetPace(world.pace, times); err != nil {
		t.Fatal(err)
	}
}

// logTable logs a table and adds it to the report.
func logTable(t *testing.T, text string) {
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

// mineBlocks mines blocks that have the clock's time, until the test ends.
func mineBlocks(t *testing.T) {
	stop, done := make(chan struct{}), make(chan struct{})
	t.Cleanup(func() { close(stop); <-done })
	go func() {
		defer close(done)
		last := time.Now()
		for {
			// Blocks are ten seconds of the daemon's clock apart, less while a user waits.
			select {
			case <-stop:
				return
			case <-clock.After(10 * time.Second):
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
				now := clock.Now()
				if c.ID == mainnet {
					now = now.Add(clockLead)
				}
				_ = c.ShiftTo(now) // refused while a transaction comes in; the next block catches up
			}
		}
	}()
}

// clockLead is how far mainnet, where payments arrive, is ahead of base, where deposits are
// made: a payment dated before its deposit would not count.
const clockLead = 5 * time.Second
