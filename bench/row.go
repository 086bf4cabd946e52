package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// A subject is what one row measures. A peer does the same in another way; a limit is a
// lower bound for any implementation.
type subject struct {
	what    string
	peers   []string
	limit   string // "" = none that could be measured
	unit    unit
	goal    goal
	measure measurement
}

// A measurement returns samples in nanoseconds, bytes, frames or parts of one, or a statistic.
type measurement func(context.Context, *lab) (sides, error)

// sides are the samples of ours, of each peer and of the limit, in this order.
type sides [][]float64

// ours returns sides without peers or limit.
func ours(samples []float64, err error) (sides, error) { return sides{samples}, err }

// peers names the peers of a row.
func peers(peers ...string) []string { return peers }

// A Row is one line of the table.
type Row struct {
	What    string  `json:"what"`
	Unit    string  `json:"unit"` // ns, bytes, frames, share or t
	Ours    *figure `json:"ours,omitempty"`
	Peers   []side  `json:"peers,omitempty"`
	Limit   *side   `json:"limit,omitempty"`
	Ratio   float64 `json:"ratio,omitempty"` // to the first peer's median or, without peers, to the limit's, as the goal defines it; or a difference; 0 = none
	Goal    string  `json:"goal,omitempty"`
	Verdict verdict `json:"verdict,omitempty"`
	Error   string  `json:"error,omitempty"`

	unit  unit
	times string // unit of the ratio, as shown
}

// A side is a peer or limit.
type side struct {
	Name string `json:"name"`
	*figure
}

type verdict string

const (
	hit        verdict = "hit"
	missed     verdict = "MISS"
	unmeasured verdict = "NOT MEASURED"
)

func (s subject) row(ctx context.Context, l *lab) Row {
	r := Row{What: s.what, Unit: s.unit.name, Goal: s.goal.text(s.unit), unit: s.unit, times: s.goal.times}
	names := s.referenceNames()
	found, err := s.measure(ctx, l)
	if err == nil && (len(found) != 1+len(names) || slices.ContainsFunc(found, func(samples []float64) bool { return len(samples) == 0 })) {
		err = errors.New("nothing to measure, or to compare with")
	}
	if err != nil {
		r.Verdict, r.Error = unmeasured, err.Error()
		return r
	}
	r.Ours = figureOf(found[0])
	for i, name := range names {
		beside := side{name, figureOf(found[1+i])}
		if i < len(s.peers) {
			r.Peers = append(r.Peers, beside)
		} else {
			r.Limit = &beside
		}
	}
	s.goal.judge(&r)
	return r
}

// referenceNames returns the names of the other sides, in their order.
func (s subject) referenceNames() []string {
	if s.limit == "" {
		return s.peers
	}
	return append(slices.Clone(s.peers), s.limit)
}

// reference returns what the ratio compares with, or nil.
func (r Row) reference() *figure {
	switch {
	case len(r.Peers) > 0:
		return r.Peers[0].figure
	case r.Limit != nil:
		return r.Limit.figure
	}
	return nil
}

// A figure summarizes samples.
type figure struct {
	Median float64 `json:"median"`
	P95    float64 `json:"p95"`
	Count  int     `json:"count"`
}

// figureOf returns nil for no samples.
func figureOf(samples []float64) *figure {
	if len(samples) == 0 {
		return nil
	}
	s := slices.Sorted(slices.Values(samples))
	return &figure{Median: s[len(s)/2], P95: s[min(len(s)*95/100, len(s)-1)], Count: len(s)}
}

// A goal is a bound for a row: of the median itself, of its ratio to the reference's, or
// of the difference.
type goal struct {
	bound float64
	of    func(ours, reference float64) float64 // the ratio or difference; nil: the bound is of ours alone
	least bool                                  // the ratio must not be below the bound, instead of above
	times string
	added bool // ours is in addition to the reference: there is no ratio
}

func ratio(ours, reference float64) float64   { return ours / reference }
func inverse(ours, reference float64) float64 { return reference / ours }

func atMost(bound float64) goal { return goal{bound: bound, times: "×"} }

// atLeast bounds a share from below.
func atLeast(bound float64) goal { return goal{bound: bound, least: true} }

// atMostMore bounds what is added to the reference.
func atMostMore(bound float64) goal { return goal{bound: bound, added: true} }

func atMostTimes(bound float64) goal { return goal{bound: bound, times: "×", of: ratio} }

func timesFaster(bound float64) goal {
	return goal{bound: bound, times: "× faster", least: true, of: inverse}
}

// ofTheRate requires at least that part of the reference's rate, where samples are the
// time per item.
func ofTheRate(bound float64) goal {
	return goal{bound: bound, times: "× the rate", least: true, of: inverse}
}

// noMore requires no more than the reference has, which may be none.
var noMore = goal{times: " more", of: func(ours, reference float64) float64 { return ours - reference }}

var noGoal = goal{times: "×"}

func (g goal) none() bool { return g.bound == 0 && g.of == nil }

func (g goal) text(u unit) string {
	switch {
	case g.none():
		return ""
	case g.of == nil && g.least:
		return "≥ " + u.limit(g.bound)
	case g.of == nil:
		return "≤ " + u.limit(g.bound)
	case g.least:
		return fmt.Sprintf("≥ %g%s", g.bound, g.times)
	}
	return fmt.Sprintf("≤ %g%s", g.bound, g.times)
}

func (g goal) judge(r *Row) {
	of, reference := g.of, r.reference()
	if of == nil {
		of = ratio
	}
	if reference != nil && !g.added {
		r.Ratio = of(r.Ours.Median, reference.Median)
	}
	if g.none() {
		return
	}
	value := r.Ours.Median
	if g.of != nil {
		if reference == nil { // a mistake in the table of subjects
			r.Verdict, r.Error = unmeasured, "a goal beside nothing"
			return
		}
		value = r.Ratio
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
	inT     = unit{"t", func(v float64) string { return fmt.Sprintf("%.2f", v) }, func(v float64) string { return fmt.Sprintf("%g", v) }}
	inShare = unit{"share", showShare, showShare}
	inWhole = unit{"frames", func(v float64) string { return fmt.Sprintf("%g", v) }, func(v float64) string { return fmt.Sprintf("%g", v) }}
)

// showShare rounds down: 100 % is all.
func showShare(v float64) string { return fmt.Sprintf("%d %%", int(v*100)) }

// showTime gives three significant digits.
func showTime(ns float64) string {
	v, name := scaled(ns)
	digits := 2
	for top := 10.0; top <= v && digits > 0; top *= 10 {
		digits--
	}
	return fmt.Sprintf("%.*f %s", digits, v, name)
}

// scaled returns a duration in the largest unit that gives at least 1.
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
