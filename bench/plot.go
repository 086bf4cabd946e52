package main

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"math"
)

// Positions in a picture, in pixels.
const (
	wide, high            = 720, 400
	left, right           = 84, 700
	legendTop, legendStep = 54, 20
	bottom                = 346
	aboveLegend           = 10
)

// lineStyles distinguish lines by colour, mark and dash. The colours are legible on white and
// on black.
var lineStyles = []struct{ colour, dash, mark string }{
	{"#2f81f7", "", `<circle r="4"/>`},
	{"#d1762c", "7 4", `<rect x="-4" y="-4" width="8" height="8"/>`},
	{"#3fa35b", "2 4", `<path d="M0-5 5 4H-5z"/>`},
	{"#a371f7", "9 3 2 3", `<path d="M0-5 5 0 0 5-5 0z"/>`},
}

// style makes text and axes follow the reader's theme, where known.
const style = `<style>text{font:13px system-ui,-apple-system,"Segoe UI",Helvetica,Arial,sans-serif;fill:#6e7781}.title{font-size:16px;font-weight:600}.grid{stroke:#8c959f;stroke-opacity:.3}.axis{stroke:#8c959f}` +
	`@media (prefers-color-scheme:light){text{fill:#424a53}}@media (prefers-color-scheme:dark){text{fill:#c9d1d9}}</style>`

// An axis maps values to pixels.
type axis struct {
	from, to   float64 // values
	start, end float64 // pixels
	log        bool
}

func (a axis) at(v float64) float64 {
	from, to := a.from, a.to
	if a.log {
		v, from, to = math.Log10(v), math.Log10(from), math.Log10(to)
	}
	return a.start + (v-from)/(to-from)*(a.end-a.start)
}

// ticks returns round values within the axis: 1, and with enough room 2 and 5, times
// powers of ten, or on a linear axis steps of one of these.
func (a axis) ticks() (all []float64) {
	if !a.log {
		step := math.Pow(10, math.Floor(math.Log10(a.to-a.from)))
		for _, part := range []float64{1, 0.5, 0.2} {
			if (a.to-a.from)/(step*part) >= 4 {
				step *= part
				break
			}
		}
		for i := math.Ceil(a.from / step); i*step <= a.to*1.0001; i++ {
			all = append(all, i*step)
		}
		return all
	}
	digits := []float64{1, 2, 5}
	if a.to/a.from > 2000 {
		digits = digits[:1]
	}
	for exponent := math.Floor(math.Log10(a.from)); exponent <= math.Ceil(math.Log10(a.to)); exponent++ {
		for _, d := range digits {
			if v := d * math.Pow(10, exponent); v >= a.from*0.9999 && v <= a.to*1.0001 {
				all = append(all, v)
			}
		}
	}
	return all
}

// axes returns the axes of a picture. The horizontal one is logarithmic, and so is the
// vertical one if its values differ by more than ten times.
func (d measuredCurve) axes() (along, up axis) {
	x, y := [2]float64{math.Inf(1), 0}, [2]float64{math.Inf(1), 0}
	for _, l := range d.Lines {
		for _, p := range l.Points {
			x = [2]float64{min(x[0], p.X), max(x[1], p.X)}
			y = [2]float64{min(y[0], p.Y), max(y[1], p.Y)}
		}
	}
	top := float64(legendTop + legendStep*((len(d.Lines)+1)/2) + aboveLegend)
	along = axis{from: x[0], to: x[1], start: left + 14, end: right - 14, log: true}
	up = axis{from: 0, to: y[1] * 1.1, start: bottom, end: top}
	if y[1] > 10*y[0] {
		up = axis{from: roundDown(y[0]), to: y[1] * 1.3, start: bottom, end: top, log: true}
	}
	return along, up
}

// roundDown rounds down to 1, 2 or 5 times a power of ten.
func roundDown(v float64) float64 {
	base := math.Pow(10, math.Floor(math.Log10(v)))
	for _, d := range []float64{5, 2} {
		if d*base <= v {
			return d * base
		}
	}
	return base
}

func (d measuredCurve) svg() []byte {
	var b bytes.Buffer
	along, up := d.axes()
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" aria-labelledby="t"><title id="t">%s</title>%s`+"\n", wide, high, escaped(d.Title), style)
	text(&b, left, 28, "start", "title", d.Title)
	for _, v := range up.ticks() {
		y := up.at(v)
		fmt.Fprintf(&b, `<path class="grid" d="M%d %.1fH%d"/>`, left, y, right)
		text(&b, left-8, y+4, "end", "", d.unit.limit(rounded(v)))
	}
	for _, v := range along.ticks() {
		fmt.Fprintf(&b, `<path class="axis" d="M%.1f %dv5"/>`, along.at(v), bottom)
		text(&b, along.at(v), bottom+20, "middle", "", thousands(v))
	}
	fmt.Fprintf(&b, `<path class="axis" d="M%d %dH%d"/>`+"\n", left, bottom, right)
	scale := "logarithmic"
	if up.log {
		scale = "both axes logarithmic"
	}
	text(&b, (left+right)/2, bottom+42, "middle", "", d.Along+" ("+scale+")")
	for i, l := range d.Lines {
		look := lineStyles[i%len(lineStyles)]
		fmt.Fprintf(&b, `<g fill="%s">`, look.colour)
		d.legend(&b, i, l.Name, look.colour, look.dash, look.mark)
		path := ""
		for _, p := range l.Points {
			path += fmt.Sprintf("%.1f %.1f ", along.at(p.X), up.at(p.Y))
			fmt.Fprintf(&b, `<g transform="translate(%.1f %.1f)">%s</g>`, along.at(p.X), up.at(p.Y), look.mark)
		}
		fmt.Fprintf(&b, `<polyline fill="none" stroke="%s" stroke-width="2" stroke-dasharray="%s" points="%s"/></g>`+"\n", look.colour, orNone(look.dash), path)
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

// legend draws a line's name, two next to each other.
func (d measuredCurve) legend(b *bytes.Buffer, i int, name, colour, dash, mark string) {
	x, y := left+i%2*(right-left)/2, legendTop+i/2*legendStep
	fmt.Fprintf(b, `<path d="M%d %dh30" fill="none" stroke="%s" stroke-width="2" stroke-dasharray="%s"/><g transform="translate(%d %d)">%s</g>`, x, y-4, colour, orNone(dash), x+15, y-4, mark)
	text(b, float64(x+38), float64(y), "start", "", name)
}

func text(b *bytes.Buffer, x, y float64, anchor, class, words string) {
	fmt.Fprintf(b, `<text x="%.1f" y="%.1f" text-anchor="%s" class="%s">%s</text>`, x, y, anchor, class, escaped(words))
}

func escaped(words string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(words)) // writing to a buffer cannot fail
	return b.String()
}

func orNone(dash string) string {
	if dash == "" {
		return "none"
	}
	return dash
}

// rounded removes the error of adding up steps.
func rounded(v float64) float64 {
	if v == 0 {
		return 0
	}
	unit := math.Pow(10, math.Floor(math.Log10(v))-3)
	return math.Round(v/unit) * unit
}

// thousands puts a comma into numbers above a thousand.
func thousands(v float64) string {
	if v < 1000 {
		return fmt.Sprintf("%g", v)
	}
	return fmt.Sprintf("%d,%03d", int(v)/1000, int(v)%1000)
}
