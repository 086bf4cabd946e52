package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"swapkeep/cmd/internal/amount"
	"swapkeep/cmd/internal/screen"
	"swapkeep/config"
	"swapkeep/host/protocol"
	"swapkeep/host/transport"
)

// errUsage means that the arguments or the configuration are wrong.
var errUsage = errors.New("wrong usage")

// usageError wraps the error that says what is wrong.
type usageError struct{ error }

func (usageError) Is(target error) bool { return target == errUsage }
func (e usageError) Unwrap() error      { return e.error }

// answerTime limits how long status, stop and version wait.
const answerTime = 15 * time.Second

// A terminal is the input and output of a command, and its global flags.
type terminal struct {
	in       *os.File
	out, err io.Writer
	json     bool
	home     string
	config   string

	descriptors map[int]*os.File // file descriptors that secrets were read from

	result *screen.Screen // on out: the command's result
	talk   *screen.Screen // on err: questions, progress and remarks
}

// factLabel is the width of labels in columns.
const factLabel = 12

func newRoot(out, err io.Writer) *cobra.Command {
	t := &terminal{in: os.Stdin, out: out, err: err,
		result: screen.New(out, os.Getenv).Labelled(factLabel), talk: screen.New(err, os.Getenv).Labelled(factLabel)}
	root := &cobra.Command{
		Use:   "swapkeep",
		Short: "Wallet keys and swaps outside the browser",
		Long: "Swapkeep keeps a wallet's keys and runs its swaps in a daemon on this machine, outside the browser. These commands do\n" +
			"the same as the browser extension, and start the daemon if it is not running.",
		Version:       version,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			return unknownCommand(cmd, args[0])
		},
		// Incomplete output is an error.
		PersistentPostRunE: func(*cobra.Command, []string) error { return t.result.Err() },
	}
	root.SetOut(out)
	root.SetErr(err)
	root.SetFlagErrorFunc(flagError)
	flags := root.PersistentFlags()
	flags.BoolVar(&t.json, "json", false, "write JSON")
	flags.StringVar(&t.home, "home", "", "state directory (default $"+transport.HomeVariable+", else the system's)")
	flags.StringVar(&t.config, "config", "", "configuration file (default $SWAPKEEP_CONFIG, else the system's)")
	for _, g := range groups(t) {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title + ":"})
		for _, cmd := range g.commands {
			cmd.GroupID = g.title
			root.AddCommand(cmd)
		}
	}
	addManual(root)
	root.SetHelpCommandGroupID(programGroup)
	root.SetCompletionCommandGroupID(programGroup)
	return root
}

// programGroup is the help group of commands about the program itself.
const programGroup = "Program"

// A group is a group of commands in the help.
type group struct {
	title    string
	commands []*cobra.Command
}

func groups(t *terminal) []group {
	return []group{
		{"Swaps", []*cobra.Command{newQuote(t), newSwap(t), newOrders(t), newApprove(t), newApprovals(t), newProviders(t), newGas(t)}},
		{"Wallet", []*cobra.Command{newKeys(t), newNetworks(t), newTokens(t), newPrices(t)}},
		{programGroup, []*cobra.Command{newStatus(t), newStop(t), newSettings(t), newInstall(t), newUninstall(t), newDoctor(t), newManifest(t), newVersion(t)}},
	}
}

// unknownCommand names the commands that were probably meant, also those one level below.
func unknownCommand(cmd *cobra.Command, typed string) error {
	cmd.SuggestionsMinimumDistance = 2
	meant := cmd.SuggestionsFor(typed)
	if len(meant) == 0 {
		for _, below := range cmd.Commands() {
			below.SuggestionsMinimumDistance = 2
			for _, name := range below.SuggestionsFor(typed) {
				meant = append(meant, below.Name()+" "+name)
			}
		}
	}
	if len(meant) == 0 {
		return usageError{fmt.Errorf("unknown command %q; see %s --help", typed, cmd.CommandPath())}
	}
	for i, name := range meant {
		meant[i] = strconv.Quote(name)
	}
	return usageError{fmt.Errorf("unknown command %q; did you mean %s?", typed, strings.Join(meant, " or "))}
}

// flagError is a usage error. A negative number is an amount, not a flag.
func flagError(_ *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) && amount.IsNumber(unknown.GetSpecifiedShortnames()) {
		err = amount.ErrNotPositive
	}
	return usageError{err}
}

func noArguments(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return nil
	case cmd.HasSubCommands():
		return unknownCommand(cmd, args[0])
	}
	return usageError{fmt.Errorf("%s takes no arguments, but got %q", cmd.CommandPath(), args[0])}
}

// commandKnown returns a function that reports whether arguments are a command, not the
// arguments with which a browser starts the relay.
func commandKnown(root *cobra.Command) func([]string) bool {
	return func(args []string) bool {
		switch args[0] {
		case "help", "completion", cobra.ShellCompRequestCmd, cobra.ShellCompNoDescRequestCmd, "-h", "--help", "-v", "--version":
			return true
		}
		cmd, _, err := root.Find(args)
		return err == nil && cmd != root
	}
}

func runCommand(root *cobra.Command, args []string) int {
	root.SetArgs(args)
	ctx, stop := signal.NotifyContext(context.Background(), endings()...)
	defer context.AfterFunc(ctx, stop)() // a second signal ends the process
	err := root.ExecuteContext(ctx)
	if errors.Is(err, context.Canceled) && !errors.Is(err, errUncertain) && !errors.As(err, new(printedError)) {
		err = errUnanswered
	}
	var told printedError
	if err != nil && !errors.As(err, &told) && !errors.Is(err, syscall.EPIPE) { // EPIPE: the reader is gone
		complain(root, err)
	}
	return exitOf(err)
}

// endings returns the signals that end a command cleanly, with the terminal's mode
// restored. Signals that nohup ignores stay ignored.
func endings() []os.Signal {
	all := []os.Signal{os.Interrupt, syscall.SIGTERM}
	for _, s := range []os.Signal{syscall.SIGHUP, syscall.SIGQUIT} {
		if !signal.Ignored(s) {
			all = append(all, s)
		}
	}
	return all
}

// A signal interrupted a question to the user, or the wait for the daemon.
var (
	errInterrupted = errors.New("interrupted: nothing was done")
	errUnanswered  = errors.New("interrupted before the daemon answered")
)

// printedError is an error that has already been printed.
type printedError struct{ error }

func (e printedError) Unwrap() error { return e.error }

// complain prints an error and its remedy, as text or as JSON.
func complain(root *cobra.Command, err error) {
	wire, remedy := wireOf(err), ""
	if asJSON, _ := root.PersistentFlags().GetBool("json"); asJSON {
		_ = writeJSON(root.ErrOrStderr(), map[string]any{"error": wire})
		return
	}
	if errors.As(err, new(*protocol.Error)) {
		message, do := inWords(wire)
		fmt.Fprintf(root.ErrOrStderr(), "swapkeep: %s (%s)\n", screen.Printable(message), figures(wire))
		remedy = screen.Printable(do)
	} else {
		fmt.Fprintln(root.ErrOrStderr(), "swapkeep:", wire.Message)
	}
	if remedy != "" {
		fmt.Fprintln(root.ErrOrStderr(), "  what to do:", remedy)
	}
}

// wireOf converts any error to a protocol error, with command lines instead of method
// names in its remedy. An error that did not come from the daemon gets a name and no
// code.
func wireOf(err error) *protocol.Error {
	var wire *protocol.Error
	if errors.As(err, &wire) {
		told := *wire
		told.Remedy = inCommands(wire.Remedy)
		return &told
	}
	_, name := localClass(err)
	return &protocol.Error{Name: name, Message: screen.Printable(strings.ReplaceAll(err.Error(), "\n", "; "))}
}

// writeJSON writes a value as indented JSON.
func writeJSON(w io.Writer, v any) error {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(screen.JSON(text.Bytes()))
	return err
}

// load reads the configuration; flags override it.
func (t *terminal) load() (config.Config, error) {
	cfg, err := config.Load(t.environ())
	if err != nil {
		return cfg, usageError{err}
	}
	return cfg, nil
}

// environ returns the environment, with the flags' values as variables, for this program
// and for a daemon that it starts.
func (t *terminal) environ() []string {
	env := os.Environ()
	if t.home != "" {
		env = append(env, transport.HomeVariable+"="+t.home)
	}
	if t.config != "" {
		env = append(env, "SWAPKEEP_CONFIG="+t.config)
	}
	return env
}

func (t *terminal) place() (transport.Instance, error) {
	cfg, err := t.load()
	if err != nil {
		return transport.Instance{}, err
	}
	return placeOf(cfg)
}

// exactly accepts n arguments, described by what.
func exactly(what string, n int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != n {
			return usageError{fmt.Errorf("%s takes %s: %s", cmd.CommandPath(), what, cmd.UseLine())}
		}
		return nil
	}
}
