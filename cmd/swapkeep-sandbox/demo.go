package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"swapkeep/cmd/internal/screen"
	"swapkeep/host/protocol"
	"swapkeep/sandbox"
)

// Time limits of the demo, which takes about a minute.
const (
	demoTime  = 5 * time.Minute
	cleanTime = 30 * time.Second // for each thing to clean up
)

// errDemo means that a swap did not end as expected, a hostile answer was accepted, or
// something was left behind. The details have already been printed.
var errDemo = errors.New("the demo did not end as expected")

// demoOptions are the parameters of a run of the demo.
type demoOptions struct {
	bin       string // directory of swapkeep and swapkeepd
	contracts string // as in sandbox.Options
	keychain  string // auto, or a name from the table of keychains
	// withKeyring is a script that runs a command with a private keychain; "" = none.
	withKeyring string
	withStdin   bool
	period      time.Duration
	environ     []string // environment of the calling shell
	temporary   string   // parent of temporary directories; "" = the system's
	swaps       []plan
	hostile     lie
	started     func(*sandbox.Sandbox) // hook for tests
}

// demo runs the product's main use step by step against its own sandbox. It returns
// errDemo unless every swap ended as expected and nothing is left behind.
func demo(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o, err := parseDemo(args, stderr)
	if err != nil {
		return err
	}
	// Clean up when the terminal or the reader of the output goes away.
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGHUP, syscall.SIGPIPE)
	defer stop()
	if o.needsKeyring(ctx) {
		return o.underKeyring(ctx, args, stdout, stderr)
	}
	if o.withStdin {
		var cancel context.CancelCauseFunc
		ctx, cancel = withStdin(ctx, os.Stdin)
		defer cancel(nil)
	}
	return o.run(ctx, screen.New(stdout, os.Getenv))
}

func parseDemo(args []string, stderr io.Writer) (demoOptions, error) {
	o := demoOptions{environ: os.Environ(), swaps: demoSwaps, hostile: demoLie, started: func(*sandbox.Sandbox) {}}
	flags := flag.NewFlagSet("swapkeep-sandbox demo", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.bin, "bin", "bin", "`directory` of swapkeep and swapkeepd")
	flags.StringVar(&o.contracts, "contracts", "", "`directory` of the contracts that make contracts writes")
	flags.StringVar(&o.keychain, "keychain", "auto", "`where` the wallet is kept: auto, system or file")
	flags.StringVar(&o.withKeyring, "with-keyring", "", "`script` that runs the demo with a private keychain if the system's cannot be used")
	flags.BoolVar(&o.withStdin, "with-stdin", false, "end when standard input ends")
	flags.DurationVar(&o.period, "period", time.Second, "time between blocks")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return o, err
		}
		return o, errUsage
	}
	if flags.NArg() > 0 || o.period < 0 || !keychainNamed(o.keychain) {
		fmt.Fprintln(stderr, "swapkeep-sandbox demo: it takes only flags; --keychain is auto, system or file, and --period is not negative")
		flags.Usage()
		return o, errUsage
	}
	bin, err := filepath.Abs(o.bin)
	o.bin = bin
	return o, err
}

type demoRun struct {
	demoOptions
	out *screen.Screen

	dir      string // temporary directory for everything
	box      *sandbox.Sandbox
	keychain keychain
	env      []string // environment of every process started
	daemon   int      // process id that its status last showed
	prices   *priceReader
	password protocol.Secret
	account  protocol.Address
	digest   protocol.Hash // of the review to accept
	killed   int           // number of daemons killed so far

	money          moneyAudit
	outcomes       []outcome
	hostileRefused bool      // the hostile answer was refused
	cleanups       []cleanup // what to clean up, in the order it was created
}

// A cleanup cleans up one thing and returns what to print about it.
type cleanup struct {
	what string
	do   func(context.Context) (string, error)
}

func (o demoOptions) run(ctx context.Context, out *screen.Screen) error {
	s := &demoRun{demoOptions: o, out: out}
	s.out.Title("Swapkeep demo: swaps on local chains, with the commands that a user types. Nothing here is real money.")
	err := s.play(ctx)
	switch {
	case ctx.Err() != nil: // interrupted by the user
		s.out.Blank()
		s.out.Styled(screen.Warn, "ended", context.Cause(ctx).Error())
	case err != nil:
		s.reportFailure(err)
	}
	left := s.clean(ctx)
	all := s.conclude()
	if err != nil || left || !all {
		return errDemo
	}
	return nil
}

// play runs the demo until its end or the first step it cannot continue after. A swap
// that fails is reported and counted, and the next one is tried.
func (s *demoRun) play(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, demoTime, errors.New("the demo took too long"))
	defer cancel()
	for _, act := range []func(context.Context) error{s.directory, s.sandbox, s.chooseKeychain, s.startDaemon, s.wallet, s.fund, s.recordMoney, s.watchPrices} {
		if err := act(ctx); err != nil {
			return reason(ctx, err)
		}
	}
	for i, p := range s.swaps {
		r := s.swap(ctx, i+1, p)
		r.interrupted = r.err != nil && errors.Is(ctx.Err(), context.Canceled)
		s.outcomes = append(s.outcomes, r)
		if ctx.Err() != nil {
			return reason(ctx, r.err)
		}
		if r.err != nil {
			s.reportFailure(r.err)
		}
	}
	s.money.complete = true // what a lying provider gets signed after this is of no order
	err := s.demoHostile(ctx, s.hostile)
	s.hostileRefused = err == nil
	return reason(ctx, errors.Join(err, s.printPrices(ctx)))
}

// reason returns why ctx was cancelled, if it was, otherwise err.
func reason(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// reportFailure prints the error and the last lines of the logs.
func (s *demoRun) reportFailure(err error) {
	s.out.Blank()
	s.out.Styled(screen.Bad, "failed", err.Error())
	if lines := tail(filepath.Join(s.dir, "home", "swapkeepd.log"), logTail); s.dir != "" && len(lines) > 0 {
		s.out.Fact("log", "the last lines of swapkeepd.log:")
		s.out.Quote(lines)
	}
}

// clean cleans up in reverse order, even if ctx is cancelled. It reports whether
// something is left behind.
func (s *demoRun) clean(ctx context.Context) (left bool) {
	ctx = context.WithoutCancel(ctx)
	s.out.Heading("Clean-up")
	for i := len(s.cleanups) - 1; i >= 0; i-- {
		u := s.cleanups[i]
		within, cancel := context.WithTimeout(ctx, cleanTime)
		how, err := u.do(within)
		cancel()
		if err != nil {
			left = true
			s.out.Styled(screen.Bad, u.what, err.Error())
			continue
		}
		s.out.Fact(u.what, how)
	}
	s.password.Zero()
	return left
}

func (s *demoRun) onCleanup(what string, do func(context.Context) (string, error)) {
	s.cleanups = append(s.cleanups, cleanup{what, do})
}
