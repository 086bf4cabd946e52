package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode"
)

func TestFigure(t *testing.T) {
	var samples []float64
	for i := range 100 {
		samples = append(samples, float64(99-i))
	}
	if f := figureOf(samples); *f != (figure{Median: 50, P95: 95, Count: 100}) {
		t.Errorf("%+v", f)
	}
	if f := figureOf([]float64{7}); *f != (figure{7, 7, 1}) {
		t.Errorf("%+v", f)
	}
	if figureOf(nil) != nil {
		t.Error("a figure of nothing")
	}
}

func TestVerdicts(t *testing.T) {
	for name, c := range map[string]struct {
		goal            goal
		ours, reference float64
		want            verdict
		ratio           float64
	}{
		"at the limit":     {atMost(100), 100, 0, hit, 0},
		"over the limit":   {atMost(100), 101, 0, missed, 0},
		"1.5 times":        {atMostTimes(1.5), 150, 100, hit, 1.5},
		"twice":            {atMostTimes(1.5), 200, 100, missed, 2},
		"8 times faster":   {timesFaster(8), 10, 80, hit, 8},
		"7 times faster":   {timesFaster(8), 10, 70, missed, 7},
		"as many":          {noMore, 3, 3, hit, 0},
		"two more":         {noMore, 5, 3, missed, 2},
		"without any goal": {noGoal, 1, 0, "", 0},
		"beside a peer":    {noGoal, 10, 40, "", 0.25},
		"at most, beside":  {atMost(10), 10, 40, hit, 0.25},
		"all of them":      {atLeast(1), 1, 0, hit, 0},
		"not all of them":  {atLeast(1), 0.999, 0, missed, 0},
		"added to it":      {atMostMore(10), 11, 40, missed, 0},
	} {
		s := subject{what: name, unit: inTime, goal: c.goal, measure: func(context.Context, *lab) (sides, error) {
			if c.reference != 0 {
				return sides{{c.ours}, {c.reference}}, nil
			}
			return sides{{c.ours}}, nil
		}}
		if c.reference != 0 {
			s.peers = peers("peer")
		}
		if r := s.row(t.Context(), nil); r.Verdict != c.want || r.Ratio != c.ratio {
			t.Errorf("%s: %s, ratio %g", name, r.Verdict, r.Ratio)
		}
	}
}

// TestUnmeasured checks that a row says so if its measurement failed, or has nothing to
// show or compare with.
func TestUnmeasured(t *testing.T) {
	for name, measure := range map[string]measurement{
		"a failure":    func(context.Context, *lab) (sides, error) { return sides{{1}, {1}}, errors.New("no peer") },
		"nothing":      func(context.Context, *lab) (sides, error) { return nil, nil },
		"no sample":    func(context.Context, *lab) (sides, error) { return sides{nil, {1}}, nil },
		"no reference": func(context.Context, *lab) (sides, error) { return sides{{1}}, nil },
		"an empty one": func(context.Context, *lab) (sides, error) { return sides{{1}, {}}, nil },
		"one too many": func(context.Context, *lab) (sides, error) { return sides{{1}, {1}, {1}}, nil },
	} {
		r := subject{what: name, peers: peers("peer"), unit: inTime, goal: atMostTimes(1.5), measure: measure}.row(t.Context(), nil)
		if r.Verdict != unmeasured || r.Error == "" || !(report{Rows: []Row{r}}).unmeasured() {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// TestSides checks that the ratio is to the first peer, or without any to the limit.
func TestSides(t *testing.T) {
	of := func(peers []string, limit string, found sides) Row {
		return subject{what: "row", peers: peers, limit: limit, unit: inTime, goal: noGoal, measure: func(context.Context, *lab) (sides, error) { return found, nil }}.row(t.Context(), nil)
	}
	both := of(peers("one", "two"), "least", sides{{20}, {10}, {5}, {2}})
	if both.Ratio != 2 || strings.Join(both.cells(), "|") != "row|20.0 ns|one: 10.0 ns; two: 5.00 ns|least: 2.00 ns|2.00×|–|" {
		t.Errorf("%g: %q", both.Ratio, both.cells())
	}
	alone := of(nil, "least", sides{{20}, {2000}})
	if alone.Ratio != 0.01 || strings.Join(alone.cells(), "|") != "row|20.0 ns|–|least: 2.00 µs|0.01×|–|" {
		t.Errorf("%g: %q", alone.Ratio, alone.cells())
	}
}

// TestSubjects checks that every row can be judged, and found by its name.
func TestSubjects(t *testing.T) {
	names := map[string]bool{}
	for _, s := range append(slices.Clone(subjects), inBrowsers...) {
		if names[s.what] {
			t.Errorf("two rows are called %q", s.what)
		}
		names[s.what] = true
		if s.goal.of != nil && len(s.referenceNames()) == 0 {
			t.Errorf("%q is held to a ratio, and beside nothing", s.what)
		}
	}
	short := options{short: true}.subjects()
	if len(short) != len(subjects) || len(options{}.subjects()) != len(names) || len(options{only: "Permit2"}.subjects()) != 1 {
		t.Error("a run has other rows than are asked for")
	}
	if len(options{curves: "dir"}.curved()) != len(curves) || len(options{curves: "dir", only: "Open orders"}.curved()) != 3 || len(options{}.curved()) != 0 {
		t.Error("a run has other curves than are asked for")
	}
	for _, c := range curves {
		if len(c.lines) > len(lineStyles) || c.at[0] < 1 || !slices.IsSorted(c.at) {
			t.Errorf("%s cannot be drawn", c.file)
		}
		for _, name := range c.lines {
			if len(name) > 35 { // two fit next to each other
				t.Errorf("%s: no room for %q", c.file, name)
			}
		}
	}
}

func TestShownTimes(t *testing.T) {
	for ns, want := range map[float64]string{369: "369 ns", 1000: "1.00 µs", 47_812: "47.8 µs", 223_000: "223 µs", 2_770_000: "2.77 ms", 1.2e9: "1.20 s"} {
		if got := showTime(ns); got != want {
			t.Errorf("%g: %s, not %s", ns, got, want)
		}
	}
}

// TestMisspelt checks that a name that matches nothing is an error that repeats it and
// lists all names, also if only a curve matches and none are drawn.
func TestMisspelt(t *testing.T) {
	for _, w := range []options{
		{only: "misspelt"}, {only: "misspelt", curves: "nowhere"}, {only: curves[0].title}, {only: inBrowsers[0].what, short: true},
	} {
		err := run(t.Context(), places{}, w)
		if !errors.Is(err, errNothing) || !strings.HasPrefix(err.Error(), fmt.Sprintf("ONLY (-only) is %q", w.only)) {
			t.Errorf("%+v: %v", w, err)
		}
		for _, name := range []string{"hello round trip", inBrowsers[0].what, curves[0].title} {
			if err != nil && !strings.Contains(err.Error(), "\n  "+name) {
				t.Errorf("%+v: %s is not listed", w, name)
			}
		}
	}
}

// TestEveryRowIsExplained checks that docs/performance.md describes how each row is
// measured, in a line that begins with words of its name or with several such parts
// separated by commas, and describes no other row.
func TestEveryRowIsExplained(t *testing.T) {
	document, err := os.ReadFile("../docs/performance.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(document), "\n| Row | ")
	table, _, ok := strings.Cut(after, "\n\n")
	if !ok {
		t.Fatal("no table of rows")
	}
	words := func(text string) []string {
		return strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\'' })
	}
	explained := map[string]bool{}
	for _, line := range strings.Split(table, "\n")[2:] {
		cell := strings.Split(line, "|")[1]
		for part := range strings.SplitSeq(cell, ", ") {
			used := false
			for _, s := range append(slices.Clone(subjects), inBrowsers...) {
				name := words(s.what)
				if !slices.ContainsFunc(words(part), func(word string) bool { return !slices.Contains(name, word) }) {
					explained[s.what], used = true, true
				}
			}
			if !used {
				t.Errorf("no row is called %q", part)
			}
		}
	}
	for _, s := range append(slices.Clone(subjects), inBrowsers...) {
		if !explained[s.what] {
			t.Errorf("docs/performance.md does not say how %q is measured", s.what)
		}
	}
}
