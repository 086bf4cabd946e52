package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
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

// A fuzzer runs targets. Each package is built once, when its first target runs.
type fuzzer struct {
	time  string // in the form of -fuzztime
	cache string // where the fuzzer keeps interesting inputs, by package
	bin   string // directory for the test binaries

	mu    sync.Mutex
	built map[string]*program
}

// A program is one package's test binary, built for fuzzing.
type program struct {
	once      sync.Once
	path      string
	err       error
	reported  bool // err was reported
	remaining int  // targets still to run
}

func newFuzzer(ctx context.Context, time, bin string, all []target) (*fuzzer, error) {
	cache, err := exec.CommandContext(ctx, "go", "env", "GOCACHE").Output()
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	f := &fuzzer{time: time, cache: filepath.Join(strings.TrimSpace(string(cache)), "fuzz"), bin: bin, built: map[string]*program{}}
	for _, t := range all {
		if f.built[t.pkg] == nil {
			f.built[t.pkg] = &program{path: filepath.Join(bin, strconv.Itoa(len(f.built))+".test")}
		}
		f.built[t.pkg].remaining++
	}
	return f, nil
}

// runAll runs jobs targets at a time and calls tell with each outcome as it comes.
func (f *fuzzer) runAll(ctx context.Context, all []target, jobs int, tell func(outcome)) []outcome {
	done := make([]outcome, len(all))
	next := make(chan int)
	var running sync.WaitGroup
	var telling sync.Mutex
	for range jobs {
		running.Go(func() {
			for i := range next {
				done[i] = f.run(ctx, all[i])
				telling.Lock()
				tell(done[i])
				telling.Unlock()
			}
		})
	}
	for i := range all {
		next <- i
	}
	close(next)
	running.Wait()
	return done
}

// run builds t's package if necessary and fuzzes t.
func (f *fuzzer) run(ctx context.Context, t target) outcome {
	p := f.built[t.pkg]
	p.once.Do(func() { p.err = build(ctx, t, p.path) })
	defer f.removeUnused(p)
	if p.err != nil {
		said := p.err.Error()
		f.mu.Lock()
		defer f.mu.Unlock()
		if p.reported { // reported by another target of the package
			said = ""
		}
		p.reported = true
		return outcome{target: t, verdict: notBuilt, output: said}
	}
	return f.fuzz(ctx, t, p.path)
}

// removeUnused removes a test binary after its last target. Together they would take gigabytes.
func (f *fuzzer) removeUnused(p *program) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if p.remaining--; p.remaining == 0 {
		_ = os.Remove(p.path)
	}
}

// build compiles the tests of t's package, instrumented as for go test -fuzz.
func build(ctx context.Context, t target, path string) error {
	c := exec.CommandContext(ctx, "go", "test", "-c", "-fuzz=.", "-o", path, ".")
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
func (f *fuzzer) fuzz(ctx context.Context, t target, program string) outcome {
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
