//go:build faults && linux

package soak

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"
)

// A row is the daemon's figures at the end of a round.
type row struct {
	at                       time.Duration
	rss, peak, heap, objects uint64
	goroutines, descriptors  int
	orders, prices, log, old int64
	made, open               int
	boards, events           int
}

func (r row) String() string {
	return fmt.Sprintf("%s: rss %s, heap %s, %d goroutines, %d descriptors, orders %s, prices %s, log %s, %d boards", r.at, mib(float64(r.rss)), mib(float64(r.heap)),
		r.goroutines, r.descriptors, mib(float64(r.orders)), mib(float64(r.prices)), mib(float64(r.log)), r.boards)
}

// A metric is one figure of a row and by how much it may grow from the second quarter of
// the rows, when caches are filled, to the last.
type metric struct {
	name     string
	of       func(row) float64
	show     func(float64) string
	relative float64 // relative growth
	absolute float64 // or absolute growth, if that is more
	limit    float64 // absolute limit; 0: none
}

const (
	mebi = 1 << 20
	// warmRounds is how many rounds it takes until a user has met every provider. In a shorter
	// soak the daemon still grows from each first meeting.
	warmRounds = 12
	// minRows is the number of rows that a second and a last quarter need.
	minRows = 4
)

var metrics = []metric{
	{"RSS after a collection", func(r row) float64 { return float64(r.rss) }, mib, 0.10, 3 * mebi, 200 * mebi},
	{"heap in use", func(r row) float64 { return float64(r.heap) }, mib, 0.10, 1 * mebi, 100 * mebi},
	{"objects", func(r row) float64 { return float64(r.objects) }, number, 0.10, 5000, 0},
	{"goroutines", func(r row) float64 { return float64(r.goroutines) }, number, 0, 30, 300}, // two for each idle connection to a service
	{"descriptors", func(r row) float64 { return float64(r.descriptors) }, number, 0, 12, 200},
	{"prices.db", func(r row) float64 { return float64(r.prices) }, mib, 0.15, 1 * mebi, 64 * mebi},
	{"orders.db per order", func(r row) float64 { return float64(r.orders) / float64(max(r.made, 1)) }, kib, 1, 0, 0}, // the file doubles when it is full
	{"log and the one before", func(r row) float64 { return float64(r.log + r.old) }, mib, 0, 8 * mebi, 9 * mebi},
}

// verdict returns the tables of rows and of measures, and the measures that fail.
func verdict(rows []row) (text string, failed []string) {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "time\tRSS\tpeak\theap\tobjects\tgoroutines\tfds\torders.db\tprices.db\tlog\tlog.1\tboards\torders\topen\t")
	for _, r := range rows {
		fmt.Fprintf(w, "%.1f h\t%s\t%s\t%s\t%d\t%d\t%d\t%s\t%s\t%s\t%s\t%d\t%d\t%d\t\n", r.at.Hours(), mib(float64(r.rss)), mib(float64(r.peak)), mib(float64(r.heap)), r.objects, r.goroutines, r.descriptors,
			mib(float64(r.orders)), mib(float64(r.prices)), mib(float64(r.log)), mib(float64(r.old)), r.boards, r.made, r.open)
	}
	_ = w.Flush()
	b.WriteByte('\n')
	failed = judge(&b, rows)
	return b.String(), failed
}

func judge(to io.Writer, rows []row) (failed []string) {
	if len(rows) < minRows {
		return []string{fmt.Sprintf("%d rows are too few to judge by", len(rows))}
	}
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	defer w.Flush()
	fmt.Fprintln(w, "measure\tsecond quarter\tlast quarter\tgrowth\tallowed\tmost\tverdict")
	for _, m := range metrics {
		early, late, most := m.median(rows[len(rows)/4:len(rows)/2]), m.median(rows[len(rows)-len(rows)/4:]), 0.0
		for _, r := range rows {
			most = max(most, m.of(r))
		}
		allowed, word := max(m.relative*early, m.absolute), "flat"
		if len(rows) < warmRounds {
			allowed *= 4
		}
		switch {
		case late-early > allowed:
			word = "GROWS"
		case m.limit > 0 && most > m.limit:
			word = "TOO MUCH"
		}
		if word != "flat" {
			failed = append(failed, fmt.Sprintf("%s: %s, then %s; it was %s at most", m.name, m.show(early), m.show(late), m.show(most)))
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", m.name, m.show(early), m.show(late), m.show(late-early), m.show(allowed), m.show(most), word)
	}
	return failed
}

func (m metric) median(rows []row) float64 {
	var all []float64
	for _, r := range rows {
		all = append(all, m.of(r))
	}
	slices.Sort(all)
	return all[len(all)/2]
}

func mib(n float64) string    { return fmt.Sprintf("%.2f MiB", n/mebi) }
func kib(n float64) string    { return fmt.Sprintf("%.0f KiB", n/1024) }
func number(n float64) string { return fmt.Sprintf("%.0f", n) }

// A expectation is an event that a soak expects, and how often.
type expectation struct {
	what         string
	count, least int
}

func formatExpectations(all []expectation, took time.Duration) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "what happened\ttimes\tat least")
	for _, x := range all {
		fmt.Fprintf(w, "%s\t%d\t%d\n", x.what, x.count, x.least)
	}
	_ = w.Flush()
	fmt.Fprintf(&b, "\nIt took %s.\n", took.Round(time.Second))
	return b.String()
}

// TestJudge checks that slow steady growth is found and mere variation is not.
func TestJudge(t *testing.T) {
	day := func(leak uint64) (rows []row) {
		for n := range uint64(24) {
			rows = append(rows, row{
				rss: 40 * mebi, heap: 10*mebi + n%3*mebi/4 + n*leak, objects: 90_000, goroutines: 60 + int(n%5), descriptors: 30, prices: 3 * mebi,
				orders: int64(mebi + n*8192), made: int(n + 1), log: int64(n%12) * mebi / 3, old: 4 * mebi,
			})
		}
		return rows
	}
	if _, failed := verdict(day(0)); len(failed) != 0 {
		t.Errorf("a daemon that stays as it is: %q", failed)
	}
	if _, failed := verdict(day(mebi / 8)); len(failed) != 1 || !strings.HasPrefix(failed[0], "heap in use: ") {
		t.Errorf("a daemon that leaks 128 KiB an hour: %q", failed)
	}
	rows := day(0)
	for n := range rows {
		rows[n].goroutines += 3 * n
	}
	if _, failed := verdict(rows); len(failed) != 1 || !strings.HasPrefix(failed[0], "goroutines: ") {
		t.Errorf("a daemon that leaks three goroutines an hour: %q", failed)
	}
	rows = day(0)
	rows[20].descriptors = 500
	if _, failed := verdict(rows); len(failed) != 1 {
		t.Errorf("a daemon that once held 500 descriptors: %q", failed)
	}
	if _, failed := verdict(rows[:3]); len(failed) != 1 {
		t.Errorf("three rows: %q", failed)
	}
}
