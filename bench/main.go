// Command bench measures Swapkeep beside its peers and against its limits, in
// one run, and prints one table: what, ours, peers, limit, ratio, goal, and whether
// the goal was hit. Asked to, it draws growth curves too. docs/performance.md says how
// each is measured.
//
// A missed goal is printed as a miss and is no failure; a row that could not be
// measured is one. Everything runs in a temporary directory, with a home, a
// keychain in files and an outside world of its own.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

// patience bounds the whole run.
const patience = 40 * time.Minute

// A wish is what is asked of a run.
type wish struct {
	short    bool   // few samples, and no browsers
	only     string // what has this in its name
	json     string // file for the rows
	curves   string // directory for the curves
	markdown string // file to put the figures into
}

func main() {
	var at places
	var w wish
	flag.StringVar(&at.bin, "bin", "bin", "directory of the programs, as make build makes them")
	flag.StringVar(&at.packages, "packages", "build/extension", "directory of the extension's packages, as make extension makes them")
	flag.StringVar(&at.node, "node", "bench/node", "directory of the peers in Node, installed")
	flag.StringVar(&at.c, "c", "bench/c", "directory of the peers in C, in source")
	flag.StringVar(&w.json, "json", "", "also write the rows to this file")
	flag.StringVar(&w.curves, "curves", "", "also draw growth curves, into this directory")
	flag.StringVar(&w.markdown, "markdown", "", "also put the figures into this file, between its marks")
	flag.StringVar(&w.only, "only", "", "measure only what has this in its name")
	flag.BoolVar(&w.short, "short", false, "take few samples and open no browser: is everything measured still?")
	world := flag.Bool("outside", false, "be the outside world of a bench, until stdin ends")
	count := flag.Int("prices", 0, "be a price server with so many tokens, until stdin ends")
	history := flag.String("history", "", "of -prices: the file that charts are drawn from")
	flag.Parse()
	switch {
	case *world:
		end(runOutside())
	case *count > 0:
		end(runPrices(*count, *history))
	}
	ctx, _ := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	end(run(ctx, at, w))
}

func end(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// errUnmeasured: a row without figures.
var errUnmeasured = errors.New("not everything could be measured")

// errNothing: a name that nothing has is a mistake, and no run without a miss.
var errNothing = errors.New("nothing that is to be measured has it in its name (curves need -curves, and browsers' rows a run without -short); there are")

// errPart: a document shows one whole run.
var errPart = errors.New("-markdown takes a whole run: leave -only and -short away")

func run(ctx context.Context, at places, w wish) (err error) {
	if w.markdown != "" && (w.only != "" || w.short) {
		return errPart
	}
	rows, curves := w.subjects(), w.curved()
	if len(rows)+len(curves) == 0 {
		w.only = ""
		return fmt.Errorf("-only: %w:\n%s", errNothing, strings.Join(w.names(), "\n"))
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	l, err := openLab(ctx, at, w.short)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.close()) }()
	r := report{Source: sourceOf(ctx, "."), Machine: machineOf(ctx), Began: time.Now().UTC().Truncate(time.Second), Short: w.short}
	for _, s := range rows {
		fmt.Fprintf(os.Stderr, "bench: %s …\n", s.what)
		r.Rows = append(r.Rows, s.row(ctx, l))
	}
	for _, c := range curves {
		r.Curves = append(r.Curves, c.drawn(ctx, l, w.curves))
	}
	r.Took = time.Since(r.Began).Round(time.Second).String()
	r.print(os.Stdout)
	if err := r.write(w); err != nil {
		return err
	}
	if r.unmeasured() {
		return errUnmeasured
	}
	return ctx.Err()
}

// subjects are the rows that are asked for.
func (w wish) subjects() []subject {
	all := slices.Clone(subjects)
	if !w.short {
		all = append(all, inBrowsers...)
	}
	return slices.DeleteFunc(all, func(s subject) bool { return !w.wants(s.what) })
}

// curved are the curves that are asked for.
func (w wish) curved() []curve {
	if w.curves == "" {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(curves), func(c curve) bool { return !w.wants(c.title) })
}

// names are those of all that is asked for.
func (w wish) names() (all []string) {
	for _, s := range w.subjects() {
		all = append(all, s.what)
	}
	for _, c := range w.curved() {
		all = append(all, c.title)
	}
	return all
}

func (w wish) wants(name string) bool { return strings.Contains(name, w.only) }

// write leaves the report where it is asked for.
func (r report) write(w wish) error {
	if w.json != "" {
		b, err := json.MarshalIndent(r, "", " ")
		if err != nil {
			return err
		}
		if err := os.WriteFile(w.json, append(b, '\n'), 0o644); err != nil {
			return err
		}
	}
	if w.markdown == "" {
		return nil
	}
	return r.writeMarkdown(w.markdown, w.curves)
}
