// Command bench measures Swapkeep against its peers and limits in one run and prints one
// table: what, ours, peers, limit, ratio, goal, and whether the goal was met. On request
// it draws growth curves too. docs/performance.md describes how each is measured.
//
// A missed goal is printed as a miss and is not a failure; a row that could not be
// measured is one. Everything runs in a temporary directory, with its own home, a file
// keychain and simulated outside services.
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

// patience limits the whole run.
const patience = 40 * time.Minute

// A options is what a run is asked to do.
type options struct {
	short    bool   // few samples, and no browsers
	only     string // only what has this in its name
	json     string // file for the rows
	curves   string // directory for the curves
	markdown string // document to put the figures into
}

func main() {
	var at places
	var w options
	flag.StringVar(&at.bin, "bin", "bin", "directory of the programs, as make build makes them")
	flag.StringVar(&at.packages, "packages", "build/extension", "directory of the extension's packages, as make extension makes them")
	flag.StringVar(&at.node, "node", "bench/node", "directory of the peers in Node, installed")
	flag.StringVar(&at.c, "c", "bench/c", "directory of the peers in C, in source")
	flag.StringVar(&w.json, "json", "", "also write the rows to this file")
	flag.StringVar(&w.curves, "curves", "", "also draw growth curves, into this directory")
	flag.StringVar(&w.markdown, "markdown", "", "also put the figures into this file, between its marks")
	flag.StringVar(&w.only, "only", "", "measure only what has this in its name")
	checked := flag.Bool("check", false, "only look whether there is what is asked for")
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
	case *checked:
		end(w.check())
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

// errUnmeasured means that a row has no figures.
var errUnmeasured = errors.New("not everything could be measured")

// errNothing: a name that matches nothing is a mistake, not a run without a miss.
var errNothing = errors.New("nothing that this run measures has it in its name; there are")

// errPart is returned if a partial run should go into a document.
var errPart = errors.New("MARKDOWN (-markdown) takes a whole run: leave ONLY (-only) and SHORT (-short) away")

// errInterrupted is returned instead of any other error of an interrupted run.
var errInterrupted = errors.New("interrupted")

// check refuses options that would measure nothing, or not what is to be shown.
func (w options) check() error {
	if w.markdown != "" && (w.only != "" || w.short) {
		return errPart
	}
	if len(w.subjects())+len(w.curved()) == 0 {
		return fmt.Errorf("ONLY (-only) is %q: %w:\n%s", w.only, errNothing, names())
	}
	return nil
}

func run(asked context.Context, at places, w options) (err error) {
	if err := w.check(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(asked, patience)
	defer cancel()
	l, err := openLab(ctx, at, w.short)
	if err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, l.close())
		if asked.Err() != nil { // every other error follows from it
			err = errInterrupted
		}
	}()
	rows, curves := w.subjects(), w.curved()
	r := report{Source: sourceOf(ctx, "."), Machine: machineOf(ctx), Began: time.Now().UTC().Truncate(time.Second), Short: w.short}
	for _, s := range rows {
		if asked.Err() != nil {
			return errInterrupted
		}
		fmt.Fprintf(os.Stderr, "bench: %s …\n", s.what)
		r.Rows = append(r.Rows, s.row(ctx, l))
	}
	for _, c := range curves {
		if asked.Err() != nil {
			return errInterrupted
		}
		r.Curves = append(r.Curves, c.draw(ctx, l, w.curves))
	}
	if asked.Err() != nil {
		return errInterrupted
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

// subjects returns the requested rows.
func (w options) subjects() []subject {
	all := slices.Clone(subjects)
	if !w.short {
		all = append(all, inBrowsers...)
	}
	return slices.DeleteFunc(all, func(s subject) bool { return !w.wants(s.what) })
}

// curved returns the requested curves.
func (w options) curved() []curve {
	if w.curves == "" {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(curves), func(c curve) bool { return !w.wants(c.title) })
}

// names lists everything that can be measured, one per line.
func names() string {
	all := []string{"rows:"}
	for _, s := range subjects {
		all = append(all, "  "+s.what)
	}
	all = append(all, "rows of browsers, without SHORT (-short):")
	for _, s := range inBrowsers {
		all = append(all, "  "+s.what)
	}
	all = append(all, "curves, with CURVES=directory (-curves):")
	for _, c := range curves {
		all = append(all, "  "+c.title)
	}
	return strings.Join(all, "\n")
}

func (w options) wants(name string) bool { return strings.Contains(name, w.only) }

// write writes the report to the requested files.
func (r report) write(w options) error {
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
