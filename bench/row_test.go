package main

import (
	"context"
	"errors"
	"testing"
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
	} {
		s := subject{what: name, unit: inTime, goal: c.goal, measure: func(context.Context, *lab) (ours, reference []float64, err error) {
			if c.reference != 0 {
				reference = []float64{c.reference}
			}
			return []float64{c.ours}, reference, nil
		}}
		if r := s.row(t.Context(), nil); r.Verdict != c.want || r.Ratio != c.ratio {
			t.Errorf("%s: %s, ratio %g", name, r.Verdict, r.Ratio)
		}
	}
}

// What cannot be measured says so, whether it failed, or has nothing to show,
// or nothing to be compared with.
func TestUnmeasured(t *testing.T) {
	for name, measure := range map[string]func(context.Context, *lab) (ours, reference []float64, err error){
		"a failure": func(context.Context, *lab) (ours, reference []float64, err error) {
			return []float64{1}, nil, errors.New("no peer")
		},
		"no sample":    func(context.Context, *lab) (ours, reference []float64, err error) { return nil, nil, nil },
		"no reference": func(context.Context, *lab) (ours, reference []float64, err error) { return []float64{1}, nil, nil },
	} {
		r := subject{what: name, unit: inTime, goal: atMostTimes(1.5), measure: measure}.row(t.Context(), nil)
		if r.Verdict != unmeasured || r.Error == "" || !(report{Rows: []Row{r}}).unmeasured() {
			t.Errorf("%s: %+v", name, r)
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
