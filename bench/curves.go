package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// A curve shows how something grows, next to its peers and its limit. Each point is the
// median of a measurement.
type curve struct {
	file, title string
	along       string // what grows
	unit        unit
	lines       []string // ours first
	at          []int
	of          func(at int) measurement
}

// The points at which curves are measured.
var (
	someTokens = []int{10, 30, 100, 300, 1000, 3000, 10_000}
	someOrders = []int{10, 30, 100, 300, 1000}
	someRelays = []int{1, 2, 5, 10, 20, 50}
)

var curves = []curve{
	{"tokens-list", "Price list under load: time a request takes on the whole", "tokens", inTime, []string{"Swapkeep", bareHandler, bareTCP}, someTokens,
		func(n int) measurement { return loadOf(n, listPath, false) }},
	{"tokens-commit", "Commit of a minute to a new history", "tokens", inTime, []string{"Swapkeep", keyPerSample, inSQLite, fsyncAlone}, someTokens, commitOf},
	{"tokens-memory", "Price server: resident memory", "tokens", inSize, []string{"Swapkeep", bareServer}, someTokens, priceMemoryOf},
	{"tokens-file", "Price history: file with a month of prices", "tokens", inSize, []string{"Swapkeep", keyPerSample, inSQLite, ownBytes}, someTokens, fileOf},
	{"orders-load", "Open orders: time to read them at start", "open orders", inTime, []string{"Swapkeep", readAlone}, someOrders, loadOrders},
	{"orders-memory", "Open orders: resident memory of the daemon", "open orders", inSize, []string{"Swapkeep", bareDaemon}, someOrders, memoryWith},
	{"orders-list", "Open orders: listing them over a relay", "open orders", inTime, []string{"all, 50 at a time", "the newest 50", "hello, same relay"}, someOrders, listOrders},
	{"relays-call", "Relays that call all at once: time from a message to its answer", "relays", inTime,
		[]string{"Swapkeep, median", "Swapkeep, 95th percentile", "bare echo daemon, median", "C echo hosts, median"}, someRelays, callAtOnce},
	{"relays-memory", "Relays: resident memory", "relays", inSize, []string{"daemon", "bare echo daemon", "one relay"}, someRelays, memoryAtOnce},
}

// A measuredCurve is a curve that was measured.
type measuredCurve struct {
	File  string `json:"file"`
	Title string `json:"title"`
	Along string `json:"along"`
	Unit  string `json:"unit"`
	Lines []line `json:"lines"`
	Error string `json:"error,omitempty"`

	unit unit
}

// A line may lack points that would take too long.
type line struct {
	Name   string  `json:"name"`
	Points []point `json:"points"`
}

type point struct {
	X float64 `json:"x"`
	Y float64 `json:"y"`
}

// draw measures the curve and draws it into a directory. A short run measures two of its
// points.
func (c curve) draw(ctx context.Context, l *lab, dir string) measuredCurve {
	if l.short {
		c.at = []int{c.at[0], c.at[len(c.at)/2]}
	}
	fmt.Fprintf(os.Stderr, "bench: %s …\n", c.title)
	d, err := c.measure(ctx, l)
	if err == nil {
		err = d.draw(dir)
	}
	if err != nil {
		d.Error = err.Error()
	}
	return d
}

func (c curve) measure(ctx context.Context, l *lab) (measuredCurve, error) {
	d := measuredCurve{File: c.file + ".svg", Title: c.title, Along: c.along, Unit: c.unit.name, unit: c.unit}
	for _, name := range c.lines {
		d.Lines = append(d.Lines, line{Name: name})
	}
	for _, at := range c.at {
		found, err := c.of(at)(ctx, l)
		if err == nil && (len(found) != len(c.lines) || len(found[0]) == 0) {
			err = errors.New("nothing to draw")
		}
		if err != nil {
			return d, fmt.Errorf("with %d %s: %w", at, c.along, err)
		}
		for i, samples := range found {
			if f := figureOf(samples); f != nil {
				d.Lines[i].Points = append(d.Lines[i].Points, point{float64(at), f.Median})
			}
		}
	}
	return d, nil
}

func (d measuredCurve) draw(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, d.File), d.svg(), 0o644)
}
