// Command swapkeepd is the daemon: the only process that opens the databases, the keys
// and the price port. Relays and commands start it and talk to it over a local socket. It
// runs until it is stopped.
package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"swapkeep/config"
	"swapkeep/home"
	"swapkeep/host/owner"
	"swapkeep/host/transport"
	"swapkeep/internal/procmem"
)

// version is set by the linker.
var version = "0.1.0"

const usage = `usage: swapkeepd [key=value ...]
       swapkeepd check [--json] [--online] [key=value ...]
       swapkeepd live [--provider NAME] [--network ID] [key=value ...]

The daemon of swapkeep, which starts it by itself when it is needed; swapkeep stop
ends it. Arguments are keys of the configuration, such as log.level=debug.

check examines, while no daemon runs, what the daemon would find: its state directory,
databases and keychain. live holds networks, contracts and providers' answers against
what it believes of them, and writes JSON. They are the parts of swapkeep doctor that
need this program.`

// textAnswers maps arguments to the text that they print.
var textAnswers = map[string]string{
	"version": "swapkeepd " + version, "--version": "swapkeepd " + version,
	"help": usage, "--help": usage, "-h": usage,
}

func main() {
	signal.Ignore(syscall.SIGPIPE, syscall.SIGHUP, sizeExceeded)
	if err := procmem.Protect(); err != nil {
		os.Exit(exitOf(err))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(exitOf(run(ctx, os.Args[1:], os.Environ())))
}

// run is the whole program; tests run it through the real binary.
func run(ctx context.Context, args, environ []string) error {
	if len(args) == 1 && textAnswers[args[0]] != "" {
		fmt.Println(textAnswers[args[0]])
		return nil
	}
	if len(args) > 0 && args[0] == "check" {
		return check(ctx, os.Stdout, args[1:], environ)
	}
	if len(args) > 0 && args[0] == "live" {
		return compareLive(ctx, os.Stdout, args[1:], environ)
	}
	cfg, err := load(environ, args)
	if err != nil {
		return err
	}
	own, err := owner.Acquire(transport.Instance{Home: cfg.Home})
	if err != nil {
		return err
	}
	err = serve(ctx, cfg, own)
	return errors.Join(err, own.Close())
}

// load reads the configuration and sets the home if it is not configured.
func load(environ, args []string) (config.Config, error) {
	cfg, err := config.Load(environ, args...)
	if err == nil && cfg.Home == "" {
		cfg.Home, err = transport.DefaultHome(os.Getenv)
	}
	return cfg, err
}

// exits map errors to the exit statuses that tell the starting program why.
var exits = []struct {
	err    error
	status int
}{
	{home.ErrLocked, owner.ExitLocked},
	{home.ErrReadOnly, owner.ExitReadOnly},
	{home.ErrFull, owner.ExitFull},
	{home.ErrNewer, owner.ExitNewer},
	{fs.ErrPermission, owner.ExitReadOnly},
}

// exitOf returns the exit status. It prints the reason as the last line on stderr, which
// the terminal command shows.
func exitOf(err error) int {
	switch {
	case err == nil:
		return 0
	case errors.Is(err, owner.ErrOwned):
		return owner.ExitOwned
	}
	fmt.Fprintln(os.Stderr, owner.ReasonPrefix+strings.ReplaceAll(err.Error(), "\n", "; "))
	for _, e := range exits {
		if errors.Is(err, e.err) {
			return e.status
		}
	}
	return 1
}
