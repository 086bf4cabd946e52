// Command swapkeep-sandbox simulates the outside world on one machine, for demos and
// tests: EVM chains and swap providers. It is not part of what users install.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rs/zerolog"

	"swapkeep/sandbox"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
	case errors.Is(err, errUsage):
		os.Exit(2)
	case errors.Is(err, errDemo):
		os.Exit(1)
	default:
		fmt.Fprintln(os.Stderr, "swapkeep-sandbox:", err)
		os.Exit(1)
	}
}

// errUsage means that the arguments were wrong; the message has already been printed.
var errUsage = errors.New("usage")

type options struct {
	sandbox.Options
	dir        string
	withParent bool
}

// run starts a sandbox, writes its files, prints the ready line to stdout and waits until
// ctx ends.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	if len(args) > 0 && args[0] == "demo" {
		return demo(ctx, args[1:], stdout, stderr)
	}
	o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	if o.withParent {
		var cancel context.CancelFunc
		ctx, cancel = withParent(ctx)
		defer cancel()
	}
	log := zerolog.New(stderr).With().Timestamp().Logger()
	s, err := openWorld(ctx, o.Options, o.dir, log)
	if err != nil {
		return err
	}
	if err := announce(s, o.dir, stdout, log); err != nil {
		return errors.Join(err, s.Close())
	}
	<-ctx.Done()
	log.Info().Msg("stopping")
	return s.Close()
}

func parse(args []string, stderr io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("swapkeep-sandbox", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.dir, "dir", "", "`directory` for sandbox.json and config.toml (required)")
	flags.StringVar(&o.Contracts, "contracts", "", "`directory` of the contracts that make contracts writes")
	flags.StringVar(&o.Host, "listen", "127.0.0.1", "loopback `address` to listen on")
	flags.DurationVar(&o.Period, "period", time.Second, "time between blocks")
	flags.BoolVar(&o.Instant, "instant", false, "also make a block as soon as a transaction arrives")
	flags.BoolVar(&o.withParent, "with-parent", false, "end when the parent process ends")
	flags.Func("chains", "`ids` of the chains to start, separated by commas (default 1,10,8453,42161)", func(s string) error {
		ids, err := parseChains(s)
		o.Chains = ids
		return err
	})
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return o, err
		}
		return o, errUsage
	}
	if o.dir == "" || flags.NArg() > 0 {
		fmt.Fprintln(stderr, "swapkeep-sandbox: --dir is required, and only flags are allowed")
		flags.Usage()
		return o, errUsage
	}
	dir, err := filepath.Abs(o.dir)
	o.dir = dir
	return o, err
}

func parseChains(list string) ([]uint64, error) {
	var ids []uint64
	for _, s := range strings.Split(list, ",") {
		id, err := strconv.ParseUint(strings.TrimSpace(s), 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%q is not a chain id", s)
		}
		ids = append(ids, id)
	}
	return ids, nil
}

func announce(s *world, dir string, stdout io.Writer, log zerolog.Logger) error {
	for _, c := range s.Chains() {
		log.Info().Uint64("chain", c.ID).Str("rpc", c.RPC()).Msg("chain started")
	}
	log.Info().Str("dex", s.DEXURL()).Str("keyProxy", s.url).Str("control", s.ControlURL()).Msg("ready; all keys are public")
	return json.NewEncoder(stdout).Encode(struct {
		Event   string `json:"event"`
		PID     int    `json:"pid"`
		Dir     string `json:"dir"`
		Control string `json:"control"`
	}{"ready", os.Getpid(), dir, s.ControlURL()})
}

// withParent cancels the context when this process is reparented, which happens when its
// parent ends.
func withParent(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	parent := os.Getppid()
	go func() {
		tick := time.NewTicker(200 * time.Millisecond)
		defer tick.Stop()
		for os.Getppid() == parent {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
		cancel()
	}()
	return ctx, cancel
}
