package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Verdicts on a target.
const (
	fine       = "ok"
	finding    = "FINDING"
	notBuilt   = "NOT BUILT"
	notRun     = "NOT RUN"     // nothing executed, and no error
	notSettled = "NOT SETTLED" // a failure of the fuzzer itself, on each try
)

// An outcome is a target's row of the table.
type outcome struct {
	target
	verdict    string
	executions int64
	newInputs  int64 // inputs that reached new coverage
	corpus     int64 // all inputs kept, including the committed ones
	seconds    float64
	output     string // output of a run that was not fine
}

// A fuzzer runs targets.
type fuzzer struct {
	time  string // in the form of -fuzztime
	cache string // where the fuzzer keeps interesting inputs, by package
	bin   string // directory for the test binaries
	own   bool   // only the module's own packages guide the fuzzer
}

// runAll runs the targets of jobs packages at a time, which all lists one after the other,
// calls tell with each outcome as it comes, and returns them in the order of all.
func (f fuzzer) runAll(ctx context.Context, all []target, jobs int, tell func(outcome)) (done []outcome) {
	packages := make(chan []target)
	var running sync.WaitGroup
	var telling sync.Mutex
	for range jobs {
		running.Go(func() {
			for some := range packages {
				f.runPackage(ctx, some, func(o outcome) {
					telling.Lock()
					defer telling.Unlock()
					done = append(done, o)
					tell(o)
				})
			}
		})
	}
	for first := 0; first < len(all); {
		next := first + 1
		for next < len(all) && all[next].pkg == all[first].pkg {
			next++
		}
		packages <- all[first:next]
		first = next
	}
	close(packages)
	running.Wait()
	slices.SortFunc(done, func(a, b outcome) int { return compareTargets(a.target, b.target) })
	return done
}

// runPackage builds a package's tests and fuzzes its targets.
func (f fuzzer) runPackage(ctx context.Context, all []target, tell func(outcome)) {
	program := filepath.Join(f.bin, strings.ReplaceAll(all[0].pkg, "/", "-")+".test")
	defer func() { _ = os.Remove(program) }() // together they would take gigabytes
	err := f.build(ctx, all[0], program)
	for i, t := range all {
		o := outcome{target: t, verdict: notBuilt}
		switch {
		case err == nil:
			o = f.fuzz(ctx, t, program)
		case i == 0:
			o.output = err.Error()
		}
		tell(o)
	}
}

// build compiles the tests of t's package, instrumented as for go test -fuzz, which compiles
// every dependency anew. With own these are the ones that tests have compiled already.
func (f fuzzer) build(ctx context.Context, t target, path string) error {
	instrument := "-fuzz=."
	if f.own {
		instrument = "-gcflags=swapkeep/...=-d=libfuzzer"
	}
	c := exec.CommandContext(ctx, "go", "test", "-c", instrument, "-o", path, ".")
	c.Dir, c.SysProcAttr = t.dir, childAttr()
	out, err := c.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

// maxTries is how often a target runs at most when the fuzzer itself fails.
const maxTries = 3

// fuzz runs t on one worker.
func (f fuzzer) fuzz(ctx context.Context, t target, program string) outcome {
	o := outcome{target: t}
	for range maxTries {
		c := exec.CommandContext(ctx, program, "-test.run=^$", "-test.fuzz=^"+t.name+"$", "-test.fuzztime="+f.time,
			"-test.fuzzminimizetime=5x", "-test.fuzzcachedir="+filepath.Join(f.cache, t.pkg), "-test.parallel=1")
		c.Dir, c.SysProcAttr = t.dir, childAttr()
		c.Cancel = func() error { return c.Process.Signal(os.Interrupt) } // an interrupted fuzzer ends its worker
		c.WaitDelay = 10 * time.Second
		began := time.Now()
		out, err := c.CombinedOutput()
		o.seconds += time.Since(began).Seconds()
		o.addProgress(string(out))
		if err == nil {
			if o.verdict, o.output = fine, ""; o.executions == 0 {
				o.verdict, o.output = notRun, "no execution: the build leaves it out, or its corpus takes longer than "+f.time
			}
			return o
		}
		o.verdict, o.output = finding, string(out)
		if !outOfTime(o.output) || ctx.Err() != nil {
			return o
		}
	}
	o.verdict = notSettled
	return o
}

// outOfTime reports whether a run failed only because its time ended, which Go's fuzzer can
// mistake for a failure (golang/go#75804). No failing input is written then.
func outOfTime(said string) bool {
	return strings.Contains(said, "context deadline exceeded") && !strings.Contains(said, "Failing input written")
}

var progress = regexp.MustCompile(`execs: (\d+) .*new interesting: (\d+) \(total: (\d+)\)`)

// addProgress adds the counts of the last progress line in a run's output.
func (o *outcome) addProgress(said string) {
	all := progress.FindAllStringSubmatch(said, -1)
	if len(all) == 0 {
		return
	}
	last := all[len(all)-1]
	o.executions += number(last[1])
	o.newInputs += number(last[2])
	o.corpus = number(last[3])
}

// number parses digits that a pattern matched.
func number(digits string) int64 {
	n, _ := strconv.ParseInt(digits, 10, 64)
	return n
}
