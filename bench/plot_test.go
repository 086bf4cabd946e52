package main

import (
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

func sample(ys ...float64) measuredCurve {
	d := measuredCurve{File: "a.svg", Title: "Time & <space>", Along: "tokens", unit: inTime, Lines: []line{{Name: "ours"}, {Name: "theirs"}}}
	for i, y := range ys {
		d.Lines[0].Points = append(d.Lines[0].Points, point{float64(10 * (i + 1)), y})
	}
	d.Lines[1].Points = []point{{10, ys[0]}}
	return d
}

// TestPicture checks that a picture is well-formed for any text and holds all marks.
func TestPicture(t *testing.T) {
	for name, d := range map[string]measuredCurve{"narrow": sample(100, 120, 150), "wide": sample(100, 5e6, 2e9), "flat": sample(7, 7)} {
		picture := string(d.svg())
		for in := xml.NewDecoder(strings.NewReader(picture)); ; {
			if _, err := in.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		if strings.Contains(picture, "NaN") || strings.Contains(picture, "Inf") {
			t.Errorf("%s: %s", name, picture)
		}
		for _, at := range regexp.MustCompile(`translate\(([\d.-]+) ([\d.-]+)\)`).FindAllStringSubmatch(picture, -1) {
			x, _ := strconv.ParseFloat(at[1], 64)
			y, _ := strconv.ParseFloat(at[2], 64)
			if x < left || x > right || y < 0 || y > bottom {
				t.Errorf("%s: a mark at %g, %g", name, x, y)
			}
		}
		for _, words := range []string{"Time &amp; &lt;space&gt;", ">ours<", ">theirs<", "tokens ("} {
			if !strings.Contains(picture, words) {
				t.Errorf("%s: no %q", name, words)
			}
		}
	}
}

func TestTicks(t *testing.T) {
	for name, c := range map[string]struct {
		axis axis
		want []float64
	}{
		"even":           {axis{from: 0, to: 34}, []float64{0, 5, 10, 15, 20, 25, 30}},
		"decades":        {axis{from: 1, to: 1e5, log: true}, []float64{1, 10, 100, 1000, 1e4, 1e5}},
		"within decades": {axis{from: 10, to: 100, log: true}, []float64{10, 20, 50, 100}},
	} {
		got := c.axis.ticks()
		if len(got) != len(c.want) {
			t.Errorf("%s: ticks %v, want %v", name, got, c.want)
			continue
		}
		for i, v := range got {
			if rounded(v) != c.want[i] {
				t.Errorf("%s: ticks %v, want %v", name, got, c.want)
			}
		}
	}
	if v := roundDown(499); v != 200 {
		t.Error(v)
	}
	if s := thousands(12_034) + thousands(999); s != "12,034999" {
		t.Error(s)
	}
}
