package series

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"swapkeep/priceapi/price"
	"swapkeep/test/processes"
)

const killedFile = "SERIES_TEST_FILE"

// TestAppender runs in a child process of TestKilled. It prints each minute after writing
// it and never ends.
func TestAppender(t *testing.T) {
	path := os.Getenv(killedFile)
	if path == "" {
		return // not a test by itself
	}
	from, err := strconv.ParseInt(os.Getenv(killedFile+"_FROM"), 10, 64)
	ok(t, err)
	h := newFakeClock(timeOf(from))
	s := open(t, path, h)
	for ; ; h.move(time.Minute) {
		appended(t, s, minute(h.now(), 40))
		fmt.Println("wrote", minuteOf(h.now()))
	}
}

// TestKilled repeatedly kills a process that appends, and checks that the minutes it
// reported as written are there and the file is sound.
func TestKilled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "prices.db")
	next, rounds := minuteOf(noon), 12
	for round := range rounds {
		wrote := killed(t, path, next, 5+13*round)
		if wrote < next {
			t.Fatalf("round %d: nothing was written", round)
		}
		h := newFakeClock(timeOf(wrote + 1))
		s := open(t, path, h)
		if s.Damage() != "" {
			t.Fatalf("round %d: %s", round, s.Damage())
		}
		for at := next; at <= wrote; at++ {
			near, err := s.Near(t.Context(), timeOf(at), 0)
			ok(t, err)
			if near[token(39)].Value != worth(39, timeOf(at)) {
				t.Fatalf("round %d: minute %d of %d to %d: %v", round, at, next, wrote, near[token(39)])
			}
		}
		totals, err := s.Totals(t.Context())
		ok(t, err)
		if stored := uint64(wrote - minuteOf(noon) + 1); totals.Fetches < stored || totals.Fetches > stored+uint64(round)+1 {
			t.Fatalf("round %d: %d fetches for %d minutes", round, totals.Fetches, stored)
		}
		next = wrote + 1
		ok(t, s.Close())
	}
}

// killed runs the appender until it has reported more than the given number of minutes,
// kills it, and returns the last minute reported.
func killed(t *testing.T, path string, from int64, minutes int) (last int64) {
	t.Helper()
	c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestAppender$")
	c.Env = append(os.Environ(), killedFile+"="+path, fmt.Sprintf("%s_FROM=%d", killedFile, from))
	out, err := c.StdoutPipe()
	ok(t, err)
	ok(t, c.Start())
	lines := bufio.NewScanner(out)
	for n := 0; lines.Scan(); n++ {
		if text, is := strings.CutPrefix(lines.Text(), "wrote "); is {
			last, err = strconv.ParseInt(text, 10, 64)
			ok(t, err)
		} else {
			t.Log(lines.Text())
		}
		if n == minutes {
			ok(t, c.Process.Kill())
		}
	}
	var end *exec.ExitError
	if err := c.Wait(); !errors.As(err, &end) || end.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("it was to be killed: %v", err)
	}
	return last
}

// TestFullDisk checks that without space nothing is written or broken, and that everything
// continues once there is space again.
func TestFullDisk(t *testing.T) {
	if !processes.RunInChild(t) {
		return
	}
	s, h := begin(t)
	run(t, s, h, 30, noon.Add(30*time.Minute))
	before := chart(t, s, 3, "24h", h.now())
	h.move(time.Minute)
	processes.WithFullDisk(t, func() {
		for range 3 {
			if err := s.Append(t.Context(), minute(h.now(), 60)); !errors.Is(err, ErrFull) {
				t.Errorf("append: %v", err)
			}
			if err := s.Check(t.Context()); !errors.Is(err, ErrFull) {
				t.Errorf("check: %v", err)
			}
			if err := s.SetFacts(t.Context(), map[price.ID]price.Facts{token(1): {Holders: 1}}); !errors.Is(err, ErrFull) {
				t.Errorf("facts: %v", err)
			}
			if got := chart(t, s, 3, "24h", h.now()); len(got) != len(before) {
				t.Errorf("%d candles, were %d", len(got), len(before))
			}
		}
		if _, err := Open(filepath.Join(t.TempDir(), "other.db"), Options{}); !errors.Is(err, ErrFull) {
			t.Errorf("a new one: %v", err)
		}
	})
	if !s.reread {
		t.Error("the tokens are taken for those of the file")
	}
	ok(t, s.Check(t.Context()))
	appended(t, s, minute(h.now(), 60))
	for n := range 60 {
		if got := chart(t, s, n, "24h", h.now()); len(got) == 0 || got[len(got)-1].Close != worth(n, h.now()) {
			t.Errorf("token %d: %v", n, got)
		}
	}
	ok(t, s.Close())
	if s = open(t, s.path, h); s.Damage() != "" {
		t.Error(s.Damage())
	}
}

// TestFullDiskWhileMending checks that a file is begun anew later if there is no space for it
// when a damaged one is set aside.
func TestFullDiskWhileMending(t *testing.T) {
	if !processes.RunInChild(t) {
		return
	}
	file, end := validFile(t)
	clear(file[:2*os.Getpagesize()])
	path := filepath.Join(t.TempDir(), "prices.db")
	ok(t, os.WriteFile(path, file, 0o600))
	h := newFakeClock(end)
	processes.WithFullDisk(t, func() {
		if _, err := Open(path, Options{Now: h.now}); !errors.Is(err, ErrFull) {
			t.Errorf("Open on a full disk: %v, want ErrFull", err)
		}
	})
	s := open(t, path, h)
	if s.Damage() == "" {
		t.Error("no damage is told")
	}
	appended(t, s, minute(end, tornTokens))
}
