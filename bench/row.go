package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// A subject is what one row is about. measure returns samples in nanoseconds, bytes
// or frames; reference is nil where there is nothing to compare with.
type subject struct {
	what, against string
	unit          unit
	goal          goal
	measure       func(context.Context, *lab) (ours, reference []float64, err error)
}

// A Row is one line of the table.
type Row struct {
	What      string  `json:"what"`
	Against   string  `json:"against,omitempty"` // what the reference is
	Unit      string  `json:"unit"`              // ns, bytes or frames
	Ours      *figure `json:"ours,omitempty"`
	Reference *figure `json:"reference,omitempty"`
	Ratio     float64 `json:"ratio,omitempty"` // of medians, as the goal puts it, or the difference; 0 = none
	Goal      string  `json:"goal,omitempty"`
	Verdict   verdict `json:"verdict,omitempty"`
	Error     string  `json:"error,omitempty"`

	unit  unit
	times string // how the ratio reads
}

type verdict string

const (
	hit        verdict = "hit"
	missed     verdict = "MISS"
	unmeasured verdict = "NOT MEASURED"
)

// row measures the subject.
func (s subject) row(ctx context.Context, l *lab) Row {
	r := Row{What: s.what, Against: s.against, Unit: s.unit.name, Goal: s.goal.text(s.unit), unit: s.unit, times: s.goal.times}
	ours, reference, err := s.measure(ctx, l)
	if err == nil && (len(ours) == 0 || s.goal.of != nil && len(reference) == 0) {
		err = errors.New("nothing to measure, or to compare with")
	}
	if err != nil {
		r.Verdict, r.Error = unmeasured, err.Error()
		return r
	}
	r.Ours, r.Reference = figureOf(ours), figureOf(reference)
	s.goal.judge(&r)
	return r
}

// A figure sums up samples.
type figure struct {
	Median float64 `json:"median"`
	P95    float64 `json:"p95"`
	Count  int     `json:"count"`
}

// figureOf is nil for no samples.
func figureOf(samples []float64) *figure {
	if len(samples) == 0 {
		return nil
	}
	s := slices.Sorted(slices.Values(samples))
	return &figure{Median: s[len(s)/2], P95: s[min(len(s)*95/100, len(s)-1)], Count: len(s)}
}

// A goal is what is wanted of a row: a bound of the median itself, or of the
// ratio to the reference's, or of the difference.
type goal struct {
	bound float64
	of    func(ours, reference float64) float64 // the ratio or difference; nil: the bound is of ours alone
	least bool                                  // the ratio may not be below the bound, instead of above
	times string
}

func atMost(bound float64) goal { return goal{bound: bound} }

func atMostTimes(bound float64) goal {
	return goal{bound: bound, times: "×", of: func(ours, reference float64) float64 { return ours / reference }}
}

func timesFaster(bound float64) goal {
	return goal{bound: bound, times: "× faster", least: true, of: func(ours, reference float64) float64 { return reference / ours }}
}

// ofTheRate wants at least such a part of the reference's rate, where samples are the
// time that one takes.
func ofTheRate(bound float64) goal {
	return goal{bound: bound, times: "× the rate", least: true, of: func(ours, reference float64) float64 { return reference / ours }}
}

// noMore wants no more than the reference has, which may be none.
var noMore = goal{times: " more", of: func(ours, reference float64) float64 { return ours - reference }}

var noGoal = goal{}

func (g goal) none() bool { return g.bound == 0 && g.of == nil }

func (g goal) text(u unit) string {
	switch {
	case g.none():
		return ""
	case g.of == nil:
		return "≤ " + u.limit(g.bound)
	case g.least:
		return fmt.Sprintf("≥ %g%s", g.bound, g.times)
	}
	return fmt.Sprintf("≤ %g%s", g.bound, g.times)
}

func (g goal) judge(r *Row) {
	if g.none() {
		return
	}
	value := r.Ours.Median
	if g.of != nil {
		value = g.of(r.Ours.Median, r.Reference.Median)
		r.Ratio = value
	}
	r.Verdict = missed
	if g.least && value >= g.bound || !g.least && value <= g.bound {
		r.Verdict = hit
	}
}

const (
	kilobyte = 1e3
	megabyte = 1e6
)

// A unit is how a row's samples are shown.
type unit struct {
	name  string
	show  func(float64) string
	limit func(float64) string
}

var (
	inTime  = unit{"ns", showTime, func(v float64) string { f, name := scaled(v); return fmt.Sprintf("%g %s", f, name) }}
	inSize  = unit{"bytes", func(v float64) string { return fmt.Sprintf("%.2f MB", v/megabyte) }, func(v float64) string { return fmt.Sprintf("%g MB", v/megabyte) }}
	inKilo  = unit{"bytes", func(v float64) string { return fmt.Sprintf("%.1f kB", v/kilobyte) }, func(v float64) string { return fmt.Sprintf("%g kB", v/kilobyte) }}
	inWhole = unit{"frames", func(v float64) string { return fmt.Sprintf("%g", v) }, func(v float64) string { return fmt.Sprintf("%g", v) }}
)

// showTime gives three digits.
func showTime(ns float64) string {
	v, name := scaled(ns)
	digits := 2
	for top := 10.0; top <= v && digits > 0; top *= 10 {
		digits--
	}
	return fmt.Sprintf("%.*f %s", digits, v, name)
}

// scaled is a duration in the largest unit that leaves a whole digit.
func scaled(ns float64) (v float64, name string) {
	for _, u := range []struct {
		size float64
		name string
	}{{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}} {
		if v := ns / u.size; v >= 1 {
			return v, u.name
		}
	}
	return ns, "ns"
}
