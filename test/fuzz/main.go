// Command fuzz runs every fuzz target of the module for a while, several at once, and
// prints a table. It fails on a finding, whose input stays in testdata/fuzz, and on a
// target that does not run.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	ok, err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "fuzz:", err)
	}
	if err != nil || !ok {
		os.Exit(1)
	}
}

func run(ctx context.Context) (ok bool, err error) {
	span := flag.String("time", "60s", "of each target; 1000x = so many executions")
	share := flag.String("share", "1/1", "the i-th of n equal shares of the targets, as i/n")
	jobs := flag.Int("jobs", 2, "packages at once, of each one target on one worker")
	only := flag.String("only", "", "a pattern of package.Target; others are left aside")
	own := flag.Bool("own", false, "coverage of the module's own packages alone guides the fuzzer: quicker to build")
	flag.Usage = func() {} // so that a wrong value prints one line
	flag.Parse()
	chosen, err := regexp.Compile(*only)
	if err != nil {
		return false, fmt.Errorf("FUZZONLY: %w", err)
	}
	if err := errors.Join(checkTime(*span), checkJobs(*jobs)); err != nil {
		return false, err
	}
	all, err := targets(ctx, ".")
	if err != nil {
		return false, err
	}
	all = slices.DeleteFunc(all, func(t target) bool { return !chosen.MatchString(t.pkg + "." + t.name) })
	if all, err = shareOf(all, *share); err != nil {
		return false, err
	}
	if len(all) == 0 {
		return false, fmt.Errorf("no target in FUZZSHARE=%s matches FUZZONLY='%s', a pattern of package.Target", *share, *only)
	}
	bin, err := os.MkdirTemp("", "swapkeep-fuzz")
	if err != nil {
		return false, err
	}
	defer func() { _ = os.RemoveAll(bin) }()
	cache, err := exec.CommandContext(ctx, "go", "env", "GOCACHE").Output()
	if err != nil {
		return false, fmt.Errorf("go env: %w", err)
	}
	f := fuzzer{time: *span, cache: filepath.Join(strings.TrimSpace(string(cache)), "fuzz"), bin: bin, own: *own}
	done := f.runAll(ctx, all, *jobs, func(o outcome) {
		fmt.Fprintln(os.Stderr, o.line())
		if o.verdict != fine {
			fmt.Fprintln(os.Stderr, o.output)
		}
	})
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	command := fmt.Sprintf("make fuzz FUZZTIME=%s FUZZSHARE=%s FUZZJOBS=%d", *span, *share, *jobs)
	if *own {
		command += " FUZZOWN=1"
	}
	if *only != "" {
		command += fmt.Sprintf(" FUZZONLY='%s'", *only)
	}
	return table(os.Stdout, done, command, commit(ctx)), nil
}

// checkTime refuses what -test.fuzztime would refuse.
func checkTime(text string) error {
	if count, is := strings.CutSuffix(text, "x"); is {
		if n, err := strconv.ParseInt(count, 10, 0); err == nil && n > 0 {
			return nil
		}
	} else if d, err := time.ParseDuration(text); err == nil && d > 0 {
		return nil
	}
	return fmt.Errorf("FUZZTIME=%s: want a time such as 60s, or executions such as 1000x", text)
}

func checkJobs(n int) error {
	if n < 1 {
		return fmt.Errorf("FUZZJOBS=%d: want 1 or more", n)
	}
	return nil
}

const columns = "%-11s  %-24s  %-24s  %12s  %6s  %6s  %8s"

// line returns o's row of the table.
func (o outcome) line() string {
	return fmt.Sprintf(columns, o.verdict, strings.TrimPrefix(o.pkg, "swapkeep/"), o.name,
		fmt.Sprint(o.executions), fmt.Sprint(o.newInputs), fmt.Sprint(o.corpus), fmt.Sprintf("%.1f", o.seconds))
}

// table prints all outcomes and their totals, and reports whether all are fine.
func table(w io.Writer, all []outcome, command, commit string) bool {
	_, _ = fmt.Fprintf(w, "\n"+columns+"\n", "verdict", "package", "target", "executions", "new", "corpus", "seconds")
	var executions int64
	var seconds float64
	count := map[string]int{}
	for _, o := range all {
		_, _ = fmt.Fprintln(w, o.line())
		executions += o.executions
		seconds += o.seconds
		count[o.verdict]++
	}
	_, _ = fmt.Fprintf(w, "\n%s, %d executions, %.0f seconds of fuzzing (%.2f hours), %d findings, %d not settled, %d not run, %d not built\n",
		counted(len(all)), executions, seconds, seconds/3600, count[finding], count[notSettled], count[notRun], count[notBuilt])
	_, _ = fmt.Fprintf(w, "commit %s, %s on %d CPUs: %s\nno seed: Go's fuzzer has none; a finding is kept as its input\n", commit, runtime.Version(), runtime.NumCPU(), command)
	return count[fine] == len(all)
}

func counted(n int) string {
	if n == 1 {
		return "1 target"
	}
	return fmt.Sprintf("%d targets", n)
}

// commit returns the tree's commit id, marked if there are changes.
func commit(ctx context.Context) string {
	id, err := exec.CommandContext(ctx, "git", "rev-parse", "--short=12", "HEAD").Output()
	if err != nil {
		return "unknown"
	}
	name := strings.TrimSpace(string(id))
	if changed, err := exec.CommandContext(ctx, "git", "status", "--porcelain").Output(); err != nil || len(changed) > 0 {
		name += " with changes"
	}
	return name
}
