//go:build faults && linux

// Command hostilepopup plays a malicious script inside the popup, as in docs/security.md's
// table: somebody unlocked the wallet once, and from then on the script has the open
// session and the frames of a real relay, but never the password. It tries everything that
// the table lists, on chains of the sandbox, and prints what it could take, in US dollars.
// Run it with
//
//	make hostile-popup
//	make hostile-popup PROGRAMS=folder HOURS=24
//
// The programs are the real ones, built with the tag faults so that hours pass in seconds.
// It exits with 1 if more was moved or taken than the limit allows.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"swapkeep/test/processes"
	"swapkeep/test/programs"
)

type options struct {
	bin       string
	contracts string
	hours     int
	bound     float64
	only      string
	short     bool
	verbose   bool
}

var errTooMuch = errors.New("more was moved or taken than the limit allows")

func main() {
	o := options{}
	flag.StringVar(&o.bin, "bin", "", "`folder` of swapkeep and swapkeepd, built with the tag faults; empty: they are built")
	flag.StringVar(&o.contracts, "contracts", "", "`folder` of the sandbox's contracts")
	flag.IntVar(&o.hours, "hours", 2, "hours to play; the rest of the day is extrapolated from the last")
	flag.Float64Var(&o.bound, "bound", 5000, "what may be moved in an hour without the password, in US dollars")
	flag.StringVar(&o.only, "only", "", "play only the attempts with these words in their name")
	flag.BoolVar(&o.short, "short", false, "play only the first hour of a day with all attempts, and no single attempts")
	flag.BoolVar(&o.verbose, "v", false, "show each refusal as it comes")
	flag.Parse()
	if o.short {
		o.hours = 1
	}
	ctx, cancel := context.WithTimeout(context.Background(), runTimeout(o))
	defer cancel()
	if err := run(ctx, o, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "hostilepopup:", err)
		os.Exit(1)
	}
}

// runTimeout is more than a run takes on a busy machine.
func runTimeout(o options) time.Duration {
	return 15*time.Minute + time.Duration(o.hours)*3*time.Minute
}

func run(ctx context.Context, o options, out io.Writer) (err error) {
	root, err := os.MkdirTemp("", "hp")
	if err != nil {
		return err
	}
	defer os.RemoveAll(root)
	processes.CleanUpOnInterrupt(root)
	bin := filepath.Join(root, "bin")
	if o.bin == "" {
		err = programs.Build(bin, "faults", "")
	} else {
		err = copyPrograms(o.bin, bin)
	}
	if err != nil {
		return err
	}
	w, err := openWorld(ctx, root, bin, o.contracts)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	w.verbose = o.verbose
	return play(w, o, out)
}

// play tries each attempt against a wallet of its own, and then all together against one.
func play(w *world, o options, out io.Writer) error {
	began := time.Now()
	over := false
	if !o.short {
		rows, err := w.rows(o.only)
		if err != nil {
			return err
		}
		printRows(out, rows)
		over = slices.ContainsFunc(rows, func(r row) bool { return exceeds(max(r.moved, r.taken), o.bound) })
	}
	if o.only == "" {
		d, err := w.day(o.hours)
		if err != nil {
			return fmt.Errorf("the day: %w", err)
		}
		d.print(out)
		over = over || d.exceeds(o.bound)
	}
	fmt.Fprintf(out, "programs of %s; played in %s\n", cmp.Or(o.bin, "this tree"), time.Since(began).Round(time.Second))
	if over {
		return fmt.Errorf("%w: $%.0f in an hour", errTooMuch, o.bound)
	}
	return nil
}

// rows plays the attempts whose name contains words.
func (w *world) rows(words string) (all []row, err error) {
	for _, a := range attempts {
		if !strings.Contains(a.name, words) {
			continue
		}
		r, err := w.attempt(a)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", a.name, err)
		}
		all = append(all, r)
	}
	return all, nil
}

// tolerance allows for prices that move by a swap's own size.
const tolerance = 1.01

func exceeds(dollars, bound float64) bool { return dollars > bound*tolerance }
